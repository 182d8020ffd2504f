//! Which paths of a copy may have changed, so that a look need not visit the others.
//!
//! On Linux the kernel tells of each path of a directory that is written, cut, renamed, made,
//! removed, or given other permissions, and of each that is closed after it was open for writing.
//! Of reading it is not asked to tell: a server may read ten thousand files in one call. The rule: a
//! file is the same as when watching began if none of that was ever told of it, and if no process of
//! the server has it open or mapped for writing at the time of the look ([`Held`](super::Held)).
//! Whatever was told of once is looked at again at each look, by its time of change and its size as
//! everywhere. Directories that were made or moved meanwhile are walked whole, since things may have
//! happened in them before anybody could have watched.
//!
//! This holds from the moment on that [`Watched::begin`] returns, for a copy that nobody has
//! written to before, and not for:
//! - files with several names: they are looked at each time if they had them at the beginning;
//!   one that gets a name outside of the copy, or is opened by handle, and is written there;
//! - a store to memory by a process that isn't the server's own, or that we may not look into: it is
//!   told of when the file is closed;
//! - a copy that a server sees through an overlay, which works on its files in silence.
//!
//! If events were lost, or the kernel refuses to watch, everything is walked from then on. So it is
//! on macOS and Windows, always.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::tree::Tree;

/// What may have changed since watching began.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    /// To be looked at by themselves.
    pub(crate) paths: BTreeSet<PathBuf>,
    /// Directories to be walked.
    pub(crate) whole: BTreeSet<PathBuf>,
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) suspects: Suspects,
}

#[cfg(not(target_os = "linux"))]
impl Watched {
    pub(crate) fn begin(_: &Path, _: &Tree) -> Option<Self> {
        None
    }

    pub(crate) fn catch_up(&mut self) -> Option<()> {
        None
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Watched;

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        collections::HashMap,
        ffi::OsStr,
        mem::MaybeUninit,
        os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    };

    use rustix::{
        fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
        io::Errno,
    };

    use super::{BTreeSet, Path, PathBuf, Suspects, Tree};

    /// The directories of a copy, watched.
    #[derive(Debug)]
    pub(crate) struct Watched {
        events: OwnedFd,
        directories: HashMap<i32, PathBuf>,
        pub(crate) suspects: Suspects,
    }

    impl Watched {
        /// Watch the directories of a copy that holds what the tree says. None if it cannot be done.
        pub(crate) fn begin(root: &Path, tree: &Tree) -> Option<Self> {
            let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let told = WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::ATTRIB
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::ONLYDIR
                | WatchFlags::DONT_FOLLOW;
            let mut directories = HashMap::new();
            for dir in std::iter::once(Path::new("")).chain(tree.directories()) {
                directories.insert(inotify::add_watch(&events, root.join(dir), told).ok()?, dir.into());
            }
            let paths: BTreeSet<PathBuf> = tree.several_names().map(Into::into).collect();
            Some(Self { events, directories, suspects: Suspects { paths, whole: BTreeSet::new() } })
        }

        /// Learn what may have changed meanwhile. None if that is not known any more.
        pub(crate) fn catch_up(&mut self) -> Option<()> {
            let mut buffer = [MaybeUninit::uninit(); 16 << 10];
            let mut events = inotify::Reader::new(&self.events, &mut buffer);
            loop {
                let event = match events.next() {
                    Ok(event) => event,
                    Err(Errno::AGAIN) => return Some(()),
                    Err(Errno::INTR) => continue,
                    Err(_) => return None,
                };
                let what = event.events();
                if what.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                    return None;
                }
                let is_directory = what.contains(ReadFlags::ISDIR);
                // Of a watch that went with its directory.
                if what.contains(ReadFlags::IGNORED) {
                    continue;
                }
                let dir = self.directories.get(&event.wd())?;
                let Some(name) = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes())) else {
                    self.suspects.paths.insert(dir.clone());
                    continue;
                };
                let path = dir.join(name);
                let comes = ReadFlags::CREATE | ReadFlags::MOVED_TO;
                if what.intersects(comes | ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
                    self.suspects.paths.insert(dir.clone());
                }
                if is_directory && what.intersects(comes) {
                    self.suspects.whole.insert(path);
                } else {
                    self.suspects.paths.insert(path);
                }
            }
        }
    }
}
