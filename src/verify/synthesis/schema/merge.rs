//! Two schemas in one that takes what both take, for the common keys.

use serde_json::{Map, Value};

/// What the second says counts, but members and requirements of both stay, and bounds narrow.
pub(super) fn merged(mut one: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in other {
        let both = match (key.as_str(), one.remove(&key), value) {
            (_, None, value) => value,
            ("properties" | "$defs" | "definitions", Some(Value::Object(mut mine)), Value::Object(theirs)) => {
                for (name, theirs) in theirs {
                    let both = match (mine.remove(&name), theirs) {
                        (Some(Value::Object(mine)), Value::Object(theirs)) => Value::Object(merged(mine, theirs)),
                        (_, theirs) => theirs,
                    };
                    mine.insert(name, both);
                }
                Value::Object(mine)
            }
            ("required", Some(Value::Array(mine)), Value::Array(theirs)) => {
                let more = theirs.into_iter().filter(|name| !mine.contains(name)).collect::<Vec<_>>();
                mine.into_iter().chain(more).collect()
            }
            ("enum", Some(Value::Array(mine)), Value::Array(theirs)) => {
                mine.into_iter().filter(|value| theirs.contains(value)).collect()
            }
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems", Some(mine), theirs) => {
                larger(mine, theirs, true)
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems", Some(mine), theirs) => {
                larger(mine, theirs, false)
            }
            // A type of both: the narrower list.
            ("type", Some(Value::Array(mine)), Value::Array(theirs)) => {
                mine.into_iter().filter(|kind| theirs.contains(kind)).collect()
            }
            ("type", Some(Value::String(mine)), Value::Array(theirs)) if theirs.iter().any(|kind| *kind == mine) => {
                Value::String(mine)
            }
            (_, Some(_), theirs) => theirs,
        };
        one.insert(key, both);
    }
    one
}

fn larger(mine: Value, theirs: Value, wanted: bool) -> Value {
    if (mine.as_f64() > theirs.as_f64()) == wanted { mine } else { theirs }
}
