//! The box: a server runs in it and can do what it likes, and nothing of it reaches the machine.
//!
//! It has namespaces of its own for mounts, processes, network, messages and the host's name, and for
//! users where we aren't root. Every directory of the machine is there, at the same path, as the
//! lower layer of an overlay, so that the upper layers hold exactly what changed. Every address of
//! the network leads to a sink that answers and takes notes.
//!
//! The [wire client](crate::wire) starts a server by a command; a server in a box is started by the
//! command of its [`Sandbox`], which runs this program again: it becomes the box and then the server.
//!
//! It contains accidents. A server that means harm can tell that it is in a box and may know a hole
//! in the kernel.

mod contact;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod spec;

#[cfg(target_os = "linux")]
mod changes;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod places;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod served;
#[cfg(target_os = "linux")]
mod sink;
#[cfg(target_os = "linux")]
mod skeleton;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod watchdog;

use std::{io, path::PathBuf};

pub use contact::{Contact, Said};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Sandbox, probe};
#[cfg(target_os = "linux")]
pub use inside::{enter, is_wanted};
#[cfg(target_os = "linux")]
pub use linux::{Sandbox, probe};
pub use spec::{Allowed, Limits, Place, Spec, scrubbed};

/// The argument by which this program is told to become a box.
pub const WORD: &str = "__box";

/// What puts the system calls of a process under a listener, and returns that.
#[cfg(target_os = "linux")]
pub type Install = fn() -> io::Result<std::os::fd::OwnedFd>;

/// What a system allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// A box with a listener in it.
    BoxAndListener,
    /// A box.
    Box,
}

/// Why there is no box.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This system has no namespaces.
    #[error("there is no box on this platform; it needs Linux")]
    Platform,
    /// A world that the box cannot show.
    #[error(
        "cannot show the world `{0}` in the box; name an absolute path that the directory for temporary files isn't in"
    )]
    World(PathBuf),
    /// No place for the changes.
    #[error("no place for what the box changes: {0}; set TMPDIR to a directory on a plain disk")]
    NoPlace(String),
    /// The system, or the server's command.
    #[error("cannot build the box: {0}")]
    Refused(String),
    /// The file system.
    #[error("cannot build the box: {0}")]
    Io(#[from] io::Error),
}
