//! `list_notes`: confined paths, first half.
//!
//! Read `list_branches.rs` first. New here: what a tool may reach is one directory, and only plain
//! files in it count. The rest is counted and left alone.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    notes::{Listing, Note, NotesReader},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// `next_cursor` of the page before; left out for the first page.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// The notes, in the order of their names.
    notes: Vec<Note>,
    /// Entries of the directory that are no notes: folders, links, files of other names.
    other_entries: u64,
    /// Pass it as `cursor` for the next page; null at the end.
    next_cursor: Option<String>,
}

#[tool_router(router = list_notes_route, vis = "pub(crate)")]
impl Toolbox {
    /// List the notes in this server's notes directory with their sizes and times. Changes
    /// nothing.
    #[tool(
        title = "List notes",
        annotations(
            title = "List notes",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false, // only this server's notes directory
        ),
        meta = Scope::NotesRead.required()
    )]
    async fn list_notes(
        notes: NotesReader,
        Parameters(Params { cursor }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let Listing { notes, other_entries, next_cursor } = notes.list(cursor).await?;
        Ok(Json(Output { notes, other_entries, next_cursor }))
    }
}
