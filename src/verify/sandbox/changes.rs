//! What a server changed outside of its worlds, read from the upper layers of its box.
//!
//! A checkpoint is compared with the checkpoint before it and not with the host. Of what lies below,
//! only what the upper layers touch or hide is ever read.

mod content;
mod incidental;
mod lower;
mod upper;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{control::Layer, places};
use crate::verify::{
    Effect, Grade, Held, Snapshot,
    snapshot::{Kept, Original, Tree},
    world::Folder,
};

use content::Reader;
use lower::Lower;
use upper::Upper;

/// The most entries that are listed of what a server removed; it may remove the whole system.
const MAX_HIDDEN: usize = 20_000;
/// What belongs to a database beside its main file.
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];

/// The layers of a box, and what they held at the last look.
#[derive(Debug)]
pub(super) struct Changes {
    temporary: PathBuf,
    home: Option<PathBuf>,
    kept: Arc<Kept>,
    upper: Upper,
    lower: Lower,
    /// Every path that ever differed from the host.
    touched: BTreeSet<PathBuf>,
    /// What was mapped for writing at the last look.
    mapped: BTreeSet<PathBuf>,
}

impl Changes {
    /// Look at a box that stands and has no server yet.
    pub(super) fn start(base: &Path, home: Option<PathBuf>, layers: Vec<Layer>) -> io::Result<Self> {
        let original = Original { folder: Folder::new("candor-original-")?, tree: Tree::default() };
        let kept = Arc::new(Kept::new(Arc::new(original))?);
        let temporary = places::temporary(base);
        let (upper, lower) = (Upper::new(layers), Lower::new(base));
        let mut changes =
            Self { temporary, home, kept, upper, lower, touched: BTreeSet::new(), mapped: BTreeSet::new() };
        changes.look(&Held::default())?;
        Ok(changes)
    }

    /// What differs from the last look, where processes hold files.
    pub(super) fn look(&mut self, held: &Held) -> io::Result<Vec<Effect>> {
        let kept = Arc::clone(&self.kept);
        // What is not mapped any more was until somewhen after the last look.
        let once = std::mem::replace(&mut self.mapped, held.mapped.clone());
        let mapped = &once | &held.mapped;
        let mut reader = Reader::new(&mapped, &kept);
        let upper = self.upper.again(&mut reader)?;
        self.touched.extend(upper.entries.keys().cloned());
        let hidden = self.hidden(&upper);
        let left_out = hidden.len() >= MAX_HIDDEN;
        self.touched.extend(hidden);
        let stores: Vec<PathBuf> = self.touched.iter().flat_map(|path| store(path)).collect();
        self.touched.extend(stores);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for path in &self.touched {
            let must = [&self.upper, &upper].into_iter().any(|upper| upper.has_file(path));
            let mut seen = |upper: &Upper| upper.seen(path, &mut self.lower, &mut reader, must);
            let (old, new) = (seen(&self.upper), seen(&upper));
            before.extend(old.map(|state| (path.clone(), state)));
            after.extend(new.map(|state| (path.clone(), state)));
        }
        self.upper = upper;
        let snapshot = |entries| Snapshot::of(Tree::of(entries), Arc::clone(&self.kept));
        let mut effects = Snapshot::effects(&snapshot(before), &snapshot(after));
        for effect in &mut effects {
            incidental::excuse(effect, &self.temporary, self.home.as_deref());
        }
        if left_out {
            let what = format!("more than {MAX_HIDDEN} entries were removed; the rest is not listed");
            effects.push(Effect::new(Grade::Lossy, "files", "/", what));
        }
        Ok(effects)
    }

    /// What lies below a directory that was removed, replaced or moved since the last look.
    fn hidden(&self, upper: &Upper) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for (path, entry) in &upper.entries {
            let marks = |entry: &upper::Entry| (entry.whiteout, entry.opaque, entry.redirect.clone());
            if self.upper.entries.get(path).map(marks) == Some(marks(entry)) {
                continue;
            }
            let gone = (entry.whiteout || entry.opaque).then(|| self.upper.origin(path)).flatten();
            let came = entry.redirect.is_some().then(|| upper.origin(path)).flatten();
            for origin in gone.into_iter().chain(came) {
                self.lower.list(&origin, path, MAX_HIDDEN, &mut paths);
            }
        }
        paths
    }
}

/// The other files of the database that a file may belong to.
fn store(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Some(main) = BESIDE.iter().find_map(|end| name.strip_suffix(end)) else { return Vec::new() };
    [""].iter().chain(&BESIDE).map(|end| path.with_file_name(format!("{main}{end}"))).collect()
}
