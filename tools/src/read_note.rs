//! `read_note`: TODO.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{Scope, ToolError, Toolbox, notes::NotesReader};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {}

#[tool_router(router = read_note_route, vis = "pub(crate)")]
impl Toolbox {
    /// TODO.
    #[tool(
        title = "Read note",
        annotations(
            title = "Read note",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false,
        ),
        meta = Scope::NotesRead.required()
    )]
    async fn read_note(
        handle: NotesReader,
        Parameters(Params {}): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let _ = handle;
        Ok(Json(Output {}))
    }
}
