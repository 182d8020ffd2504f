//! Systems on which calls can't be listened to.

use std::{convert::Infallible, ffi::OsString, io, path::Path, time::Duration, time::Instant};

use super::{Event, Rings};

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "listening to system calls needs Linux on x86_64 or aarch64")
}

/// There is none on this system.
#[derive(Debug)]
pub struct Listener(Infallible);

impl Listener {
    /// Nothing happens without one.
    #[must_use]
    pub fn take(&self) -> Vec<Event> {
        match self.0 {}
    }

    /// Nothing happens without one.
    #[must_use]
    pub fn last(&self) -> Option<Instant> {
        match self.0 {}
    }

    /// Nothing runs without one.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        match self.0 {}
    }

    /// Nothing begins without one.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match self.0 {}
    }
}

/// There is none on this system.
#[derive(Debug)]
pub struct Door(Infallible);

impl Door {
    /// There is none on this system.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn open() -> io::Result<Self> {
        Err(unsupported())
    }

    /// Nothing is started without one.
    #[must_use]
    pub fn command(&self, _: &Path, _: &[String]) -> Vec<String> {
        match self.0 {}
    }

    /// Nothing arrives without one.
    ///
    /// # Errors
    ///
    /// Never, for there is none.
    pub fn wait(&self, _: Duration, _: Rings) -> io::Result<Listener> {
        match self.0 {}
    }
}

/// There is no filter on this system.
#[must_use]
pub fn enter(_: &Path, _: &[OsString]) -> io::Error {
    unsupported()
}
