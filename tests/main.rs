//! The tests, in one binary: one module a subject, sentences for names.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop with the place"
)]

mod database;
mod demo;
mod http;
mod notes;
mod repo;
mod reports;
mod web;
