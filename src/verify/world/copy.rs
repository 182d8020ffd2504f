//! Copying a directory so that nothing in the copy leads back to it.

use std::{
    collections::HashMap,
    fs::{self, File, FileTimes, Metadata},
    io,
    path::{Path, PathBuf},
};

use super::WorldError;
use crate::verify::snapshot::Kind;

/// Copy everything below one directory into another, which is empty.
///
/// The standard library's copy lets Linux and macOS share blocks where the file system can.
pub(super) fn tree(from: &Path, to: &Path) -> Result<(), WorldError> {
    directory(from, to, &mut HashMap::new())
}

/// `linked` holds the copies of files with several names, by device and inode.
fn directory(from: &Path, to: &Path, linked: &mut HashMap<(u64, u64), PathBuf>) -> Result<(), WorldError> {
    for entry in fs::read_dir(from).map_err(|cause| at(from, &cause))? {
        let entry = entry.map_err(|cause| at(from, &cause))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let metadata = entry.metadata().map_err(|cause| at(&source, &cause))?;
        match Kind::of(&metadata) {
            Kind::Directory => {
                fs::create_dir(&target).map_err(|cause| at(&target, &cause))?;
                directory(&source, &target, linked)?;
                // Last: files are put into a directory that will be read-only, and move its time.
                finish(&target, &metadata)?;
            }
            Kind::File => {
                let names = names(&metadata);
                if let Some(copy) = names.and_then(|file| linked.get(&file)) {
                    fs::hard_link(copy, &target).map_err(|cause| at(&target, &cause))?;
                    continue;
                }
                fs::copy(&source, &target).map_err(|cause| at(&source, &cause))?;
                finish(&target, &metadata)?;
                if let Some(file) = names {
                    linked.insert(file, target);
                }
            }
            Kind::Link => {
                link(&source, &target).map_err(|cause| at(&source, &cause))?;
                times_of_link(&target, &metadata).map_err(|cause| at(&target, &cause))?;
            }
            Kind::Fifo => {
                fifo(&source, &target)?;
                finish_fifo(&target, &metadata).map_err(|cause| at(&target, &cause))?;
            }
            kind @ (Kind::Socket | Kind::Device) => {
                return Err(WorldError::Special { path: source, kind: kind.name() });
            }
        }
    }
    let metadata = fs::metadata(from).map_err(|cause| at(from, &cause))?;
    finish(to, &metadata)
}

fn at(path: &Path, cause: &io::Error) -> WorldError {
    WorldError::Io(io::Error::new(cause.kind(), format!("`{}`: {cause}", path.display())))
}

/// Give a copied file or directory the times and permissions of the original.
fn finish(copy: &Path, original: &Metadata) -> Result<(), WorldError> {
    let set = || {
        let mut times = FileTimes::new();
        if let Ok(modified) = original.modified() {
            times = times.set_modified(modified);
        }
        // Made by `fs::copy` with the original's mode, which may forbid reading.
        unlock(copy)?;
        // Read access is enough to set times where directories can be opened; Windows wants more.
        let file =
            if cfg!(unix) || original.is_dir() { File::open(copy) } else { File::options().append(true).open(copy) };
        match file.and_then(|file| file.set_times(times)) {
            Err(error) if cfg!(unix) || !original.is_dir() => return Err(error),
            _ => {}
        }
        fs::set_permissions(copy, original.permissions())
    };
    set().map_err(|cause| at(copy, &cause))
}

#[cfg(unix)]
fn unlock(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn unlock(path: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(false);
    fs::set_permissions(path, permissions)
}

/// Device and inode of a file that has several names.
#[cfg(unix)]
fn names(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let target = fs::read_link(from)?;
    if fs::metadata(from).is_ok_and(|metadata| metadata.is_dir()) {
        std::os::windows::fs::symlink_dir(target, to)
    } else {
        std::os::windows::fs::symlink_file(target, to)
    }
}

#[cfg(unix)]
fn times_of_link(copy: &Path, original: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: original.mtime(), tv_nsec: original.mtime_nsec() },
    };
    Ok(utimensat(CWD, copy, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(not(unix))]
fn times_of_link(_: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn fifo(from: &Path, to: &Path) -> Result<(), WorldError> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, to, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(|cause| at(from, &cause.into()))
}

#[cfg(not(target_os = "linux"))]
fn fifo(from: &Path, _: &Path) -> Result<(), WorldError> {
    Err(WorldError::Special { path: from.into(), kind: Kind::Fifo.name() })
}

/// A FIFO is not opened: that would wait for its other end.
fn finish_fifo(copy: &Path, original: &Metadata) -> io::Result<()> {
    times_of_link(copy, original)?;
    fs::set_permissions(copy, original.permissions())
}

/// Refuse a directory in which something names a place by its absolute path inside of it, or a git
/// repository outside: a server in a copy would work on the original.
pub(super) fn is_self_contained(dir: &Path) -> Result<(), WorldError> {
    let mut open = vec![dir.to_owned()];
    while let Some(parent) = open.pop() {
        for entry in fs::read_dir(&parent).map_err(|cause| WorldError::Directory { path: parent.clone(), cause })? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_symlink() {
                let target = fs::read_link(&path)?;
                if target.is_absolute() && (target.starts_with(dir) || leads_into(&target, dir)) {
                    return Err(WorldError::Shared { path, target, advice: "make it a relative link" });
                }
            } else if entry.file_name() == ".git" && kind.is_file() {
                repository_file(dir, &path)?;
            }
        }
    }
    Ok(())
}

fn leads_into(target: &Path, dir: &Path) -> bool {
    target.canonicalize().is_ok_and(|target| target.starts_with(dir))
}

/// A `.git` file names the repository that it stands for.
fn repository_file(dir: &Path, path: &Path) -> Result<(), WorldError> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Some(target) = text.strip_prefix("gitdir:").map(|target| PathBuf::from(target.trim())) else { return Ok(()) };
    let parent = path.parent().unwrap_or(dir);
    if target.is_absolute() {
        let advice = "run `git worktree repair --relative-paths` there, or leave this working tree out";
        return Err(WorldError::Shared { path: path.into(), target, advice });
    }
    if !leads_into(&parent.join(&target), dir) {
        let advice = "name the directory that holds the repository as well";
        return Err(WorldError::Shared { path: path.into(), target, advice });
    }
    Ok(())
}
