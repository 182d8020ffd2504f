//! Parameters that pick the risk: a tool with one has no honest hints but the worst.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::{
    Notes,
    names::{Kind, kind, words},
    quoted,
};
use crate::verify::{Level, Rule};

/// How deep parameters are looked for; schemas come from strangers and may refer to themselves.
const DEPTH: usize = 12;

/// Parameters that name what a call does.
const PICKS: &[&str] =
    &["action", "mode", "method", "operation", "op", "command", "cmd", "verb", "task", "subcommand", "function"];

/// Flags that change what a call does, and what a call does with them.
const FLAGS: &[(&str, &str)] = &[
    ("force", "overrides what would stop it"),
    ("overwrite", "replaces what exists"),
    ("replace", "replaces what exists"),
    ("upsert", "changes what exists"),
    ("delete", "removes what exists"),
    ("remove", "removes what exists"),
    ("purge", "removes for good"),
    ("permanent", "removes for good"),
    ("hard", "removes for good"),
    ("prune", "removes what exists"),
    ("truncate", "empties what exists"),
    ("cascade", "removes what depends on it"),
    ("reset", "discards what exists"),
    ("write", "writes"),
    ("save", "writes"),
    ("apply", "writes"),
    ("commit", "writes"),
    ("fix", "writes"),
    ("in_place", "replaces what exists"),
];

/// Flags that make a call harmless.
const PREVIEWS: &[&str] = &["dry_run", "preview", "simulate", "plan_only", "validate_only", "check_only", "what_if"];

pub(super) fn modes(notes: &mut Notes<'_>) {
    let root = &notes.tool.input_schema;
    for (name, schema) in parameters(root) {
        let plain = words(&name).join("_");
        let shown = quoted(&name);
        let values = values(root, schema);
        let is_flag = takes(root, schema, "boolean");
        let flag = FLAGS.iter().find(|(flag, _)| *flag == plain);
        if is_flag && PREVIEWS.contains(&plain.as_str()) {
            let text = format!(
                "with {shown} the tool only looks and without it acts, so its hints can only say the worst; \
                 make the preview a read-only tool of its own"
            );
            notes.add(Rule::ModeParameter, Some(&name), Level::Warning, text);
        } else if let (true, Some((_, does))) = (is_flag, flag) {
            let text = format!(
                "with {shown} the tool {does}, so its hints can only say the worst; make that a tool of its own"
            );
            notes.add(Rule::ModeParameter, Some(&name), Level::Warning, text);
        } else if values.len() > 1 {
            choice(notes, &name, &values, PICKS.contains(&plain.as_str()));
        } else if PICKS.contains(&plain.as_str()) && values.is_empty() && takes(root, schema, "string") {
            let text =
                format!("{shown} is free text that may pick what the tool does; if it does, make a tool of each");
            notes.add(Rule::ModeParameter, Some(&name), Level::Note, text);
        }
    }
}

/// A parameter with a list of values.
fn choice(notes: &mut Notes<'_>, name: &str, values: &[String], picks: bool) {
    let mut groups: BTreeMap<Kind, Vec<String>> = BTreeMap::new();
    for value in values {
        if let Some(kind) = words(value).iter().find_map(|word| kind(word)) {
            groups.entry(kind).or_default().push(quoted(value));
        }
    }
    let shown = quoted(name);
    if groups.len() > 1 {
        let split =
            groups.into_iter().map(|(kind, values)| format!("one that {} ({})", kind.name(), values.join(", ")));
        let split = split.collect::<Vec<_>>().join(", ");
        let text = format!("{shown} picks what the tool does, so its hints can only say the worst; split it: {split}");
        notes.add(Rule::ModeParameter, Some(name), Level::Warning, text);
    } else if picks {
        let values = values.iter().take(8).map(|value| quoted(value)).collect::<Vec<_>>().join(", ");
        let text =
            format!("{shown} may pick what the tool does ({values}); if the effects differ, make a tool of each");
        notes.add(Rule::ModeParameter, Some(name), Level::Note, text);
    }
}

/// Whether a parameter takes both HTTP methods that are safe and such that are not.
pub(super) fn mixes_http_methods(schema: &Value) -> bool {
    parameters(schema).values().any(|parameter| {
        let values = values(schema, parameter);
        let has = |methods: &[&str]| values.iter().any(|value| methods.contains(&value.to_uppercase().as_str()));
        has(&["GET", "HEAD"]) && has(&["POST", "PUT", "PATCH", "DELETE"])
    })
}

/// All properties by name, those of nested objects, of lists and of alternatives too.
fn parameters(root: &Value) -> BTreeMap<String, &Value> {
    let mut found = BTreeMap::new();
    walk(root, root, DEPTH, &mut HashSet::new(), &mut |schema| {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in properties {
            found.entry(name.clone()).or_insert(property);
        }
        properties_and_items(schema)
    });
    found
}

/// The texts that a parameter takes, if they are listed.
fn values(root: &Value, schema: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    walk(root, schema, DEPTH, &mut HashSet::new(), &mut |schema| {
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
        found.extend(listed.filter_map(Value::as_str).map(str::to_owned));
        Vec::new()
    });
    found
}

/// Whether a parameter takes values of this type.
fn takes(root: &Value, schema: &Value, name: &str) -> bool {
    let mut takes = false;
    walk(root, schema, DEPTH, &mut HashSet::new(), &mut |schema| {
        let found = schema.get("type");
        takes |= found.is_some_and(|found| {
            found == name || found.as_array().is_some_and(|types| types.iter().any(|found| found == name))
        });
        Vec::new()
    });
    takes
}

fn properties_and_items(schema: &Value) -> Vec<&Value> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    properties.chain(schema.get("items")).collect()
}

/// Visit a schema, what it refers to, its alternatives, and what the visit returns; each once, so
/// that a schema that refers to itself a thousand times costs no more than one that doesn't.
fn walk<'a>(
    root: &'a Value,
    schema: &'a Value,
    depth: usize,
    seen: &mut HashSet<*const Value>,
    visit: &mut dyn FnMut(&'a Value) -> Vec<&'a Value>,
) {
    let Some(depth) = depth.checked_sub(1).filter(|_| seen.insert(std::ptr::from_ref(schema))) else { return };
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let next: Vec<&Value> = target.and_then(|target| root.pointer(target)).into_iter().chain(alternatives).collect();
    for schema in next.into_iter().chain(visit(schema)) {
        walk(root, schema, depth, seen, visit);
    }
}
