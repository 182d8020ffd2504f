//! The listener: sees the system calls of a server that can have an effect, as they happen.
//!
//! A filter in the kernel makes such calls wait; a [`Listener`] looks at each, writes down what it
//! is about to do, and lets it go on. Children, threads and static binaries are under the filter
//! too. Reading, writing and looking never waits.
//!
//! It sees what is attempted, and not whether that succeeds: that shows only in the state
//! afterwards. What a server does through a ring (`io_uring`) or a mapping of a file, it doesn't see.
//!
//! `server ── call ──▶ filter ── waits ──▶ Listener ──▶ events ──▶ effects`

mod effects;
mod event;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "listener/elsewhere.rs"]
mod linux;

pub use effects::{Ground, effects};
pub use event::{Contact, Doing, Event, New, Part, Whose};
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use linux::{CONTROL, install};
pub use linux::{Door, Listener, enter};

/// The environment variable by which a server can tell where a trial has put it: in a `box`, under the
/// `listener` alone, or in a copy of one of the `worlds`.
pub const MARK: &str = "CANDOR_RUNG";

/// What becomes of a ring (`io_uring`), whose calls are not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rings {
    /// It is set up. Only where something else sees what changes.
    Allowed,
    /// Setting it up fails with `ENOSYS`, as if the system had none.
    Refused,
}
