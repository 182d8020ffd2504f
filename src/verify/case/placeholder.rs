//! `{world}` and `{listener}` in the strings of a case.

use serde_json::{Map, Value};

/// What the placeholders stand for in one trial.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Path of the copy of the world.
    pub world: &'a str,
    /// Origin of the server on loopback, without a slash at its end.
    pub listener: &'a str,
}

/// What a case may write in braces.
pub(super) const NAMES: [&str; 2] = ["world", "listener"];

impl Places<'_> {
    pub(super) fn fill(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        arguments.iter().map(|(key, value)| (key.clone(), self.value(value))).collect()
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(values) => values.iter().map(|value| self.value(value)).collect(),
            Value::Object(members) => Value::Object(self.fill(members)),
            other => other.clone(),
        }
    }

    /// In one pass, so that a path which happens to hold a placeholder isn't filled in itself.
    fn text(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled += before;
            let place = [("world}", self.world), ("listener}", self.listener)];
            let found = place.iter().find_map(|(name, place)| Some((after.strip_prefix(name)?, place)));
            rest = if let Some((after, place)) = found {
                filled += place;
                after
            } else {
                filled.push('{');
                after
            };
        }
        filled + rest
    }
}

/// Whether one of its strings holds a placeholder of this name.
pub(super) fn names(value: &Value, placeholder: &str) -> bool {
    match value {
        Value::String(text) => text.contains(&format!("{{{placeholder}}}")),
        Value::Array(values) => values.iter().any(|value| names(value, placeholder)),
        Value::Object(members) => members.values().any(|value| names(value, placeholder)),
        _ => false,
    }
}

/// The first string that seems to misspell a placeholder, and how.
pub(super) fn slip(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => slip_of(text),
        Value::Array(values) => values.iter().find_map(slip),
        Value::Object(members) => members.values().find_map(slip),
        _ => None,
    }
}

fn slip_of(text: &str) -> Option<String> {
    let is_letter = |char: char| char.is_alphanumeric() || char == '_';
    for (at, _) in text.match_indices('{') {
        let (before, after) = text.split_at_checked(at)?;
        let after = after.get(1..)?;
        let (inside, closed) = match after.find(['{', '}']) {
            Some(end) => (after.get(..end)?, after.get(end..)?.starts_with('}')),
            None => (after, false),
        };
        let name = if closed { inside } else { inside.split(|char| !is_letter(char)).next().unwrap_or_default() };
        let plain: String = name.trim().to_lowercase();
        // `{word}` is a word of its own, and so is `{listeners}`; but they are worth the question.
        let meant = |known: &&&str| strsim::damerau_levenshtein(&plain, known) <= usize::from(closed);
        let Some(known) = NAMES.iter().find(meant) else { continue };
        let wrapped =
            before.ends_with(['$', '{']) || after.get(inside.len() + 1..).is_some_and(|rest| rest.starts_with('}'));
        if !closed {
            return Some(format!("`{{{name}` has no closing brace: write `{{{known}}}`"));
        }
        if name != *known || wrapped {
            let written = text.get(at..=at + 1 + inside.len()).unwrap_or_default();
            return Some(format!("`{}` is no placeholder: write `{{{known}}}`", super::visible(written, 40)));
        }
    }
    NAMES.iter().find_map(|known| {
        let (before, _) = text.split_once(&format!("{known}}}"))?;
        let opened = before.ends_with(is_letter) || before.rfind('{') > before.rfind('}');
        (!opened && !text.contains(&format!("{{{known}}}")))
            .then(|| format!("`{known}}}` has no opening brace: write `{{{known}}}`"))
    })
}
