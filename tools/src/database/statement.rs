//! One statement from outside: prepared, bound, and its rows collected within limits.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::{Batch, Connection, Statement, fallible_iterator::FallibleIterator};

use super::{
    cell::{Cell, json_bytes},
    refusal::Fault,
};

/// What a statement returned.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSet {
    /// Column names in order; they need not differ.
    pub columns: Vec<String>,
    /// The rows, each in the order of `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Whether there are more rows than returned.
    pub truncated: bool,
}

/// How much of a result is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) rows: usize,
    /// As JSON.
    pub(super) bytes: usize,
}

/// The one statement of this text. The connection's authorizer must be installed: preparing is
/// enough to make some statements act.
pub(super) fn one<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>, Fault> {
    if sql.contains('\0') {
        return Err(Fault::refused("the statement holds a NUL character; pass such text in `params`"));
    }
    // `Connection::prepare` looks for a second statement by recursion, which ends the process on
    // a long list of them.
    let mut batch = Batch::new(connection, sql);
    let Some(statement) = batch.next()? else {
        return Err(Fault::refused("the statement is empty; write one SQL statement in `sql`"));
    };
    if !matches!(batch.next(), Ok(None)) {
        return Err(Fault::refused("one statement only; send each in a call of its own"));
    }
    check_slow_calls(connection, &statement, sql)?;
    Ok(statement)
}

/// Functions whose time grows with the square of their arguments, to seconds for one call.
const SLOW: [&str; 4] = ["trim", "replace", "instr", "json_patch"];

/// Calls of them in one statement.
const SLOW_CALLS: usize = 32;

/// SQLite looks at the clock once in each round of a loop, never inside a function, so calls in a
/// row would hold their thread for hours. They are counted in the compiled program: merging
/// subqueries turns one call in the text into many.
fn check_slow_calls(connection: &Connection, statement: &Statement<'_>, sql: &str) -> Result<(), Fault> {
    let text = sql.to_ascii_lowercase();
    if statement.is_explain() != 0 || !SLOW.iter().any(|name| text.contains(name)) {
        return Ok(());
    }
    let alone = statement.expanded_sql().unwrap_or_default();
    let alone = alone.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
    let mut program = connection
        .prepare(&format!("EXPLAIN {alone}"))
        .map_err(|_| Fault::refused("remove the comments and semicolons in front of the statement"))?;
    let mut steps = program.query([])?;
    let mut calls = 0;
    while let Some(step) = steps.next()? {
        let (opcode, function) = (step.get_ref("opcode")?, step.get_ref("p4")?);
        if let (Ok("Function" | "PureFunc"), Ok(function)) = (opcode.as_str(), function.as_str()) {
            calls += usize::from(SLOW.iter().any(|name| function.contains(name)));
        }
    }
    if calls > SLOW_CALLS {
        let names = SLOW.join("`, `");
        return Err(Fault::refused(format!(
            "the statement calls `{names}` {calls} times for one row; call them {SLOW_CALLS} times \
             at most"
        )));
    }
    Ok(())
}

pub(super) fn bind(statement: &mut Statement<'_>, params: &[Cell]) -> Result<(), Fault> {
    let expected = statement.parameter_count();
    if params.len() != expected {
        let given = params.len();
        return Err(Fault::refused(format!(
            "the statement has {expected} parameters and `params` holds {given} values; give one \
             value for each `?`"
        )));
    }
    for (index, cell) in params.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, cell)?;
    }
    Ok(())
}

/// The rows of a bound statement, until there is no room. With `finish` the statement runs to its
/// end even then.
pub(super) fn collect(statement: &mut Statement<'_>, room: Room, finish: bool) -> Result<RowSet, Fault> {
    // rusqlite panics on a name that is not UTF-8.
    let names = || statement.column_names().map(str::to_owned).collect::<Vec<_>>();
    let columns = catch_unwind(AssertUnwindSafe(names))
        .map_err(|_| Fault::refused("a column name of the result is not UTF-8; name the columns with `AS`"))?;
    let width = columns.len();
    let mut set = RowSet { columns, rows: Vec::new(), truncated: false };
    let mut left = room.bytes.saturating_sub(set.columns.iter().map(|name| json_bytes(name)).sum());
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if set.truncated {
            continue;
        }
        let mut cells = Vec::with_capacity(width);
        let mut bytes = width + 2;
        if set.rows.len() < room.rows {
            for index in 0..width {
                let cell = Cell::read(row.get_ref(index)?);
                bytes += cell.json_bytes();
                cells.push(cell);
            }
        }
        if set.rows.len() < room.rows && bytes <= left {
            left -= bytes;
            set.rows.push(cells);
            continue;
        }
        if set.rows.is_empty() {
            return Err(Fault::refused(format!(
                "the first row is larger than the {} bytes that one result may hold; select fewer \
                 columns, or parts of them with `substr`",
                room.bytes
            )));
        }
        set.truncated = true;
        if !finish {
            break;
        }
    }
    Ok(set)
}
