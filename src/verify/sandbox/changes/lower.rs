//! What the host has at some paths. It is taken to stay as it is while the box stands.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use super::content::Reader;
use crate::verify::snapshot::{Kind, State};

#[derive(Debug)]
pub(super) struct Lower {
    /// The bookkeeping of the box, which it doesn't show.
    base: PathBuf,
    known: HashMap<PathBuf, Option<State>>,
}

impl Lower {
    pub(super) fn new(base: &Path) -> Self {
        Self { base: base.into(), known: HashMap::new() }
    }

    pub(super) fn state(&mut self, path: &Path, reader: &mut Reader<'_>, must: bool) -> Option<State> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let mut read = || {
            let metadata = fs::symlink_metadata(path).ok()?;
            let mut state = reader.below(path, &metadata, must)?;
            // Only directories are told apart by it.
            if state.kind != Kind::Directory {
                state.stamp = None;
            }
            Some(state)
        };
        let state = read();
        self.known.insert(path.into(), state.clone());
        state
    }

    /// Add all paths below a directory of the host as if it lay at `at`, up to `most` in all.
    pub(super) fn list(&self, origin: &Path, at: &Path, most: usize, paths: &mut Vec<PathBuf>) {
        if origin == self.base || !fs::symlink_metadata(origin).is_ok_and(|metadata| metadata.is_dir()) {
            return;
        }
        for entry in fs::read_dir(origin).into_iter().flatten().flatten() {
            if paths.len() >= most {
                return;
            }
            let at = at.join(entry.file_name());
            paths.push(at.clone());
            self.list(&entry.path(), &at, most, paths);
        }
    }
}
