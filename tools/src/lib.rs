//! Fifteen tools whose annotations tell the truth, one a file.
//!
//! Read them in this order; each brings one new idea:
//!
//! | file | what it teaches |
//! |---|---|
//! | `list_branches.rs` | a read-only tool |
//! | `create_branch.rs` | additive, and idempotent although a repeat is refused |
//! | `delete_branch.rs` | destructive, and asking the user at the moment of risk |
//! | `list_notes.rs`, `read_note.rs` | confined paths |
//! | `create_note.rs` | creating that can never overwrite |
//! | `append_note.rs` | additive and not idempotent |
//! | `write_note.rs` | idempotent yet destructive |
//! | `describe_database.rs`, `query.rs` | read-only by connection, not by reading the SQL |
//! | `insert_rows.rs` | additive by construction |
//! | `execute.rs` | the other half of the split, labelled for its worst case |
//! | `fetch_report.rs` | reading that leaves a trace is not read-only |
//! | `post_comment.rs` | the retry that posts twice |
//! | `fetch_url.rs` | reads only, and is open-world |
//!
//! This crate knows nothing of transports, grants, harness or clients. A tool names in its
//! signature the one handle that it needs, and the handle can do no more than that tool:
//! `…Reader` changes nothing, `…Adder` changes nothing that exists, `…Writer` may destroy.

mod append_note;
mod blocking;
mod consent;
mod create_branch;
mod create_note;
mod delete_branch;
mod describe_database;
mod error;
mod execute;
mod fetch_report;
mod fetch_url;
mod insert_rows;
mod list_branches;
mod list_notes;
mod post_comment;
mod query;
mod read_note;
mod scope;
mod text;
mod toolbox;
mod write_note;

pub mod database;
pub mod notes;
pub mod repo;
pub mod reports;
pub mod web;

use rmcp::{handler::server::router::tool::ToolRouter, model::Tool};

pub use consent::{Confirmed, Consent, Question};
pub use error::{OpenError, ToolError};
pub use scope::{SCOPE_KEY, Scope};
pub use text::shown;
pub use toolbox::Toolbox;

/// Every tool, in reading order. The only list.
fn routes() -> Vec<ToolRouter<Toolbox>> {
    vec![
        Toolbox::list_branches_route(),
        Toolbox::create_branch_route(),
        Toolbox::delete_branch_route(),
        Toolbox::list_notes_route(),
        Toolbox::read_note_route(),
        Toolbox::create_note_route(),
        Toolbox::append_note_route(),
        Toolbox::write_note_route(),
        Toolbox::describe_database_route(),
        Toolbox::query_route(),
        Toolbox::insert_rows_route(),
        Toolbox::execute_route(),
        Toolbox::fetch_report_route(),
        Toolbox::post_comment_route(),
        Toolbox::fetch_url_route(),
    ]
}

/// One router for all tools, and the same tools in reading order (a router sorts by name).
#[must_use]
pub fn inventory() -> (ToolRouter<Toolbox>, Vec<Tool>) {
    let mut router = ToolRouter::new();
    let mut tools = Vec::new();
    for route in routes() {
        tools.extend(route.list_all());
        router += route;
    }
    (router, tools)
}
