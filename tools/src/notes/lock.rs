use std::{
    fs::{File, TryLockError},
    io, thread,
    time::{Duration, Instant},
};

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags, openat};

use crate::ToolError;

/// A lock on the directory, ended by dropping it.
pub(super) struct Lock(File);

impl Lock {
    /// Others may read meanwhile.
    pub(super) fn shared(
        dir: &Dir,
        wait: Duration,
        go_on: impl Fn() -> Result<(), ToolError>,
    ) -> Result<Self, ToolError> {
        Self::take(dir, wait, go_on, File::try_lock_shared)
    }

    /// Nobody else reads or writes meanwhile.
    pub(super) fn exclusive(
        dir: &Dir,
        wait: Duration,
        go_on: impl Fn() -> Result<(), ToolError>,
    ) -> Result<Self, ToolError> {
        Self::take(dir, wait, go_on, File::try_lock)
    }

    fn take(
        dir: &Dir,
        wait: Duration,
        go_on: impl Fn() -> Result<(), ToolError>,
        attempt: fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Self, ToolError> {
        // The lock belongs to the open file, so each holder opens the directory anew: `.` leads
        // nowhere else. cap-std would open it in a way that can neither be locked nor synced.
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let file = openat(dir, ".", how, Mode::empty()).map_err(ToolError::internal)?;
        let file = File::from(file);
        let start = Instant::now();
        loop {
            go_on()?;
            match attempt(&file) {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(ToolError::internal(error)),
                Err(TryLockError::WouldBlock) if start.elapsed() < wait => {
                    thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(ToolError::refused(
                        "the notes are in use by another program, nothing was changed; try again in a moment",
                    ));
                }
            }
        }
    }

    /// Wait until the directory's entries are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}
