//! `delete_branch`: destructive, and asking the user at the moment of risk.
//!
//! Read `create_branch.rs` first. New here: most deletions lose nothing, because another branch
//! holds the same commits. A hint can't say "destructive only when", so it speaks for the worst
//! case, and the tool asks the user exactly when commits would be lost.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Consent, Scope, ToolError, Toolbox,
    repo::{BranchName, CommitId, RepoWriter},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Name of the branch, without `refs/heads/`.
    branch: BranchName,
    /// The `head` that `list_branches` showed. If the branch has moved since, nothing is deleted.
    /// Recommended: it keeps a repeated call from deleting a branch that was created anew.
    #[serde(default)]
    expected_head: Option<CommitId>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Outcome {
    Deleted,
    Absent,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// `deleted`, or `absent` if there was no such branch.
    outcome: Outcome,
    /// Id of the commit that the branch stood on; null if absent. Creating the branch there again
    /// undoes the deletion while the repository still has the commit.
    head: Option<String>,
}

#[tool_router(router = delete_branch_route, vis = "pub(crate)")]
impl Toolbox {
    /// Delete a branch on the configured remote, or in the repository itself if it has no remote:
    /// for everybody who uses it. Commits that are on no other branch can be lost for good; the user
    /// is asked first when there are any. The default branch and branches that are protected or checked
    /// out are refused.
    #[tool(
        title = "Delete branch",
        annotations(
            title = "Delete branch",
            read_only_hint = false,
            destructive_hint = true, // the worst case: commits that no other branch holds
            idempotent_hint = true,  // a repeat finds nothing to delete
            open_world_hint = false, // the operator chose the remote
        ),
        meta = Scope::RepoDelete.required()
    )]
    async fn delete_branch(
        repo: RepoWriter,
        Parameters(Params { branch, expected_head }): Parameters<Params>,
        consent: Consent,
    ) -> Result<Json<Output>, ToolError> {
        let ask = move |question| consent.to(question);
        let head = repo.delete(branch, expected_head, ask).await?;
        let outcome = if head.is_some() { Outcome::Deleted } else { Outcome::Absent };
        Ok(Json(Output { outcome, head }))
    }
}
