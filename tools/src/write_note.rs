//! `write_note`: TODO.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{Scope, ToolError, Toolbox, notes::NotesWriter};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {}

#[tool_router(router = write_note_route, vis = "pub(crate)")]
impl Toolbox {
    /// TODO.
    #[tool(
        title = "Save note",
        annotations(
            title = "Save note",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = true,
            open_world_hint = false,
        ),
        meta = Scope::NotesWrite.required()
    )]
    async fn write_note(
        handle: NotesWriter,
        Parameters(Params {}): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let _ = handle;
        Ok(Json(Output {}))
    }
}
