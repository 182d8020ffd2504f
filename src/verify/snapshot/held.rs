//! Files that a process can change while nobody tells of it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// What some processes hold so that they can write to it.
///
/// The kernel tells of a write through a descriptor, but not of every kind of it, and of no store to
/// memory. Only Linux shows what a process holds, and only to its own user; elsewhere it is nothing.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Open for writing. A write moves their time of change.
    pub(crate) open: BTreeSet<PathBuf>,
    /// Mapped for writing. A store moves their time of change if it is the first to its page since
    /// that was last written to disk.
    pub(crate) mapped: BTreeSet<PathBuf>,
}

impl Held {
    /// What these processes hold at this moment. Paths are absolute, as the processes see them.
    #[must_use]
    pub fn by(processes: impl IntoIterator<Item = u32>) -> Self {
        let mut held = Self::default();
        for process in processes {
            held.add(process);
        }
        held
    }

    /// What of it lies in a directory, relative to that.
    #[must_use]
    pub fn within(&self, dir: &Path) -> Self {
        let inside = |paths: &BTreeSet<PathBuf>| {
            paths.iter().filter_map(|path| Some(path.strip_prefix(dir).ok()?.to_owned())).collect()
        };
        Self { open: inside(&self.open), mapped: inside(&self.mapped) }
    }

    #[cfg(target_os = "linux")]
    fn add(&mut self, process: u32) {
        use std::{fs, os::unix::fs::PermissionsExt as _};
        let place = PathBuf::from(format!("/proc/{process}"));
        for descriptor in fs::read_dir(place.join("fd")).into_iter().flatten().flatten() {
            // The permissions of the link are those that the descriptor has.
            let written = descriptor.metadata().is_ok_and(|link| link.permissions().mode() & 0o200 != 0);
            let file = fs::read_link(descriptor.path()).ok().filter(|file| written && file.is_absolute());
            self.open.extend(file);
        }
        let table = fs::read_to_string(place.join("maps")).unwrap_or_default();
        for line in table.lines() {
            let shared =
                line.split_whitespace().nth(1).is_some_and(|rights| rights.starts_with("rw") && rights.ends_with('s'));
            let name = line.find('/').and_then(|at| line.get(at..)).filter(|_| shared);
            self.mapped.extend(name.map(PathBuf::from));
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn add(&mut self, _: u32) {}
}
