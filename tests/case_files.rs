//! Case files: ours, those of others, and everything that can be wrong with one.

mod faults;
mod ours;

pub(crate) use ours::{declared, ending, listen, serve};

use std::{fs, path::Path};

use candor::{
    hints::{DeclaredTool, read_list},
    verify::{
        CaseError, CaseFile,
        case::{self, Expect, Places},
    },
    wire::Answer,
};
use serde_json::{Map, Value, json};

fn read(text: &str) -> Result<CaseFile, CaseError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cases.toml");
    fs::write(&path, text).unwrap();
    case::read(&path)
}

/// Tools as a server lists them, with these schemas.
fn tools(list: &[(&str, Value)]) -> Vec<DeclaredTool> {
    let list: Vec<_> = list.iter().map(|(name, schema)| json!({"name": name, "inputSchema": schema})).collect();
    read_list(json!({"tools": list}).to_string().as_bytes()).unwrap().0
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("{value} is no object") };
    members
}

#[test]
fn a_case_says_what_differs_and_the_rest_is_taken_for_granted() {
    let text = r#"
        tool = "one"

        [[case]]
        name = "bare"

        [[case]]
        name = "full"
        tool = "two"
        worlds = ["demo", "packed"]
        answers = ["accept", "decline"]
        expect = "refused"
        [case.arguments]
        path = "{world}/a"
        count = 3
        large = 18446744073709551615
        ratio = 0.5
        deep = { list = [true, "x", { y = [] }] }
    "#;
    let cases = read(text).unwrap().cases;
    let [bare, full] = cases.as_slice() else { panic!("{cases:?}") };
    assert_eq!((bare.tool.as_str(), bare.name.as_str(), bare.line), ("one", "bare", 4));
    assert_eq!((bare.arguments.len(), bare.worlds.len(), bare.expect), (0, 0, Expect::Any));
    assert_eq!(bare.answers, [Answer::Decline, Answer::Cancel, Answer::Accept]);
    assert!(bare.runs_in("demo") && bare.runs_in("anything"));
    assert_eq!((full.tool.as_str(), full.line, full.expect), ("two", 7, Expect::Refused));
    assert_eq!(full.answers, [Answer::Accept, Answer::Decline]);
    assert!(full.runs_in("packed") && !full.runs_in("other"));
    let arguments = json!({
        "path": "{world}/a", "count": 3, "large": u64::MAX, "ratio": 0.5, "deep": {"list": [true, "x", {"y": []}]},
    });
    assert_eq!(full.arguments, object(arguments));
}

#[test]
fn arguments_may_be_json_for_what_toml_cannot_say() {
    let text = "[[case]]\nname = 'n'\ntool = 't'\narguments = '{\"from\": null, \"at\": \"{world}\"}'\n";
    let case = read(text).unwrap().cases.remove(0);
    assert_eq!(case.arguments, object(json!({"from": null, "at": "{world}"})));
}

#[test]
fn placeholders_are_filled_in_wherever_a_string_stands_and_only_once() {
    let text = r#"
        [[case]]
        name = "n"
        tool = "t"
        [case.arguments]
        a = "{world}/x and {listener}/y, {other}"
        b = [{ c = "file://{world}" }]
        d = 1
    "#;
    let case = read(text).unwrap().cases.remove(0);
    assert!(case.needs_listener());
    let places = Places { world: "/w/{listener}", listener: "http://127.0.0.1:1" };
    let filled = json!({
        "a": "/w/{listener}/x and http://127.0.0.1:1/y, {other}", "b": [{"c": "file:///w/{listener}"}], "d": 1,
    });
    assert_eq!(case.arguments_at(&places), object(filled));

    let literal = read(&text.replace("name =", "literal = true\n name =")).unwrap().cases.remove(0);
    assert!(!literal.needs_listener());
    assert_eq!(literal.arguments_at(&places), case.arguments);
}

#[test]
fn a_case_is_checked_against_the_tools_and_worlds_that_there_are() {
    let file = read("tool = 'delete_branhc'\n\n[[case]]\nname = 'n'\nworlds = ['dmeo']\n").unwrap();
    let there = tools(&[("delete_branch", json!({})), ("list_branches", json!({}))]);
    let error = file.check(&there, &["demo"]).unwrap_err();
    assert_eq!((error.line, error.key.as_deref()), (Some(3), Some("tool")));
    assert!(error.text.contains("`delete_branhc`; did you mean `delete_branch`?"), "{error}");

    let there = tools(&[("delete_branhc", json!({}))]);
    let error = file.check(&there, &["demo", "packed"]).unwrap_err();
    assert_eq!((error.line, error.key.as_deref()), (Some(3), Some("case.worlds")));
    assert!(error.text.contains("`dmeo`; did you mean `demo`?"), "{error}");
    file.check(&there, &["dmeo"]).unwrap();

    let error = file.check(&[], &[]).unwrap_err();
    assert!(error.text.contains("no other"), "{error}");
    let error = file.check(&tools(&[("a", json!({})), ("b", json!({}))]), &[]).unwrap_err();
    assert!(error.text.contains("there are `a`, `b`"), "{error}");
}

/// The answers are written in lower case wherever they stand.
#[test]
fn answers_and_endings_have_one_spelling() {
    for (answer, text) in [(Answer::Accept, "accept"), (Answer::Decline, "decline"), (Answer::Cancel, "cancel")] {
        assert_eq!(serde_json::to_value(answer).unwrap(), text);
        assert_eq!(serde_json::from_value::<Answer>(json!(text)).unwrap(), answer);
        let file = read(&format!("[[case]]\nname='n'\ntool='t'\nanswers=['{text}']\n")).unwrap();
        assert_eq!(file.cases[0].answers, [answer]);
    }
    for (expect, text) in [(Expect::Success, "success"), (Expect::Refused, "refused"), (Expect::Any, "any")] {
        assert_eq!(serde_json::to_value(expect).unwrap(), text);
        let file = read(&format!("[[case]]\nname='n'\ntool='t'\nexpect='{text}'\n")).unwrap();
        assert_eq!(file.cases[0].expect, expect);
    }
}

#[test]
fn an_ending_is_met_by_the_replies_that_it_names() {
    use candor::verify::Reply;
    let refused = Reply::Refused { text: String::new() };
    let error = Reply::Error { code: -32602, message: String::new() };
    for (expect, met) in [
        (Expect::Success, [true, false, false]),
        (Expect::Refused, [false, true, true]),
        (Expect::Any, [true, true, true]),
    ] {
        assert_eq!([&Reply::Success, &refused, &error].map(|reply| expect.is_met(reply)), met, "{expect:?}");
    }
}

/// The example at the top of `case.rs` is the first thing that users copy.
#[test]
fn the_example_of_the_documentation_can_be_read() {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verify/case.rs")).unwrap();
    let docs: Vec<_> = source.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let docs = docs.join("\n");
    let (_, rest) = docs.split_once("```toml").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let file = read(example).unwrap();
    assert_eq!(file.cases.len(), 2);
    assert_eq!(file.cases[1].arguments, object(json!({"branch": "feature/search"})));
}
