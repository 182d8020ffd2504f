//! The state of one path of a layer.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Read as _},
    os::unix::{ffi::OsStrExt as _, fs::FileExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, SeekFrom, lgetxattr, llistxattr, open, seek},
    io::Errno,
};
use sha2::{Digest as _, Sha256};

use crate::verify::snapshot::{Content, Kept, Kind, State, read};

/// Above this size only what isn't zero is read: a file of ten gigabytes may be one hole.
const LARGE: u64 = 64 << 20;
/// The piece of a large file that is zero or not.
const BLOCK: u64 = 64 << 10;
/// How many bytes of removed files are read in one look, to tell a rename from a removal.
const HASHED: u64 = 256 << 20;
/// Where overlays keep their notes.
const NOTES: [&str; 2] = ["trusted.overlay.", "user.overlay."];

pub(super) struct Reader<'a> {
    mapped: &'a BTreeSet<PathBuf>,
    kept: &'a Kept,
    left: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(mapped: &'a BTreeSet<PathBuf>, kept: &'a Kept) -> Self {
        Self { mapped, kept, left: HASHED }
    }

    /// Of an upper layer. None if it is gone meanwhile.
    pub(super) fn state(
        &mut self,
        real: &Path,
        at: &Path,
        metadata: &Metadata,
        before: Option<&State>,
    ) -> Option<State> {
        let state = State::of(metadata);
        let known = before.filter(|old| old.kind == state.kind && old.proves(&state) && !self.mapped.contains(at));
        if let Some(old) = known {
            let (content, target, attributes) = (old.content, old.target.clone(), old.attributes);
            return Some(State { content, target, attributes, ..state });
        }
        // Where nothing was seen before, it may be a copy of what the host has at the same path.
        let size = before.map(|old| old.size).or_else(|| fs::symlink_metadata(at).ok().map(|below| below.len()));
        self.full(real, state, size)
    }

    /// Of the host. What is removed is read as long as there isn't too much of it.
    pub(super) fn below(&mut self, path: &Path, metadata: &Metadata, must: bool) -> Option<State> {
        let state = State::of(metadata);
        if state.kind == Kind::File && !must {
            match self.left.checked_sub(state.size) {
                Some(left) => self.left = left,
                None => return Some(state),
            }
        }
        self.full(path, state, None)
    }

    fn full(&self, real: &Path, mut state: State, size_before: Option<u64>) -> Option<State> {
        state.attributes = attributes(real);
        match state.kind {
            Kind::Link => state.target = Some(fs::read_link(real).ok()?),
            Kind::File if state.size > LARGE => state.content = large(real, state.size, size_before).ok(),
            Kind::File => {
                if let Ok((content, bytes)) = read(real, size_before) {
                    if let Err(error) = self.kept.keep(Path::new(""), real, &content, bytes) {
                        tracing::warn!(path = %real.display(), %error, "cannot keep what a file holds");
                    }
                    state.content = Some(content);
                }
            }
            _ => {}
        }
        Some(state)
    }
}

/// The content of a large file: equal for equal bytes, however many holes stand for zeros.
fn large(path: &Path, size: u64, size_before: Option<u64>) -> io::Result<Content> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    let prefix = match size_before.filter(|before| *before < size) {
        Some(before) if before > LARGE => Some(digest(&file, before)?),
        Some(before) => {
            let mut start = Vec::new();
            (&file).take(before).read_to_end(&mut start)?;
            Some(Sha256::digest(&start).into())
        }
        None => None,
    };
    Ok(Content { digest: digest(&file, size)?, database: false, prefix })
}

fn digest(file: &File, size: u64) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(size.to_le_bytes());
    let mut block = vec![0; usize::try_from(BLOCK).unwrap_or_default()];
    let mut at = 0;
    while at < size {
        at = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data / BLOCK * BLOCK,
            // Nothing but a hole from here on.
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let most = usize::try_from(size.saturating_sub(at).min(BLOCK)).unwrap_or_default();
        let piece = block.get_mut(..most).unwrap_or_default();
        let length = fill(file, piece, at)?;
        let piece = piece.get(..length).unwrap_or_default();
        if piece.iter().any(|byte| *byte != 0) {
            hash.update(at.to_le_bytes());
            hash.update(piece);
        }
        at += BLOCK;
    }
    Ok(hash.finalize().into())
}

fn fill(file: &File, piece: &mut [u8], at: u64) -> io::Result<usize> {
    let mut length = 0;
    while let Some(rest) = piece.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + length as u64) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// A note that the overlay keeps with a directory.
pub(super) fn overlay_mark(path: &Path, name: &str) -> Option<Vec<u8>> {
    NOTES.iter().find_map(|notes| value(path, format!("{notes}{name}").as_bytes()))
}

fn value(path: &Path, name: &[u8]) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 4 << 10];
    let length = match lgetxattr(path, OsStr::from_bytes(name), buffer.as_mut_slice()) {
        Err(Errno::RANGE) => {
            buffer.resize(64 << 10, 0);
            lgetxattr(path, OsStr::from_bytes(name), buffer.as_mut_slice())
        }
        other => other,
    };
    buffer.truncate(length.ok()?);
    Some(buffer)
}

/// A digest over the extended attributes of a path, without those of the overlay.
fn attributes(path: &Path) -> Option<[u8; 32]> {
    let mut buffer = vec![0; 4 << 10];
    let length = match llistxattr(path, buffer.as_mut_slice()) {
        Err(Errno::RANGE) => {
            buffer.resize(64 << 10, 0);
            llistxattr(path, buffer.as_mut_slice())
        }
        other => other,
    };
    let is_note = |name: &&[u8]| NOTES.iter().any(|notes| name.starts_with(notes.as_bytes()));
    let names = buffer.get(..length.ok()?)?.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut names: Vec<_> = names.filter(|name| !is_note(name)).collect();
    names.sort_unstable();
    if names.is_empty() {
        return None;
    }
    let mut hash = Sha256::new();
    for name in names {
        hash.update(Sha256::digest(name));
        hash.update(Sha256::digest(value(path, name).unwrap_or_default()));
    }
    Some(hash.finalize().into())
}
