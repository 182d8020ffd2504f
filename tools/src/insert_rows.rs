//! `insert_rows`: additive by construction.
//!
//! Read `query.rs` first, then `database/insert.rs`. New here: the tool takes a table and rows
//! instead of SQL, so that the server writes the one statement that can only add.

use rmcp::{Json, handler::server::wrapper::Parameters, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};

use crate::{
    Scope, ToolError, Toolbox,
    database::{Cell, DatabaseAdder, NewRow},
};

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Name of an ordinary table, as `describe_database` returns it. Views and virtual tables are
    /// refused.
    table: String,
    /// The rows, 1 to 500, each an object from column name to value. A column that is left out
    /// gets its default.
    #[schemars(length(min = 1, max = 500))]
    rows: Vec<NewRow>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Output {
    /// How many rows were inserted: all of them.
    inserted: usize,
    /// The rowid of each row in order; null for a table WITHOUT ROWID.
    rowids: Option<Vec<Cell>>,
}

#[tool_router(router = insert_rows_route, vis = "pub(crate)")]
impl Toolbox {
    /// Insert rows into a table of the database: all of them, or none if one is refused. Existing
    /// rows are never changed or replaced. Calling it again inserts the rows again.
    #[tool(
        title = "Insert rows",
        annotations(
            title = "Insert rows",
            read_only_hint = false,
            destructive_hint = false, // a row that exists makes it fail, whatever the schema says
            idempotent_hint = false,  // without a unique key a repeat adds the rows again
            open_world_hint = false,
        ),
        meta = Scope::DatabaseWrite.required()
    )]
    async fn insert_rows(
        database: DatabaseAdder,
        Parameters(Params { table, rows }): Parameters<Params>,
    ) -> Result<Json<Output>, ToolError> {
        let inserted = database.insert(table, rows).await?;
        let rowids = inserted.rowids.map(|ids| ids.into_iter().map(Cell::Integer).collect());
        Ok(Json(Output { inserted: inserted.count, rowids }))
    }
}
