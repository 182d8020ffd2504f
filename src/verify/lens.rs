//! Lenses turn changed bytes into meaning: without them a commit, an inserted row and a rewritten
//! JSON file would all look destructive.

pub(crate) mod git;
pub mod network;
pub mod sqlite;
