//! Text notes in one directory.
//!
//! A note is a plain file directly in the directory: no link, folder, pipe or device, whatever
//! stands under its name when it is opened. The directory is a cap-std `Dir`, so no name leads out
//! of it even if somebody swaps files for links at the same moment.
//!
//! Every operation holds a lock on the directory, shared for reading and exclusive for writing,
//! that other servers on the same directory respect. So appended texts never mix, and nobody sees
//! a note that is half written. What was changed is on the disk before it is acknowledged.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cap_std::{ambient_authority, fs::Dir};
use tokio::sync::Semaphore;

use crate::{
    OpenError, ToolError,
    blocking::{self, Caller},
};

mod file;
mod list;
mod lock;
mod name;

pub use list::{Listing, Note};
pub use name::NoteName;

use lock::Lock;

/// Where notes live.
#[derive(Clone, Debug, Default)]
pub struct NotesConfig {
    /// The directory. It has to exist.
    pub dir: PathBuf,
    /// Bounds on size and number.
    pub limits: NotesLimits,
}

/// Bounds on what the note tools use.
#[derive(Clone, Debug)]
pub struct NotesLimits {
    /// Bytes of one note.
    pub note_bytes: u64,
    /// Notes in the directory; no more are created.
    pub notes: usize,
    /// Notes on one page of a listing.
    pub page: usize,
    /// Operations that run at once; further ones wait.
    pub concurrent: usize,
    /// How long an operation waits for another server's lock.
    pub lock_wait: Duration,
}

impl Default for NotesLimits {
    fn default() -> Self {
        Self { note_bytes: 1 << 20, notes: 10_000, page: 100, concurrent: 8, lock_wait: Duration::from_secs(5) }
    }
}

/// The directory whose files the note tools list, read and write.
#[derive(Debug)]
pub struct Notes {
    path: PathBuf,
    dir: Dir,
    limits: NotesLimits,
    permits: Arc<Semaphore>,
}

impl Notes {
    /// Open the directory and remove what a crash left half written.
    ///
    /// # Errors
    ///
    /// No such directory, or one that can't be read or locked.
    pub fn open(config: NotesConfig) -> Result<Self, OpenError> {
        let NotesConfig { dir: path, limits } = config;
        let fail = |cause: &str| OpenError(format!("cannot serve the notes directory `{}`: {cause}", path.display()));
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(|error| fail(&error.to_string()))?;
        let lock = Lock::exclusive(&dir, limits.lock_wait, || Ok(()));
        let swept = lock.and_then(|_lock| file::sweep(&dir).map_err(ToolError::internal));
        match swept {
            Ok(()) => {}
            Err(ToolError::Refused(cause) | ToolError::Internal(cause)) => {
                return Err(fail(&cause));
            }
            Err(ToolError::Confirm(_)) => return Err(fail("it asks a question")),
        }
        let path = path.canonicalize().map_err(|error| fail(&error.to_string()))?;
        let permits = Arc::new(Semaphore::new(limits.concurrent.max(1)));
        Ok(Self { path, dir, limits, permits })
    }

    /// The directory, without links. No other tool may reach into it, and nothing else may be in it.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.path
    }

    fn shared(&self, caller: &Caller) -> Result<Lock, ToolError> {
        Lock::shared(&self.dir, self.limits.lock_wait, || caller.still_waits())
    }

    fn exclusive(&self, caller: &Caller) -> Result<Lock, ToolError> {
        Lock::exclusive(&self.dir, self.limits.lock_wait, || caller.still_waits())
    }
}

async fn with<T: Send + 'static>(
    notes: &Arc<Notes>,
    work: impl FnOnce(&Notes, &Caller) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let permit = Arc::clone(&notes.permits).acquire_owned().await.map_err(ToolError::internal)?;
    let notes = Arc::clone(notes);
    blocking::run(permit, move |caller| work(&notes, caller)).await
}

/// Lists and reads notes; changes nothing.
#[derive(Debug)]
pub struct NotesReader(Arc<Notes>);

impl NotesReader {
    /// A handle on this directory.
    #[must_use]
    pub fn new(inner: Arc<Notes>) -> Self {
        Self(inner)
    }

    /// One page of notes in the order of their names. A cursor stands for a name, so no note is
    /// skipped or repeated when others come and go between two pages.
    ///
    /// # Errors
    ///
    /// Refuses a cursor that isn't ours.
    pub async fn list(&self, cursor: Option<String>) -> Result<Listing, ToolError> {
        with(&self.0, move |notes, caller| list::page(notes, cursor.as_deref(), caller)).await
    }

    /// The whole text of a note.
    ///
    /// # Errors
    ///
    /// Refuses what doesn't exist, is no plain file, is too long or isn't UTF-8.
    pub async fn read(&self, name: NoteName) -> Result<String, ToolError> {
        with(&self.0, move |notes, caller| file::read(notes, &name, caller)).await
    }
}

/// Creates notes and adds to them; changes and removes nothing that a note holds.
#[derive(Debug)]
pub struct NotesAdder(Arc<Notes>);

impl NotesAdder {
    /// A handle on this directory.
    #[must_use]
    pub fn new(inner: Arc<Notes>) -> Self {
        Self(inner)
    }

    /// Create a note, whole or not at all.
    ///
    /// # Errors
    ///
    /// Refuses a name that is taken, in another letter case too, and what passes a limit.
    pub async fn create(&self, name: NoteName, text: String) -> Result<(), ToolError> {
        with(&self.0, move |notes, caller| file::create(notes, &name, &text, caller)).await
    }

    /// Add `text` at the end of a note and return the note's new length in bytes.
    ///
    /// # Errors
    ///
    /// Refuses what doesn't exist, is no plain file or would become too long.
    pub async fn append(&self, name: NoteName, text: String) -> Result<u64, ToolError> {
        with(&self.0, move |notes, caller| file::append(notes, &name, &text, caller)).await
    }
}

/// Replaces notes.
#[derive(Debug)]
pub struct NotesWriter(Arc<Notes>);

impl NotesWriter {
    /// A handle on this directory.
    #[must_use]
    pub fn new(inner: Arc<Notes>) -> Self {
        Self(inner)
    }

    /// Put `text` in the place of a note, or create it, and return the bytes that it held before.
    /// At every moment there is the old text or the new one, whole.
    ///
    /// # Errors
    ///
    /// Refuses what is no plain file, a new name that differs from another in letter case alone,
    /// and what passes a limit.
    pub async fn replace(&self, name: NoteName, text: String) -> Result<u64, ToolError> {
        with(&self.0, move |notes, caller| file::replace(notes, &name, &text, caller)).await
    }
}
