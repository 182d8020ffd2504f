use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rmcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use rusqlite::{
    ToSql,
    types::{ToSqlOutput, ValueRef},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use serde_json::Value;

/// One SQLite value, exact in JSON in both directions.
///
/// | SQLite | JSON |
/// |---|---|
/// | NULL | `null` |
/// | INTEGER up to 2^53−1 in size | number |
/// | larger INTEGER | `{"integer": "9007199254740993"}` |
/// | finite REAL | number |
/// | infinite REAL | `{"real": "Infinity"}` or `{"real": "-Infinity"}` |
/// | TEXT | string |
/// | TEXT that is not UTF-8 | `{"invalid_text": "<base64>"}` |
/// | BLOB | `{"blob": "<base64>"}` |
///
/// As an input `true` and `false` also stand for 1 and 0, and an integer may be any number that
/// fits 64 bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// SQL NULL.
    Null,
    /// A 64-bit integer.
    Integer(i64),
    /// A floating-point number, never NaN (SQLite makes that NULL).
    Real(f64),
    /// Text, NUL characters included.
    Text(String),
    /// Bytes that SQLite holds as text and that are not UTF-8.
    InvalidText(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
}

/// Beyond this a JSON number loses digits in most clients.
const EXACT: i64 = (1 << 53) - 1;

impl Cell {
    pub(super) fn read(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(integer) => Self::Integer(integer),
            ValueRef::Real(real) => Self::Real(real),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
            ValueRef::Text(bytes) => match str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => Self::InvalidText(bytes.to_vec()),
            },
        }
    }

    /// Bytes that the value takes as JSON, at most a few more.
    pub(super) fn json_bytes(&self) -> usize {
        let base64 = |bytes: &[u8]| bytes.len().div_ceil(3) * 4 + 24;
        match self {
            Self::Null => 4,
            Self::Integer(_) | Self::Real(_) => 24,
            Self::Text(text) => json_bytes(text),
            Self::Blob(bytes) | Self::InvalidText(bytes) => base64(bytes),
        }
    }
}

/// Bytes of a text as a JSON string.
pub(super) fn json_bytes(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..32 => 6,
        _ => 1,
    };
    text.bytes().map(escaped).sum::<usize>() + 2
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tag, text) = match self {
            Self::Null => return serializer.serialize_unit(),
            Self::Integer(integer) if integer.unsigned_abs() <= EXACT.unsigned_abs() => {
                return serializer.serialize_i64(*integer);
            }
            Self::Real(real) if real.is_finite() => return serializer.serialize_f64(*real),
            Self::Text(text) => return serializer.serialize_str(text),
            Self::Integer(integer) => ("integer", integer.to_string()),
            Self::Real(real) if *real > 0.0 => ("real", "Infinity".into()),
            Self::Real(_) => ("real", "-Infinity".into()),
            Self::InvalidText(bytes) => ("invalid_text", BASE64_STANDARD.encode(bytes)),
            Self::Blob(bytes) => ("blob", BASE64_STANDARD.encode(bytes)),
        };
        let mut tagged = serializer.serialize_map(Some(1))?;
        tagged.serialize_entry(tag, &text)?;
        tagged.end()
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

fn parse(value: Value) -> Result<Cell, String> {
    let (tag, text) = match value {
        Value::Null => return Ok(Cell::Null),
        Value::Bool(truth) => return Ok(Cell::Integer(truth.into())),
        Value::String(text) => return Ok(Cell::Text(text)),
        Value::Number(number) => {
            return match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Ok(Cell::Integer(integer)),
                (None, Some(real)) if number.is_f64() => Ok(Cell::Real(real)),
                _ => Err(format!("`{number}` does not fit a 64-bit integer; send it as text")),
            };
        }
        Value::Object(object) if object.len() == 1 => match object.into_iter().next() {
            Some((tag, Value::String(text))) => (tag, text),
            _ => return Err(SHAPE.into()),
        },
        Value::Object(_) | Value::Array(_) => return Err(SHAPE.into()),
    };
    let bytes = || {
        let decoded = BASE64_STANDARD.decode(&text);
        decoded.map_err(|error| format!("`{tag}` is not base64: {error}"))
    };
    match (tag.as_str(), text.as_str()) {
        ("blob", _) => bytes().map(Cell::Blob),
        ("invalid_text", _) => bytes().map(Cell::InvalidText),
        ("integer", digits) => {
            digits.parse().map(Cell::Integer).map_err(|_| "`integer` does not hold a 64-bit integer".into())
        }
        ("real", "Infinity") => Ok(Cell::Real(f64::INFINITY)),
        ("real", "-Infinity") => Ok(Cell::Real(f64::NEG_INFINITY)),
        _ => Err(SHAPE.into()),
    }
}

const SHAPE: &str = "a value is null, a boolean, a number, a string, or one of {\"blob\": base64}, \
                     {\"integer\": digits}, {\"real\": \"Infinity\" or \"-Infinity\"}, \
                     {\"invalid_text\": base64}";

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(integer) => ValueRef::Integer(*integer),
            Self::Real(real) => ValueRef::Real(*real),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::InvalidText(bytes) => ValueRef::Text(bytes),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl JsonSchema for Cell {
    fn schema_name() -> Cow<'static, str> {
        "Cell".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let tagged = |tag: &str, content: Value| {
            json_schema!({
                "type": "object",
                "properties": { tag: content },
                "required": [tag],
                "additionalProperties": false
            })
        };
        let base64 = serde_json::json!({ "type": "string", "contentEncoding": "base64" });
        json_schema!({
            "description": "A value. Plain JSON where that is exact; otherwise an object with \
                one key: `integer` for integers beyond 2^53-1, `real` for infinities, `blob` for \
                bytes, `invalid_text` for text that is not UTF-8.",
            "anyOf": [
                { "type": ["null", "boolean", "number", "string"] },
                tagged("integer", serde_json::json!({ "type": "string", "pattern": "^-?[0-9]{1,19}$" })),
                tagged("real", serde_json::json!({ "enum": ["Infinity", "-Infinity"] })),
                tagged("blob", base64.clone()),
                tagged("invalid_text", base64),
            ]
        })
    }
}
