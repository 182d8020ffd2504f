use std::{
    collections::HashSet,
    fs::{self, Metadata},
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use git2::{Oid, Reference, Repository};

use super::fault::refusal;
use crate::ToolError;

/// A branch as the repository has it, before anything is read about it.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) name: Vec<u8>,
    pub(super) oid: Oid,
    /// Whether the branch is another name of a second one.
    pub(super) alias: bool,
}

impl Head {
    /// `None` for a reference that leads nowhere.
    fn of(reference: &Reference<'_>, name: &[u8]) -> Option<Self> {
        let direct = reference.target();
        let oid = direct.or_else(|| reference.resolve().ok()?.target())?;
        Some(Self { name: name.to_owned(), oid, alias: direct.is_none() })
    }
}

/// The branches below `prefix`. One that leads nowhere is left out, as git does.
pub(super) fn heads(repo: &Repository, prefix: &str) -> Result<Vec<Head>, ToolError> {
    let files = Files::below(repo, prefix)?;
    read(repo, prefix, &files)
}

fn read(repo: &Repository, prefix: &str, files: &Files) -> Result<Vec<Head>, ToolError> {
    let mut heads = Vec::new();
    let glob = format!("{prefix}*");
    for reference in repo.references_glob(&glob).map_err(|error| refusal(&error))? {
        let reference = reference.map_err(|error| refusal(&error))?;
        let name = reference.name_bytes().strip_prefix(prefix.as_bytes());
        heads.extend(name.and_then(|name| Head::of(&reference, name)));
    }
    if !files.names.is_empty() {
        // libgit2 ends its walk through the files of references, without a word, at the first thing
        // that it can't look at: a link that leads nowhere, a folder of somebody else's.
        let seen: HashSet<&[u8]> = heads.iter().map(|head| head.name.as_slice()).collect();
        let overlooked: Vec<_> = files.names.iter().filter(|name| !seen.contains(name.as_slice())).collect();
        heads.extend(overlooked.into_iter().filter_map(|name| by_name(repo, prefix, name)));
    }
    Ok(heads)
}

fn by_name(repo: &Repository, prefix: &str, name: &[u8]) -> Option<Head> {
    let full = format!("{prefix}{}", std::str::from_utf8(name).ok()?);
    Head::of(&repo.find_reference(&full).ok()?, name)
}

/// The packed branches of the last listing, so that `packed-refs` is parsed when it has changed and
/// not for each call.
///
/// The same file with the same length and time of change holds the same branches, unless it changed
/// twice within one tick of the file system's clock. So nothing is remembered that changed a moment
/// ago. What has a file of its own is read each time.
#[derive(Debug, Default)]
pub(super) struct Packed(Mutex<Option<Arc<Memory>>>);

#[derive(Debug)]
struct Memory {
    stamp: Stamp,
    /// Branches that had a file of their own, which hid whatever was packed.
    hidden: HashSet<Vec<u8>>,
    heads: Vec<Head>,
}

impl Memory {
    /// `None` if anything changed while `heads` were read, or may have.
    fn of(repo: &Repository, prefix: &str, stamp: Stamp, files: Files, heads: &[Head]) -> Option<Self> {
        if !settled(stamp.changed) || !files.settled() {
            return None;
        }
        let after = Files::below(repo, prefix).ok()?;
        let same = after.settled() && after.names == files.names && Stamp::of(repo).as_ref() == Some(&stamp);
        same.then(|| {
            let packed = heads.iter().filter(|head| !files.names.contains(&head.name));
            Self { stamp, heads: packed.cloned().collect(), hidden: files.names }
        })
    }
}

/// Longer than a tick of any file system's clock.
const SETTLED: Duration = Duration::from_secs(3);

impl Packed {
    /// The same as [`heads`]; remembers `most` branches at most.
    pub(super) fn heads(&self, repo: &Repository, prefix: &str, most: usize) -> Result<Vec<Head>, ToolError> {
        // Files first: git packs a branch before it removes the file.
        let files = Files::below(repo, prefix)?;
        let stamp = Stamp::of(repo);
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(last) = last.filter(|last| Some(&last.stamp) == stamp.as_ref())
            && last.hidden.iter().all(|name| files.names.contains(name))
        {
            let found: Option<Vec<_>> = files.names.iter().map(|name| by_name(repo, prefix, name)).collect();
            if let Some(found) = found {
                let packed = last.heads.iter().filter(|head| !files.names.contains(&head.name));
                return Ok(packed.cloned().chain(found).collect());
            }
        }
        let heads = read(repo, prefix, &files)?;
        let memory =
            stamp.filter(|_| heads.len() <= most).and_then(|stamp| Memory::of(repo, prefix, stamp, files, &heads));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = memory.map(Arc::new);
        Ok(heads)
    }
}

/// What tells one `packed-refs` from the next.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    file: u64,
    bytes: u64,
    changed: SystemTime,
}

impl Stamp {
    fn of(repo: &Repository) -> Option<Self> {
        let metadata = fs::metadata(repo.commondir().join("packed-refs")).ok()?;
        Some(Self { file: file_number(&metadata), bytes: metadata.len(), changed: changed(&metadata)? })
    }
}

fn settled(changed: SystemTime) -> bool {
    SystemTime::now().duration_since(changed).is_ok_and(|age| age > SETTLED)
}

#[cfg(unix)]
fn file_number(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn file_number(_: &Metadata) -> u64 {
    0
}

/// Not the time of modification, which anybody can set.
#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = Duration::from_secs(metadata.ctime().try_into().ok()?);
    Some(SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(metadata.ctime_nsec().try_into().ok()?))
}

#[cfg(not(unix))]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

/// The branches that have a file of their own.
#[derive(Default)]
struct Files {
    names: HashSet<Vec<u8>>,
    /// When a name last came or went.
    changed: Option<SystemTime>,
}

impl Files {
    fn below(repo: &Repository, prefix: &str) -> Result<Self, ToolError> {
        let root = repo.commondir().join(prefix);
        let mut files = Self::default();
        files.add(&root, &[]).map_err(|error| {
            tracing::error!(%error, dir = %root.display(), "references can't be read");
            ToolError::refused("the server may not read all of the repository's branches; tell the operator")
        })?;
        Ok(files)
    }

    /// All files below a folder, without those that git gives no reference.
    fn add(&mut self, dir: &Path, inside: &[u8]) -> io::Result<()> {
        let entries = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()), // gone meanwhile, or all packed
            entries => entries?,
        };
        self.changed = self.changed.max(changed(&fs::metadata(dir)?));
        for entry in entries {
            let entry = entry?;
            let name = [inside, entry.file_name().as_encoded_bytes()].concat();
            if entry.file_type()?.is_dir() {
                self.add(&entry.path(), &[&name, b"/".as_slice()].concat())?;
            } else if !name.ends_with(b".lock") && fs::metadata(entry.path()).is_ok_and(|what| what.is_file()) {
                self.names.insert(name); // libgit2 would wait at a pipe
            }
        }
        Ok(())
    }

    fn settled(&self) -> bool {
        self.changed.is_none_or(settled)
    }
}
