//! Bytes that lenses may want later: those of the world's original, which never change, and those
//! of the files that changed since, kept under their digests.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    state::{Content, Digest, LENS_BYTES, State},
    tree::Tree,
};
use crate::verify::world::Folder;

/// A world as it was built; each trial gets a copy.
#[derive(Debug)]
pub(crate) struct Original {
    pub(crate) folder: Folder,
    pub(crate) tree: Tree,
}

/// The bytes behind the snapshots of one copy.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) original: Arc<Original>,
    folder: Folder,
}

impl Kept {
    pub(crate) fn new(original: Arc<Original>) -> io::Result<Self> {
        Ok(Self { original, folder: Folder::new("candor-kept-")? })
    }

    /// Keep what a file of the copy holds, if a lens may want it.
    pub(crate) fn keep(&self, root: &Path, path: &Path, content: &Content, bytes: Option<Vec<u8>>) -> io::Result<()> {
        if self.find(path, content.digest).is_some() {
            return Ok(());
        }
        let place = self.place(content.digest);
        match bytes {
            Some(bytes) => fs::write(place, bytes),
            None if content.database || is_wanted_whole(path) => fs::copy(root.join(path), place).map(drop),
            None => Ok(()),
        }
    }

    /// A file that holds these bytes. Not to be written to.
    pub(crate) fn find(&self, path: &Path, digest: Digest) -> Option<PathBuf> {
        let kept = self.place(digest);
        if kept.exists() {
            return Some(kept);
        }
        let original = self.original.tree.get(path).and_then(State::digest) == Some(digest);
        original.then(|| self.original.folder.path().join(path))
    }

    /// The bytes of a file, if a lens may read so many.
    pub(crate) fn bytes(&self, path: &Path, state: &State) -> Option<Vec<u8>> {
        let file = self.find(path, state.digest()?).filter(|_| state.size <= LENS_BYTES)?;
        fs::read(file).ok()
    }

    /// Whether a file was kept here.
    pub(crate) fn is_own(&self, file: &Path) -> bool {
        file.starts_with(self.folder.path())
    }

    fn place(&self, digest: Digest) -> PathBuf {
        self.folder.path().join(hex::encode(digest))
    }
}

/// Files that a lens reads whatever their size.
fn is_wanted_whole(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["-wal", "-journal"].iter().any(|end| name.ends_with(end)) || ["index", "packed-refs"].contains(&name)
}
