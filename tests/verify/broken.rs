//! Bad case files, schemas, servers and options: a clear error with the place, exit status 2, and
//! nothing left behind.

use std::fs;

use super::{list, verify, verify_small, world};

const LOOP: &str = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"$defs":{"x":{"$ref":"#/$defs/x"}}}"##;
const MUTUAL: &str = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"$defs":{"x":{"allOf":[{"$ref":"#/$defs/y"}]},"y":{"anyOf":[{"$ref":"#/$defs/x"}]}}}"##;
const NOWHERE: &str = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}},"required":["a"]}"##;
const IMPOSSIBLE: &str = r#"{"type":"object","properties":{"a":{"type":"string","enum":[]}},"required":["a"]}"#;
const NO_OBJECT: &str = r#"{"type":"array"}"#;

#[test]
fn a_bad_server_ends_the_run_with_what_it_did() {
    let dir = world();
    let many = list(&["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|tool| (tool, "", "{}")));
    let twice = list(&["a", "a"].map(|tool| (tool, "", "{}")));
    for (differences, expected) in [
        (
            "started() { echo 'no licence' >&2; exit 3; }",
            "exit status: 3 before it answered `initialize`; its last words: no licence",
        ),
        ("started() { exec sleep 1000; }", "did not answer `initialize` within 3 s"),
        ("started() { echo hello; }", "the server sent `hello`, which is no JSON-RPC message"),
        ("started() { head -c 300000 /dev/zero; }", "a message of more than 200000 bytes"),
        ("list() { exit 5; }", "exit status: 5 before it answered `tools/list`"),
        ("list() { :; }", "did not answer `tools/list` within 3 s"),
        ("list() { result 7; }", "`tools/list`"),
        ("list() { result '{\"tools\":[7]}'; }", "expected an object"),
        ("list() { result '{\"tools\":[],\"nextCursor\":\"again\"}'; }", "`tools/list` does not end"),
        (&many, "lists more than 8 tools"),
        (&twice, "`tools/list` names `a` twice"),
        ("list() { result '{\"tools\":[]}'; }", "the server has no tools"),
        ("call() { exit 6; }", "`act`: First: the server ended with exit status: 6"),
        ("call() { :; }", "`act`: First: the server did not answer `tools/call` within 3 s"),
        ("call() { echo garbage; }", "`act`: First: the server sent `garbage`"),
        ("n=0; list() { n=$((n+1)); [ -e $W/second ] || exit 7; }", "exit status: 7"),
    ] {
        let limits = ["--start-seconds=3", "--answer-seconds=3", "--answer-bytes=200000", "--most-tools=8"];
        let told = verify_small(differences, &[&["--world", dir.path().to_str().unwrap()], &limits[..]].concat());
        assert_eq!(told.status, Some(2), "{differences}: {told:?}");
        assert!(told.errors.contains(expected), "{differences}: {}", told.errors);
    }
}

#[test]
fn a_schema_that_nothing_fits_is_named_with_its_parameter() {
    let dir = world();
    for (schema, expected) in [
        (LOOP, "`act`: `a` is required, and"),
        (MUTUAL, "`act`: `a` is required, and"),
        (NOWHERE, "`act`: `a` is required, and"),
        (IMPOSSIBLE, "`act`: `a` is required, and"),
        (NO_OBJECT, "`act`: "),
    ] {
        let told = verify_small(&list(&[("act", "", schema)]), &["--world", dir.path().to_str().unwrap()]);
        assert_eq!(told.status, Some(2), "{schema}: {told:?}");
        assert!(told.errors.contains(expected), "{schema}: {}", told.errors);

        // A good tool beside it is verified, and the bad one is untested for this reason.
        let both = list(&[("act", "", schema), ("other", "", r#"{"type":"object"}"#)]);
        let told = verify_small(&both, &["--world", dir.path().to_str().unwrap()]);
        assert_eq!((told.status, told.outcome("other/readOnlyHint")), (Some(0), "undeclared"), "{told:?}");
        assert_eq!(told.report["uncalled"][0]["tool"], "act");
    }
}

#[test]
fn a_bad_case_file_is_named_with_the_line() {
    let dir = world();
    let file = dir.path().join("case.toml");
    let path = file.to_str().unwrap();
    for (text, expected) in [
        ("tool = \"act\"\n[[case]\n", "line 2"),
        ("tool = \"act\"\n[[case]]\nname = \"x\"\nexpects = \"success\"\n", "line 4, `case.expects`"),
        ("tool = \"act\"\n[[case]]\nname = \"x\"\nexpect = \"good\"\n", "line 4, `case.expect`"),
        ("tool = \"acts\"\n[[case]]\nname = \"x\"\n", "the server has no tool `acts`; did you mean `act`?"),
        ("tool = \"act\"\n[[case]]\nname = \"x\"\nworlds = [\"mars\"]\n", "there is no world `mars`"),
        ("tool = \"act\"\n[[case]]\nname = \"x\"\narguments = { path = \"{wrld}/a\" }\n", "{wrld}"),
    ] {
        fs::write(&file, text).unwrap();
        let told = verify_small("", &["--world", dir.path().to_str().unwrap(), "--case", path]);
        assert_eq!(told.status, Some(2), "{text}: {told:?}");
        assert!(told.errors.contains(path) && told.errors.contains(expected), "{text}: {}", told.errors);
    }
    for (case, expected) in [("/no/such/case.toml", "No such file"), ("/dev/null", "not a file"), ("/", "not a file")] {
        let told = verify_small("", &["--world", dir.path().to_str().unwrap(), "--case", case]);
        assert_eq!(told.status, Some(2), "{case}: {told:?}");
        assert!(told.errors.contains(&format!("`{case}`")) && told.errors.contains(expected), "{}", told.errors);
    }
}

#[test]
fn what_cannot_be_run_is_told_with_the_next_step() {
    let dir = world();
    let world = dir.path().to_str().unwrap();
    for (arguments, told) in [
        (&["--rung", "worlds", "--", "cat"][..], "--unboxed"),
        (&["--", "cat"], "does not speak protocol"),
        (&["--unboxed", "--", "cat"], "--world"),
        (&["--unboxed", "--world", world, "--", "/no/such/program"], "/no/such/program"),
        (&["--definition", "mine"], "openai-directory"),
        (&["--rung", "roof"], "the rungs are box, listener, worlds"),
        (&["--mislabel", "delete_branch.destructiveHint=maybe"], "is not true, false, null, absent or JSON"),
        (&["--mislabel", "list_notes.readOnlyHint=null", "--", "cat"], "cannot be used with"),
        (&["--repo", world, "--url", "http://127.0.0.1:9"], "cannot be used with"),
        (&["--notes", "/no/such/notes"], "`/no/such/notes` is not there"),
        (&["--notes", world, "--world", "demo"], "{world}/"),
        (&["--grant", "notes:eat"], "notes:eat"),
        (&["--header", "x: y"], "--url"),
        (&["--url", "http://127.0.0.1:9", "--header", "no colon"], "`NAME: VALUE`"),
        (&["--url", "not an address"], "not an address"),
        (&["--url", "http://127.0.0.1:9/mcp"], "cannot reach `http://127.0.0.1:9/mcp`"),
        (&["--answer-seconds", "0"], "above 0"),
        (&["--lint", "--html", "/no/such/dir/page.html"], "/no/such/dir/page.html"),
    ] {
        let run = verify(arguments);
        assert_eq!(run.status, Some(2), "{arguments:?}: {run:?}");
        assert!(run.errors.contains(told), "{arguments:?}: {}", run.errors);
    }
}
