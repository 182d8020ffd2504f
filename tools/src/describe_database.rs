//! `describe_database`: what there is to query.
//!
//! Read `list_branches.rs` first. New here: a tool that takes no arguments still refuses unknown
//! ones, and its result is capped like any other.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    database::{DatabaseReader, Description, Table},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// Tables and views, ordered by name. Row counts are left out: counting reads every row.
    tables: Vec<Table>,
    /// Whether there are more tables than returned.
    truncated: bool,
}

#[tool_router(router = describe_database_route, vis = "pub(crate)")]
impl Toolbox {
    /// Describe the database (SQLite): its tables and views with their columns, types and keys.
    /// Read this before writing SQL. Changes nothing.
    #[tool(
        title = "Describe database",
        annotations(
            title = "Describe database",
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false, // one file
        ),
        meta = Scope::DatabaseRead.required()
    )]
    async fn describe_database(
        database: DatabaseReader,
        Parameters(Params {}): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let Description { tables, truncated } = database.describe().await?;
        Ok(Json(Output { tables, truncated }))
    }
}
