//! The tests, in one binary: one module a subject, sentences for names.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop with the place"
)]

mod arguments;
mod audit;
mod cli;
mod confirm;
mod database;
mod demo;
mod gate;
mod generated;
mod git_settings;
mod hints;
mod http;
mod inventory;
mod notes;
mod readme;
mod repo;
mod reports;
mod stdio;
mod support;
mod trial;
mod web;
mod wire;
