//! TODO

use std::sync::Arc;

/// TODO
#[derive(Debug)]
pub struct Notes;

/// TODO
#[derive(Debug)]
pub struct NotesAdder(Arc<Notes>);

impl NotesAdder {
    pub fn new(inner: Arc<Notes>) -> Self {
        Self(inner)
    }
}

/// TODO
#[derive(Debug)]
pub struct NotesReader(Arc<Notes>);

impl NotesReader {
    pub fn new(inner: Arc<Notes>) -> Self {
        Self(inner)
    }
}

/// TODO
#[derive(Debug)]
pub struct NotesWriter(Arc<Notes>);

impl NotesWriter {
    pub fn new(inner: Arc<Notes>) -> Self {
        Self(inner)
    }
}
