use serde::Serialize;

/// How much an effect costs whoever owns the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Bookkeeping: nothing that anybody would miss or notice.
    None,
    /// Something new, and nothing that existed is different.
    Additive,
    /// Something that existed is different, and what it was can be had again.
    Recoverable,
    /// Something that existed is gone.
    Lossy,
}

/// One observed change. Holds names, counts and digests, never contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Effect {
    /// How bad it is.
    pub grade: Grade,
    /// Which lens saw it: `files`, `git`, `sqlite`, `json`, `text`, `network`; of system calls
    /// `process`, `system`, `local`, `transient`, `unseen`.
    pub lens: &'static str,
    /// Where, relative to the world: a path, a reference, a table.
    pub place: String,
    /// What happened there, in a few words: `created`, `3 rows removed`, `moved to a non-descendant`.
    pub what: String,
    /// The rule that makes it bookkeeping, if it is; always printed.
    pub excuse: Option<&'static str>,
}

impl Effect {
    /// An effect that counts.
    pub fn new(grade: Grade, lens: &'static str, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { grade, lens, place: place.into(), what: what.into(), excuse: None }
    }

    /// Bookkeeping, by this rule.
    pub fn excused(lens: &'static str, place: impl Into<String>, what: impl Into<String>, rule: &'static str) -> Self {
        Self { grade: Grade::None, lens, place: place.into(), what: what.into(), excuse: Some(rule) }
    }
}
