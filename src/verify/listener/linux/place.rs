//! What file a path means to a thread that waits: symbolic links followed, within its own root.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, readlinkat},
    io::Errno,
};

use super::{calls::Named, task::Task};

/// So many symbolic links the system follows itself.
const MOST_LINKS: usize = 40;

/// A path, and what is there.
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Nothing,
    File,
    Directory,
    Link,
    /// A pipe, a socket, or a device that keeps nothing: null, random numbers, a terminal.
    Harmless,
    Device,
    /// What the system keeps about the process itself.
    Own,
    /// It could not be looked at.
    Hidden,
}

impl Place {
    pub(super) fn is_there(&self) -> bool {
        self.kind != Kind::Nothing
    }
}

/// Why a call's path means no file.
pub(super) enum Nowhere {
    /// The call must fail: a directory on the way is missing, or the path is empty.
    Missing,
    /// The thread's memory or its links could not be read.
    Unreadable,
}

/// The file that a call names.
pub(super) fn find(task: &Task, named: Named, arguments: &[u64; 6], follow: bool) -> Result<Place, Nowhere> {
    let argument = |index: usize| arguments.get(index).copied().unwrap_or_default();
    match named {
        Named::Open(index) => open_file(task, handle(argument(index))),
        Named::Path(index) => by_path(task, libc::AT_FDCWD, argument(index), follow),
        Named::At(directory, index) => by_path(task, handle(argument(directory)), argument(index), follow),
    }
}

/// A file descriptor is the low half of an argument.
#[expect(clippy::cast_possible_truncation, reason = "the upper half means nothing, as for the kernel")]
pub(super) const fn handle(argument: u64) -> i32 {
    (argument as u32).cast_signed()
}

fn by_path(task: &Task, directory: i32, address: u64, follow: bool) -> Result<Place, Nowhere> {
    // Calls that take a directory take a missing or empty path for the directory itself.
    let path = if address == 0 { Vec::new() } else { task.text(address).ok_or(Nowhere::Unreadable)? };
    match (path.is_empty(), directory) {
        (true, libc::AT_FDCWD) => Err(Nowhere::Missing),
        (true, _) => open_file(task, directory),
        (false, _) => resolve(task, directory, Path::new(&OsString::from_vec(path)), follow),
    }
}

/// What the thread has open under this number.
fn open_file(task: &Task, number: i32) -> Result<Place, Nowhere> {
    let path = task.link(&format!("fd/{number}")).ok_or(Nowhere::Missing)?;
    // Pipes, sockets, files in memory, and what has no name any more.
    if path.is_relative() || path.as_os_str().as_bytes().ends_with(b" (deleted)") || path.starts_with("/memfd:") {
        return Ok(Place { path, kind: Kind::Harmless });
    }
    resolve(task, libc::AT_FDCWD, &path, false)
}

/// Follow a path as the thread would.
pub(super) fn resolve(task: &Task, directory: i32, path: &Path, follow: bool) -> Result<Place, Nowhere> {
    let root = task.root().ok_or(Nowhere::Unreadable)?;
    let mut path = whole(task, directory, path)?;
    for _ in 0..MOST_LINKS {
        if let Some(own) = own(task, &path) {
            return own;
        }
        let Some(name) = path.file_name().filter(|_| !ends_in_dots(&path)) else {
            let (_, path) = open_directory(&root, &path)?;
            return Ok(Place { path, kind: Kind::Directory });
        };
        let (parent, real) = match open_directory(&root, path.parent().unwrap_or(Path::new("/"))) {
            // It is there but not for our eyes; the text is the best there is.
            Err(Nowhere::Unreadable) => return Ok(Place { path, kind: Kind::Hidden }),
            opened => opened?,
        };
        let found = look(&parent, name);
        if !follow || found != Kind::Link {
            return Ok(Place { path: real.join(name), kind: found });
        }
        let target = readlinkat(&parent, name, Vec::new()).map_err(|_| Nowhere::Missing)?;
        path = real.join(OsStr::from_bytes(target.as_bytes()));
    }
    Err(Nowhere::Missing)
}

/// From the thread's root on.
fn whole(task: &Task, directory: i32, path: &Path) -> Result<PathBuf, Nowhere> {
    if path.is_absolute() {
        return Ok(path.into());
    }
    let from = if directory == libc::AT_FDCWD { task.link("cwd") } else { task.link(&format!("fd/{directory}")) };
    let from = from.filter(|from| from.is_absolute()).ok_or(Nowhere::Missing)?;
    // Links are told from the root of the mount namespace.
    let root = task.link("root").ok_or(Nowhere::Unreadable)?;
    let inside = from.strip_prefix(&root).map(|inside| Path::new("/").join(inside));
    Ok(inside.unwrap_or(from).join(path))
}

/// Paths below `/proc/self` mean the reader to whoever reads them, so they are told by their text.
fn own(task: &Task, path: &Path) -> Option<Result<Place, Nowhere>> {
    let text = path.to_str()?;
    let name = match text {
        "/dev/stdin" => "fd/0",
        "/dev/stdout" => "fd/1",
        "/dev/stderr" => "fd/2",
        _ => text
            .strip_prefix("/proc/self/")
            .or_else(|| text.strip_prefix("/proc/thread-self/"))
            .or_else(|| text.strip_prefix("/dev/").filter(|name| name.starts_with("fd/")))?,
    };
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let number = name.strip_prefix("fd/").and_then(|number| number.parse().ok());
    Some(match number {
        Some(number) => open_file(task, number),
        None => Ok(Place { path: path.into(), kind: Kind::Own }),
    })
}

/// Whether the path ends in `.` or `..`, which std's `file_name` reads over or stops at.
fn ends_in_dots(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/.") || bytes.ends_with(b"/..")
}

/// A directory and its real path.
fn open_directory(root: &OwnedFd, path: &Path) -> Result<(OwnedFd, PathBuf), Nowhere> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut opened = Err(Errno::AGAIN);
    // A rename on the way makes the system give up, for safety.
    for _ in 0..10 {
        opened = openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT);
        if !matches!(opened, Err(Errno::AGAIN)) {
            break;
        }
    }
    let directory = opened.map_err(|error| match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG => Nowhere::Missing,
        _ => Nowhere::Unreadable,
    })?;
    let real = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    Ok((directory, real.map_err(|_| Nowhere::Unreadable)?))
}

/// What has this name in a directory.
fn look(directory: &OwnedFd, name: &OsStr) -> Kind {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(directory, name, flags, Mode::empty()).map(fstat) {
        Ok(Ok(stat)) => kind(&stat),
        Err(Errno::NOENT | Errno::NOTDIR) => Kind::Nothing,
        _ => Kind::Hidden,
    }
}

fn kind(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        FileType::Fifo | FileType::Socket => Kind::Harmless,
        FileType::CharacterDevice if keeps_nothing(stat) => Kind::Harmless,
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
        _ => Kind::File,
    }
}

/// Null, zero, full, random numbers; terminals, real and pseudo.
fn keeps_nothing(stat: &Stat) -> bool {
    let (major, minor) = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    matches!((major, minor), (1, 3 | 5 | 7 | 8 | 9) | (4 | 5 | 136..=143, _))
}
