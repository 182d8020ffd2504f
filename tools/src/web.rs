//! TODO

use std::sync::Arc;

/// TODO
#[derive(Debug)]
pub struct Web;

/// TODO
#[derive(Debug)]
pub struct WebReader(Arc<Web>);

impl WebReader {
    pub fn new(inner: Arc<Web>) -> Self {
        Self(inner)
    }
}
