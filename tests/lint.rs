//! The lint: the six questions, near misses, and what directories demand.

use candor::{
    hints::DeclaredTool,
    verify::{Definition, Finding, Level, Rule, lint},
};
use serde_json::{Value, json};

use crate::judge::samples::{hints, raw, tool};

fn found(tool: &DeclaredTool) -> Vec<Finding> {
    lint(std::slice::from_ref(tool), Definition::Mcp)
}

fn of(rule: Rule, tool: &DeclaredTool) -> Vec<Finding> {
    found(tool).into_iter().filter(|finding| finding.rule == rule).collect()
}

fn with_schema(properties: &Value) -> DeclaredTool {
    let schema = json!({"type": "object", "properties": properties});
    raw(&format!(r#""name":"manage","title":"Manage","description":"Manages.","inputSchema":{schema}"#))
}

#[test]
fn candors_own_tools_leave_nothing_to_say_under_any_definition() {
    let (_, tools) = candor_tools::inventory();
    let list = serde_json::to_vec(&json!({"tools": tools})).unwrap();
    let (tools, _) = candor::hints::read_list(&list).unwrap();
    for definition in Definition::ALL {
        let found = lint(&tools, definition);
        // `fetch_report` reads in its name and writes in its effect, and that is what it teaches.
        let ids: Vec<_> = found.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(ids, ["fetch_report/name"], "{found:?}");
        assert_eq!(found[0].level, Level::Note);
    }
}

#[test]
fn a_title_is_there_equal_and_in_words() {
    let titled = |members: &str| of(Rule::Title, &raw(&format!(r#""name":"list_items"{members}"#)));
    for missing in ["", r#","title":"""#, r#","title":"  ""#, r#","title":null"#, r#","annotations":{"title":""}"#] {
        assert!(titled(missing)[0].text.starts_with("no title"), "{missing}");
    }
    for fine in [r#","title":"List items""#, r#","annotations":{"title":"List items"}"#, r#","title":"Items""#] {
        assert_eq!(titled(fine), [], "{fine}");
    }
    for symbol in ["list_items", "listItems", "items.list", "List-Items"] {
        let found = titled(&format!(r#","title":"{symbol}""#));
        assert!(found[0].text.contains("name for programs"), "{symbol}: {found:?}");
    }
    let differs = titled(r#","title":"List items","annotations":{"title":"Items\u202e"}"#);
    assert_eq!(differs[0].id, "list_items/title/differs");
    assert!(differs[0].text.contains("`Items\\u{202e}`"), "{}", differs[0].text);
    assert!(titled(r#","title":"Safe \u001b[31m""#)[0].text.contains("can't be seen"));
    assert!(titled(r#","title":"Safe \u202e tool""#)[0].text.contains("can't be seen"));
    assert!(titled(&format!(r#","title":"{}""#, "word ".repeat(20)))[0].text.contains("long"));
}

#[test]
fn hints_that_are_not_said_are_named_with_their_defaults() {
    assert_eq!(of(Rule::Explicit, &hints("t", "tftf")), []);
    // What is malformed is the judge's to say.
    assert_eq!(of(Rule::Explicit, &hints("t", "xftf")), []);
    let text = &of(Rule::Explicit, &hints("t", "t-t-"))[0].text;
    assert!(text.contains("`destructiveHint` (true by default), `openWorldHint` (true by default)"), "{text}");
    let broken = raw(r#""name":"t","annotations":[]"#);
    assert!(of(Rule::Explicit, &broken)[0].text.contains("no object: []"));
}

#[test]
fn contradictions_are_named() {
    assert_eq!(of(Rule::Contradiction, &hints("t", "tttf"))[0].level, Level::Warning);
    assert_eq!(of(Rule::Contradiction, &hints("t", "tfff"))[0].level, Level::Note);
    for letters in ["tftf", "ftff", "fftf", "t---", "----"] {
        assert_eq!(of(Rule::Contradiction, &hints("t", letters)), [], "{letters}");
    }
}

#[test]
fn the_description_carries_the_warning() {
    let described = |letters: &str, text: &str| {
        let mut tool = hints("t", letters);
        text.clone_into(&mut tool.description);
        of(Rule::Description, &tool).into_iter().map(|finding| finding.id).collect::<Vec<_>>()
    };
    assert_eq!(described("ftff", "Manages branches."), ["t/description/destructive"]);
    assert_eq!(described("ftff", "Deletes a branch."), [""; 0]);
    assert_eq!(described("ftff", "Saves; the old text cannot be recovered."), [""; 0]);
    assert_eq!(described("tttf", "Lists branches."), [""; 0], "read-only first: that is a contradiction");
    assert_eq!(described("f---", "Manages branches."), [""; 0], "a default warns of nothing");
    assert_eq!(described("tftt", "Eats a pineapple."), ["t/description/open-world"]);
    assert_eq!(described("tftt", "Fetches a web page."), [""; 0]);
    assert_eq!(described("ffff", ""), ["t/description"]);
}

#[test]
fn a_parameter_that_picks_the_risk_is_named_with_the_split_to_make() {
    let split = |properties: Value| of(Rule::ModeParameter, &with_schema(&properties));
    let found = split(json!({"method": {"enum": ["get", "list", "create", "delete"]}}));
    assert_eq!((found[0].id.as_str(), found[0].level), ("manage/mode-parameter/method", Level::Warning));
    let text = &found[0].text;
    assert!(
        text.contains("one that reads (`get`, `list`), one that adds (`create`), one that destroys (`delete`)"),
        "{text}"
    );
    // Whatever the parameter's name and wherever the list stands.
    for schema in [
        json!({"enum": ["READ_ALL", "deleteAll"]}),
        json!({"anyOf": [{"const": "read"}, {"const": "delete"}, {"type": "null"}]}),
        json!({"type": "array", "items": {"type": "object", "properties": {"op": {"enum": ["get", "remove"]}}}}),
        json!({"type": "object", "properties": {"deep": {"oneOf": [{"enum": ["get"]}, {"enum": ["drop"]}]}}}),
    ] {
        assert_eq!(split(json!({"kind": schema.clone()})).len(), 1, "{schema}");
    }
    for flag in ["force", "overwrite", "Overwrite", "dry_run", "dryRun", "dry-run", "upsert", "purge"] {
        for kind in
            [json!({"type": "boolean"}), json!({"type": ["boolean", "null"]}), json!({"anyOf": [{"type": "boolean"}]})]
        {
            let found = split(json!({flag: kind}));
            assert_eq!(found.first().map(|finding| finding.level), Some(Level::Warning), "{flag}");
        }
    }
    // A choice among equals may be harmless, and so may free text.
    for (name, schema) in [
        ("mode", json!({"enum": ["compact", "full"]})),
        ("action", json!({"enum": ["get", "list"]})),
        ("operation", json!({"type": "string"})),
    ] {
        let found = split(json!({name: schema}));
        assert_eq!(found.first().map(|finding| finding.level), Some(Level::Note), "{name}");
    }
    for (name, schema) in [
        ("order", json!({"enum": ["ascending", "descending"]})),
        ("name", json!({"type": "string"})),
        ("force", json!({"type": "number"})),
        ("verbose", json!({"type": "boolean"})),
        ("mode", json!({"const": "full"})),
    ] {
        assert_eq!(split(json!({name: schema})), [], "{name}");
    }
}

#[test]
fn references_are_followed_and_loops_end() {
    let schema = |schema: Value| of(Rule::ModeParameter, &raw(&format!(r#""name":"t","inputSchema":{schema}"#)));
    let referred = json!({
        "properties": {"what": {"$ref": "#/$defs/what"}},
        "$defs": {"what": {"$ref": "#/$defs/inner"}, "inner": {"enum": ["read", "erase"]}},
    });
    assert_eq!(schema(referred).len(), 1);
    let many: Vec<Value> = (0..200).map(|_| json!({"$ref": "#"})).collect();
    let looped = json!({
        "anyOf": many, "allOf": [{"$ref": "#"}], "items": {"$ref": "#"},
        "properties": {"op": {"$ref": "#/properties/op"}, "a": {"$ref": "#"}, "b": {"anyOf": [{"$ref": "#"}, {"$ref": "#/items"}]}},
    });
    assert_eq!(schema(looped), []);
    for odd in
        [json!(null), json!(true), json!([]), json!({"properties": []}), json!({"properties": {"a": 7, "b": null}})]
    {
        assert_eq!(schema(odd), []);
    }
}

#[test]
fn a_name_that_denies_the_hints_is_named() {
    let named = |name: &str, letters: &str| of(Rule::Name, &hints(name, letters)).first().map(|finding| finding.level);
    let table = [
        ("delete_branch", "tftf", Some(Level::Warning)),
        ("deleteBranch", "tftf", Some(Level::Warning)),
        ("branch.remove", "t---", Some(Level::Warning)),
        ("db-drop-table", "fftf", Some(Level::Warning)),
        ("update_note", "fftf", Some(Level::Warning)),
        ("create_note", "tftf", Some(Level::Warning)),
        ("post_get", "tftf", Some(Level::Note)),
        ("list_notes", "fftf", Some(Level::Note)),
        ("fetch_url", "tftf", Some(Level::Note)),
        ("delete_branch", "fttf", None),
        ("delete_branch", "----", None),
        ("list_deleted", "tftf", None),
        ("get_update", "tftf", None),
        ("create_note", "fftf", None),
        ("fetch_url", "tftt", None),
        ("undelete", "fftf", None),
        ("löschen", "tftf", None),
        ("_", "tftf", None),
    ];
    for (name, letters, level) in table {
        assert_eq!(named(name, letters), level, "{name} {letters}");
    }
}

#[test]
fn keys_that_were_meant_to_be_hints_are_named_with_the_right_one() {
    for (key, meant) in [
        ("read_only_hint", "readOnlyHint"),
        ("readonlyHint", "readOnlyHint"),
        ("readOnly", "readOnlyHint"),
        ("ReadOnlyHint ", "readOnlyHint"),
        ("destructive", "destructiveHint"),
        ("destructivHint", "destructiveHint"),
        ("idempotentHints", "idempotentHint"),
        ("idempotantHint", "idempotentHint"),
        ("open-world", "openWorldHint"),
    ] {
        let found = of(Rule::NearMiss, &tool("t", &format!(r#""{key}":true"#)));
        assert!(found[0].text.ends_with(&format!("the key is `{meant}`")), "{key}: {found:?}");
    }
    for other in ["title", "audience", "priority", "x", "", "hint", "readable", "openWorldHint"] {
        assert_eq!(of(Rule::NearMiss, &tool("t", &format!(r#""{other}":true"#))), [], "{other}");
    }
}

#[test]
fn directories_get_what_they_demand() {
    let demanded = |definition, tool: &DeclaredTool| {
        let found = lint(std::slice::from_ref(tool), definition);
        let parts = found.into_iter().filter(|finding| finding.rule == Rule::Directory);
        parts.map(|finding| finding.id.rsplit('/').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let bare = raw(r#""name":"t""#);
    assert_eq!(demanded(Definition::Mcp, &bare), [""; 0]);
    assert_eq!(demanded(Definition::OpenaiDirectory, &bare), ["readOnlyHint", "destructiveHint", "openWorldHint"]);
    assert_eq!(demanded(Definition::AnthropicDirectory, &bare), ["readOnlyHint", "destructiveHint", "title"]);
    assert_eq!(demanded(Definition::OpenaiDirectory, &hints("t", "t--x")), ["destructiveHint", "openWorldHint"]);
    assert_eq!(demanded(Definition::AnthropicDirectory, &hints("t", "t---")), [""; 0]);
    assert_eq!(demanded(Definition::AnthropicDirectory, &hints("t", "f---")), ["destructiveHint"]);
    assert_eq!(demanded(Definition::OpenaiDirectory, &hints("t", "ff-f")), [""; 0]);
    let request = with_schema(&json!({"verb": {"enum": ["GET", "delete"]}}));
    assert!(demanded(Definition::AnthropicDirectory, &request).contains(&"methods".to_owned()));
}
