//! Hints as the wire carries them: read from the bytes of `tools/list`, never through a typed
//! model, which would merge null with absent, coerce text, and drop what it doesn't know.
//!
//! ```
//! use candor::hints::{Hint, HintName, read_list};
//!
//! let result = br#"{"tools": [{"name": "save", "annotations": {"destructiveHint": false}}]}"#;
//! let (tools, next_cursor) = read_list(result)?;
//! assert_eq!(*tools[0].hint(HintName::Destructive), Hint::Is(false));
//! assert!(tools[0].claims(HintName::Destructive)); // and so can be refuted
//! assert!(!tools[0].claims(HintName::ReadOnly)); // the default, false, claims nothing
//! assert_eq!(next_cursor, None);
//! # Ok::<(), candor::hints::ListError>(())
//! ```

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::members::Members;

/// One of the four boolean hints of `ToolAnnotations` (schema, revisions since 2025-03-26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum HintName {
    /// The tool does not modify its environment.
    #[serde(rename = "readOnlyHint")]
    ReadOnly,
    /// The tool may delete or alter what exists; if false, it only adds.
    #[serde(rename = "destructiveHint")]
    Destructive,
    /// A second call with the same arguments has no further effect.
    #[serde(rename = "idempotentHint")]
    Idempotent,
    /// The tool may deal with an open set of outside entities.
    #[serde(rename = "openWorldHint")]
    OpenWorld,
}

impl HintName {
    /// All four, in the order of the specification.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Destructive, Self::Idempotent, Self::OpenWorld];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnlyHint",
            Self::Destructive => "destructiveHint",
            Self::Idempotent => "idempotentHint",
            Self::OpenWorld => "openWorldHint",
        }
    }

    /// What the specification says where a server says nothing. No default is a claim.
    #[must_use]
    pub const fn default(self) -> bool {
        matches!(self, Self::Destructive | Self::OpenWorld)
    }

    /// The value that lowers a client's guard, and that one counter-example refutes.
    #[must_use]
    pub const fn claim(self) -> bool {
        !self.default()
    }
}

impl fmt::Display for HintName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One hint as the wire carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hint {
    /// Not there.
    Absent,
    /// A boolean.
    Is(bool),
    /// Anything else: null, text, a number, a key that stands there twice. Holds what was found.
    Malformed(String),
}

impl Hint {
    /// The value that counts: the declared one, or the default; none if malformed.
    #[must_use]
    pub fn effective(&self, name: HintName) -> Option<bool> {
        match self {
            Self::Absent => Some(name.default()),
            Self::Is(value) => Some(*value),
            Self::Malformed(_) => None,
        }
    }
}

/// What `annotations` itself is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Annotations {
    /// Not there: clients may treat this unlike an empty object.
    Absent,
    /// An object.
    Object,
    /// Anything else, with what was found; all hints then count as absent.
    Malformed(String),
}

/// One tool of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredTool {
    /// Its name.
    pub name: String,
    /// `Tool.title`.
    pub title: Option<String>,
    /// `annotations.title`, which says the same or nothing.
    pub annotations_title: Option<String>,
    /// Its description; empty if it has none.
    pub description: String,
    /// What the annotations are.
    pub annotations: Annotations,
    /// Keys of the annotations that no revision of the specification knows.
    pub unknown: Vec<String>,
    /// `inputSchema`; null if it is missing.
    pub input_schema: Value,
    hints: [Hint; 4],
}

impl DeclaredTool {
    /// One of its hints.
    #[must_use]
    pub fn hint(&self, name: HintName) -> &Hint {
        let [read_only, destructive, idempotent, open_world] = &self.hints;
        match name {
            HintName::ReadOnly => read_only,
            HintName::Destructive => destructive,
            HintName::Idempotent => idempotent,
            HintName::OpenWorld => open_world,
        }
    }

    /// Whether a hint is set to the value that lowers a client's guard.
    #[must_use]
    pub fn claims(&self, name: HintName) -> bool {
        *self.hint(name) == Hint::Is(name.claim())
    }

    /// Read-only and destructive at once: each denies the other (schema: `destructiveHint` is
    /// meaningful only where `readOnlyHint` is false).
    #[must_use]
    pub fn contradicts_itself(&self) -> bool {
        *self.hint(HintName::ReadOnly) == Hint::Is(true) && *self.hint(HintName::Destructive) == Hint::Is(true)
    }

    /// Whether the two titles differ.
    #[must_use]
    pub fn titles_differ(&self) -> bool {
        matches!((&self.title, &self.annotations_title), (Some(one), Some(other)) if one != other)
    }
}

/// Why a list can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// Not JSON, or not the shape of a list.
    #[error("the result of `tools/list` can't be read: {0}")]
    Shape(#[from] serde_json::Error),
    /// A tool without a usable name.
    #[error("tool number {0} of `tools/list` has no name")]
    Nameless(usize),
    /// Two tools of one name.
    #[error("`tools/list` names `{0}` twice")]
    Twice(String),
}

/// Read the `result` of a `tools/list` reply, as bytes. Returns the tools in the server's order,
/// and the cursor of the next page.
///
/// # Errors
///
/// If it is no list of tools. A malformed hint is no error: it is what is to be judged.
pub fn read_list(result: &[u8]) -> Result<(Vec<DeclaredTool>, Option<String>), ListError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct List<'a> {
        #[serde(borrow)]
        tools: Vec<&'a RawValue>,
        next_cursor: Option<Cow<'a, str>>,
    }
    let list: List<'_> = serde_json::from_slice(result)?;
    let mut tools: Vec<DeclaredTool> = Vec::with_capacity(list.tools.len());
    for (at, raw) in list.tools.into_iter().enumerate() {
        let tool = read_tool(raw)?.ok_or(ListError::Nameless(at + 1))?;
        if tools.iter().any(|known| known.name == tool.name) {
            return Err(ListError::Twice(tool.name));
        }
        tools.push(tool);
    }
    Ok((tools, list.next_cursor.map(Cow::into_owned)))
}

fn read_tool(raw: &RawValue) -> Result<Option<DeclaredTool>, serde_json::Error> {
    let Members(members) = serde_json::from_str(raw.get())?;
    let last = |name: &str| members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value);
    let text = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let Some(name) = text(last("name")).filter(|name| !name.is_empty()) else { return Ok(None) };
    let mut tool = DeclaredTool {
        name,
        title: text(last("title")),
        annotations_title: None,
        description: text(last("description")).unwrap_or_default(),
        annotations: Annotations::Absent,
        unknown: Vec::new(),
        input_schema: last("inputSchema").map_or(Ok(Value::Null), |raw| serde_json::from_str(raw.get()))?,
        hints: [Hint::Absent, Hint::Absent, Hint::Absent, Hint::Absent],
    };
    let Some(raw) = last("annotations") else { return Ok(Some(tool)) };
    let twice = members.iter().filter(|(key, _)| key == "annotations").count() > 1;
    let Some(Members(annotations)) = serde_json::from_str(raw.get()).ok().filter(|_| !twice) else {
        tool.annotations = Annotations::Malformed(if twice { "the key twice".into() } else { clip(raw.get()) });
        return Ok(Some(tool));
    };
    tool.annotations = Annotations::Object;
    tool.hints = HintName::ALL.map(|hint| {
        let mut found = annotations.iter().filter(|(key, _)| key == hint.name()).map(|(_, value)| value.get());
        match (found.next(), found.next()) {
            (None, _) => Hint::Absent,
            (Some(one), Some(other)) => Hint::Malformed(format!("the key twice, {} and {}", clip(one), clip(other))),
            (Some("true"), None) => Hint::Is(true),
            (Some("false"), None) => Hint::Is(false),
            (Some(other), None) => Hint::Malformed(clip(other)),
        }
    });
    for (key, value) in annotations {
        if key == "title" {
            tool.annotations_title = text(Some(value));
        } else if !HintName::ALL.iter().any(|hint| hint.name() == key) && !tool.unknown.contains(&key) {
            tool.unknown.push(key);
        }
    }
    Ok(Some(tool))
}

fn clip(text: &str) -> String {
    let cut: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 { format!("{cut}…") } else { cut }
}
