//! The upper layers at one moment, and what the server sees through them.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, Metadata},
    io,
    os::unix::{
        ffi::OsStringExt as _,
        fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Layer,
    content::{self, Reader},
    lower::Lower,
};
use crate::verify::snapshot::{Kind, State};

/// What stands at a path of an upper layer.
#[derive(Debug)]
pub(super) struct Entry {
    state: State,
    /// It says that there is nothing, whatever lies below.
    pub(super) whiteout: bool,
    /// A directory that hides the one below.
    pub(super) opaque: bool,
    /// A directory that stands for another one below: a name beside it, or a path from the top of
    /// the layer.
    pub(super) redirect: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct Upper {
    /// Those within others last.
    layers: Arc<[Layer]>,
    pub(super) entries: BTreeMap<PathBuf, Entry>,
}

impl Upper {
    pub(super) fn new(layers: Vec<Layer>) -> Self {
        Self { layers: layers.into(), entries: BTreeMap::new() }
    }

    /// Look again, reading what is not proved to be as it was.
    pub(super) fn again(&self, reader: &mut Reader<'_>) -> io::Result<Self> {
        let mut walk = Walk { before: self, reader, entries: BTreeMap::new() };
        for layer in self.layers.iter() {
            if layer.at != Path::new("/") {
                walk.entry(&layer.upper, &layer.at)?;
            }
            walk.directory(&layer.upper, &layer.at)?;
        }
        Ok(Self { layers: Arc::clone(&self.layers), entries: walk.entries })
    }

    pub(super) fn has_file(&self, path: &Path) -> bool {
        self.entries.get(path).is_some_and(|entry| entry.state.kind == Kind::File)
    }

    /// Where on the host that lies which would be seen at a path if no upper layer had anything
    /// there; for a directory that was moved, where it came from.
    pub(super) fn origin(&self, path: &Path) -> Option<PathBuf> {
        let layer = self.layers.iter().rev().find(|layer| path.starts_with(&layer.at) && path != layer.at)?;
        if !layer.lower {
            return None;
        }
        let (mut at, mut origin) = (layer.at.clone(), layer.at.clone());
        for component in path.strip_prefix(&layer.at).ok()?.components() {
            if at != layer.at && self.entries.get(&at).is_some_and(|above| !above.shows_below()) {
                return None;
            }
            at.push(component);
            match self.entries.get(&at).and_then(|entry| entry.redirect.as_ref()) {
                Some(to) if to.is_absolute() => origin = layer.at.join(to.strip_prefix("/").unwrap_or(to)),
                Some(to) => origin.push(to),
                None => origin.push(component),
            }
        }
        Some(origin)
    }

    /// What the server sees at a path. `must` says that its content counts whatever its size.
    pub(super) fn seen(&self, path: &Path, lower: &mut Lower, reader: &mut Reader<'_>, must: bool) -> Option<State> {
        let below = self.origin(path).and_then(|origin| lower.state(&origin, reader, must));
        let Some(entry) = self.entries.get(path) else { return below };
        if entry.whiteout {
            return None;
        }
        let mut state = entry.state.clone();
        // A file that is copied up to be written gets another inode, and is no other file.
        if let Some(below) = below {
            let merged = state.kind == Kind::Directory && below.kind == Kind::Directory && !entry.opaque;
            if merged || state.kind != Kind::Directory {
                state.stamp = below.stamp;
            }
        }
        Some(state)
    }
}

impl Entry {
    /// Whether what lies below this directory is seen through it.
    fn shows_below(&self) -> bool {
        !self.whiteout && !self.opaque && self.state.kind == Kind::Directory
    }
}

struct Walk<'a, 'r> {
    before: &'a Upper,
    reader: &'a mut Reader<'r>,
    entries: BTreeMap<PathBuf, Entry>,
}

impl Walk<'_, '_> {
    fn directory(&mut self, real: &Path, at: &Path) -> io::Result<()> {
        let locked = unlock(real);
        let walked = names(real)?.into_iter().try_for_each(|name| {
            let (real, at) = (real.join(&name), at.join(&name));
            if self.entry(&real, &at)? { self.directory(&real, &at) } else { Ok(()) }
        });
        match locked {
            Some(permissions) => walked.and(fs::set_permissions(real, permissions)),
            None => walked,
        }
    }

    /// Returns whether it is a directory.
    fn entry(&mut self, real: &Path, at: &Path) -> io::Result<bool> {
        let metadata = match fs::symlink_metadata(real) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let before = self.before.entries.get(at).map(|entry| &entry.state);
        let whiteout = is_whiteout(&metadata);
        let Some(state) = self.reader.state(real, at, &metadata, before) else { return Ok(false) };
        let directory = metadata.is_dir();
        let mark = |name| if directory { content::overlay_mark(real, name) } else { None };
        let opaque = mark("opaque").is_some_and(|value| value == b"y");
        let redirect = mark("redirect").map(|value| PathBuf::from(OsString::from_vec(value)));
        self.entries.insert(at.into(), Entry { state, whiteout, opaque, redirect });
        Ok(directory)
    }
}

fn is_whiteout(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device() && metadata.rdev() == 0
}

/// What is in a directory.
fn names(dir: &Path) -> io::Result<Vec<OsString>> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.file_name()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io::Error::new(error.kind(), format!("`{}`: {error}", dir.display()))),
    }
}

/// Open a directory that the server closed to its owner, which we are. Returns what to set again.
fn unlock(dir: &Path) -> Option<fs::Permissions> {
    let permissions = fs::symlink_metadata(dir).ok()?.permissions();
    let closed = permissions.mode() & 0o500 != 0o500 && !rustix::process::geteuid().is_root();
    (closed && fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).is_ok()).then_some(permissions)
}
