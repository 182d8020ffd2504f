//! libgit2's process-wide settings, which have no safe door.
#![expect(
    unsafe_code,
    reason = "libgit2's options are C variables without a lock; they are set before any thread starts"
)]

use std::{ffi::c_int, time::Duration};

use git2::{ConfigLevel, Error, opts};

/// Read no configuration but the repository's own, so that nobody's `safe.directory` or
/// `insteadOf` changes what a tool does; write references through to the disk before they get
/// their names; never wait for a silent remote longer than `patience`.
///
/// Call it once, at the start of the process.
pub(crate) fn apply(patience: Duration) -> Result<(), Error> {
    let milliseconds = c_int::try_from(patience.as_millis()).unwrap_or(c_int::MAX);
    let on: c_int = 1;
    // SAFETY: nothing else uses libgit2 yet, and each option gets the type that it takes.
    unsafe {
        for level in [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            opts::set_search_path(level, "")?;
        }
        opts::set_server_connect_timeout_in_milliseconds(milliseconds)?;
        opts::set_server_timeout_in_milliseconds(milliseconds)?;
        match libgit2_sys::git_libgit2_opts(libgit2_sys::GIT_OPT_ENABLE_FSYNC_GITDIR.cast_signed(), on) {
            0 => Ok(()),
            _ => Err(Error::last_error(-1)),
        }
    }
}
