//! `SQLite` databases: the main file and what lies beside it are one store, judged by its rows.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    Snapshot, compare, place,
    tree::{Change, Tree},
};
use crate::verify::{Effect, Grade, lens::sqlite, world::Folder};

const FILES: &str = "a file of a database: judged by its schema and rows, which are equal";

/// What `SQLite` puts beside a main file.
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];

/// The main file of the store that a path belongs to, if it belongs to one.
pub(super) fn of(path: &Path, before: &Tree, after: &Tree) -> Option<PathBuf> {
    let is_database = |path: &Path| {
        let found =
            |tree: &Tree| tree.get(path).and_then(|state| state.content).is_some_and(|content| content.database);
        // A file that was no database and is one now was overwritten, unless it was empty.
        let fits = |tree: &Tree| tree.get(path).is_none_or(|state| state.size == 0 || found(tree));
        (found(before) || found(after)) && fits(before) && fits(after)
    };
    if is_database(path) {
        return Some(path.into());
    }
    let name = path.file_name()?.to_str()?;
    let main = BESIDE.iter().find_map(|end| name.strip_suffix(end))?;
    Some(path.with_file_name(main)).filter(|main| is_database(main))
}

pub(super) fn effects(main: &Path, before: &Snapshot, after: &Snapshot, changes: &[Change<'_>]) -> Vec<Effect> {
    let shown = place(main);
    let read = || -> Result<Vec<Effect>, String> {
        let folder = Folder::new("candor-store-").map_err(|error| error.to_string())?;
        let old = lay_out(before, main, &folder.path().join("before")).map_err(|error| error.to_string())?;
        let new = lay_out(after, main, &folder.path().join("after")).map_err(|error| error.to_string())?;
        sqlite::effects(&shown, old.as_deref(), new.as_deref())
    };
    let mut effects = match read() {
        Ok(effects) => effects,
        Err(cause) => {
            let what = format!("changed, and the database cannot be read: {cause}");
            vec![Effect::new(Grade::Lossy, "sqlite", &shown, what)]
        }
    };
    let told = !effects.is_empty();
    for effect in changes.iter().flat_map(|change| compare("sqlite", change, before, after)) {
        let rights = effect.grade == Grade::Recoverable;
        if rights {
            effects.push(effect);
        } else if !told {
            effects.push(Effect::excused("sqlite", effect.place, effect.what, effect.excuse.unwrap_or(FILES)));
        }
    }
    effects
}

/// A store's files so that they may be opened; none if the main file isn't there. Copies, but for a
/// main file that is only read.
fn lay_out(snapshot: &Snapshot, main: &Path, dir: &Path) -> io::Result<Option<PathBuf>> {
    let Some(name) = main.file_name().filter(|_| snapshot.tree().get(main).is_some()) else { return Ok(None) };
    fs::create_dir(dir)?;
    let is_alone =
        ["-wal", "-journal"].iter().all(|end| snapshot.tree().get(&main.with_file_name(with(name, end))).is_none());
    // The shared memory is an index of the log, and made anew from it.
    for end in ["", "-wal", "-journal"] {
        let name = with(name, end);
        let path = main.with_file_name(&name);
        if snapshot.tree().get(&path).is_some() {
            let kept = snapshot.file(&path).ok_or_else(|| io::Error::other("a file of it was not kept"))?;
            let copy = dir.join(name);
            // A large one need not be copied to be read.
            let linked = is_alone && snapshot.keeps(&kept) && sqlite::is_whole(&kept);
            if !(linked && fs::hard_link(&kept, &copy).is_ok()) {
                fs::copy(kept, copy)?;
            }
        }
    }
    Ok(Some(dir.join(name)))
}

fn with(name: &OsStr, end: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(end);
    name
}
