//! `append_note`: additive and not idempotent.
//!
//! Read `create_note.rs` first. New here: nothing is lost, and yet a client must not repeat the
//! call after a lost answer, because the text would stand there twice.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    notes::{NoteName, NotesAdder},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Name of the note, as `list_notes` returns it.
    name: NoteName,
    /// What is added at its end, as it is: no line break is put before or after it.
    text: String,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// Length of the whole note in bytes.
    bytes: u64,
}

#[tool_router(router = append_note_route, vis = "pub(crate)")]
impl Toolbox {
    /// Add text at the end of an existing note. Repeating the call adds the text again, so read
    /// the note before you repeat a call whose answer you didn't get.
    #[tool(
        title = "Append to note",
        annotations(
            title = "Append to note",
            read_only_hint = false,
            destructive_hint = false, // what the note held stays
            idempotent_hint = false,  // each call adds the text once more
            open_world_hint = false,  // only this server's notes directory
        ),
        meta = Scope::NotesWrite.required()
    )]
    async fn append_note(
        notes: NotesAdder,
        Parameters(Params { name, text }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let bytes = notes.append(name, text).await?;
        Ok(Json(Output { bytes }))
    }
}
