//! TODO

use std::sync::Arc;

/// TODO
#[derive(Debug)]
pub struct Reports;

/// TODO
#[derive(Debug)]
pub struct ReportsAdder(Arc<Reports>);

impl ReportsAdder {
    pub fn new(inner: Arc<Reports>) -> Self {
        Self(inner)
    }
}
