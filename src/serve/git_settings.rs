//! libgit2's process-wide settings, which have no safe door.
#![expect(unsafe_code, reason = "libgit2's global options are C variables without a lock; they are set before any thread starts")]

use std::time::Duration;

use git2::{ConfigLevel, Error, opts};

/// Read no configuration but the repository's own, so that nobody's `safe.directory` or
/// `insteadOf` changes what a tool does, and never wait for a silent remote longer than `patience`.
///
/// Call it once, at the start of the process.
pub(super) fn apply(patience: Duration) -> Result<(), Error> {
    let milliseconds = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: nothing else uses libgit2 yet.
    unsafe {
        for level in [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            opts::set_search_path(level, "")?;
        }
        opts::set_server_connect_timeout_in_milliseconds(milliseconds)?;
        opts::set_server_timeout_in_milliseconds(milliseconds)
    }
}
