//! `execute`: the other half of the split, labelled for its worst case.
//!
//! Read `insert_rows.rs` and `delete_branch.rs` first, then `database/execute.rs`. New here: the
//! hints describe the worst statement, and the question to the user describes this one. It runs
//! before the user is asked, so that the question can say how many rows change, and is rolled
//! back unless the user has already agreed to exactly that.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Consent, Scope, ToolError, Toolbox,
    database::{Cell, DatabaseWriter, Executed, TableChange},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// One SQLite statement that changes rows or the schema, with `?` for each parameter.
    sql: String,
    /// One value for each `?`, in order.
    #[serde(default)]
    params: Vec<Cell>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// Rows inserted, updated or deleted in all tables; null where SQLite does not tell.
    affected_rows: Option<u64>,
    /// Each table that the statement changed.
    tables: Vec<TableChange>,
    /// What a RETURNING clause returned; null without one.
    returned: Option<Returned>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Returned {
    /// Column names in order.
    columns: Vec<String>,
    /// The rows, each with one value for each column.
    rows: Vec<Vec<Cell>>,
    /// Whether there were more rows than returned. All of them were changed.
    truncated: bool,
}

#[tool_router(router = execute_route, vis = "pub(crate)")]
impl Toolbox {
    /// Run one SQL statement (SQLite) that changes rows or the schema of the database: UPDATE,
    /// DELETE, DROP and so on. What it changes or deletes cannot be recovered. The user is shown
    /// the statement and how many rows it changes, and must agree to each call. To read use
    /// `query`, to add rows `insert_rows`.
    #[tool(
        title = "Execute SQL statement",
        annotations(
            title = "Execute SQL statement",
            read_only_hint = false,
            destructive_hint = true, // DROP TABLE is one of the statements
            idempotent_hint = false, // `SET n = n + 1` is another
            open_world_hint = false,
        ),
        meta = Scope::DatabaseAdmin.required()
    )]
    async fn execute(
        database: DatabaseWriter,
        consent: Consent,
        Parameters(Params { sql, params }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        // Asked inside the transaction: the counts that the user agrees to are those of the commit.
        let agree = move |preview: &Executed| consent.to(preview.question.clone());
        let done = database.execute(sql, params, agree).await?;
        let affected_rows = done.tables.iter().map(|table| table.rows_changed).sum();
        let returned =
            done.returned.map(|set| Returned { columns: set.columns, rows: set.rows, truncated: set.truncated });
        Ok(Json(Output { affected_rows, tables: done.tables, returned }))
    }
}
