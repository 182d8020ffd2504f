//! TODO

use std::sync::Arc;

/// TODO
#[derive(Debug)]
pub struct Repo;

/// TODO
#[derive(Debug)]
pub struct RepoAdder(Arc<Repo>);

impl RepoAdder {
    pub fn new(inner: Arc<Repo>) -> Self {
        Self(inner)
    }
}

/// TODO
#[derive(Debug)]
pub struct RepoReader(Arc<Repo>);

impl RepoReader {
    pub fn new(inner: Arc<Repo>) -> Self {
        Self(inner)
    }
}

/// TODO
#[derive(Debug)]
pub struct RepoWriter(Arc<Repo>);

impl RepoWriter {
    pub fn new(inner: Arc<Repo>) -> Self {
        Self(inner)
    }
}
