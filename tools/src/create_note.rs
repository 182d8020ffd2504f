//! `create_note`: creating that can never overwrite.
//!
//! Read `read_note.rs` first. New here: "not destructive" is kept by the file system and not by a
//! look beforehand. The handle gives the text its name in one step that fails if the name is
//! taken, so even a note that appears in the last moment stays.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    notes::{NoteName, NotesAdder},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Name of the new note.
    name: NoteName,
    /// Its text.
    text: String,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// Length of the note in bytes.
    bytes: u64,
}

#[tool_router(router = create_note_route, vis = "pub(crate)")]
impl Toolbox {
    /// Create a note. A name that is taken is refused, and the note of that name stays as it is.
    #[tool(
        title = "Create note",
        annotations(
            title = "Create note",
            read_only_hint = false,
            destructive_hint = false, // an existing note is never replaced
            idempotent_hint = true,   // a repeat finds the name taken and changes nothing
            open_world_hint = false,  // only this server's notes directory
        ),
        meta = Scope::NotesWrite.required()
    )]
    async fn create_note(
        notes: NotesAdder,
        Parameters(Params { name, text }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let bytes = text.len() as u64;
        notes.create(name, text).await?;
        Ok(Json(Output { bytes }))
    }
}
