//! `execute`: TODO.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{Scope, ToolError, Toolbox, database::DatabaseWriter};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {}

#[tool_router(router = execute_route, vis = "pub(crate)")]
impl Toolbox {
    /// TODO.
    #[tool(
        title = "Execute SQL statement",
        annotations(
            title = "Execute SQL statement",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false,
        ),
        meta = Scope::DatabaseAdmin.required()
    )]
    async fn execute(
        handle: DatabaseWriter,
        Parameters(Params {}): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let _ = handle;
        Ok(Json(Output {}))
    }
}
