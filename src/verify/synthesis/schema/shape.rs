//! What stands at the top of a schema.

use serde_json::Value;

use super::Members;

/// A property of an object.
pub(in crate::verify::synthesis) struct Property {
    pub(in crate::verify::synthesis) name: String,
    pub(in crate::verify::synthesis) required: bool,
    pub(in crate::verify::synthesis) schema: Value,
}

/// How much a tool requires: whether anything, and of how many values the schema doesn't say
/// what they are.
pub(in crate::verify::synthesis) fn needs(schema: &Value) -> (bool, usize) {
    let required = schema.get("required").and_then(Value::as_array).map_or(&[] as &[Value], Vec::as_slice);
    let is_open = |name: &&Value| {
        let property = name.as_str().and_then(|name| schema.get("properties")?.get(name));
        let says = |key: &str| property.is_some_and(|property| property.get(key).is_some());
        let boolean = property.is_some_and(|property| has_type(property, "boolean"));
        !boolean && !["enum", "const", "default", "examples"].iter().any(|key| says(key))
    };
    (!required.is_empty(), required.iter().filter(is_open).count())
}

pub(super) fn properties(schema: &Members) -> Result<Vec<Property>, String> {
    let empty = Members::new();
    let required: Vec<&str> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let listed = match schema.get("properties") {
        None => &empty,
        Some(Value::Object(listed)) => listed,
        Some(_) => return Err("its `properties` are no object".into()),
    };
    let unlisted = required.iter().filter(|name| !listed.contains_key(**name));
    let free = schema.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
    let unlisted = unlisted.map(|name| Property { name: (*name).to_owned(), required: true, schema: free.clone() });
    let listed = listed.iter().map(|(name, schema)| Property {
        name: name.clone(),
        required: required.contains(&name.as_str()),
        schema: schema.clone(),
    });
    Ok(listed.chain(unlisted).collect())
}

/// The types that a schema takes; by its other keys if it names none. Null last.
pub(super) fn types(schema: &Members) -> Vec<String> {
    let mut types: Vec<String> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.clone()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(|kind| Some(kind.as_str()?.to_owned())).collect(),
        _ => {
            let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
            let kind = if has(&["properties", "additionalProperties", "required"]) {
                "object"
            } else if has(&["items", "prefixItems", "minItems"]) {
                "array"
            } else if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]) {
                "number"
            } else {
                "string"
            };
            vec![kind.to_owned()]
        }
    };
    if types.len() > 1 {
        // It says the same as leaving the value out.
        types.retain(|kind| kind != "null");
    }
    types
}

pub(super) fn has_type(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => false,
    }
}
