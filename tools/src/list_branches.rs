//! `list_branches`: TODO.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{Scope, ToolError, Toolbox, repo::RepoReader};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {}

#[tool_router(router = list_branches_route, vis = "pub(crate)")]
impl Toolbox {
    /// TODO.
    #[tool(
        title = "List branches",
        annotations(
            title = "List branches",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false,
        ),
        meta = Scope::RepoRead.required()
    )]
    async fn list_branches(
        handle: RepoReader,
        Parameters(Params {}): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let _ = handle;
        Ok(Json(Output {}))
    }
}
