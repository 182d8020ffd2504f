//! Worlds: what a server runs in during a trial. Each is built once and copied for every trial, so
//! that no trial sees what another left behind.

pub mod builders;
mod copy;
pub mod databases;
mod error;
mod folder;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

pub use error::WorldError;
pub(crate) use folder::Folder;

use super::snapshot::{Kept, Original, State, Suspects, Tree, Trust, Watched};

/// The longest that a script may take to build its world.
const SCRIPT_TIME: Duration = Duration::from_secs(120);

/// A world, and how to build it.
#[derive(Debug)]
pub struct World {
    /// Its name, as reports tell it.
    pub name: String,
    /// A database in it, relative to its directory, that another process holds a lock on while a
    /// server is at work.
    pub locked: Option<PathBuf>,
    /// Whether the origin that cases call `{listener}` can't be reached.
    pub offline: bool,
    /// Where a box shows it, if not where the copy is: the directory that it is a copy of.
    pub shown_at: Option<PathBuf>,
    source: Source,
    original: Mutex<Option<Arc<Original>>>,
}

type Build = dyn Fn(&Path) -> Result<(), WorldError> + Send + Sync;

enum Source {
    Directory(PathBuf),
    Parts(Vec<(PathBuf, PathBuf)>),
    Builder(Box<Build>),
    Script(PathBuf),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => f.debug_tuple("Directory").field(path).finish(),
            Self::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
            Self::Builder(_) => f.write_str("Builder"),
            Self::Script(path) => f.debug_tuple("Script").field(path).finish(),
        }
    }
}

/// A copy of a world, for one trial. Removed on drop, whatever its permissions have become.
#[derive(Debug)]
pub struct WorldCopy {
    folder: Folder,
    pub(crate) start: Tree,
    pub(crate) kept: Arc<Kept>,
    /// None where each look visits every path.
    watched: Mutex<Option<Watched>>,
}

impl WorldCopy {
    /// Its directory, absolute and without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// From now on let looks visit what may have changed alone, where the platform tells what did.
    /// For a fresh copy that a server will see as it is, and not through an overlay.
    #[must_use]
    pub fn watched(self) -> Self {
        let watched = Watched::begin(self.path(), &self.start);
        Self { watched: Mutex::new(watched), ..self }
    }

    /// What may have changed since the beginning; nobody knows any more once events were lost.
    pub(crate) fn with_suspects<T>(&self, look: impl FnOnce(Option<&Suspects>) -> T) -> T {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.as_mut().is_some_and(|watched| watched.catch_up().is_none()) {
            *watched = None;
        }
        look(watched.as_ref().map(|watched| &watched.suspects))
    }
}

impl World {
    /// What lies in a directory, which itself is only read, and only at the first
    /// [`fresh`](Self::fresh).
    pub fn directory(name: impl Into<String>, path: &Path) -> Self {
        Self::new(name, Source::Directory(path.into()))
    }

    /// Files and directories from elsewhere, each under a name of its own. They are only read, at
    /// the first [`fresh`](Self::fresh). What isn't there is left out. With a database comes its log.
    pub fn parts(name: impl Into<String>, parts: &[(&str, &str)]) -> Self {
        let parts = parts.iter().map(|(name, path)| (name.into(), path.into())).collect();
        Self::new(name, Source::Parts(parts))
    }

    /// What a function lays out in an empty directory.
    pub fn builder(
        name: impl Into<String>,
        build: impl Fn(&Path) -> Result<(), WorldError> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Source::Builder(Box::new(build)))
    }

    /// What a program lays out in an empty directory. It gets the directory as its working directory
    /// and as its one argument, and two minutes.
    pub fn script(name: impl Into<String>, path: &Path) -> Self {
        Self::new(name, Source::Script(path.into()))
    }

    fn new(name: impl Into<String>, source: Source) -> Self {
        Self { name: name.into(), locked: None, offline: false, shown_at: None, source, original: Mutex::new(None) }
    }

    /// A copy of its own. The world is built first if it wasn't yet.
    ///
    /// Copies share their content with the original where the file system can. They keep modes,
    /// times, links, hard links and FIFOs; not owners and extended attributes.
    ///
    /// # Errors
    ///
    /// If the world cannot be built or copied, or if the original is not what was built any more:
    /// then a server got out of its copy.
    pub fn fresh(&self) -> Result<WorldCopy, WorldError> {
        let original = self.original()?;
        let now = Tree::read(original.folder.path(), &original.tree, Trust::Stamps, &mut |_, _, _| Ok(()))?;
        if let Some(path) = difference(&original.tree, &now) {
            return Err(WorldError::Changed { world: self.name.clone(), path });
        }
        let folder = Folder::new("candor-world-")?;
        copy::tree(original.folder.path(), folder.path())?;
        let start = Tree::read(folder.path(), &original.tree, Trust::Sizes, &mut |_, _, _| Ok(()))?;
        let kept = Arc::new(Kept::new(original)?);
        Ok(WorldCopy { folder, start, kept, watched: Mutex::new(None) })
    }

    /// Make two fresh copies, read them whole and compare both with the original.
    ///
    /// # Errors
    ///
    /// If they differ in anything but owners, inodes and extended attributes; names the first place.
    pub fn check_reset(&self) -> Result<(), WorldError> {
        for copy in [self.fresh()?, self.fresh()?] {
            let now = Tree::read(copy.path(), &Tree::default(), Trust::Nothing, &mut |_, _, _| Ok(()))?;
            if let Some(path) = difference(&copy.kept.original.tree, &now) {
                return Err(WorldError::Differs { world: self.name.clone(), path });
            }
        }
        Ok(())
    }

    fn original(&self) -> Result<Arc<Original>, WorldError> {
        let mut original = self.original.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(original) = &*original {
            return Ok(Arc::clone(original));
        }
        let folder = Folder::new("candor-original-")?;
        match &self.source {
            Source::Directory(path) => {
                let path = path.canonicalize().map_err(|cause| WorldError::Directory { path: path.clone(), cause })?;
                copy::is_self_contained(&path)?;
                copy::tree(&path, folder.path())?;
            }
            Source::Parts(parts) => {
                for (name, from) in parts {
                    part(from, &folder.path().join(name))?;
                }
            }
            Source::Builder(build) => build(folder.path())?,
            Source::Script(path) => run(path, folder.path())?,
        }
        let read = |before: &Tree| Tree::read(folder.path(), before, Trust::Stamps, &mut |_, _, _| Ok(()));
        let mut tree = read(&Tree::default())?;
        // Once the clock of the file system has ticked, times of change prove something.
        std::thread::sleep(Duration::from_millis(25));
        tree = read(&tree)?;
        Ok(Arc::clone(original.insert(Arc::new(Original { folder, tree }))))
    }
}

/// The first path at which two trees don't hold the same.
fn difference(one: &Tree, two: &Tree) -> Option<PathBuf> {
    let same = |before: &State, after: &State| {
        before.same_matter(after) && before.mode == after.mode && before.modified == after.modified
    };
    let is_different = |change: &super::snapshot::Change<'_>| match (change.before, change.after) {
        (Some(before), Some(after)) => !same(before, after),
        _ => true,
    };
    one.changes(two).into_iter().find(is_different).map(|change| change.path.into())
}

/// Copy a directory, or a file with the logs of a database beside it.
fn part(from: &Path, to: &Path) -> Result<(), WorldError> {
    let unreadable = |cause| WorldError::Directory { path: from.into(), cause };
    if from.is_dir() {
        let from = from.canonicalize().map_err(unreadable)?;
        copy::is_self_contained(&from)?;
        fs::create_dir(to)?;
        return copy::tree(&from, to);
    }
    for log in ["", "-wal", "-journal"] {
        let beside = |path: &Path| {
            let mut path = path.as_os_str().to_owned();
            path.push(log);
            PathBuf::from(path)
        };
        if beside(from).is_file() {
            fs::copy(beside(from), beside(to)).map_err(unreadable)?;
        }
    }
    Ok(())
}

fn run(script: &Path, dir: &Path) -> Result<(), WorldError> {
    let failed = |what: String| WorldError::Script { path: script.into(), what };
    let told = tempfile::tempfile()?;
    let program = script.canonicalize().map_err(|cause| failed(cause.to_string()))?;
    let mut command = Command::new(program);
    command.arg(dir).current_dir(dir).stdin(Stdio::null());
    command.stdout(told.try_clone()?).stderr(told.try_clone()?);
    let mut child = command.spawn().map_err(|cause| failed(cause.to_string()))?;
    let began = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(failed(format!("it ended with {status}{}", last_line(told)))),
            None if began.elapsed() > SCRIPT_TIME => {
                child.kill()?;
                child.wait()?;
                return Err(failed(format!("it took longer than {} s and was stopped", SCRIPT_TIME.as_secs())));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// The last line that a program printed, ready to stand behind a message.
fn last_line(mut output: std::fs::File) -> String {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut bytes = Vec::new();
    let end = output.seek(SeekFrom::End(0)).unwrap_or(0);
    let read = output.seek(SeekFrom::Start(end.saturating_sub(4096))).and_then(|_| output.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) if read.is_ok() => {
            let line: String = line.chars().take(200).flat_map(char::escape_debug).collect();
            format!(" and said `{line}`")
        }
        _ => String::new(),
    }
}
