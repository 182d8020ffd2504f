//! The git lens: a repository is judged by what its references reach, not by how it is stored.
//!
//! Objects are read through a view that knows neither the repository's configuration nor its
//! hooks. Nothing found in a repository is run.

mod index;
mod objects;
mod references;

use std::path::Path;

use objects::View;
pub(crate) use objects::stored;

use crate::verify::{
    Effect,
    snapshot::{Change, Kind, Snapshot, compare, place},
};

const OBJECTS: &str = "objects are judged by the references that reach them";
const REFLOG: &str = "reflogs are judged by the references whose history they are";
const MESSAGES: &str = "files that git leaves behind for the next command to read";
const DERIVED: &str = "lists that git makes from its references, for servers that know no git";
const LOCKS: &str = "lock files of git";
const DIRECTORIES: &str = "directories that hold references, by whose names they are judged";
const EMPTY: &str = "directories whose time moved are judged by their entries";

/// One repository, before and after.
pub(super) struct Repository<'a> {
    /// Its directory, bare or `.git`.
    dir: &'a Path,
    before: &'a Snapshot,
    after: &'a Snapshot,
    view: View,
}

/// What a path in a repository is.
enum Part {
    Object,
    Reference,
    /// Of the repository or of a linked working tree.
    Head,
    /// Likewise.
    Index,
    /// What one of these rules excuses.
    Excused(&'static str),
    /// Configuration, hooks, exclusions, what is stashed: files like any other.
    File,
}

/// What happened to a repository that is there before and after.
pub(crate) fn effects(dir: &Path, before: &Snapshot, after: &Snapshot, changes: &[Change<'_>]) -> Vec<Effect> {
    let repository = Repository { dir, before, after, view: View::open(dir, before, after) };
    let mut effects = Vec::new();
    let (mut objects, mut references) = (Vec::new(), Vec::new());
    let mut excused: Vec<(&'static str, usize)> = Vec::new();
    for change in changes {
        match part(dir, change) {
            Part::Object => objects.push(*change),
            Part::Reference => references.push(*change),
            Part::Head => effects.extend(repository.head(change)),
            Part::Index => effects.push(repository.index(change)),
            Part::File => effects.extend(compare("git", change, before, after)),
            Part::Excused(rule) => match excused.iter_mut().find(|(known, _)| *known == rule) {
                Some((_, count)) => *count += 1,
                None => excused.push((rule, 1)),
            },
        }
    }
    effects.extend(repository.references(&references));
    effects.extend(repository.objects(&objects));
    effects.extend(excused.into_iter().map(|(rule, count)| {
        let what = if count == 1 { "1 path changed".into() } else { format!("{count} paths changed") };
        Effect::excused("git", place(dir), what, rule)
    }));
    effects
}

fn part(dir: &Path, change: &Change<'_>) -> Part {
    let path = change.path.strip_prefix(dir).unwrap_or(change.path);
    let names: Vec<&str> = path.iter().map(|name| name.to_str().unwrap_or_default()).collect();
    // A linked working tree has a HEAD, an index and references of its own.
    let names = match names.as_slice() {
        ["worktrees", _, own @ ..] if !own.is_empty() => own,
        all => all,
    };
    let directory = change.before.or(change.after).is_some_and(|state| state.kind == Kind::Directory);
    match names {
        [] => Part::Excused(EMPTY),
        ["objects", ..] => Part::Object,
        [.., last] if !directory && Path::new(last).extension().is_some_and(|end| end == "lock") => {
            Part::Excused(LOCKS)
        }
        ["refs", ..] if directory => Part::Excused(DIRECTORIES),
        ["refs", ..] | ["packed-refs"] => Part::Reference,
        ["HEAD"] => Part::Head,
        ["index"] => Part::Index,
        // All stashes but the last are reached through this one alone.
        ["logs", "refs", "stash"] => Part::File,
        ["logs", ..] => Part::Excused(REFLOG),
        ["info", "refs"] => Part::Excused(DERIVED),
        ["COMMIT_EDITMSG" | "FETCH_HEAD" | "ORIG_HEAD" | "gc.pid" | "gc.log"] => Part::Excused(MESSAGES),
        _ => Part::File,
    }
}
