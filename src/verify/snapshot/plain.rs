//! Paths that belong to no repository and to no database.

use std::path::{Path, PathBuf};

use super::{Kind, Snapshot, compare, moves, place, tree::Change};
use crate::verify::{Effect, Grade, lens::git};

/// What came of one path.
struct Judged<'a> {
    change: Change<'a>,
    effects: Vec<Effect>,
}

pub(super) fn effects(before: &Snapshot, after: &Snapshot, changes: &[Change<'_>]) -> Vec<Effect> {
    let (moved, mut effects) = moves::find(before, after, changes);
    let judged: Vec<Judged<'_>> = changes
        .iter()
        .filter(|change| !moved.contains(change.path))
        .map(|change| Judged { change: *change, effects: judge(change, before, after) })
        .collect();
    effects.extend(fold(judged, before));
    effects
}

fn judge(change: &Change<'_>, before: &Snapshot, after: &Snapshot) -> Vec<Effect> {
    let mut effects = compare("files", change, before, after);
    for effect in effects.iter_mut().filter(|effect| effect.grade == Grade::Lossy) {
        // What git has can be had again, if the file stands where git would put it.
        if let Some(blob) = git::stored(change.path, before, after) {
            effect.grade = Grade::Recoverable;
            effect.what = format!("{}; the old content is blob {blob} of the repository", effect.what);
        }
    }
    effects
}

/// Tell directories that came or went with all below them in one line.
fn fold(judged: Vec<Judged<'_>>, before: &Snapshot) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut tops: Vec<(PathBuf, bool, Vec<Effect>)> = Vec::new();
    for Judged { change, effects: found } in judged {
        let created = change.before.is_none();
        let one_sided = created || change.after.is_none();
        let top = tops.last_mut().filter(|(top, was_created, _)| {
            one_sided && *was_created == created && change.path.starts_with(top.as_path())
        });
        let directory = change.before.or(change.after).is_some_and(|state| state.kind == Kind::Directory);
        if let Some((.., below)) = top {
            // Directories below hold nothing of their own; what is in them counts.
            if !directory || created {
                below.extend(found);
            }
        } else if one_sided && directory {
            tops.push((change.path.into(), created, Vec::new()));
        } else {
            effects.extend(found);
        }
    }
    effects.extend(tops.into_iter().map(|(path, created, below)| folded(&path, created, &below, before)));
    effects
}

fn folded(path: &Path, created: bool, below: &[Effect], before: &Snapshot) -> Effect {
    let what = if created { "created" } else { "deleted" };
    let what = match below.len() {
        0 => format!("directory {what}"),
        1 => format!("directory {what}, with 1 entry"),
        count => format!("directory {what}, with {count} entries"),
    };
    let grade = match below.iter().map(|effect| effect.grade).max() {
        _ if created => Grade::Additive,
        Some(worst) => worst,
        // All that it held was renamed.
        None if before.tree().below(path).next().is_some() => Grade::Recoverable,
        None => Grade::Lossy,
    };
    Effect::new(grade, "files", place(path), what)
}
