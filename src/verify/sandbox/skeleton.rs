//! The file system of a box: every real directory as the lower layer of an overlay at the same path.
//!
//! A directory with a mount point somewhere below it can't be one overlay: it is made anew in the
//! skeleton and its entries are placed one by one.

use std::{
    ffi::{CString, OsString},
    fs::{self, Metadata},
    io,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, access},
    mount::{MountFlags, mount, mount_bind, mount_bind_recursive},
};

use super::{control::Layer, sys};

/// Built apart.
const VIRTUAL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Where sockets of the host's services lie, which no read-only mount keeps from being reached.
const SERVICES: [&str; 3] = ["/run", "/var/run", "/tmp"];

pub(super) struct Skeleton<'a> {
    base: &'a Path,
    root: PathBuf,
    /// In a namespace of users, overlays keep their notes in attributes of another kind.
    userns: bool,
    mounts: Vec<PathBuf>,
    pub(super) layers: Vec<Layer>,
    pub(super) problems: Vec<String>,
}

impl<'a> Skeleton<'a> {
    /// Lay out everything but what is virtual in `root` of the base, bound on itself.
    pub(super) fn build(base: &'a Path, userns: bool) -> io::Result<Self> {
        let root = base.join("root");
        let mounts = mount_points()?.into_iter().filter(|mount| !mount.starts_with(base)).collect();
        let mut skeleton = Self { base, root, userns, mounts, layers: Vec::new(), problems: Vec::new() };
        for dir in ["root", "upper", "work"] {
            fs::create_dir(base.join(dir))?;
        }
        let root = skeleton.root.clone();
        mount_bind(&root, &root).map_err(|error| at(&root, &error.into()))?;
        skeleton.plain("/", root);
        skeleton.place(Path::new("/"))?;
        Ok(skeleton)
    }

    /// The root of the box, as it is to be reached before it is the root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path of the box is before its root is the root.
    pub(super) fn inside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Tell of a directory that begins empty and is all the server's.
    pub(super) fn plain(&mut self, at: impl Into<PathBuf>, upper: PathBuf) {
        self.layers.push(Layer { at: at.into(), upper, lower: false });
    }

    fn place(&mut self, path: &Path) -> io::Result<()> {
        let to = self.inside(path);
        let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
        let kind = metadata.file_type();
        if path.to_str().is_none() {
            self.problems.push(format!("`{}` is left out: its name is not UTF-8", path.display()));
        } else if VIRTUAL.iter().any(|virtual_dir| path == Path::new(virtual_dir)) {
            fs::create_dir_all(&to)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(path)?, &to)?;
        } else if kind.is_file() {
            // A plain bind would write through to the host.
            fs::write(&to, "")?;
            mount_bind(path, &to)
                .map_err(io::Error::from)
                .and_then(|()| sys::read_only(&to, false))
                .map_err(|error| at(path, &error))?;
        } else if kind.is_dir() {
            self.directory(path, &to, &metadata)?;
        }
        Ok(())
    }

    fn directory(&mut self, path: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
        if path != Path::new("/") {
            fs::create_dir(to).map_err(|error| at(to, &error))?;
            if !self.mounts.iter().any(|mount| mount.starts_with(path) && mount != path) {
                return self.overlay(path, to, metadata);
            }
        }
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                self.problems.push(format!("`{}` is empty: {error}", path.display()));
                return Ok(());
            }
        };
        let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            self.place(&entry)?;
        }
        // Last: it may forbid to write.
        self.dress(to, path, metadata)
    }

    fn overlay(&mut self, path: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
        let number = self.layers.len().to_string();
        let (upper, work) = (self.base.join("upper").join(&number), self.base.join("work").join(&number));
        fs::create_dir(&upper)?;
        fs::create_dir(&work)?;
        self.dress(&upper, path, metadata)?;
        let kind = if self.userns { "userxattr,volatile" } else { "redirect_dir=on,metacopy=off,volatile" };
        let mut options = Vec::new();
        for (name, path) in [("lowerdir=", path), (",upperdir=", &upper), (",workdir=", &work)] {
            options.extend_from_slice(name.as_bytes());
            options.extend(path.as_os_str().as_bytes().iter().flat_map(|byte| escaped(*byte)));
        }
        options.push(b',');
        options.extend_from_slice(kind.as_bytes());
        let options = CString::new(options)?;
        match mount("overlay", to, "overlay", MountFlags::NODEV, options.as_c_str()) {
            Ok(()) => self.layers.push(Layer { at: path.into(), upper, lower: true }),
            Err(error) => self.instead(path, to, &error.into())?,
        }
        Ok(())
    }

    /// Give a directory of ours the mode and the owner of the one it stands for. Among users of our
    /// own it can't have a stranger's; then its mode says whether we may write there.
    fn dress(&self, to: &Path, original: &Path, metadata: &Metadata) -> io::Result<()> {
        let mut mode = metadata.mode() & 0o7777;
        if !self.userns {
            chown(to, Some(metadata.uid()), Some(metadata.gid()))?;
        } else if access(original, Access::WRITE_OK | Access::EXEC_OK).is_err() {
            mode = mode & 0o1000 | 0o555;
        } else if fs::symlink_metadata(to)?.uid() != metadata.uid() {
            mode = mode & 0o1000 | 0o777;
        }
        fs::set_permissions(to, fs::Permissions::from_mode(mode))
    }

    /// No overlay: to be read only, or not at all where that would leave sockets within reach.
    fn instead(&mut self, path: &Path, to: &Path, error: &io::Error) -> io::Result<()> {
        if SERVICES.iter().any(|dir| path.starts_with(dir)) {
            mount("tmpfs", to, "tmpfs", MountFlags::NODEV | MountFlags::NOSUID, None)?;
            sys::read_only(to, false)?;
            self.problems.push(format!("`{}` is empty and read-only: no overlay there: {error}", path.display()));
        } else {
            mount_bind_recursive(path, to)?;
            sys::read_only(to, true)?;
            self.problems.push(format!("`{}` is read-only: no overlay there: {error}", path.display()));
        }
        Ok(())
    }
}

fn escaped(byte: u8) -> impl Iterator<Item = u8> {
    let escape = matches!(byte, b'\\' | b':' | b',').then_some(b'\\');
    escape.into_iter().chain([byte])
}

pub(super) fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

/// Where something is mounted, as this process sees it.
fn mount_points() -> io::Result<Vec<PathBuf>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let fifth = |line: &[u8]| line.split(|byte| *byte == b' ').nth(4).map(unescaped);
    Ok(table.split(|byte| *byte == b'\n').filter_map(fifth).collect())
}

/// Blanks, line ends and backslashes stand as three octal digits behind a backslash.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, others)) = rest.split_first() {
        let octal = others.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = others.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    OsString::from_vec(bytes).into()
}
