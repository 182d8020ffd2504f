//! Temporary directories that go away whatever was done to them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A temporary directory. Unlike a plain one it is removed on drop even if directories in it were
/// made read-only.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: TempDir,
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new(prefix: &str) -> io::Result<Self> {
        Self::within(&std::env::temp_dir(), prefix)
    }

    /// In a directory that is not the usual one.
    pub(crate) fn within(parent: &Path, prefix: &str) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?;
        let path = dir.path().canonicalize()?;
        Ok(Self { dir, path })
    }

    /// Absolute and without links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.path).is_ok() {
            return;
        }
        unlock(&self.path);
        if let Err(error) = fs::remove_dir_all(&self.path) {
            self.dir.disable_cleanup(true);
            tracing::warn!(path = %self.path.display(), %error, "a copy of a world is left behind");
        }
    }
}

/// Allow everything below a directory to be removed. Links are not followed.
fn unlock(path: &Path) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if metadata.is_dir() {
        allow(path, &metadata);
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            unlock(&entry.path());
        }
    } else if cfg!(windows) && metadata.is_file() {
        allow(path, &metadata);
    }
}

#[cfg(unix)]
fn allow(path: &Path, _: &fs::Metadata) {
    use std::os::unix::fs::PermissionsExt as _;
    // What can't be unlocked shows when it can't be removed.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
}

#[cfg(not(unix))]
fn allow(path: &Path, metadata: &fs::Metadata) {
    let mut permissions = metadata.permissions();
    permissions.set_readonly(false);
    let _ = fs::set_permissions(path, permissions);
}
