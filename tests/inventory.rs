//! Rules that every tool keeps, over the whole inventory and the source files behind it.

use std::{collections::BTreeSet, fs, path::Path};

use candor_tools::{SCOPE_KEY, Scope, Toolbox, inventory};
use rmcp::model::Tool;
use serde_json::Value;

/// The table of the design, in reading order: what each tool claims and which scope it needs.
#[rustfmt::skip]
const TABLE: [(&str, bool, bool, bool, bool, &str); 15] = [
    // tool, read-only, destructive, idempotent, open-world, scope
    ("list_branches",     true,  false, true,  false, "repo:read"),
    ("create_branch",     false, false, true,  false, "repo:write"),
    ("delete_branch",     false, true,  true,  false, "repo:delete"),
    ("list_notes",        true,  false, true,  false, "notes:read"),
    ("read_note",         true,  false, true,  false, "notes:read"),
    ("create_note",       false, false, true,  false, "notes:write"),
    ("append_note",       false, false, false, false, "notes:write"),
    ("write_note",        false, true,  true,  false, "notes:write"),
    ("describe_database", true,  false, true,  false, "database:read"),
    ("query",             true,  false, true,  false, "database:read"),
    ("insert_rows",       false, false, false, false, "database:write"),
    ("execute",           false, true,  false, false, "database:admin"),
    ("fetch_report",      false, false, false, false, "reports:read"),
    ("post_comment",      false, false, false, false, "reports:write"),
    ("fetch_url",         true,  false, true,  true,  "web:fetch"),
];

fn tools() -> Vec<Tool> {
    inventory().1
}

/// The source file of a tool.
fn source(name: &str) -> String {
    let path = sources().join(format!("{name}.rs"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/src")
}

#[test]
fn the_hints_and_scopes_are_those_of_the_design() {
    let found: Vec<_> = tools()
        .iter()
        .map(|tool| {
            let hints = tool.annotations.clone().unwrap_or_else(|| panic!("{} has no hints", tool.name));
            let said = |hint: Option<bool>| hint.unwrap_or_else(|| panic!("{}: a hint is open", tool.name));
            (
                tool.name.to_string(),
                said(hints.read_only_hint),
                said(hints.destructive_hint),
                said(hints.idempotent_hint),
                said(hints.open_world_hint),
                Scope::of(tool).unwrap_or_else(|| panic!("{} has no scope", tool.name)).to_string(),
            )
        })
        .collect();
    let designed = TABLE.map(|(name, read_only, destructive, idempotent, open_world, scope)| {
        (name.to_owned(), read_only, destructive, idempotent, open_world, scope.to_owned())
    });
    assert_eq!(found, designed);
}

#[test]
fn all_five_fields_are_on_the_wire_and_both_titles_are_equal() {
    for tool in tools() {
        let wire = serde_json::to_value(&tool).unwrap();
        let annotations = wire["annotations"].as_object().unwrap();
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(annotations[hint].is_boolean(), "{}: {hint}", tool.name);
        }
        assert_eq!(annotations.len(), 5, "{}: {annotations:?}", tool.name);
        assert!(!annotations["title"].as_str().unwrap().is_empty());
        assert_eq!(annotations["title"], wire["title"], "{}", tool.name);
    }
}

#[test]
fn names_and_titles_are_unique_and_valid() {
    let mut seen = BTreeSet::new();
    for tool in tools() {
        // SEP-986 allows more; clients that take less take this.
        let plain = |char: char| char.is_ascii_lowercase() || char == '_';
        assert!(tool.name.chars().all(plain) && tool.name.len() <= 64, "{}", tool.name);
        assert!(tool.name.contains('_') || TABLE.iter().any(|row| row.0 == tool.name));
        assert!(seen.insert(tool.name.to_string()), "{} twice", tool.name);
        assert!(seen.insert(tool.title.clone().unwrap()), "title of {} twice", tool.name);
    }
}

#[test]
fn every_tool_file_is_registered_and_every_tool_has_its_file() {
    let files: BTreeSet<_> = fs::read_dir(sources())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && fs::read_to_string(path).unwrap().contains("#[tool_router("))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let registered: BTreeSet<_> = tools().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(files, registered);
    let (router, listed) = inventory();
    assert_eq!(router.list_all().len(), listed.len());
}

#[test]
fn every_tool_file_reads_like_the_others() {
    for tool in tools() {
        let (name, text) = (&tool.name, source(&tool.name));
        assert!(text.starts_with(&format!("//! `{name}`: ")), "{name}: what does it teach?");
        let places = [
            "\nstruct Params".to_owned(),
            "\nstruct Output".to_owned(),
            format!("\n#[tool_router(router = {name}_route, vis = \"pub(crate)\")]\nimpl Toolbox {{"),
            "    #[tool(\n".to_owned(),
            " annotations(".to_owned(),
            " title = ".to_owned(),
            " read_only_hint = ".to_owned(),
            " destructive_hint = ".to_owned(),
            " idempotent_hint = ".to_owned(),
            " open_world_hint = ".to_owned(),
            ".required()".to_owned(),
            format!("    async fn {name}("),
        ];
        let mut from = 0;
        for place in &places {
            let found = text[from..].find(place.as_str());
            from += found.unwrap_or_else(|| panic!("{name}.rs lacks `{place}`, or has it elsewhere"));
        }
        assert_eq!(text.matches("#[tool(").count(), 1, "{name}.rs: one tool a file");
        assert!(!text.contains("TODO"), "{name}.rs is not finished");
        let lines = text.lines().count();
        assert!(lines <= 160, "{name}.rs has {lines} lines, so it has two subjects");
    }
}

/// The types of a tool function's arguments.
fn arguments(name: &str) -> Vec<String> {
    let text = source(name);
    let (_, rest) = text.split_once(&format!("async fn {name}(")).unwrap();
    let (arguments, _) = rest.split_once(") ->").unwrap();
    // `handle: RepoReader` and `Parameters(Params { a, b }): Parameters<Params>` both end in a type.
    let types = arguments.split(": ").skip(1);
    types.map(|text| text.split([',', '\n', '<']).next().unwrap().trim().to_owned()).collect()
}

#[test]
fn the_one_handle_in_a_signature_can_do_what_the_hints_say() {
    for tool in tools() {
        let (name, arguments) = (&tool.name, arguments(&tool.name));
        let is_handle = |kind: &&String| ["Reader", "Adder", "Writer"].iter().any(|power| kind.ends_with(power));
        let handles: Vec<_> = arguments.iter().filter(is_handle).collect();
        let [handle] = handles.as_slice() else {
            panic!("{name} should name one handle: {arguments:?}");
        };
        let hints = tool.annotations.as_ref().unwrap();
        let power = match (hints.read_only_hint, hints.destructive_hint) {
            (Some(true), Some(false)) => "Reader",
            (Some(false), Some(false)) => "Adder",
            (Some(false), Some(true)) => "Writer",
            other => panic!("{name} is contradictory: {other:?}"),
        };
        let scope = Scope::of(&tool).unwrap();
        let (resource, _) = scope.name().split_once(':').unwrap();
        let resource = format!("{}{}", resource[..1].to_uppercase(), &resource[1..]);
        assert_eq!(**handle, format!("{resource}{power}"), "{name}");
        for argument in &arguments {
            let known = argument == *handle || ["Parameters", "Consent"].contains(&argument.as_str());
            assert!(known, "{name} takes a `{argument}`, which its hints don't speak of");
        }
    }
}

#[test]
fn every_scope_is_known_and_needed_by_a_tool() {
    let needed: BTreeSet<_> = tools().iter().filter_map(Scope::of).collect();
    assert_eq!(needed, Scope::ALL.into_iter().collect());
    for tool in tools() {
        let meta = tool.meta.as_ref().unwrap();
        assert_eq!(meta.keys().collect::<Vec<_>>(), [SCOPE_KEY], "{}", tool.name);
        let scope = Scope::of(&tool).unwrap();
        assert_eq!(scope.name().parse(), Ok(scope));
        assert!(!Toolbox::default().serves(scope), "an empty toolbox serves {scope}");
    }
}

/// A server without the resource of a tool doesn't list it, so nothing else may reach this.
#[test]
fn reading_scopes_belong_to_tools_that_do_not_destroy() {
    for tool in tools() {
        let hints = tool.annotations.as_ref().unwrap();
        if Scope::of(&tool).unwrap().reads_only() {
            assert_eq!(hints.destructive_hint, Some(false), "{}", tool.name);
        }
        if hints.destructive_hint == Some(true) {
            assert!(!Scope::of(&tool).unwrap().reads_only(), "{}", tool.name);
        }
    }
}

#[test]
fn every_schema_is_a_closed_object_and_a_valid_schema() {
    for tool in tools() {
        let input = Value::Object((*tool.input_schema).clone());
        let output = tool.output_schema.clone();
        let output = output.unwrap_or_else(|| panic!("{} has no output schema", tool.name));
        let output = Value::Object((*output).clone());
        for (side, schema) in [("input", input), ("output", output)] {
            let place = format!("{} {side}", tool.name);
            if let Err(error) = jsonschema::draft202012::meta::validate(&schema) {
                panic!("{place}: {error}");
            }
            assert_eq!(schema["type"], "object", "{place}");
            for key in ["anyOf", "oneOf", "allOf", "$ref", "not"] {
                assert!(schema.get(key).is_none(), "{place}: {key} at the top");
            }
            assert_closed(&schema, &place);
        }
    }
}

/// Every object in a schema says which members it has, and that it has no others.
fn assert_closed(schema: &Value, place: &str) {
    match schema {
        Value::Object(members) => {
            let is_object = match &members.get("type") {
                Some(Value::String(kind)) => kind == "object",
                Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
                _ => members.contains_key("properties"),
            };
            // A map names its members' schema instead.
            let closed = match members.get("additionalProperties") {
                Some(Value::Bool(open)) => !open,
                Some(Value::Object(_)) => !members.contains_key("properties"),
                _ => false,
            };
            assert!(!is_object || closed, "{place} is open: {schema}");
            for (key, member) in members {
                assert_closed(member, &format!("{place}/{key}"));
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| assert_closed(element, place)),
        _ => {}
    }
}

#[test]
fn every_tool_and_argument_is_described() {
    for tool in tools() {
        let described = tool.description.as_deref().unwrap_or_default();
        assert!(described.len() > 40, "{}: {described:?}", tool.name);
        assert!(described.ends_with('.'), "{}: {described:?}", tool.name);
        for schema in [Some(&tool.input_schema), tool.output_schema.as_ref()].into_iter().flatten() {
            let Some(properties) = schema.get("properties") else { continue };
            for (name, property) in properties.as_object().unwrap() {
                let text = property["description"].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{}: `{name}` is not described", tool.name);
            }
        }
    }
}

/// The arguments that documentation, cases and clients rely on.
#[test]
fn the_arguments_are_those_of_the_design() {
    #[rustfmt::skip]
    let designed: [(&str, &[&str], &[&str]); 15] = [
        // tool, required, optional
        ("list_branches",     &[],                 &["cursor", "limit"]),
        ("create_branch",     &["branch"],         &["from"]),
        ("delete_branch",     &["branch"],         &["expected_head"]),
        ("list_notes",        &[],                 &["cursor"]),
        ("read_note",         &["name"],           &[]),
        ("create_note",       &["name", "text"],   &[]),
        ("append_note",       &["name", "text"],   &[]),
        ("write_note",        &["name", "text"],   &[]),
        ("describe_database", &[],                 &[]),
        ("query",             &["sql"],            &["limit", "params"]),
        ("insert_rows",       &["rows", "table"],  &[]),
        ("execute",           &["sql"],            &["params"]),
        ("fetch_report",      &["report"],         &[]),
        ("post_comment",      &["report", "text"], &[]),
        ("fetch_url",         &["url"],            &[]),
    ];
    for (tool, (name, required, optional)) in tools().iter().zip(designed) {
        assert_eq!(tool.name, name);
        let names = |value: Option<&Value>| -> BTreeSet<String> {
            match value {
                Some(Value::Object(members)) => members.keys().cloned().collect(),
                Some(Value::Array(names)) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
                _ => BTreeSet::new(),
            }
        };
        let all = names(tool.input_schema.get("properties"));
        let must = names(tool.input_schema.get("required"));
        assert_eq!(must, required.iter().map(|&name| name.to_owned()).collect(), "{name}");
        let may: BTreeSet<_> = all.difference(&must).cloned().collect();
        assert_eq!(may, optional.iter().map(|&name| name.to_owned()).collect(), "{name}");
    }
}
