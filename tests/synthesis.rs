//! Cases that nobody wrote: from schemas, worlds and earlier results.

mod ours;
mod schemas;
mod world;

use std::collections::BTreeSet;

use candor::{
    hints::{DeclaredTool, read_list},
    verify::{
        Case,
        case::{parse, suggest},
        synthesis::{Branch, CASES, Inventory, order, synthesise},
    },
};
use serde_json::{Map, Value, json};

fn list(tools: &Value) -> Vec<DeclaredTool> {
    read_list(json!({"tools": tools}).to_string().as_bytes()).unwrap().0
}

fn tool(name: &str, schema: &Value) -> DeclaredTool {
    list(&json!([{"name": name, "inputSchema": schema}])).remove(0)
}

/// The arguments that are synthesised for a schema in an empty world.
#[track_caller]
fn made(schema: &Value) -> Vec<Map<String, Value>> {
    made_in(&Inventory::default(), schema)
}

#[track_caller]
fn made_in(world: &Inventory, schema: &Value) -> Vec<Map<String, Value>> {
    let cases = synthesise(&tool("tool", schema), world, &[]).unwrap_or_else(|why| panic!("{schema}: {why}"));
    assert_fit(&cases, schema);
    cases.into_iter().map(|case| case.arguments).collect()
}

/// Every case is valid against its schema, none stands there twice, and there are not too many.
#[track_caller]
fn assert_fit(cases: &[Case], schema: &Value) {
    assert!(!cases.is_empty() && cases.len() <= CASES, "{} cases for {schema}", cases.len());
    let validator = jsonschema::validator_for(schema).unwrap();
    let mut seen = BTreeSet::new();
    for (case, number) in cases.iter().zip(1..) {
        let arguments = Value::Object(case.arguments.clone());
        if let Err(error) = validator.validate(&arguments) {
            panic!("{arguments} for {schema}: {error}");
        }
        assert!(seen.insert(arguments.to_string()), "{arguments} twice for {schema}");
        assert_eq!(case.name, format!("synthesised-{number}"));
    }
}

/// The values that a parameter gets, in order, each once.
fn values(rows: &[Map<String, Value>], name: &str) -> Vec<Value> {
    let mut values = Vec::new();
    for value in rows.iter().filter_map(|row| row.get(name)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

#[test]
fn hints_and_titles_change_neither_cases_nor_order() {
    let tools = serde_json::to_value(candor_tools::inventory().1).unwrap();
    let with = |annotations: Option<&Value>, title: Option<&str>| {
        let mut tools = tools.clone();
        for tool in tools.as_array_mut().unwrap() {
            let tool = tool.as_object_mut().unwrap();
            tool.remove("annotations");
            tool.remove("title");
            tool.extend(annotations.map(|value| ("annotations".to_owned(), value.clone())));
            tool.extend(title.map(|title| ("title".to_owned(), json!(title))));
        }
        list(&tools)
    };
    let dir = tempfile::tempdir().unwrap();
    candor::serve::demo::lay_out(&dir.path().join("world")).unwrap();
    let world = Inventory::of(dir.path()).unwrap();
    let known = [json!({"structuredContent": {"branches": [{"name": "a", "head": "0".repeat(40)}]}})];
    let seen = |tools: &[DeclaredTool]| {
        let cases: Vec<_> = tools.iter().map(|tool| synthesise(tool, &world, &known)).collect();
        (order(tools), cases, suggest(tools, &world))
    };
    let expected = seen(&list(&tools));
    let flipped = |read_only: Value, other: Value| {
        json!({
            "title": "Delete everything", "readOnlyHint": read_only, "destructiveHint": other,
            "idempotentHint": other, "openWorldHint": other,
        })
    };
    for annotations in [
        None,
        Some(json!({})),
        Some(json!(null)),
        Some(flipped(json!(true), json!(false))),
        Some(flipped(json!(false), json!(true))),
        Some(flipped(json!(null), json!("yes"))),
    ] {
        for title in [None, Some("Delete everything"), Some("Read")] {
            assert!(seen(&with(annotations.as_ref(), title)) == expected, "{annotations:?} {title:?}");
        }
    }
}

#[test]
fn those_that_require_nothing_come_first_then_those_that_require_least() {
    let needs = |required: &Value| {
        json!({"type": "object", "required": required, "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}, "mode": {"enum": ["x", "y"]}, "flag": {"type": "boolean"},
            "n": {"type": "integer", "default": 3},
        }})
    };
    let tools = list(&json!([
        {"name": "two", "inputSchema": needs(&json!(["a", "b"]))},
        {"name": "one", "inputSchema": needs(&json!(["b"]))},
        {"name": "none", "inputSchema": needs(&json!([]))},
        {"name": "one-again", "inputSchema": needs(&json!(["a", "mode"]))},
        {"name": "resolved", "inputSchema": needs(&json!(["mode", "flag", "n"]))},
        {"name": "bare", "inputSchema": {"type": "object"}},
        {"name": "broken"},
        {"name": "unlisted", "inputSchema": {"required": ["x", "y", "z"]}},
    ]));
    let names: Vec<_> = order(&tools).into_iter().map(|at| tools[at].name.as_str()).collect();
    assert_eq!(names, ["none", "bare", "broken", "resolved", "one", "one-again", "two", "unlisted"]);
    assert!(order(&[]).is_empty());
}

#[test]
fn what_earlier_calls_returned_feeds_the_arguments_of_later_ones() {
    let schema = |name: &str| json!({"type": "object", "required": [name], "properties": {name: {"type": "string"}}});
    let listing = json!({"structuredContent": {"notes": [{"name": "x.md", "bytes": 3}, {"name": "y.md", "bytes": 4}]}});
    // A server without structured content says the same as JSON in a text.
    let text =
        json!({"content": [{"type": "text", "text": "{\"notes\": [{\"name\": \"x.md\"}, {\"name\": \"y.md\"}]}"}]});
    let bare = json!({"notes": ["x.md", "y.md"]});
    for result in [&listing, &text, &bare] {
        for (tool_name, parameter) in [
            ("read_note", "name"),
            ("readNote", "name"),
            ("show", "note"),
            ("show", "noteName"),
            ("show", "target_note"),
        ] {
            if result == &bare && parameter == "noteName" {
                continue; // the strings of a list have no names of their own
            }
            let schema = schema(parameter);
            let known = [json!({"people": [{"name": "Ada"}]}), result.clone()];
            let cases = synthesise(&tool(tool_name, &schema), &Inventory::default(), &known).unwrap();
            assert_fit(&cases, &schema);
            let values: Vec<_> = cases.iter().map(|case| case.arguments[parameter].clone()).collect();
            assert_eq!(values[0], "x.md", "{tool_name} {parameter} {result}: {values:?}");
            assert!(values.contains(&json!("y.md")), "{tool_name} {parameter}: {values:?}");
            assert!(values.contains(&json!("candor-new")), "one that is not there: {values:?}");
        }
    }
}

#[test]
fn values_that_stood_together_stay_together() {
    let oid = |digit: &str| digit.repeat(40);
    let schema = json!({"type": "object", "required": ["branch"], "properties": {
        "branch": {"type": "string"}, "expected_head": {"type": ["string", "null"], "pattern": "^[0-9a-f]{40}$"},
    }});
    let world = Inventory {
        branches: vec![Branch { name: "one".into(), head: oid("1") }, Branch { name: "two".into(), head: oid("2") }],
        ..Inventory::default()
    };
    let rows = made_in(&world, &schema);
    for (branch, digit) in [("one", "1"), ("two", "2")] {
        let set = json!({"branch": branch, "expected_head": oid(digit)});
        assert!(rows.contains(set.as_object().unwrap()), "{branch}: {rows:?}");
    }
    assert_eq!(rows[0], *json!({"branch": "one"}).as_object().unwrap(), "what is required, and nothing else");
}

#[test]
fn a_suggestion_is_a_case_file() {
    let dir = tempfile::tempdir().unwrap();
    candor::serve::demo::lay_out(&dir.path().join("world")).unwrap();
    let world = Inventory::of(&dir.path().join("world")).unwrap();
    let tools = list(&json!([
        {"name": "no \"tool\"\nx", "inputSchema": 5},
        {"name": "nulls", "inputSchema": {"type": "object", "required": ["a"], "properties": {"a": {"type": "null"}}}},
        {"name": "large", "inputSchema": {"required": ["a"], "properties": {"a": {"const": u64::MAX}}}},
        {"name": "braces", "inputSchema": {"required": ["a"], "properties": {"a": {"enum": ["{wrold}", "{world}", "ok"]}}}},
        {"name": "deep", "inputSchema": {"required": ["a"], "properties": {"a": {"const": {"b": [{"c": []}, {"d": 1.5}]}}}}},
        {"name": "quotes", "inputSchema": {"required": ["a b"], "properties": {"a b": {"const": "\"'''\n\u{7f}\\"}}}},
    ]));
    let text = suggest(&tools, &world);
    let file = parse("suggested.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    file.check(&tools, &[]).unwrap();
    let arguments = |name: &str| -> Vec<_> {
        file.cases.iter().filter(|case| case.tool == name).map(|case| Value::Object(case.arguments.clone())).collect()
    };
    assert_eq!(arguments("nulls"), [json!({"a": null})]);
    assert_eq!(arguments("large"), [json!({"a": u64::MAX})]);
    assert_eq!(arguments("deep"), [json!({"a": {"b": [{"c": []}, {"d": 1.5}]}})]);
    assert_eq!(arguments("quotes"), [json!({"a b": "\"'''\n\u{7f}\\"})]);
    assert_eq!(arguments("braces"), [json!({"a": "{wrold}"}), json!({"a": "{world}"}), json!({"a": "ok"})]);
    assert!(text.contains("# No case for `no \"tool\"\\nx`: its `inputSchema` is not an object"), "{text}");

    let tools = super::case_files::declared();
    let text = suggest(&tools, &world);
    let file = parse("suggested.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for tool in &tools {
        let written: Vec<_> = file.cases.iter().filter(|case| case.tool == tool.name).cloned().collect();
        let plain = |case: Case| (case.name, case.arguments, case.answers, case.literal);
        let synthesised = synthesise(tool, &world, &[]).unwrap();
        assert_eq!(
            written.into_iter().map(plain).collect::<Vec<_>>(),
            synthesised.into_iter().map(plain).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_statement_that_destroys_is_tried_without_parameters_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    candor::serve::demo::lay_out(&dir.path().join("world")).unwrap();
    let world = Inventory::of(&dir.path().join("world")).unwrap();
    let execute = super::case_files::declared().into_iter().find(|tool| tool.name == "execute").unwrap();
    let rows = made_in(&world, &execute.input_schema);
    for sql in [
        "UPDATE \"order_lines\" SET \"quantity\" = \"quantity\" + 1",
        "DELETE FROM \"order_lines\"",
        "DROP TABLE \"comment\"",
    ] {
        assert!(rows.contains(json!({"sql": sql}).as_object().unwrap()), "{sql}: {rows:#?}");
    }
    assert!(rows.iter().any(|row| row.contains_key("params")));
}

#[test]
fn one_thing_may_be_told_by_its_relation_to_another() {
    let world = Inventory {
        branches: vec![
            Branch { name: "one".into(), head: "1".repeat(40) },
            Branch { name: "two".into(), head: "2".repeat(40) },
        ],
        ..Inventory::default()
    };
    let schema = json!({"type": "object", "required": ["branch"], "properties": {
        "branch": {"type": "string"}, "from": {"type": "string"}, "cursor": {"type": "string"},
    }});
    let known = [json!({"branches": [], "next_cursor": "bmV4dA"})];
    let cases = synthesise(&tool("create_branch", &schema), &world, &known).unwrap();
    assert_fit(&cases, &schema);
    let rows: Vec<_> = cases.into_iter().map(|case| case.arguments).collect();
    assert_eq!(values(&rows, "from"), ["one", "candor-new", "two"]);
    assert!(values(&rows, "cursor").contains(&json!("bmV4dA")), "{rows:?}");
    assert!(rows.iter().any(|row| row["branch"] == "candor-new" && row.get("from") == Some(&json!("one"))), "{rows:?}");
}
