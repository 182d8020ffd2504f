//! What of a box's file system is made and not shown: `/proc`, `/sys`, `/dev`, directories for
//! temporary files, and the copies of worlds.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive};

use super::{
    skeleton::{Skeleton, at},
    spec::Place,
    sys,
};

/// Where `/proc` leads to the whole machine.
const MACHINE: [&str; 7] = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"];
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The directory for temporary files, as the box shows it.
pub(super) fn temporary(base: &Path) -> PathBuf {
    base.join("tmp")
}

pub(super) fn proc(skeleton: &mut Skeleton<'_>) -> io::Result<()> {
    let proc = skeleton.inside(Path::new("/proc"));
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if let Err(error) = mount("proc", &proc, "proc", flags, None) {
        skeleton.problems.push(format!("`/proc` is the host's: no new one can be mounted: {error}"));
        mount_bind_recursive("/proc", &proc)?;
    }
    for name in MACHINE {
        let place = proc.join(name);
        if place.exists() {
            mount_bind_recursive(&place, &place)?;
            sys::read_only(&place, true).map_err(|error| at(&place, &error))?;
        }
    }
    Ok(())
}

pub(super) fn sys(skeleton: &Skeleton<'_>) -> io::Result<()> {
    let dir = skeleton.inside(Path::new("/sys"));
    mount_bind_recursive("/sys", &dir)?;
    sys::read_only(&dir, true).map_err(|error| at(&dir, &error))
}

/// Read-only itself, so that nothing lands where nobody looks.
pub(super) fn dev(skeleton: &mut Skeleton<'_>, base: &Path) -> io::Result<()> {
    let dev = skeleton.inside(Path::new("/dev"));
    mount("tmpfs", &dev, "tmpfs", MountFlags::NOSUID, c"mode=755")?;
    for name in DEVICES {
        let (from, to) = (Path::new("/dev").join(name), dev.join(name));
        if from.exists() {
            fs::write(&to, "")?;
            mount_bind(&from, &to)?;
        }
    }
    for (name, target) in LINKS {
        symlink(target, dev.join(name))?;
    }
    for name in ["pts", "shm"] {
        fs::create_dir(dev.join(name))?;
    }
    let terminals = mount("devpts", dev.join("pts"), "devpts", MountFlags::NOSUID, c"newinstance,ptmxmode=0666");
    if let Err(error) = terminals {
        skeleton.problems.push(format!("there are no terminals: {error}"));
    }
    sys::read_only(&dev, false)?;
    let shared = own(base, "shm")?;
    mount_bind(&shared, dev.join("shm"))?;
    skeleton.plain("/dev/shm", shared);
    Ok(())
}

/// Hide the bookkeeping, and put the directory for temporary files there.
pub(super) fn hide(skeleton: &mut Skeleton<'_>, base: &Path) -> io::Result<()> {
    let own_tmp = own(base, "tmp")?;
    let cover = skeleton.inside(base);
    fs::create_dir_all(&cover).map_err(|error| at(&cover, &error))?;
    mount("tmpfs", &cover, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=755")?;
    let inside = skeleton.inside(&temporary(base));
    fs::create_dir(&inside)?;
    sys::read_only(&cover, false)?;
    mount_bind(&own_tmp, &inside)?;
    skeleton.plain(temporary(base), own_tmp);
    Ok(())
}

/// A directory of the base that everybody may write to, as those that it stands for.
fn own(base: &Path, name: &str) -> io::Result<PathBuf> {
    let path = base.join(name);
    fs::create_dir(&path)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o1777))?;
    Ok(path)
}

/// Show the copies of worlds, those above others first.
pub(super) fn worlds(skeleton: &Skeleton<'_>, worlds: &[Place]) -> io::Result<()> {
    let mut worlds: Vec<_> = worlds.iter().collect();
    worlds.sort_by(|one, other| one.at.cmp(&other.at));
    for Place { from, at: place } in worlds {
        let to = skeleton.inside(&without_links(place)?);
        fs::create_dir_all(&to).map_err(|error| at(&to, &error))?;
        mount_bind(from, &to).map_err(|error| at(from, &error.into()))?;
    }
    Ok(())
}

/// The skeleton mirrors the host, so a path that has no links there has none here, and nothing is
/// made outside of the box by following one.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    for ancestor in path.ancestors() {
        match ancestor.canonicalize() {
            Ok(there) => return Ok(path.strip_prefix(ancestor).map_or(there.clone(), |rest| there.join(rest))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(ancestor, &error)),
        }
    }
    Err(at(path, &io::Error::from(io::ErrorKind::NotFound)))
}
