//! The tests, in one binary: one module a subject, sentences for names.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop with the place"
)]

mod annotations;
mod approval;
mod arguments;
mod audit;
mod case_files;
mod cli;
mod confirm;
mod database;
mod demo;
mod gate;
mod generated;
mod git_settings;
mod hints;
mod http;
mod installed;
mod inventory;
mod judge;
mod learning;
mod lenses_git;
mod lenses_network;
mod lenses_sqlite;
mod lint;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod listener;
mod notes;
mod readme;
mod repo;
mod report_forms;
mod reports;
mod sandbox;
mod stdio;
mod support;
mod synthesis;
mod trial;
mod twins;
mod verify;
mod web;
mod wire;
mod worlds;
