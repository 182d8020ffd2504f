//! A server of somebody else.

use std::{
    fs,
    process::{Command, Stdio},
};

use super::{Told, is_empty, list, run, small, verify_small, words, world};
use crate::support::{candor, wait};

const NO_ARGUMENTS: &str = r#"{"type":"object"}"#;
const ONE_ITEM: &str = r#"{"type":"object","properties":{"item_id":{"type":"string"}},"required":["item_id"]}"#;

/// `list_items` tells an id, by which alone `take_item` removes a file.
const STORE: &str = r#"
    call() {
        case "$line" in
            *'"name":"list_items"'*) result '{"content":[],"structuredContent":{"items":[{"id":"k-7391"}]}}' ;;
            *'"item_id":"k-7391"'*) rm -f "$W/a.txt"; result '{"content":[]}' ;;
            *) result '{"isError":true,"content":[{"type":"text","text":"no such item"}]}' ;;
        esac
    }
"#;

fn store(take: &str, read: &str) -> String {
    format!("{STORE}{}", list(&[("take_item", take, ONE_ITEM), ("list_items", read, NO_ARGUMENTS)]))
}

#[test]
fn what_one_tool_returns_is_an_argument_of_another() {
    let dir = world();
    let told = verify_small(
        &store(r#""readOnlyHint":false,"destructiveHint":false"#, r#""readOnlyHint":true"#),
        &["--world", dir.path().to_str().unwrap()],
    );
    assert_eq!(told.status, Some(1), "{told:?}");
    assert_eq!(told.outcome("take_item/destructiveHint"), "refuted");
    assert_eq!(told.verdict("take_item/destructiveHint")["evidence"][0]["effects"][0]["place"], "a.txt");
    assert_eq!(told.outcome("list_items/readOnlyHint"), "holds");
    assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\n", "only copies are touched");
}

#[test]
fn the_same_calls_are_made_whatever_the_hints_say() {
    let log = tempfile::tempdir().unwrap();
    let file = log.path().join("log");
    let logging = format!("heard() {{ echo \"$line\" | sed 's/.*\"params\"//' >> {}; }}\n", file.display());
    let calls = |take: &str, read: &str| {
        let dir = world();
        let differences = format!("{logging}{}", store(take, read).replace("call() {", "call() { heard;"));
        let told = verify_small(&differences, &["--world", dir.path().to_str().unwrap()]);
        assert!(told.report["trials"].as_array().is_some_and(|trials| !trials.is_empty()), "{told:?}");
        let text = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let mut calls: Vec<String> = text.lines().map(str::to_owned).collect();
        calls.sort();
        calls
    };
    let lies = calls(r#""readOnlyHint":true"#, r#""readOnlyHint":false,"destructiveHint":true"#);
    assert_eq!(lies, calls(r#""destructiveHint":true"#, r#""readOnlyHint":true,"openWorldHint":false"#));
    assert!(lies.iter().any(|call| call.contains("k-7391")), "{lies:?}");
}

#[test]
fn a_path_of_another_copy_is_understood_as_one_of_this_copy() {
    let dir = world();
    let call = r#"
        call() {
            case "$line" in
                *'"name":"where"'*) result '{"content":[],"structuredContent":{"stores":[{"store":"'$W'/kept"}]}}' ;;
                *"\"store\":\"$W/kept\""*) echo x >> "$W/kept"; result '{"content":[]}' ;;
                *) result '{"isError":true,"content":[]}' ;;
            esac
        }
    "#;
    let schema = r#"{"type":"object","properties":{"store":{"type":"string"}},"required":["store"]}"#;
    let tools = list(&[("add", r#""readOnlyHint":true"#, schema), ("where", "", NO_ARGUMENTS)]);
    let told = verify_small(&format!("{call}{tools}"), &["--world", dir.path().to_str().unwrap()]);
    assert_eq!(told.outcome("add/readOnlyHint"), "refuted", "{told:?}");
}

/// A case of the small server's one tool.
fn with_case(differences: &str, expect: &str) -> Told {
    let dir = world();
    let case = dir.path().join("case.toml");
    fs::write(&case, format!("tool = \"act\"\n[[case]]\nname = \"one\"\nexpect = \"{expect}\"\n")).unwrap();
    verify_small(differences, &["--world", dir.path().to_str().unwrap(), "--case", case.to_str().unwrap()])
}

#[test]
fn a_call_that_ends_otherwise_than_its_case_says_is_a_fault() {
    let refusing = r#"call() { result '{"isError":true,"content":[{"type":"text","text":"not today"}]}'; }"#;
    for (differences, expect, told) in [
        ("", "success", None),
        ("", "any", None),
        (refusing, "refused", None),
        ("", "refused", Some("it was to be refused, and succeeded")),
        (refusing, "success", Some("it was to succeed, and was refused: not today")),
    ] {
        let run = with_case(differences, expect);
        assert_eq!(run.status, Some(i32::from(told.is_some())), "{expect}: {run:?}");
        if let Some(told) = told {
            assert!(run.finding("act/unexpected-reply/one").contains(told), "{run:?}");
            assert!(run.output.contains("unexpected-reply"), "{}", run.output);
        }
    }
}

#[test]
fn a_trial_that_broke_off_is_told_and_fails_a_strict_run() {
    let dir = world();
    let case = dir.path().join("case.toml");
    let cases = "tool = \"act\"\n[[case]]\nname = \"good\"\n[[case]]\nname = \"bad\"\narguments = { bad = true }\n";
    fs::write(&case, cases).unwrap();
    let hints = r#""readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true"#;
    let call = r#"call() { case "$line" in *bad*) exit 4 ;; *) result '{"content":[]}' ;; esac; }"#;
    let differences = format!("{call}\n{}", list(&[("act", hints, NO_ARGUMENTS)]));
    let options = ["--world", dir.path().to_str().unwrap(), "--case", case.to_str().unwrap()];
    let told = verify_small(&differences, &options);
    assert_eq!(told.status, Some(0), "{told:?}");
    assert!(told.finding("act/unfinished/bad").contains("ended with exit status: 4"), "{told:?}");
    assert_eq!(told.report["status"]["strict"], 1);
}

#[test]
fn a_server_of_the_newer_era_alone_is_spoken_to_in_it() {
    let dir = world();
    let modern = r#"initialize() { say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}'; }"#;
    let told = verify_small(modern, &["--world", dir.path().to_str().unwrap()]);
    assert_eq!(told.report["trials"][0]["era"], "2026-07-28", "{told:?}");
}

#[test]
fn to_read_a_server_takes_no_world_and_calls_nothing() {
    let small = small("call() { touch called; exit 9; }");
    let (server, env) = words(&small);
    let mut command = candor();
    command.args(["verify", "--lint", "--"]).args(server).envs(env);
    let told = run(&mut command);
    small.is_gone();
    assert_eq!((told.status, told.outcome("act/readOnlyHint")), (Some(0), "undeclared"), "{told:?}");
    assert!(told.finding("act/explicit").contains("not said"), "{told:?}");
    assert_eq!(told.report["trials"], serde_json::json!([]));
}

#[test]
fn a_server_that_never_answers_is_not_waited_for_with_every_argument() {
    let dir = world();
    let schema = r#"{"type":"object","properties":{"mode":{"enum":["a","b","c","d","e","f","g","h"]}}}"#;
    let differences = format!("call() {{ :; }}\n{}", list(&[("act", "", schema)]));
    let options = ["--answer-seconds", "1", "--world", dir.path().to_str().unwrap()];
    let told = verify_small(&differences, &options);
    assert_eq!(told.status, Some(2), "{told:?}");
    assert_eq!(told.report["trials"].as_array().unwrap().len(), 1);
    assert!(told.finding("act/unfinished/synthesised-1").contains("did not answer"), "{told:?}");
}

#[test]
fn a_run_that_is_stopped_leaves_nothing() {
    for signal in ["-INT", "-TERM"] {
        let (dir, scratch) = (world(), tempfile::tempdir().unwrap());
        let small = small("call() { sleep 1000; }");
        let (server, env) = words(&small);
        let mut command = candor();
        command.args(["verify", "--unboxed", "--world", dir.path().to_str().unwrap(), "--"]).args(server).envs(env);
        command.env("TMPDIR", scratch.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let called = || small.processes().len() >= 2; // the script and its `sleep`
        while !called() {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(wait(&mut child).code(), Some(2));
        small.is_gone();
        assert!(is_empty(scratch.path()));
    }
}
