//! What a run says, of good clients and of those that can't be judged.

use std::{fs, process::Command};

use super::{client, conform};

#[test]
fn the_reference_client_passes_every_check_in_every_era() {
    let reference = client("reference-client");
    let dir = tempfile::tempdir().unwrap();
    let junit = dir.path().join("junit.xml");
    let told = conform(&["--jobs", "16", "--junit", junit.to_str().unwrap()], &[reference.to_str().unwrap()]);
    assert_eq!((told.status, told.checks("FAILURE")), (Some(0), Vec::new()), "{}", told.output);
    assert_eq!(told.checks("SKIPPED"), Vec::<String>::new());
    assert!(told.output.ends_with(" passed, 0 failed, 0 untested\n"), "{}", told.output);
    assert!(told.output.lines().all(|line| line.chars().count() <= 80), "{}", told.output);
    for era in ["2026-07-28", "2025-11-25"] {
        let runs = fs::read_dir(told.dir.path().join(era)).unwrap().count();
        assert_eq!(runs, candor::conform::scenarios::all().len(), "{era}");
    }
    let junit = fs::read_to_string(junit).unwrap();
    let document = roxmltree::Document::parse(&junit).unwrap();
    assert!(document.descendants().filter(|node| node.has_tag_name("testcase")).count() > 300);
    assert!(!document.descendants().any(|node| node.has_tag_name("failure")));
}

#[test]
fn a_client_without_questions_is_untested_where_questions_are_judged() {
    let bad = client("bad-client");
    let options = ["--suite", "trust", "--jobs", "16"];
    let strict = [&options[..], &["--strict"]].concat();
    assert_eq!(conform(&strict, &[bad.to_str().unwrap(), "never-asks"]).status, Some(1));
    let told = conform(&options, &[bad.to_str().unwrap(), "never-asks"]);
    assert_eq!(told.status, Some(0), "{}", told.output);
    let skipped = told.checks("SKIPPED");
    assert!(skipped.contains(&"untrusted-read-only/asks-before-delete_branch".to_owned()), "{skipped:?}");
    assert!(skipped.iter().all(|name| !name.ends_with("/protocol") && !name.ends_with("/ends")), "{skipped:?}");
    assert!(!told.output.contains(" 0 untested"), "{}", told.output);
}

#[test]
fn scenarios_are_listed_and_unknown_names_are_told() {
    let candor = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_candor")).arg("conform").args(words).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (status, listed, _) = candor(&["--list"]);
    assert_eq!(status, Some(0));
    for scenario in candor::conform::scenarios::all() {
        assert!(listed.lines().any(|line| line.split_whitespace().eq([scenario.name, scenario.suite])), "{listed}");
    }
    for (words, told) in [
        (&["--scenario", "nothing", "--", "true"][..], "`nothing`; `candor conform --list`"),
        (&["--suite", "nothing", "--", "true"], "`candor conform --list`"),
        (&["--spec-version", "1.0", "--", "true"], "`1.0`; take 2026-07-28 or 2025-11-25"),
        (&[], "name it after `--`"),
        (&["--", "/no/such/client"], "/no/such/client"),
    ] {
        let (status, _, errors) = candor(words);
        assert_eq!(status, Some(2), "{words:?}: {errors}");
        assert!(errors.contains(told), "{words:?}: {errors}");
    }
}
