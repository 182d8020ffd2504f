//! `append_note`: TODO.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{Scope, ToolError, Toolbox, notes::NotesAdder};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {}

#[tool_router(router = append_note_route, vis = "pub(crate)")]
impl Toolbox {
    /// TODO.
    #[tool(
        title = "Append to note",
        annotations(
            title = "Append to note",
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false,
        ),
        meta = Scope::NotesWrite.required()
    )]
    async fn append_note(
        handle: NotesAdder,
        Parameters(Params {}): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let _ = handle;
        Ok(Json(Output {}))
    }
}
