//! Renames: what went from one place and came at another.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use super::{Kind, Snapshot, State, place, state::Digest, tree::Change};
use crate::verify::{Effect, Grade};

/// The renames among some changes, and the paths that need no other word then.
pub(super) fn find<'a>(
    before: &Snapshot,
    after: &Snapshot,
    changes: &[Change<'a>],
) -> (HashSet<&'a Path>, Vec<Effect>) {
    let (mut told, mut effects) = (HashSet::new(), Vec::new());
    directories(before, after, changes, &mut told, &mut effects);
    files(changes, &mut told, &mut effects);
    (told, effects)
}

/// A directory keeps its inode when it is renamed, and all that is in it.
fn directories<'a>(
    before: &Snapshot,
    after: &Snapshot,
    changes: &[Change<'a>],
    told: &mut HashSet<&'a Path>,
    effects: &mut Vec<Effect>,
) {
    let inode = |state: &State| {
        let stamp = state.stamp.filter(|_| state.kind == Kind::Directory)?;
        Some((stamp.device, stamp.inode))
    };
    let came: HashMap<_, &Path> = created(changes).filter_map(|(path, state)| Some((inode(state)?, path))).collect();
    for (path, state) in deleted(changes) {
        let Some(new) = inode(state).and_then(|inode| came.get(&inode).copied()) else { continue };
        if told.contains(path) || !is_same_below(before, path, after, new) {
            continue;
        }
        told.extend(changes.iter().map(|change| change.path).filter(|at| at.starts_with(path) || at.starts_with(new)));
        effects.push(renamed(path, "directory", new));
    }
}

fn is_same_below(before: &Snapshot, old: &Path, after: &Snapshot, new: &Path) -> bool {
    let mut olds = before.tree().below(old);
    let mut news = after.tree().below(new);
    // An inode alone proves nothing about an empty directory: the next one made may get it.
    let same_time = |(one, two): (&State, &State)| one.modified == two.modified;
    if !before.tree().get(old).zip(after.tree().get(new)).is_some_and(same_time) {
        return false;
    }
    loop {
        match (olds.next(), news.next()) {
            (None, None) => return true,
            (Some((path, one)), Some((other, two))) => {
                let same_name = path.strip_prefix(old).ok() == other.strip_prefix(new).ok();
                if !same_name || !one.same_matter(two) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// A file that went, and one of the same size, content and time that came. It may have come over
/// another, which is told for itself.
fn files<'a>(changes: &[Change<'a>], told: &mut HashSet<&'a Path>, effects: &mut Vec<Effect>) {
    let mut came: HashMap<_, Vec<&Change<'a>>> = HashMap::new();
    for change in changes.iter().filter(|change| !told.contains(change.path)) {
        let differs = |old: &State| change.after.is_some_and(|new| !old.same_matter(new));
        if let Some(key) = change.after.and_then(identity).filter(|_| change.before.is_none_or(differs)) {
            came.entry(key).or_default().push(change);
        }
    }
    for (path, state) in deleted(changes) {
        if told.contains(path) {
            continue;
        }
        let Some(new) = identity(state).and_then(|key| came.get_mut(&key)?.pop()) else { continue };
        told.insert(path);
        if new.before.is_none() {
            told.insert(new.path);
        }
        effects.push(renamed(path, "file", new.path));
    }
}

type Identity = (u64, Digest, std::time::SystemTime);

fn identity(state: &State) -> Option<Identity> {
    (state.size > 0).then_some((state.size, state.digest()?, state.modified?))
}

fn renamed(old: &Path, kind: &str, new: &Path) -> Effect {
    Effect::new(Grade::Recoverable, "files", place(old), format!("{kind} renamed to `{}`", place(new)))
}

fn created<'a>(changes: &[Change<'a>]) -> impl Iterator<Item = (&'a Path, &'a State)> {
    changes.iter().filter(|change| change.before.is_none()).filter_map(|change| Some((change.path, change.after?)))
}

fn deleted<'a>(changes: &[Change<'a>]) -> impl Iterator<Item = (&'a Path, &'a State)> {
    changes.iter().filter(|change| change.after.is_none()).filter_map(|change| Some((change.path, change.before?)))
}
