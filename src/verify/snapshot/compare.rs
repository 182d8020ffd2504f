//! One path, before and after: kind, link target, content, permissions, and time last of all.

use super::{
    Snapshot,
    json::{self, Said},
    place,
    state::{Digest, Kind, State},
    text,
    tree::Change,
};
use crate::verify::{Effect, Grade};

const TIME: &str = "time only: content and permissions are equal";
const ENTRIES: &str = "entries that came and went again: a directory's time moved and its entries are equal";
const EQUAL: &str = "equal content: the file was replaced by one that holds the same bytes";
const SAME_VALUE: &str = "equal JSON value: the text is written differently and says the same";
const LOCK: &str = "a lock file: its name ends in `.lock` and it holds nothing, or a process number";

/// What happened to one path. The lens `files` becomes `text` or `json` where one of those spoke.
pub(crate) fn compare(lens: &'static str, change: &Change<'_>, before: &Snapshot, after: &Snapshot) -> Vec<Effect> {
    let place = place(change.path);
    let bytes = || Some((before.bytes(change.path)?, after.bytes(change.path)?));
    let (old, new) = match (change.before, change.after) {
        (None, None) => return Vec::new(),
        (None, Some(new)) => {
            let what = format!("{} created{}", new.kind.name(), size(new));
            return vec![if is_lock(change, after, new) {
                Effect::excused(lens, place, what, LOCK)
            } else {
                Effect::new(Grade::Additive, lens, place, what)
            }];
        }
        (Some(old), None) => {
            let what = format!("{} deleted{}", old.kind.name(), size(old));
            return vec![if is_lock(change, before, old) {
                Effect::excused(lens, place, what, LOCK)
            } else {
                Effect::new(Grade::Lossy, lens, place, what)
            }];
        }
        (Some(old), Some(new)) => (old, new),
    };
    let mut effects = Vec::new();
    if old.kind != new.kind {
        let what = format!("{} replaced by a {}", old.kind.name(), new.kind.name());
        return vec![Effect::new(Grade::Lossy, lens, place, what)];
    }
    if old.target != new.target {
        effects.push(Effect::new(Grade::Lossy, lens, &place, "link points elsewhere"));
    } else if !old.same_matter(new) {
        if is_lock(change, before, old) && is_lock(change, after, new) {
            effects.push(Effect::excused(lens, &place, "content replaced", LOCK));
        } else {
            effects.push(content(lens, &place, old, new, bytes()));
        }
    }
    if !old.same_rights(new) {
        effects.push(Effect::new(Grade::Recoverable, lens, &place, rights(old, new)));
    }
    if effects.is_empty() {
        effects.push(match old.kind {
            Kind::File if change.is_another() => Effect::excused(lens, place, "file replaced by an equal one", EQUAL),
            Kind::Directory => Effect::excused(lens, place, "time changed", ENTRIES),
            _ => Effect::excused(lens, place, "time changed", TIME),
        });
    }
    effects
}

/// Two files that hold different bytes.
fn content(lens: &'static str, place: &str, old: &State, new: &State, bytes: Option<(Vec<u8>, Vec<u8>)>) -> Effect {
    let (Some(was), Some(is)) = (old.digest(), new.digest()) else {
        return Effect::new(Grade::Lossy, lens, place, "changed, and cannot be read");
    };
    let grown = new.size.saturating_sub(old.size);
    let appended = match &bytes {
        Some((before, after)) => after.starts_with(before),
        None => new.content.and_then(|content| content.prefix) == Some(was),
    };
    if appended && grown > 0 {
        return Effect::new(Grade::Additive, lens, place, format!("{grown} bytes appended"));
    }
    let (size, sum) = (|state: &State| format!("{} bytes", state.size), |digest: &Digest| short(digest));
    let replaced = format!("content replaced: {}, {} by {}, {}", size(old), sum(&was), size(new), sum(&is));
    let Some((before, after)) = bytes else { return Effect::new(Grade::Lossy, lens, place, replaced) };
    let named = |name| if lens == "files" { name } else { lens };
    match json::compare(&before, &after) {
        Some(Said::Same) => return Effect::excused(named("json"), place, "rewritten", SAME_VALUE),
        Some(Said::More) => {
            let what = "rewritten: all that it said is still there, and more";
            return Effect::new(Grade::Additive, named("json"), place, what);
        }
        Some(Said::Less) => return Effect::new(Grade::Lossy, named("json"), place, replaced),
        None => {}
    }
    match text::keeps_all_lines(&before, &after) {
        Some(true) => Effect::new(Grade::Additive, named("text"), place, format!("lines added, {grown} bytes")),
        Some(false) => Effect::new(Grade::Lossy, named("text"), place, replaced),
        None => Effect::new(Grade::Lossy, lens, place, replaced),
    }
}

fn size(state: &State) -> String {
    if state.kind == Kind::File { format!(", {} bytes", state.size) } else { String::new() }
}

/// The first four bytes of a digest.
fn short(digest: &Digest) -> String {
    hex::encode(digest).chars().take(8).collect()
}

fn rights(old: &State, new: &State) -> String {
    let mut what = Vec::new();
    if old.kind != Kind::Link && old.mode != new.mode {
        what.push(format!("mode {:o} became {:o}", old.mode, new.mode));
    }
    if old.owner != new.owner {
        what.push(format!("owner {}:{} became {}:{}", old.owner.0, old.owner.1, new.owner.0, new.owner.1));
    }
    if old.attributes != new.attributes {
        what.push("extended attributes changed".into());
    }
    what.join(", ")
}

fn is_lock(change: &Change<'_>, snapshot: &Snapshot, state: &State) -> bool {
    let named = change.path.extension().is_some_and(|end| end == "lock");
    let is_number = |bytes: &[u8]| bytes.trim_ascii().iter().all(u8::is_ascii_digit);
    let empty =
        || state.size == 0 || (state.size < 24 && snapshot.bytes(change.path).is_some_and(|text| is_number(&text)));
    named && state.kind == Kind::File && empty()
}
