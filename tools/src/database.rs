//! TODO

use std::sync::Arc;

/// TODO
#[derive(Debug)]
pub struct Database;

/// TODO
#[derive(Debug)]
pub struct DatabaseAdder(Arc<Database>);

impl DatabaseAdder {
    pub fn new(inner: Arc<Database>) -> Self {
        Self(inner)
    }
}

/// TODO
#[derive(Debug)]
pub struct DatabaseReader(Arc<Database>);

impl DatabaseReader {
    pub fn new(inner: Arc<Database>) -> Self {
        Self(inner)
    }
}

/// TODO
#[derive(Debug)]
pub struct DatabaseWriter(Arc<Database>);

impl DatabaseWriter {
    pub fn new(inner: Arc<Database>) -> Self {
        Self(inner)
    }
}
