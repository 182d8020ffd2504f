//! The index as what would be committed: entries of mode, object, stage and path.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use git2::{Index, Oid};

use super::Repository;
use crate::verify::{
    Effect, Grade,
    snapshot::{Change, Snapshot, place},
};

const STAT_CACHE: &str = "the stat cache of the index: its entries are equal";

/// By path and stage: mode and object.
type Entries = BTreeMap<(Vec<u8>, u16), (u32, Oid)>;

/// Bits of the flags that hold the stage of an entry (gitformat-index).
const STAGE: u16 = 0x3000;

/// The mode of an entry that names a commit of another repository.
const SUBMODULE: u32 = 0o160_000;

impl Repository<'_> {
    /// What happened to an index.
    pub(super) fn index(&self, change: &Change<'_>) -> Effect {
        let place = place(change.path);
        let read = |snapshot: &Snapshot| match snapshot.tree().get(change.path) {
            Some(_) => entries(snapshot.file(change.path).as_deref()),
            None => Some(Entries::new()),
        };
        let (Some(old), Some(new)) = (read(self.before), read(self.after)) else {
            return Effect::new(Grade::Lossy, "git", place, "index changed, and cannot be read");
        };
        let lost: Vec<_> = old.iter().filter(|(key, entry)| new.get(*key) != Some(*entry)).collect();
        let replaced = lost.iter().filter(|(key, _)| new.contains_key(*key)).count();
        let added = new.keys().filter(|key| !old.contains_key(*key)).count();
        if lost.is_empty() && added == 0 {
            return Effect::excused("git", place, "index rewritten", STAT_CACHE);
        }
        let missing: BTreeSet<&Oid> = lost
            .iter()
            .map(|(_, (mode, id))| (mode, id))
            .filter(|(mode, id)| **mode != SUBMODULE && !self.view.has(**id))
            .map(|(_, id)| id)
            .collect();
        let grade = match (lost.is_empty(), missing.is_empty()) {
            (true, _) => Grade::Additive,
            (false, true) => Grade::Recoverable,
            (false, false) => Grade::Lossy,
        };
        let mut what = format!("index: {added} entries added, {replaced} replaced, {} removed", lost.len() - replaced);
        if !missing.is_empty() {
            what = format!("{what}; {} of the old blobs are not in the object database", missing.len());
        }
        Effect::new(grade, "git", place, what)
    }
}

fn entries(file: Option<&Path>) -> Option<Entries> {
    let index = Index::open(file?).ok()?;
    Some(index.iter().map(|entry| ((entry.path, entry.flags & STAGE), (entry.mode, entry.id))).collect())
}
