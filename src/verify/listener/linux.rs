//! The listener on Linux, by seccomp user notification.

mod calls;
mod decode;
mod family;
mod filter;
mod place;
mod signal;
mod socket;
mod start;
mod sys;
mod task;
mod watch;

use std::{
    io,
    os::fd::{OwnedFd, RawFd},
};

pub use start::{Door, enter};
pub use watch::Listener;

use super::{Contact, Doing, Event, MARK, New, Part, Rings, Whose};

/// Number of the socket by which the listener's handle leaves the server's process. The filter
/// lets `sendmsg` on it pass, for nobody could answer yet; it is above what programs come by and
/// below the usual limit of 1024. To be closed when the server starts.
pub const CONTROL: RawFd = 1019;

/// Put every later system call of this thread, and of all that it starts, under the filter. Returns
/// where they wait: to be sent out on [`CONTROL`], because whatever can have an effect now waits
/// for an answer, `exec` included.
///
/// Programs that are run from now on gain no privileges (`sudo` doesn't work).
///
/// # Errors
///
/// If the kernel refuses: it is older than 5.5, or somebody listens already (`EBUSY`).
pub fn install() -> io::Result<OwnedFd> {
    rustix::thread::set_no_new_privs(true)?;
    sys::filter(&filter::program())
}
