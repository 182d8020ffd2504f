//! `candor verify` on our own server: what is true holds, and a lie is found.

use std::process::Output;

use serde_json::Value;

use crate::support::candor;

/// A run on the plain world and one more for each resource, with the calls of these tools alone.
fn verify(tools: &[&str], more: &[&str]) -> (Output, Value) {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("report.json");
    let mut command = candor();
    command.args(["verify", "--json", json.to_str().unwrap()]).args(more);
    for world in ["demo", "packed", "odd-notes", "triggers"] {
        command.args(["--world", world]);
    }
    for tool in tools {
        command.arg("--case").arg(format!("{}/tests/cases/{tool}.toml", env!("CARGO_MANIFEST_DIR")));
    }
    let output = command.output().unwrap();
    let report = std::fs::read_to_string(&json).unwrap_or_else(|_| panic!("{output:?}"));
    (output, serde_json::from_str(&report).unwrap())
}

fn outcome(report: &Value, id: &str) -> String {
    let verdicts = report["verdicts"].as_array().unwrap();
    let verdict = verdicts.iter().find(|verdict| verdict["id"] == id).unwrap_or_else(|| panic!("no {id}: {report}"));
    verdict["outcome"].as_str().unwrap().to_owned()
}

#[test]
fn every_hint_of_ours_holds_in_two_worlds_but_those_that_need_sight_of_connections() {
    let (output, report) = verify(&[], &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let verdicts = report["verdicts"].as_array().unwrap();
    assert_eq!(verdicts.len(), 60);
    for verdict in verdicts {
        if verdict["id"] == "fetch_url/openWorldHint" {
            assert_eq!(verdict["outcome"], "holds", "it was seen at the listener: {verdict}");
        } else if verdict["hint"] == "openWorldHint" {
            assert_eq!(verdict["outcome"], "untested", "{verdict}");
            assert!(verdict["note"].as_str().unwrap().contains("connections"), "{verdict}");
        } else {
            assert_eq!(verdict["outcome"], "holds", "{verdict}");
            assert!(verdict["worlds"].as_array().unwrap().len() >= 2, "{verdict}");
        }
    }
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
    let (output, report) = verify(&tools, &options);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    for (lie, expected) in lies {
        let id = lie.split('=').next().unwrap().replace('.', "/");
        assert_eq!(outcome(&report, &id), expected, "{id}");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("refs/heads/"), "the evidence names what was lost: {text}");
    // What was not called is not passed.
    assert_eq!(outcome(&report, "query/readOnlyHint"), "untested");
}

#[test]
fn what_cannot_be_run_is_told_with_the_next_step() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().to_str().unwrap();
    let case = dir.path().join("case.toml");
    std::fs::write(&case, "tool = \"no_such_tool\"\n[[case]]\nname = \"x\"\n").unwrap();
    for (arguments, told) in [
        (&["verify", "--", "cat"][..], "--unboxed"),
        (&["verify", "--unboxed", "--", "cat"], "--world"),
        (&["verify", "--unboxed", "--world", "nowhere", "--", "cat"], "nowhere"),
        (&["verify", "--unboxed", "--world", world, "--", "/no/such/program"], "/no/such/program"),
        (&["verify", "--unboxed", "--world", world, "--", "true"], "before it answered"),
        (&["verify", "--unboxed", "--world", world, "--", "echo", "garbage"], "garbage"),
        (&["verify", "--definition", "mine"], "openai-directory"),
        (&["verify", "--case", "/no/such/case.toml"], "/no/such/case.toml"),
        (&["verify", "--world", "demo", "--case", case.to_str().unwrap()], "no_such_tool"),
    ] {
        let output = candor().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(told), "{arguments:?}: {output:?}");
    }
}
