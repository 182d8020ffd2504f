//! Texts, numbers and booleans within their bounds.

use serde_json::{Map, Number, Value, json};

use super::super::pattern;

/// Characters of a text that is made.
const LENGTH: u64 = 10_000;

/// Whether a value has a type.
pub(super) fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// Whether a value fits the bounds of a schema itself; what lies inside a list or an object is not
/// looked at. A pattern that can't be read takes nothing but what the schema names.
pub(super) fn takes(schema: &Value, value: &Value) -> bool {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let typed = match schema.get("type") {
        Some(Value::String(kind)) => is(value, kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).any(|kind| is(value, kind)),
        _ => true,
    };
    let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(value));
    let fits = match value {
        Value::String(text) => {
            let length = text.chars().count() as u64;
            let within = schema.get("minLength").and_then(Value::as_u64).is_none_or(|least| length >= least)
                && schema.get("maxLength").and_then(Value::as_u64).is_none_or(|most| length <= most);
            let matches = schema.get("pattern").and_then(Value::as_str).is_none_or(|pattern| {
                // A placeholder is replaced by something that can't be known here.
                pattern::matches(pattern, text) == Some(true)
            });
            within && matches && format_takes(schema, text)
        }
        Value::Number(found) => {
            let found = found.as_f64().unwrap_or(f64::NAN);
            number("minimum").is_none_or(|least| found >= least)
                && number("maximum").is_none_or(|most| found <= most)
                && number("exclusiveMinimum").is_none_or(|least| found > least)
                && number("exclusiveMaximum").is_none_or(|most| found < most)
                && number("multipleOf").is_none_or(|step| step <= 0.0 || (found / step).fract() == 0.0)
        }
        Value::Array(list) => {
            let length = list.len() as u64;
            schema.get("minItems").and_then(Value::as_u64).is_none_or(|least| length >= least)
                && schema.get("maxItems").and_then(Value::as_u64).is_none_or(|most| length <= most)
        }
        _ => true,
    };
    typed && listed && fits
}

/// A text that a format takes, for the formats of JSON Schema (2020-12, validation, section 7.3).
const FORMATS: [(&str, &str); 16] = [
    ("date-time", "2026-03-02T09:00:00Z"),
    ("date", "2026-03-02"),
    ("time", "09:00:00Z"),
    ("duration", "PT5M"),
    ("email", "somebody@example.com"),
    ("idn-email", "somebody@example.com"),
    ("hostname", "example.com"),
    ("idn-hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "{listener}/"),
    ("iri", "{listener}/"),
    ("url", "{listener}/"),
    ("uri-reference", "{listener}/"),
    ("uuid", "5f0a7f6e-3c5d-4d0b-9d3e-0c8a5a0f1b2c"),
    ("json-pointer", "/name"),
];

fn format_of(schema: &Value) -> Option<&'static str> {
    if schema.get("contentEncoding").is_some_and(|encoding| encoding == "base64") {
        return Some("AAE=");
    }
    let format = schema.get("format")?.as_str()?;
    FORMATS.iter().find(|(name, _)| *name == format).map(|(_, text)| *text)
}

/// Only what a name suggests is doubted: a branch is no date.
fn format_takes(schema: &Value, text: &str) -> bool {
    let Some(example) = format_of(schema) else { return true };
    if example == "AAE=" {
        let plain = text.trim_end_matches('=');
        return text.len().is_multiple_of(4) && plain.chars().all(|c| c.is_ascii_alphanumeric() || "+/".contains(c));
    }
    let shape = |text: &str, mark: char| text.matches(mark).count();
    match schema.get("format").and_then(Value::as_str) {
        Some("date" | "uuid") => text.len() == example.len() && shape(text, '-') == shape(example, '-'),
        Some("date-time") => shape(text, 'T') == 1 && shape(text, ':') >= 2,
        Some("time") => shape(text, ':') == 2,
        Some("email" | "idn-email") => shape(text, '@') == 1,
        Some("uri" | "iri" | "url") => text.contains("://") || text.starts_with("{listener}"),
        Some("ipv4") => shape(text, '.') == 3 && text.chars().all(|char| char.is_ascii_digit() || char == '.'),
        Some("ipv6") => shape(text, ':') >= 2,
        Some("duration") => text.starts_with('P'),
        _ => true,
    }
}

/// Values of a type: what is known already, or else what the schema's bounds suggest.
pub(super) fn made(schema: &Map<String, Value>, kind: &str, known: Vec<Value>) -> Result<Vec<Value>, String> {
    match kind {
        "boolean" => Ok(vec![json!(false), json!(true)]),
        "null" => Ok(vec![Value::Null]),
        "integer" | "number" => {
            let mut values = numbers(schema, kind == "integer");
            values.splice(0..0, known);
            Ok(values)
        }
        "string" if !known.is_empty() => Ok(known),
        "string" => text(schema).map(|text| vec![Value::String(text)]),
        other => Err(format!("its schema names the type `{other}`, which JSON Schema doesn't have")),
    }
}

/// A small number, and the bounds.
fn numbers(schema: &Map<String, Value>, whole: bool) -> Vec<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(if whole { 1.0 } else { 0.5 });
    let above = bound("exclusiveMinimum").map(|least| ((least / step).floor() + 1.0) * step);
    let least = bound("minimum").map(|least| (least / step).ceil() * step).into_iter().chain(above).reduce(f64::max);
    let below = bound("exclusiveMaximum").map(|most| ((most / step).ceil() - 1.0) * step);
    let most = bound("maximum").map(|most| (most / step).floor() * step).into_iter().chain(below).reduce(f64::min);
    let small = (1.0 / step).ceil() * step;
    let small = small.max(least.unwrap_or(f64::MIN)).min(most.unwrap_or(f64::MAX));
    let mut values = Vec::new();
    for number in [Some(small), least, most].into_iter().flatten() {
        // Beyond 2^53 a bound says nothing that anybody means.
        let exact = number.fract() == 0.0 && number.abs() < 9e15;
        let number = if exact { format!("{number:.0}").parse().ok().map(|whole: i64| json!(whole)) } else { None }
            .or_else(|| if whole { None } else { Number::from_f64(number).map(Value::Number) });
        if let Some(number) = number.filter(|number| !values.contains(number)) {
            values.push(number);
        }
    }
    values
}

fn text(schema: &Map<String, Value>) -> Result<String, String> {
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    let least = length("minLength").unwrap_or(0);
    if least > LENGTH {
        return Err(format!("it wants a text of more than {LENGTH} characters"));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        let found = pattern::example(pattern, usize::try_from(least).unwrap_or(usize::MAX));
        return found.ok_or_else(|| format!("no text was found that its pattern `{pattern}` takes"));
    }
    let whole = Value::Object(schema.clone());
    let mut text = format_of(&whole).unwrap_or("candor").to_owned();
    while (text.chars().count() as u64) < least {
        text.push('r');
    }
    let most = usize::try_from(length("maxLength").unwrap_or(LENGTH)).unwrap_or(usize::MAX);
    Ok(text.chars().take(most).collect())
}
