//! Snapshots: what a copy of a world holds at one moment, and what differs between two moments.
//!
//! Paths that belong to a git repository or to an `SQLite` database are judged by those lenses as
//! a whole; everything else file by file, by content before time.

mod compare;
mod held;
mod json;
mod kept;
mod moves;
mod plain;
mod state;
mod stores;
mod text;
mod tree;
mod watched;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) use compare::compare;
pub use held::Held;
pub(crate) use kept::{Kept, Original};
pub(crate) use state::{Content, Kind, State, read};
pub(crate) use tree::{Change, Tree, Trust};
pub(crate) use watched::{Suspects, Watched};

use super::{Effect, WorldCopy, lens};

/// What a copy of a world holds at one moment.
#[derive(Debug)]
pub struct Snapshot {
    root: PathBuf,
    tree: Tree,
    kept: Arc<Kept>,
    /// What was mapped for writing when the copy was looked at.
    mapped: BTreeSet<PathBuf>,
}

impl Snapshot {
    /// Look at a copy that no process holds a file of. What is provably the same as in the snapshot
    /// before, or in the fresh copy without one, is not read again.
    ///
    /// # Errors
    ///
    /// If a directory cannot be listed, or what changed cannot be kept; names the place.
    pub fn take(copy: &WorldCopy, before: Option<&Self>) -> io::Result<Self> {
        Self::take_held(copy, before, &Held::default())
    }

    /// The same, of a copy that processes hold files of; their paths are relative to the copy. What
    /// is or was mapped for writing is read in any case.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take).
    pub fn take_held(copy: &WorldCopy, before: Option<&Self>, held: &Held) -> io::Result<Self> {
        let (root, kept) = (copy.path(), Arc::clone(&copy.kept));
        // What is not mapped any more was until somewhen after the last look.
        let mapped = before.map(|before| &before.mapped).into_iter().flatten().chain(&held.mapped);
        let before = before.map_or(&copy.start, |before| &before.tree);
        let seen = &mut |path: &Path, content: &Content, bytes| kept.keep(root, path, content, bytes);
        let tree = copy.with_suspects(|suspects| match suspects {
            Some(suspects) => before.revisit(root, &suspects.paths, &suspects.whole, seen),
            None => Tree::read(root, before, Trust::Stamps, seen),
        })?;
        let tree = tree.again(root, &held.open, Trust::Stamps, seen)?.again(root, mapped, Trust::Nothing, seen)?;
        Ok(Self { root: root.into(), tree, kept, mapped: held.mapped.clone() })
    }

    /// Of what was gathered from several places. Paths are as in the tree, and no repository is known.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(tree: Tree, kept: Arc<Kept>) -> Self {
        Self { root: PathBuf::new(), tree, kept, mapped: BTreeSet::new() }
    }

    /// What is different in the later of two snapshots of one copy, in the order of the places.
    ///
    /// To be asked while the copy is there: the objects of git repositories are read from it.
    #[must_use]
    pub fn effects(before: &Self, after: &Self) -> Vec<Effect> {
        let changes = before.tree.changes(&after.tree);
        let mut repositories: BTreeMap<&Path, Vec<Change<'_>>> = BTreeMap::new();
        let mut stores: BTreeMap<PathBuf, Vec<Change<'_>>> = BTreeMap::new();
        let mut plain = Vec::new();
        let explained = explained(&changes);
        for change in &changes {
            let is_repository =
                |dir: &&Path| before.tree.repositories.contains(*dir) && after.tree.repositories.contains(*dir);
            if change.is_time_of_directory() && explained.contains(change.path) {
                continue;
            }
            if let Some(dir) = change.path.ancestors().find(is_repository) {
                repositories.entry(dir).or_default().push(*change);
            } else if let Some(store) = stores::of(change.path, &before.tree, &after.tree) {
                stores.entry(store).or_default().push(*change);
            } else {
                plain.push(*change);
            }
        }
        let mut effects = plain::effects(before, after, &plain);
        for (dir, changes) in repositories {
            effects.extend(lens::git::effects(dir, before, after, &changes));
        }
        for (store, changes) in stores {
            effects.extend(stores::effects(&store, before, after, &changes));
        }
        effects.sort_by(|one, other| one.place.cmp(&other.place));
        effects
    }

    /// The directory that this is a snapshot of.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The directory that the copy was made from.
    pub(crate) fn original(&self) -> &Path {
        self.kept.original.folder.path()
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What a file held when the snapshot was taken, if a lens may read so much.
    pub(crate) fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.kept.bytes(path, self.tree.get(path)?)
    }

    /// A file with the bytes that a path held when the snapshot was taken. Only to be read.
    pub(crate) fn file(&self, path: &Path) -> Option<PathBuf> {
        self.kept.find(path, self.tree.get(path)?.digest()?)
    }

    /// Whether a file is one of those that are kept for lenses, and not one of the original.
    pub(crate) fn keeps(&self, file: &Path) -> bool {
        self.kept.is_own(file)
    }
}

/// The directories whose time moved because of what is told of their entries.
fn explained<'a>(changes: &[Change<'a>]) -> HashSet<&'a Path> {
    let moves = |change: &&Change<'_>| change.before.is_none() || change.after.is_none() || change.is_another();
    changes.iter().filter(moves).filter_map(|change| change.path.parent()).collect()
}

/// A path as reports show it: relative to the world, with control characters escaped.
pub(crate) fn place(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text: String = text
        .chars()
        .flat_map(|char| if char.is_control() { char.escape_debug().collect() } else { vec![char] })
        .collect();
    if text.is_empty() { ".".into() } else { text }
}
