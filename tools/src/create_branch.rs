//! `create_branch`: additive, and idempotent although a repeat is refused.
//!
//! Read `list_branches.rs` first. New here: the hint speaks of effects, not of replies. The second
//! identical call is refused because the name is taken, and changes nothing.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    repo::{BranchName, RepoAdder, Start},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Name of the new branch, without `refs/heads/`.
    branch: BranchName,
    /// Where it starts: a branch, or a commit by all forty digits of its id. The default branch
    /// if left out.
    #[serde(default)]
    from: Option<Start>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// The new branch.
    branch: String,
    /// Id of the commit that it stands on.
    head: String,
}

#[tool_router(router = create_branch_route, vis = "pub(crate)")]
impl Toolbox {
    /// Create a branch on the configured remote, or in the repository itself if it has no remote.
    /// Others who use that repository will see it. A name that is taken is refused and the branch
    /// of that name stays as it is. Nothing is checked out.
    #[tool(
        title = "Create branch",
        annotations(
            title = "Create branch",
            read_only_hint = false,
            destructive_hint = false, // an existing branch is never moved
            idempotent_hint = true,   // a repeat finds the name taken and changes nothing
            open_world_hint = false,  // the operator chose the remote
        ),
        meta = Scope::RepoWrite.required()
    )]
    async fn create_branch(
        repo: RepoAdder,
        Parameters(Params { branch, from }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let head = repo.create(branch.clone(), from).await?;
        Ok(Json(Output { branch: branch.to_string(), head }))
    }
}
