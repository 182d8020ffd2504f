//! Hints are read from the bytes: what a typed model would merge, coerce or drop is kept apart.

use candor::hints::{Annotations, DeclaredTool, Hint, HintName, ListError, read_list};

fn tool(annotations: &str) -> DeclaredTool {
    let list = format!(r#"{{"tools":[{{"name":"t","inputSchema":{{}}{annotations}}}]}}"#);
    read_list(list.as_bytes()).unwrap().0.remove(0)
}

fn read_only(value: &str) -> Hint {
    tool(&format!(r#","annotations":{{{value}}}"#)).hint(HintName::ReadOnly).clone()
}

#[test]
fn absent_true_false_and_nonsense_are_kept_apart() {
    assert_eq!(read_only(""), Hint::Absent);
    assert_eq!(read_only(r#""readOnlyHint":true"#), Hint::Is(true));
    assert_eq!(read_only(r#""readOnlyHint": false "#), Hint::Is(false));
    for value in ["null", "\"true\"", "\"yes\"", "1", "0", "[true]", "{}", "1e400", "\"\""] {
        assert_eq!(
            read_only(&format!(r#""readOnlyHint":{value}"#)),
            Hint::Malformed(value.replace('"', "\\\"")),
            "{value}"
        );
    }
    for (one, other) in [("true", "true"), ("true", "false"), ("false", "null")] {
        let Hint::Malformed(found) = read_only(&format!(r#""readOnlyHint":{one},"readOnlyHint":{other}"#)) else {
            panic!("{one} {other}");
        };
        assert!(found.contains(one) && found.contains(other), "{found}");
    }
}

#[test]
fn a_key_that_only_looks_like_a_hint_is_unknown() {
    let tool = tool(r#","annotations":{"read_only_hint":true,"readonlyHint":true,"readOnlyHint ":true,"title":"T"}"#);
    assert!(HintName::ALL.iter().all(|hint| *tool.hint(*hint) == Hint::Absent));
    assert_eq!(tool.unknown, ["read_only_hint", "readonlyHint", "readOnlyHint "]);
    assert_eq!(tool.annotations_title.as_deref(), Some("T"));
}

#[test]
fn annotations_that_are_no_object_leave_every_hint_absent() {
    assert_eq!(tool("").annotations, Annotations::Absent);
    assert_eq!(tool(r#","annotations":{}"#).annotations, Annotations::Object);
    for value in ["null", "[]", "true", "\"x\""] {
        let tool = tool(&format!(r#","annotations":{value}"#));
        assert!(matches!(tool.annotations, Annotations::Malformed(_)), "{value}");
        assert_eq!(*tool.hint(HintName::Destructive), Hint::Absent);
    }
    let twice = tool(r#","annotations":{"readOnlyHint":true},"annotations":{"readOnlyHint":true}"#);
    assert!(matches!(twice.annotations, Annotations::Malformed(_)));
}

#[test]
fn defaults_assume_the_worst_and_claim_nothing() {
    let silent = tool("");
    let effective = HintName::ALL.map(|hint| silent.hint(hint).effective(hint));
    assert_eq!(effective, [Some(false), Some(true), Some(false), Some(true)]);
    assert!(HintName::ALL.iter().all(|hint| !silent.claims(*hint)));
    let bold = tool(
        r#","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#,
    );
    assert!(HintName::ALL.iter().all(|hint| bold.claims(*hint)));
    assert_eq!(Hint::Malformed(String::new()).effective(HintName::ReadOnly), None);
}

#[test]
fn read_only_and_destructive_at_once_contradict_each_other() {
    assert!(tool(r#","annotations":{"readOnlyHint":true,"destructiveHint":true}"#).contradicts_itself());
    assert!(!tool(r#","annotations":{"readOnlyHint":true}"#).contradicts_itself());
    assert!(!tool(r#","annotations":{"readOnlyHint":true,"destructiveHint":"true"}"#).contradicts_itself());
}

#[test]
fn two_titles_that_differ_are_noticed() {
    let two = |one: &str, other: &str| tool(&format!(r#","title":"{one}","annotations":{{"title":"{other}"}}"#));
    assert!(two("A", "B").titles_differ());
    assert!(!two("A", "A").titles_differ());
    assert!(!tool(r#","annotations":{"title":"B"}"#).titles_differ());
}

#[test]
fn a_list_that_is_none_says_where() {
    assert!(matches!(read_list(b"{"), Err(ListError::Shape(_))));
    assert!(matches!(read_list(b"{\"tools\":{}}"), Err(ListError::Shape(_))));
    assert!(matches!(read_list(b"{\"tools\":[5]}"), Err(ListError::Shape(_))));
    assert!(matches!(read_list(br#"{"tools":[{"name":"a"},{"name":7}]}"#), Err(ListError::Nameless(2))));
    assert!(matches!(read_list(br#"{"tools":[{"name":"a"},{"name":"a"}]}"#), Err(ListError::Twice(_))));
    let (tools, next) = read_list(br#"{"tools":[],"nextCursor":"x"}"#).unwrap();
    assert!(tools.is_empty());
    assert_eq!(next.as_deref(), Some("x"));
}
