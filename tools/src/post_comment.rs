//! `post_comment`: the retry that posts twice.
//!
//! Read `fetch_report.rs` first. New here: a client that repeats the call after a lost answer
//! makes a second comment. Nothing in the arguments tells a retry from a second comment with the
//! same words, so the tool is honestly not idempotent.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    reports::{ReportName, ReportsAdder},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Short name of the report; a wrong one is answered with the names that exist.
    report: ReportName,
    /// The comment, up to 4096 bytes.
    text: String,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// The number of the new comment among the comments on this report.
    number: u64,
}

#[tool_router(router = post_comment_route, vis = "pub(crate)")]
impl Toolbox {
    /// Post a comment on a report, where other people read it. It cannot be edited or taken back.
    /// Calling it again posts it again: after an error, look with `fetch_report` before retrying.
    #[tool(
        title = "Post comment",
        annotations(
            title = "Post comment",
            read_only_hint = false,
            destructive_hint = false, // adds to the comments and touches none of them
            idempotent_hint = false,  // the same words twice are two comments
            open_world_hint = false,
        ),
        meta = Scope::ReportsWrite.required()
    )]
    async fn post_comment(
        reports: ReportsAdder,
        Parameters(Params { report, text }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let number = reports.comment(report, text).await?;
        Ok(Json(Output { number }))
    }
}
