//! `delete_branch`: TODO.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{Scope, ToolError, Toolbox, repo::RepoWriter};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {}

#[tool_router(router = delete_branch_route, vis = "pub(crate)")]
impl Toolbox {
    /// TODO.
    #[tool(
        title = "Delete branch",
        annotations(
            title = "Delete branch",
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = true,
            open_world_hint = false,
        ),
        meta = Scope::RepoDelete.required()
    )]
    async fn delete_branch(
        handle: RepoWriter,
        Parameters(Params {}): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let _ = handle;
        Ok(Json(Output {}))
    }
}
