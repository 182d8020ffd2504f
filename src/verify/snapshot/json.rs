//! The JSON lens: whether a rewritten file still says all that it said.
//!
//! Numbers are compared as they are written, so no precision is lost. A key that stands twice in
//! an object has no agreed meaning, so there is no lens then.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::text::is_within;
use crate::members::Members;

/// Deeper nesting is not looked at: no lens.
const DEPTH: usize = 100;

/// What a new text says compared with an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The same value.
    Same,
    /// All that the old said, and more.
    More,
    /// Something is missing or different.
    Less,
}

/// Compare two JSON texts, or two texts of one JSON value a line. None if one is neither.
pub(super) fn compare(before: &[u8], after: &[u8]) -> Option<Said> {
    let (before, after) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(after).ok()?);
    let values = match (whole(before), whole(after)) {
        (Some(before), Some(after)) => (before, after),
        _ => (lines(before)?, lines(after)?),
    };
    Some(match values {
        (before, after) if before == after => Said::Same,
        (before, after) if before.is_within(&after) => Said::More,
        _ => Said::Less,
    })
}

/// Only objects and arrays: a lone word or number in a file is text.
fn whole(text: &str) -> Option<Json> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    Json::read(raw, DEPTH).filter(|json| matches!(json, Json::Object(_) | Json::Array(_)))
}

fn lines(text: &str) -> Option<Json> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(whole).collect::<Option<Vec<_>>>().filter(|lines| !lines.is_empty()).map(Json::Array)
}

#[derive(PartialEq)]
enum Json {
    Object(BTreeMap<String, Json>),
    Array(Vec<Json>),
    Text(String),
    /// A number, a boolean or null, as written.
    Word(String),
}

impl Json {
    fn read(raw: &RawValue, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        Some(match raw.get().as_bytes().first()? {
            b'{' => {
                let Members(members) = serde_json::from_str(raw.get()).ok()?;
                let mut object = BTreeMap::new();
                for (key, raw) in members {
                    let twice = object.insert(key, Self::read(raw, depth)?);
                    if twice.is_some() {
                        return None;
                    }
                }
                Self::Object(object)
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
                Self::Array(items.into_iter().map(|raw| Self::read(raw, depth)).collect::<Option<_>>()?)
            }
            b'"' => Self::Text(serde_json::from_str(raw.get()).ok()?),
            _ => Self::Word(raw.get().into()),
        })
    }

    /// Members kept, arrays as ordered subsequences, all else equal.
    fn is_within(&self, new: &Self) -> bool {
        match (self, new) {
            (Self::Object(old), Self::Object(new)) => {
                old.iter().all(|(key, old)| new.get(key).is_some_and(|new| old.is_within(new)))
            }
            (Self::Array(old), Self::Array(new)) => is_within(old, new, |old, new| old.is_within(new)),
            (old, new) => old == new,
        }
    }
}
