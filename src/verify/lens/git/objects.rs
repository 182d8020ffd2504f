//! The object database, seen without the repository around it.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use git2::{ObjectType, Odb, Oid};

use super::{OBJECTS, Repository};
use crate::verify::{
    Effect, Grade,
    snapshot::{Change, Kind, Snapshot, place},
};

/// The objects of a repository, without its configuration, its hooks or its alternates.
pub(super) struct View {
    /// What is there now.
    now: Option<Odb<'static>>,
    /// What is there now or was there when the copy was made, with the commits' graph.
    ever: Option<git2::Repository>,
}

impl View {
    pub(super) fn open(dir: &Path, before: &Snapshot, after: &Snapshot) -> Self {
        let objects = dir.join("objects");
        let (now, original) = (after.root().join(&objects), before.original().join(&objects));
        let ever = odb(&[&now, &original]).and_then(|odb| git2::Repository::from_odb(odb).ok());
        Self { now: odb(&[&now]), ever }
    }

    /// Whether the object is in the database now.
    pub(super) fn has(&self, id: Oid) -> bool {
        self.now.as_ref().is_some_and(|odb| odb.exists(id))
    }

    /// Whether one commit has another among its ancestors. Where the history cannot be read this is
    /// not known, and so not true.
    pub(super) fn is_ahead(&self, commit: &str, ancestor: &str) -> bool {
        let ids = (Oid::from_str(commit), Oid::from_str(ancestor));
        match (&self.ever, ids) {
            (Some(view), (Ok(commit), Ok(ancestor))) => view.graph_descendant_of(commit, ancestor).unwrap_or(false),
            _ => false,
        }
    }
}

/// Object directories as one database.
fn odb(dirs: &[&Path]) -> Option<Odb<'static>> {
    let odb = Odb::new().ok()?;
    for dir in dirs.iter().filter(|dir| dir.is_dir()) {
        odb.add_disk_alternate(dir.to_str()?).ok()?;
    }
    Some(odb)
}

impl Repository<'_> {
    /// What happened to the object database: new objects count if they came from elsewhere, and
    /// old ones if they are nowhere any more.
    pub(super) fn objects(&self, changes: &[Change<'_>]) -> Vec<Effect> {
        let shown = place(&self.dir.join("objects"));
        let mut effects = Vec::new();
        let promised = changes
            .iter()
            .filter(|change| change.before.is_none() && change.path.extension().is_some_and(|end| end == "promisor"));
        match promised.count() {
            0 => {}
            packs => {
                let what = format!("{packs} packs fetched from the repository that this is a partial clone of");
                effects.push(Effect::new(Grade::Additive, "git", &shown, what));
            }
        }
        let gone = self.gone(changes);
        if gone > 0 {
            effects.push(Effect::new(Grade::Lossy, "git", &shown, format!("{gone} objects gone")));
        }
        let spoiled = changes.iter().filter(|change| is_loose(change.path) && is_rewritten(change)).count();
        if spoiled > 0 {
            effects.push(Effect::new(Grade::Lossy, "git", &shown, format!("{spoiled} object files overwritten")));
        }
        if effects.is_empty() && !changes.is_empty() {
            let what = format!("{} paths changed", changes.len());
            effects.push(Effect::excused("git", shown, what, OBJECTS));
        }
        effects
    }

    /// How many objects were there and are not, loose or packed.
    fn gone(&self, changes: &[Change<'_>]) -> usize {
        let mut deleted = changes.iter().filter(|change| change.after.is_none()).peekable();
        if deleted.peek().is_none() {
            return 0;
        }
        let mut ids: Vec<Oid> = Vec::new();
        if deleted.clone().any(|change| change.path.extension().is_some_and(|end| end == "pack")) {
            let original = self.before.original().join(self.dir).join("objects");
            // An object that cannot be listed is not missed.
            let _ = odb(&[&original]).map(|odb| {
                odb.foreach(|id| {
                    ids.push(*id);
                    true
                })
            });
        }
        ids.extend(deleted.filter_map(|change| loose_id(change.path)));
        ids.sort();
        ids.dedup();
        ids.into_iter().filter(|id| !self.view.has(*id)).count()
    }
}

fn is_rewritten(change: &Change<'_>) -> bool {
    matches!((change.before, change.after), (Some(old), Some(new)) if !old.same_matter(new))
}

fn is_loose(path: &Path) -> bool {
    loose_id(path).is_some()
}

/// `objects/ab/cdef…` holds the object `abcdef…`.
fn loose_id(path: &Path) -> Option<Oid> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let id = name(path.parent()?)? + &name(path)?;
    Some(id).filter(|id| id.len() == 40).and_then(|id| Oid::from_str(&id).ok())
}

/// The blob that holds what a file held before, if the file lies in the working tree of a
/// repository whose object database still has it.
pub(crate) fn stored(path: &Path, before: &Snapshot, after: &Snapshot) -> Option<String> {
    let state = before.tree().get(path).filter(|state| state.kind == Kind::File)?;
    let objects = path.ancestors().skip(1).find_map(|dir| objects_of(dir, after))?;
    let id = Oid::hash_object(ObjectType::Blob, &before.bytes(path)?).ok()?;
    let odb = odb(&[&after.root().join(objects)])?;
    (odb.exists(id) && state.digest().is_some()).then(|| id.to_string().chars().take(10).collect())
}

/// The object directory behind a working tree, relative to the world.
fn objects_of(dir: &Path, snapshot: &Snapshot) -> Option<PathBuf> {
    let git = dir.join(".git");
    if snapshot.tree().repositories.contains(&git) {
        return Some(git.join("objects"));
    }
    // A linked working tree names its part of the repository, and that the rest.
    snapshot.tree().get(&git).filter(|state| state.kind == Kind::File)?;
    let text = String::from_utf8(snapshot.bytes(&git)?).ok()?;
    let own = within(dir, text.strip_prefix("gitdir:")?.trim(), snapshot)?;
    let common = match snapshot.bytes(&own.join("commondir")) {
        Some(common) => within(&own, String::from_utf8(common).ok()?.trim(), snapshot)?,
        None => own,
    };
    snapshot.tree().repositories.contains(&common).then(|| common.join("objects"))
}

/// A path that a file names, seen from its directory; none if it leaves the world.
fn within(dir: &Path, named: &str, snapshot: &Snapshot) -> Option<PathBuf> {
    let named = Path::new(named);
    let named = named.strip_prefix(snapshot.root()).map_or_else(|_| dir.join(named), Path::to_owned);
    let mut path: Vec<&OsStr> = Vec::new();
    for part in named.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path.into_iter().collect())
}
