//! What one path of a world is at one moment.

use std::{
    fs::{File, Metadata},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use sha2::{Digest as _, Sha256};

use crate::verify::lens::sqlite;

/// SHA-256 of a content.
pub(crate) type Digest = [u8; 32];

/// The largest file that a lens reads, and whose bytes are kept for it.
pub(crate) const LENS_BYTES: u64 = 4 << 20;

/// What lies at a path; links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File,
    Link,
    Fifo,
    Socket,
    Device,
}

impl Kind {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_dir() {
            return Self::Directory;
        }
        if kind.is_symlink() {
            return Self::Link;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt as _;
            if kind.is_fifo() {
                return Self::Fifo;
            }
            if kind.is_socket() {
                return Self::Socket;
            }
            if kind.is_char_device() || kind.is_block_device() {
                return Self::Device;
            }
        }
        Self::File
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Link => "link",
            Self::Fifo => "FIFO",
            Self::Socket => "socket",
            Self::Device => "device",
        }
    }
}

/// What proves, together with the size, that a file was not written to: the kernel moves the time
/// of change with every write, and nobody can set it. Not there on systems that don't tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

/// The bytes of a file, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) digest: Digest,
    /// Whether it begins as an `SQLite` database does.
    pub(crate) database: bool,
    /// The digest of its first bytes, as many as the file had in the snapshot before.
    pub(crate) prefix: Option<Digest>,
}

/// A path at one moment.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    /// Whether the file has other names, too.
    pub(crate) shared: bool,
    /// Permission bits; on other systems 0o444 or 0o644.
    pub(crate) mode: u32,
    /// User and group.
    pub(crate) owner: (u32, u32),
    pub(crate) modified: Option<SystemTime>,
    pub(crate) stamp: Option<Stamp>,
    /// Whether the stamp was old enough when the content was read: a write within the same tick of
    /// the clock leaves no trace in it.
    pub(crate) settled: bool,
    /// Of a regular file; none if it cannot be read.
    pub(crate) content: Option<Content>,
    /// Of a link.
    pub(crate) target: Option<PathBuf>,
    /// Digest of the extended attributes, if there are any.
    pub(crate) attributes: Option<Digest>,
}

impl State {
    /// Without content, target and attributes.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let stamp = Stamp::of(metadata);
        Self {
            kind: Kind::of(metadata),
            size: metadata.len(),
            shared: shared(metadata),
            mode: mode(metadata),
            owner: owner(metadata),
            modified: metadata.modified().ok(),
            stamp,
            settled: stamp.is_some_and(Stamp::settled),
            content: None,
            target: None,
            attributes: None,
        }
    }

    /// Whether nothing was written to the file between the two, so that the content is the same.
    pub(crate) fn proves(&self, now: &Self) -> bool {
        self.settled && self.stamp.is_some() && self.stamp == now.stamp && self.size == now.size
    }

    pub(crate) fn digest(&self) -> Option<Digest> {
        self.content.map(|content| content.digest)
    }

    /// Whether both hold the same, whatever their times and permissions.
    pub(crate) fn same_matter(&self, other: &Self) -> bool {
        let same_bytes = self.kind != Kind::File
            || match (self.digest(), other.digest()) {
                (Some(one), Some(two)) => one == two,
                // One cannot be read; then the times have to do.
                _ => self.size == other.size && self.modified == other.modified,
            };
        self.kind == other.kind && self.target == other.target && same_bytes
    }

    /// Whether the permissions, the owner or the extended attributes differ.
    pub(crate) fn same_rights(&self, other: &Self) -> bool {
        // The mode of a link means nothing.
        let same_mode = self.kind == Kind::Link || self.mode == other.mode;
        same_mode && self.owner == other.owner && self.attributes == other.attributes
    }
}

impl Stamp {
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "other systems don't tell")]
    fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Some(Self { device: metadata.dev(), inode: metadata.ino(), changed })
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }

    /// Whether a write from now on is certain to move the stamp.
    fn settled(self) -> bool {
        let (seconds, nanoseconds) = self.changed;
        // Clocks of file systems tick every 10 ms at the slowest; some know seconds alone.
        let tick = if nanoseconds == 0 { Duration::from_secs(2) } else { Duration::from_millis(20) };
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u64::try_from(nanoseconds)) else {
            return false;
        };
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds);
        changed.elapsed().is_ok_and(|age| age > tick)
    }
}

#[cfg(unix)]
fn shared(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    !metadata.is_dir() && metadata.nlink() > 1
}

#[cfg(not(unix))]
fn shared(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(metadata: &Metadata) -> u32 {
    if metadata.permissions().readonly() { 0o444 } else { 0o644 }
}

#[cfg(unix)]
fn owner(metadata: &Metadata) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.uid(), metadata.gid())
}

#[cfg(not(unix))]
fn owner(_: &Metadata) -> (u32, u32) {
    (0, 0)
}

/// Read a file whole. Also returns its bytes if a lens may want them.
pub(crate) fn read(path: &Path, size_before: Option<u64>) -> io::Result<(Content, Option<Vec<u8>>)> {
    let mut file = open(path)?;
    let mut sum = Sum::default();
    let prefix = match size_before {
        Some(size) => {
            sum.add(&mut (&mut file).take(size))?;
            (sum.bytes == size).then(|| sum.hash.clone().finalize().into())
        }
        None => None,
    };
    sum.add(&mut file)?;
    let content = Content { digest: sum.hash.finalize().into(), database: sqlite::is_database(&sum.head), prefix };
    Ok((content, sum.whole))
}

/// Open a regular file: not the target of a link that took its place, and without waiting for the
/// other end of a FIFO that did.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// What is known of a file while it is being read.
struct Sum {
    hash: Sha256,
    bytes: u64,
    head: Vec<u8>,
    whole: Option<Vec<u8>>,
}

impl Default for Sum {
    fn default() -> Self {
        Self { hash: Sha256::new(), bytes: 0, head: Vec::new(), whole: Some(Vec::new()) }
    }
}

impl Sum {
    fn add(&mut self, input: &mut impl io::Read) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = match input.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = buffer.get(..count).unwrap_or_default();
            self.hash.update(read);
            self.bytes += count as u64;
            if self.head.len() < 16 {
                self.head.extend(read.iter().take(16));
            }
            if self.bytes > LENS_BYTES {
                self.whole = None;
            }
            if let Some(whole) = &mut self.whole {
                whole.extend_from_slice(read);
            }
        }
    }
}

/// A digest over the extended attributes of a path; none if it has none.
#[cfg(target_os = "linux")]
pub(crate) fn attributes(path: &Path) -> Option<Digest> {
    use rustix::fs::{lgetxattr, llistxattr};
    // The kernel's own limits on the list and on one value.
    let mut buffer = vec![0; 64 << 10];
    let length = llistxattr(path, buffer.as_mut_slice()).ok().filter(|length| *length > 0)?;
    let mut names: Vec<Vec<u8>> =
        buffer.get(..length)?.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect();
    names.sort();
    let mut hash = Sha256::new();
    for name in names {
        let length = lgetxattr(path, name.as_slice(), buffer.as_mut_slice()).unwrap_or(0);
        hash.update(Sha256::digest(&name));
        hash.update(Sha256::digest(buffer.get(..length)?));
    }
    Some(hash.finalize().into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn attributes(_: &Path) -> Option<Digest> {
    None
}
