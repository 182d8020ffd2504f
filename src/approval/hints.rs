//! What a server says of a tool, without the tool.

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::hints::{Annotations, DeclaredTool, Hint, HintName};

/// The four hints of one tool, and what held them. The default says nothing at all.
///
/// Null counts as absent: several SDKs write it for what was never set. It is a fault of the server
/// all the same, which `candor verify` reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hints {
    annotations: Annotations,
    hints: [Hint; 4],
}

impl Default for Hints {
    fn default() -> Self {
        Self { annotations: Annotations::Absent, hints: [Hint::Absent, Hint::Absent, Hint::Absent, Hint::Absent] }
    }
}

impl From<&DeclaredTool> for Hints {
    fn from(tool: &DeclaredTool) -> Self {
        Self { annotations: tool.annotations.clone(), hints: HintName::ALL.map(|hint| tool.hint(hint).clone()) }
    }
}

impl Hints {
    /// An object of annotations without any hint: to some clients not the same as no object.
    #[must_use]
    pub fn empty_object() -> Self {
        Self { annotations: Annotations::Object, ..Self::default() }
    }

    /// The same with one hint set; an object of annotations then exists.
    #[must_use]
    pub fn with(&self, name: HintName, value: Hint) -> Self {
        let mut changed = Self { annotations: Annotations::Object, hints: self.hints.clone() };
        if let Some((_, slot)) = HintName::ALL.into_iter().zip(&mut changed.hints).find(|(hint, _)| *hint == name) {
            *slot = value;
        }
        changed
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: HintName) -> &Hint {
        let [read_only, destructive, idempotent, open_world] = &self.hints;
        match name {
            HintName::ReadOnly => read_only,
            HintName::Destructive => destructive,
            HintName::Idempotent => idempotent,
            HintName::OpenWorld => open_world,
        }
    }

    /// Whether there is an object of annotations.
    #[must_use]
    pub fn has_object(&self) -> bool {
        self.annotations == Annotations::Object
    }

    /// Whether a hint is exactly this boolean.
    #[must_use]
    pub fn is(&self, name: HintName, value: bool) -> bool {
        *self.get(name) == Hint::Is(value)
    }

    /// The boolean that counts by the specification: the default where there is none.
    #[must_use]
    pub fn or_default(&self, name: HintName) -> bool {
        self.get(name).effective(name).unwrap_or(name.default())
    }

    /// Whether each is a boolean or absent, and the annotations an object or absent: null is neither.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        let malformed = |hint: &Hint| matches!(hint, Hint::Malformed(_));
        !matches!(self.annotations, Annotations::Malformed(_)) && !self.hints.iter().any(malformed)
    }

    /// What is neither boolean nor absent nor null, one entry each; none for the annotations as a
    /// whole.
    pub fn nonsense(&self) -> impl Iterator<Item = Option<HintName>> {
        let whole = matches!(&self.annotations, Annotations::Malformed(found) if found != "null");
        let each = HintName::ALL
            .into_iter()
            .filter(|hint| matches!(self.get(*hint), Hint::Malformed(found) if found != "null"));
        whole.then_some(None).into_iter().chain(each.map(Some))
    }
}

impl Serialize for Hints {
    /// As an object of what was said.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for hint in HintName::ALL.into_iter().filter(|hint| *self.get(*hint) != Hint::Absent) {
            map.serialize_entry(hint.name(), self.get(hint))?;
        }
        map.end()
    }
}
