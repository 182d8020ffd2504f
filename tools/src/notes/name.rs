use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::text::{is_device, quoted};

/// The name of a note: a plain file name on every system, with or without an extension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct NoteName(String);

impl NoteName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for NoteName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'.' | b'_' | b'-');
        let fault = if name.len() > 100 {
            "it is longer than 100 bytes"
        } else if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            "it doesn't start with a letter or digit"
        } else if !name.bytes().all(plain) {
            "it holds other characters than are allowed"
        } else if name.ends_with([' ', '.']) {
            "it ends in a space or a dot"
        } else if is_device(&name) {
            "it is the name of a device on Windows"
        } else {
            return Ok(Self(name));
        };
        Err(format!(
            "invalid note name {}: {fault}; use letters, digits, spaces and `.`, `_`, `-`, and no folders, as in `ideas.md`",
            quoted(&name)
        ))
    }
}

impl fmt::Display for NoteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for NoteName {
    fn schema_name() -> Cow<'static, str> {
        "NoteName".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$" })
    }
}
