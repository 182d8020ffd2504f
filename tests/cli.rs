//! The command line: what people see first.

use std::process::Output;

use serde_json::Value;

use crate::support::candor;

fn run(arguments: &[&str]) -> Output {
    candor().args(arguments).stdin(std::process::Stdio::null()).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_table_of_tools_fits_eighty_columns_and_names_all_fifteen() {
    let table = stdout(&["tools"]);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    for tool in candor_tools::inventory().1 {
        let row = table.lines().find(|line| line.starts_with(&format!("{} ", tool.name))).unwrap();
        assert!(row.ends_with(tool.title.as_deref().unwrap()), "{row}");
    }
}

#[test]
fn the_json_of_tools_is_what_clients_see_with_scope_and_file() {
    let tools: Vec<Value> = serde_json::from_str(&stdout(&["tools", "--json"])).unwrap();
    assert_eq!(tools.len(), 15);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for tool in tools {
        assert!(root.join(tool["file"].as_str().unwrap()).is_file(), "{tool}");
        assert_eq!(tool["tool"]["_meta"]["org.example.candor/requiredScope"], tool["scope"]);
        assert!(tool["tool"]["annotations"]["readOnlyHint"].is_boolean());
    }
}

#[test]
fn the_json_of_a_tool_says_what_to_do_with_it_and_whom_a_false_hint_would_deceive() {
    let tools: Vec<Value> = serde_json::from_str(&stdout(&["tools", "--json"])).unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool["tool"]["name"] == name).unwrap();
    assert_eq!(tool("query")["approval"]["trusted"]["decision"], "run");
    assert_eq!(tool("query")["approval"]["untrusted"]["decision"], "ask");
    assert_eq!(tool("delete_branch")["approval"]["untrusted"]["reasons"][0]["rule"], "alarm");
    let deceived = tool("query")["ifFalse"]["readOnlyHint"].as_array().unwrap();
    assert!(deceived.iter().any(|impact| impact["client"] == "codex-auto" && impact["consequence"] == "parallel"));
    assert_eq!(tool("query")["ifFalse"].as_object().unwrap().len(), 4);
}

#[test]
fn the_decisions_are_printed_for_people_and_for_programs() {
    assert_eq!(stdout(&["tools", "--decisions"]), candor::approval::table());
    let json: Value = serde_json::from_str(&stdout(&["tools", "--decisions", "--json"])).unwrap();
    assert_eq!(json, candor::approval::json());
    assert_eq!(run(&["tools", "--decisions", "--markdown"]).status.code(), Some(2));
}

#[test]
fn wrong_options_are_named_with_what_to_write_instead() {
    for (arguments, named) in [
        (&["serve", "--grant", "everything"][..], "`everything`"),
        (&["serve", "--grant", ""], "``"),
        (&["serve", "--grant", "repo:read,,notes:read"], "``"),
        (&["serve", "--mislabel", "delete_branch"], "TOOL.HINT=VALUE"),
        (&["serve", "--mislabel", "no_tool.readOnlyHint=true"], "`no_tool`"),
        (&["serve", "--mislabel", "query.title=true"], "`title`"),
        (&["serve", "--mislabel", "query.readOnlyHint=maybe"], "`maybe`"),
        (&["serve", "--call-seconds", "0"], "`0`"),
        (&["serve", "--call-seconds", "-1"], "-1"),
        (&["serve", "--call-seconds", "inf"], "`inf`"),
        (&["serve", "--calls-at-once", "0"], "`0`"),
        (&["serve", "--repo", "/no/such/place"], "/no/such/place"),
        (&["serve", "--notes", "/no/such/place"], "/no/such/place"),
        (&["serve", "--notes", "/etc/passwd"], "/etc/passwd"),
        (&["serve", "--database", "/no/such/place"], "/no/such/place"),
        (&["serve", "--database", "/"], "`/`"),
        (&["serve", "--reports", "/no/such/place/reports.db"], "/no/such/place"),
        (&["serve", "--audit", "/no/such/place/audit"], "/no/such/place"),
        (&["serve", "--fetch-allow", "ftp://x"], "ftp://x"),
        (&["serve", "--fetch-allow", "localhost"], "localhost"),
        (&["demo", "/etc"], "/etc"),
        (&["token", "new", "a b", "read"], "`a b`"),
        (&["token", "new", "x", "read", "--expires", "tomorrow"], "`tomorrow`"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(named), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_new_token_is_shown_once_and_only_its_digest_belongs_into_the_file() {
    let text = stdout(&["token", "new", "ada", "repo:read,notes:read", "--expires", "2030-01-31"]);
    let token = text.lines().find_map(|line| line.strip_prefix("# candor_")).unwrap();
    assert_eq!(token.len(), 64);
    assert_eq!(text.matches(token).count(), 1);
    assert!(
        text.contains("scopes = [\"repo:read\", \"notes:read\"]") && text.contains("expires = 2030-01-31T00:00:00Z"),
        "{text}"
    );
    assert_ne!(stdout(&["token", "new", "ada", "read"]), stdout(&["token", "new", "ada", "read"]));
}

#[test]
fn every_limit_is_an_option_with_its_default_in_the_help() {
    let help = stdout(&["serve", "--help"]);
    for option in ["--call-seconds", "--calls-at-once", "--calls-per-second", "--argument-bytes", "--result-bytes"] {
        let after = help.split(option).nth(1).unwrap_or_else(|| panic!("no {option}"));
        assert!(after.split("--").next().unwrap().contains("[default: "), "{option}");
    }
}

#[test]
fn places_that_touch_are_refused() {
    let demo = crate::confirm::Demo::new();
    let path = |name: &str| demo.path(name).to_str().unwrap().to_owned();
    for (one, other) in [
        (["--repo", &path("repo")], ["--notes", &path("repo/.git")]),
        (["--repo", &path("repo")], ["--notes", &path("repo")]),
        (["--repo", &path("repo")], ["--notes", &path("origin.git")]),
        (["--repo", &path("repo")], ["--notes", &path("")]),
        (["--database", &path("shop.db")], ["--reports", &path("shop.db")]),
        (["--database", &path("shop.db")], ["--notes", &path("")]),
    ] {
        let output = run(&[&["serve"], &one[..], &other[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{one:?} {other:?}: {output:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(one[0]) && told.contains(other[0]), "{told}");
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    let mut child = candor()
        .args(["tools", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take()); // closed before it is written to, or full: the text is longer than a pipe
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
