//! `write_note`: saving a file replaces what was there.
//!
//! Read `append_note.rs` first. New here: a tool that is idempotent and destructive at once. The
//! two hints answer different questions: is anything lost, and does a repeat lose more.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    notes::{NoteName, NotesWriter},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Name of the note: one that `list_notes` returns, or a new one.
    name: NoteName,
    /// The whole new text; what the note held before is lost.
    text: String,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// Bytes that the note held before this call; 0 for a new note.
    replaced_bytes: u64,
}

#[tool_router(router = write_note_route, vis = "pub(crate)")]
impl Toolbox {
    /// Save a note, replacing its whole text, or create it. The old text cannot be recovered; use
    /// `append_note` to keep it.
    #[tool(
        title = "Save note",
        annotations(
            title = "Save note",
            read_only_hint = false,
            destructive_hint = true, // whatever stood under this name is gone
            idempotent_hint = true,  // saving the same text again changes nothing
            open_world_hint = false, // only this server's notes directory
        ),
        meta = Scope::NotesWrite.required()
    )]
    async fn write_note(
        notes: NotesWriter,
        Parameters(Params { name, text }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let replaced_bytes = notes.replace(name, text).await?;
        Ok(Json(Output { replaced_bytes }))
    }
}
