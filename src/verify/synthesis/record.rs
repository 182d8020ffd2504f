//! Values that belong together, and which of them a parameter asks for.

use std::collections::HashSet;

use serde_json::Value;

/// Scalars that stood together in one object of a result, one row of a table, one branch.
pub(super) struct Record {
    /// What they are one of: the key of the list they stood in, the name of the table.
    pub(super) container: String,
    /// Name and value.
    pub(super) members: Vec<(String, Value)>,
}

/// Keys that say which one it is, and not of what kind.
const NAMING: [&str; 8] = ["name", "id", "key", "slug", "path", "number", "uuid", "url"];
/// What says how one thing stands to another of its kind.
const RELATION: [&str; 10] = ["from", "to", "base", "ref", "source", "target", "start", "onto", "into", "parent"];
/// Records taken from results, and how deep they are looked for.
const RECORDS: usize = 500;
const DEPTH: usize = 12;
/// Characters of a text that may be an argument.
const TEXT: usize = 500;

/// The words of a name, in lower case: `expectedHead`, `expected-head` and `expected_head` have two.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut small = false;
    for char in name.chars().take(200) {
        if !char.is_alphanumeric() {
            open = false;
            continue;
        }
        if !open || (small && char.is_uppercase()) {
            words.push(String::new());
        }
        (open, small) = (true, char.is_lowercase());
        if let Some(word) = words.last_mut() {
            word.extend(char.to_lowercase());
        }
    }
    words
}

/// One of them: `branch` of `branches`, `note` of `notes`.
pub(super) fn singular(word: &str) -> String {
    let word = word.to_lowercase();
    let hissing = ["ches", "shes", "sses", "xes", "zes"];
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    if hissing.iter().any(|end| word.ends_with(end)) {
        return word.strip_suffix("es").unwrap_or(&word).to_owned();
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && stem.len() > 1 => stem.to_owned(),
        _ => word,
    }
}

/// How well a value answers to a parameter; 0 if not at all.
pub(super) fn score(parameter: &[String], tool: &[String], container: &str, key: &str) -> u8 {
    let (key, of) = (words(key), words(container));
    let of = of.last().map(|word| singular(word)).unwrap_or_default();
    let is = |words: &[String], word: &str| matches!(words, [only] if singular(only) == word);
    let naming = |words: &[String]| matches!(words, [only] if NAMING.contains(&only.as_str()));
    let in_tool = tool.iter().any(|word| singular(word) == of);
    let last = parameter.last().map(|word| singular(word)).unwrap_or_default();
    if naming(parameter) {
        // `name` may be anything's name; the tool's own name says of what.
        return match (parameter == key.as_slice() || is(&key, &of), in_tool) {
            (true, true) => 4,
            (true, false) => 1,
            _ => 0,
        };
    }
    let same = parameter == key.as_slice()
        || matches!(key.as_slice(), [only] if parameter.len() == 1 && singular(only) == last);
    if same {
        return 3 + u8::from(in_tool);
    }
    // `branch` or `source_branch` for the name of one of `branches`; `customer_id` for the id of one of `customers`.
    if !of.is_empty() && naming(&key) && (last == of || parameter.ends_with(&[of.clone(), key.concat()])) {
        return 3;
    }
    // `create_branch(from)` means a branch.
    let related = matches!(parameter, [only] if RELATION.contains(&only.as_str()));
    if related && in_tool && (naming(&key) || is(&key, &of)) {
        return 2;
    }
    // `cursor` for a `next_cursor`.
    if parameter.len() == 1 && key.len() > 1 && key.ends_with(parameter) {
        return 2;
    }
    // `expected_head` for a `head`.
    if !naming(&key) && !key.is_empty() && parameter.ends_with(&key) { 2 } else { 0 }
}

/// The records in results of earlier calls. Text that is JSON is looked into.
pub(super) fn of_results(results: &[Value]) -> Vec<Record> {
    let mut records = Vec::new();
    for result in results {
        collect(result, "", 0, &mut records);
    }
    let mut seen = HashSet::new();
    records.retain(|record| seen.insert(format!("{} {:?}", record.container, record.members)));
    records
}

fn collect(value: &Value, container: &str, depth: usize, records: &mut Vec<Record>) {
    if depth > DEPTH || records.len() >= RECORDS {
        return;
    }
    match value {
        Value::Object(members) => {
            let scalar = |(key, value): (&String, &Value)| {
                let usable = match value {
                    Value::String(text) => !text.is_empty() && text.chars().count() <= TEXT,
                    other => other.is_number(),
                };
                (usable && !(key == "type" && value == "text")).then(|| (key.clone(), value.clone()))
            };
            let scalars: Vec<_> = members.iter().filter_map(scalar).collect();
            if !scalars.is_empty() {
                records.push(Record { container: container.to_owned(), members: scalars });
            }
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "text" => {
                        if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                            collect(&inner, container, depth + 1, records);
                        }
                    }
                    // What every result is made of says nothing of what is in it.
                    _ if key == "structuredContent" || key == "content" => {
                        collect(value, container, depth + 1, records);
                    }
                    _ => collect(value, key, depth + 1, records),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                match value {
                    Value::String(text) if !text.is_empty() && text.chars().count() <= TEXT => {
                        let members = vec![(singular(container), value.clone())];
                        records.push(Record { container: container.to_owned(), members });
                    }
                    _ => collect(value, container, depth + 1, records),
                }
            }
        }
        _ => {}
    }
}
