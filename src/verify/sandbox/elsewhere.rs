//! Where there are no namespaces.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Contact, Rung, SandboxError, Spec};
use crate::verify::{Effect, Held};

/// A box, which this system doesn't have.
#[derive(Debug)]
pub struct Sandbox(Infallible);

impl Sandbox {
    /// There is none on this system.
    ///
    /// # Errors
    ///
    /// Always [`SandboxError::Platform`].
    pub fn prepare(_: &Path, _: Spec) -> Result<Self, SandboxError> {
        Err(SandboxError::Platform)
    }

    /// The command that builds the box.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        match self.0 {}
    }

    /// Wait until the box stands.
    ///
    /// # Errors
    ///
    /// None: there is no box.
    pub fn wait(&self, _: Duration) -> Result<(), SandboxError> {
        match self.0 {}
    }

    /// How long it took to build.
    #[must_use]
    pub fn took(&self) -> Option<Duration> {
        match self.0 {}
    }

    /// What changed outside of the worlds.
    ///
    /// # Errors
    ///
    /// None: there is no box.
    pub fn changes(&self) -> Result<Vec<Effect>, SandboxError> {
        match self.0 {}
    }

    /// What the processes of the box hold.
    #[must_use]
    pub fn held(&self) -> Held {
        match self.0 {}
    }

    /// The processes in the box.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        match self.0 {}
    }

    /// What the server tried to reach.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        match self.0 {}
    }

    /// Have a port answered.
    #[must_use]
    pub fn open_port(&self, _: u16) -> bool {
        match self.0 {}
    }

    /// Let the server have a port for itself.
    pub fn release_port(&self, _: u16) {
        match self.0 {}
    }

    /// The server's directory for temporary files.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        match self.0 {}
    }

    /// What of the box is not as it should be.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        match self.0 {}
    }

    /// Why the box was killed.
    #[must_use]
    pub fn exceeded(&self) -> Option<String> {
        match self.0 {}
    }

    /// Why there is no box.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        match self.0 {}
    }

    /// End everything in the box.
    pub fn kill(&self) {
        match self.0 {}
    }
}

/// There is no box on this system.
///
/// # Errors
///
/// Always [`SandboxError::Platform`].
pub fn probe(_: &Path) -> Result<Rung, SandboxError> {
    Err(SandboxError::Platform)
}
