//! Our own server.

use std::{collections::BTreeSet, fs};

use candor::serve::demo;
use serde_json::Value;

use super::{Told, verify};

/// On the plain world, with the calls of these tools alone.
fn on_demo(tools: &[&str], more: &[&str]) -> Told {
    let cases = tools.iter().map(|tool| format!("--case={}/tests/cases/{tool}.toml", env!("CARGO_MANIFEST_DIR")));
    let cases: Vec<String> = cases.collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    verify(&[&["--world", "demo"], more, &cases].concat())
}

/// The worlds in which a call of a tool succeeded, and was made again if a repeat is meant.
fn worlds<'a>(report: &'a Value, tool: &str, transport: &str, repeated: bool) -> BTreeSet<&'a str> {
    let trials = report["trials"].as_array().unwrap().iter();
    let trials = trials.filter(|trial| trial["tool"] == tool && trial["transport"] == transport);
    let tests = |trial: &&Value| {
        let steps = trial["steps"].as_array().unwrap();
        let succeeded = |step: &Value| step["phase"] == "first" && step["reply"]["kind"] == "success";
        steps.iter().any(succeeded) && (!repeated || steps.iter().any(|step| step["phase"] == "second"))
    };
    trials.filter(tests).map(|trial| trial["world"].as_str().unwrap()).collect()
}

/// Takes longest of all: every case in every world of ours.
#[test]
fn every_hint_of_ours_holds_in_two_worlds_over_each_transport_and_nothing_is_untested() {
    let told = verify(&["--strict"]);
    assert_eq!(told.status, Some(0), "{told:?}");
    assert!(told.output.lines().all(|line| line.chars().count() <= 80), "{}", told.output);
    let verdicts = told.report["verdicts"].as_array().unwrap();
    let tools: BTreeSet<&str> = verdicts.iter().map(|verdict| verdict["tool"].as_str().unwrap()).collect();
    assert_eq!((tools.len(), verdicts.len()), (15, 60));
    for verdict in verdicts {
        assert!(verdict["declared"]["is"].is_boolean(), "{verdict}");
        assert_eq!(verdict["outcome"], "holds", "{verdict}");
        assert!(verdict["worlds"].as_array().unwrap().len() >= 2, "{verdict}");
        for transport in ["stdio", "http"] {
            let tool = verdict["tool"].as_str().unwrap();
            let worlds = worlds(&told.report, tool, transport, verdict["hint"] == "idempotentHint");
            assert!(worlds.len() >= 2, "{tool} over {transport}: {worlds:?}");
        }
    }
    assert_eq!(told.report["sight"]["rung"], "box");
    assert_eq!(told.report["status"]["strict"], 0);
    // Every case of every world ended as its file says, and no trial broke off.
    let findings = told.report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["level"] == "note"), "{findings:?}");
    assert_eq!(told.report["uncalled"], Value::Array(Vec::new()));
    let named = candor::verify::builders::builders().into_iter().map(|world| world.name);
    let trials = told.report["trials"].as_array().unwrap();
    for world in named {
        assert!(trials.iter().any(|trial| trial["world"] == *world), "nothing was called in `{world}`");
    }
    // No hook ran, and what hooks stand beside was changed all the same.
    let hooked = trials.iter().filter(|trial| trial["world"] == "hooks");
    let effects = |trial: &Value| trial["steps"].to_string();
    assert!(hooked.clone().all(|trial| !effects(trial).contains("ran.log")));
    assert!(hooked.clone().any(|trial| effects(trial).contains("refs/heads/")));
}

#[test]
fn a_planted_lie_is_found_and_told_with_its_evidence() {
    let tools = ["list_branches", "delete_branch", "append_note", "write_note", "fetch_report", "fetch_url"];
    let lies = [
        ("delete_branch.destructiveHint=false", "refuted"),
        ("delete_branch.readOnlyHint=true", "refuted"),
        ("append_note.idempotentHint=true", "refuted"),
        ("fetch_report.readOnlyHint=true", "refuted"),
        ("write_note.readOnlyHint=null", "malformed"),
        ("write_note.destructiveHint=\"no\"", "malformed"),
        ("write_note.idempotentHint=absent", "undeclared"),
        ("list_branches.readOnlyHint=false", "overstated"),
        ("fetch_url.openWorldHint=false", "refuted"),
    ];
    let options: Vec<&str> = lies.iter().flat_map(|(lie, _)| ["--mislabel", lie]).collect();
    let told = on_demo(&tools, &options);
    assert_eq!(told.status, Some(1), "{told:?}");
    for (lie, expected) in lies {
        let id = lie.split('=').next().unwrap().replace('.', "/");
        assert_eq!(told.outcome(&id), expected, "{id}");
    }
    assert!(told.output.contains("refs/heads/"), "the evidence names what was lost: {}", told.output);
    // What was not called is not passed.
    assert_eq!(told.outcome("query/readOnlyHint"), "untested");
}

#[test]
fn options_of_the_server_reach_it() {
    let told = on_demo(&["append_note"], &["--grant", "notes:read,notes:write", "--modern-only"]);
    let tools: Vec<_> = told.report["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(tools, ["list_notes", "read_note", "create_note", "append_note", "write_note"], "{told:?}");
    let eras: BTreeSet<_> =
        told.report["trials"].as_array().unwrap().iter().map(|trial| trial["era"].to_string()).collect();
    assert_eq!(eras, BTreeSet::from(["\"2026-07-28\"".to_owned()]));

    let told = on_demo(&["append_note"], &["--note-bytes", "10", "--grant", "notes:write"]);
    assert!(told.finding("append_note/unexpected-reply/a line").contains("was refused"), "{told:?}");
    assert_eq!(told.status, Some(1));
}

#[test]
fn resources_of_ones_own_are_called_in_copies_with_arguments_that_fit_them() {
    let dir = tempfile::tempdir().unwrap();
    let places = demo::lay_out(&dir.path().join("mine")).unwrap();
    let held = || {
        let notes = fs::read_dir(&places.notes).unwrap().map(|note| note.unwrap().path());
        notes.map(|note| (fs::read(&note).unwrap(), note)).collect::<BTreeSet<_>>()
    };
    let before = held();
    let notes = places.notes.to_str().unwrap();
    let told = verify(&["--notes", notes, "--grant", "notes:read,notes:write"]);
    assert_eq!((told.status, told.report["tools"].as_array().unwrap().len()), (Some(0), 5), "{told:?}");
    for id in ["read_note/readOnlyHint", "write_note/destructiveHint", "append_note/idempotentHint"] {
        assert_eq!(told.outcome(id), "holds", "{}", told.verdict(id));
    }
    assert_eq!(before, held());
}

#[test]
fn a_repository_whose_remote_lies_elsewhere_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let places = demo::lay_out(&dir.path().join("mine")).unwrap();
    let told = verify(&["--repo", places.repo.to_str().unwrap()]);
    assert_eq!(told.status, Some(2), "{told:?}");
    assert!(told.errors.contains("`../origin.git`, which all copies would share"), "{}", told.errors);

    // Both in one world, and the server's options say where.
    let mine = dir.path().join("mine");
    let case = format!("--case={}/tests/cases/create_branch.toml", env!("CARGO_MANIFEST_DIR"));
    let told = verify(&["--world", mine.to_str().unwrap(), "--repo", "{world}/repo", &case]);
    assert_eq!((told.status, told.outcome("create_branch/destructiveHint")), (Some(0), "holds"), "{told:?}");
}
