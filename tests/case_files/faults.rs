//! Each fault of a case file is told with its place and the next step.

use std::{fs, path::Path};

use candor::verify::case;

use super::read;

/// Line, key and words of the fault in a file.
#[track_caller]
fn assert_fault(text: &str, line: usize, key: &str, words: &[&str]) {
    let error = match read(text) {
        Err(error) => error,
        Ok(file) => panic!("{text:?} was taken: {file:?}"),
    };
    assert_eq!((error.line, error.key.as_deref().unwrap_or("")), (Some(line), key), "{text:?}: {error}");
    let shown = error.to_string();
    for word in words.iter().chain(&["case file `", "cases.toml`"]) {
        assert!(shown.contains(word), "{text:?} lacks {word:?}: {shown}");
    }
    assert!(!shown.chars().any(char::is_control) && shown.len() < 900, "{shown:?}");
}

/// A case with one more line, which stands on line 4.
fn case(line: &str) -> String {
    format!("[[case]]\ntool = \"t\"\nname = \"n\"\n{line}\n")
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    assert_fault("[[case]\n", 1, "", &["toml.io"]);
    assert_fault(&case("name = \"again\""), 4, "", &["duplicate key"]);
    assert_fault(&case("arguments = {"), 4, "", &[]);
    assert_fault(&case("worlds = [\"a\" \"b\"]"), 4, "", &[]);
    assert_fault("\u{0}", 1, "", &[]);
    assert_fault(&format!("[[case]]\na = {}1{}\n", "[".repeat(5_000), "]".repeat(5_000)), 2, "", &[]);
}

#[test]
fn unknown_keys_are_told_with_what_was_meant() {
    assert_fault("tools = \"t\"\n", 1, "tools", &["did you mean `tool`?"]);
    assert_fault("[[cases]]\n", 1, "cases", &["did you mean `case`?"]);
    assert_fault("\n\n[server]\nx = 1\n", 3, "server", &["there are `tool`, `case`"]);
    assert_fault(&case("argument = {}"), 4, "case.argument", &["did you mean `arguments`?"]);
    assert_fault(&case("Answers = []"), 4, "case.Answers", &["did you mean `answers`?"]);
    assert_fault(&case("idempotent = true"), 4, "case.idempotent", &["there are `name`, `tool`"]);
    assert_fault(&case("zz = 1\naa = 2"), 4, "case.zz", &["`zz`"]);
    assert_fault(&case("\"a\\u001b[31m\" = 1"), 4, "case.a\\u{1b}[31m", &[]);
}

#[test]
fn values_of_the_wrong_type_are_told_with_what_to_write() {
    assert_fault("tool = 1\n[[case]]\n", 1, "tool", &["an integer", "text in quotes"]);
    assert_fault("tool = \"t\"\ncase = 7\n", 2, "case", &["[[case]]"]);
    assert_fault("tool = \"t\"\ncase = [1]\n", 2, "case", &["an integer", "[[case]]"]);
    assert_fault("tool = \"t\"\n[case]\nname = \"n\"\n", 2, "case", &["two brackets"]);
    assert_fault(&case("arguments = 3"), 4, "case.arguments", &["an integer", "table"]);
    assert_fault(&case("arguments = [{}]"), 4, "case.arguments", &["a list", "table"]);
    assert_fault(&case("arguments = '[]'"), 4, "case.arguments", &["no JSON object"]);
    assert_fault(&case("arguments = '{\"a\": }'"), 4, "case.arguments", &["no JSON object", "column"]);
    assert_fault(&case("worlds = \"demo\""), 4, "case.worlds", &["a text", "[\"demo\"]"]);
    assert_fault(&case("worlds = [true]"), 4, "case.worlds", &["a boolean"]);
    assert_fault(&case("answers = {accept = true}"), 4, "case.answers", &["a table"]);
    assert_fault(&case("expect = true"), 4, "case.expect", &["a boolean"]);
    assert_fault(&case("literal = \"yes\""), 4, "case.literal", &["`true`"]);
    assert_fault(&case("arguments = { at = 2026-03-02 }"), 4, "case.arguments.at", &["no dates", "quotes"]);
    assert_fault(&case("arguments = { n = inf }"), 4, "case.arguments.n", &["finite"]);
    assert_fault(&case("arguments = { n = nan }"), 4, "case.arguments.n", &["finite"]);
    assert_fault(&case("arguments = { n = 18446744073709551616 }"), 4, "case.arguments.n", &["64 bits", "JSON"]);
    assert_fault(&case("arguments = { a = [{ b = 1979-05-27 }] }"), 4, "case.arguments.a[0].b", &["no dates"]);
}

#[test]
fn values_that_say_nothing_or_something_else_are_refused() {
    assert_fault("", 1, "case", &["no case", "[[case]]"]);
    assert_fault("tool = \"t\"\n", 1, "case", &["no case"]);
    assert_fault("tool = \"t\"\ncase = []\n", 2, "case", &["add one"]);
    assert_fault("[[case]]\ntool = \"t\"\n", 1, "case.name", &["no name"]);
    assert_fault("\n[[case]]\nname = \"n\"\n", 2, "case.tool", &["names no tool"]);
    assert_fault("tool = \"\"\n[[case]]\n", 1, "tool", &["empty"]);
    assert_fault("[[case]]\ntool = \"t\"\nname = \"  \"\n", 3, "case.name", &["empty"]);
    assert_fault("[[case]]\ntool = \"t\"\nname = \"a\\nb\"\n", 3, "case.name", &["one line"]);
    assert_fault(&format!("[[case]]\ntool = \"t\"\nname = \"{}\"\n", "a".repeat(121)), 3, "case.name", &["120"]);
    assert_fault(&case("worlds = []"), 4, "case.worlds", &["empty", "leave the key out"]);
    assert_fault(&case("worlds = [\"a\", \"a\"]"), 4, "case.worlds", &["`a`", "twice"]);
    assert_fault(&case("answers = []"), 4, "case.answers", &["empty"]);
    assert_fault(&case("answers = [\"accept\",\n\"accept\"]"), 5, "case.answers", &["twice"]);
    assert_fault(&case("answers = [\"yes\"]"), 4, "case.answers", &["`yes`", "`decline`, `cancel`, `accept`"]);
    assert_fault(&case("answers = [\"Accept\"]"), 4, "case.answers", &["did you mean `accept`?"]);
    assert_fault(&case("expect = \"succes\""), 4, "case.expect", &["did you mean `success`?"]);
    assert_fault(&format!("{0}{0}", case("")), 5, "case.name", &["`n`", "line 1"]);
}

#[test]
fn two_tools_may_have_cases_of_one_name() {
    read(&format!("{}[[case]]\ntool = \"u\"\nname = \"n\"\n", case(""))).unwrap();
}

#[test]
fn a_misspelt_placeholder_is_no_string() {
    for wrong in [
        "{wrold}/a",
        "{World}",
        "{WORLD}/a",
        "{ world }",
        "{wolrd}",
        "{worlds}",
        "{worl}",
        "{{world}}",
        "${world}/a",
        "a{world/b",
        "{world",
        "world}/a",
        "x {listner}/",
        "{Listener}/",
        "{listeners}",
        "{listener/",
        "${listener}",
    ] {
        let text = case(&format!("arguments = {{ a = [{{ b = \"{wrong}\" }}] }}"));
        assert_fault(&text, 4, "case.arguments.a[0].b", &["write `{", "literal = true"]);
        let text = case(&format!("arguments = '{{\"a\": \"{wrong}\"}}'"));
        assert_fault(&text, 4, "case.arguments", &["write `{"]);
        read(&case(&format!("literal = true\narguments = {{ a = \"{wrong}\" }}"))).unwrap();
    }
    for right in [
        "{world}",
        "{world}/{name}",
        "a{world}b",
        "{}",
        "{{name}}",
        "${HOME}",
        "{\\\"world\\\": 1}",
        "{",
        "}",
        "{{",
        "hello world",
        "my_world}",
        "{listener}/a?b={c}",
        "{world}{world}",
        "{hello world}",
        "{dead}",
    ] {
        let file = read(&case(&format!("arguments = {{ a = \"{right}\" }}")));
        assert!(file.is_ok(), "{right}: {}", file.unwrap_err());
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let error = |path: &Path| case::read(path).unwrap_err();

    let missing = error(&at("missing.toml"));
    assert!(missing.to_string().contains("missing.toml`: "), "{missing}");
    assert_eq!((missing.line, &missing.key), (None, &None));
    assert!(error(dir.path()).text.contains("not a file"));

    fs::write(at("large.toml"), vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(error(&at("large.toml")).text.contains("1048576 bytes; split"));
    let mut full = case("").into_bytes();
    full.resize(1 << 20, b'#');
    fs::write(at("full.toml"), full).unwrap();
    case::read(&at("full.toml")).unwrap();

    fs::write(at("latin.toml"), b"[[case]]\ntool = \"t\"\nname = \"caf\xe9\"\n").unwrap();
    let latin = error(&at("latin.toml"));
    assert_eq!(latin.line, Some(3));
    assert!(latin.text.contains("UTF-8"), "{latin}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(status.success());
    assert!(case::read(&pipe).unwrap_err().text.contains("not a file"));
}
