use std::{io, path::PathBuf};

use candor_tools::OpenError;

/// Why there is no world.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The directory cannot be read.
    #[error("cannot read the world `{path}`: {cause}; name a directory that is there and that you may read")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// Something that cannot be copied.
    #[error("`{path}` is a {kind}, which cannot be copied; remove it from the world")]
    Special {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// Something in the world names a place that every copy would share.
    #[error("`{path}` leads to `{target}`, which all copies of the world would share; {advice}")]
    Shared {
        /// Where it is.
        path: PathBuf,
        /// What it names.
        target: PathBuf,
        /// What to do about it.
        advice: &'static str,
    },
    /// A builder failed.
    #[error("cannot build the world: {0}")]
    Build(String),
    /// A script failed.
    #[error("the script `{path}` built no world: {what}")]
    Script {
        /// The script.
        path: PathBuf,
        /// What went wrong.
        what: String,
    },
    /// The original is not what was built.
    #[error(
        "the original of the world `{world}` changed at `{path}`: a server got out of its copy, or what laid the world out goes on"
    )]
    Changed {
        /// The world.
        world: String,
        /// The first place.
        path: PathBuf,
    },
    /// A fresh copy is not what was built.
    #[error("a fresh copy of the world `{world}` differs from its original at `{path}`")]
    Differs {
        /// The world.
        world: String,
        /// The first place.
        path: PathBuf,
    },
    /// The file system.
    #[error("cannot make a copy of the world: {0}")]
    Io(#[from] io::Error),
}

impl From<OpenError> for WorldError {
    fn from(error: OpenError) -> Self {
        Self::Build(error.to_string())
    }
}

impl From<git2::Error> for WorldError {
    fn from(error: git2::Error) -> Self {
        Self::Build(error.to_string())
    }
}

impl From<rusqlite::Error> for WorldError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Build(error.to_string())
    }
}
