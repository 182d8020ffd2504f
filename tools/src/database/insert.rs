//! `insert_rows` on the writer thread.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use rusqlite::{Connection, ErrorCode, Statement};

use super::{
    DatabaseLimits,
    authorizer::{self, NOBODY},
    cell::Cell,
    connection::{commit, watch},
    describe::{columns, text},
    refusal::{Fault, Task, code, message, shown},
    threads::Call,
};

/// A row to insert: column name to value. A column that is left out gets its default.
pub type NewRow = BTreeMap<String, Cell>;

/// What was inserted.
#[derive(Clone, Debug, PartialEq)]
pub struct Inserted {
    /// How many rows, triggers not counted.
    pub count: usize,
    /// The rowid of each row in order; none for a WITHOUT ROWID table.
    pub rowids: Option<Vec<i64>>,
}

pub(super) fn task(limits: &DatabaseLimits) -> Task {
    Task {
        time: limits.write_time,
        denied: "a trigger of this table does more than insert rows into ordinary tables; the \
                 user can have it done with `execute`",
        state: "; nothing was inserted",
    }
}

/// All rows or none, durably.
///
/// Nothing that exists is changed: `OR ABORT` in the statement overrides every conflict clause of
/// columns and triggers (a REPLACE clause would delete rows, and the authorizer would see no
/// more than an INSERT), and the authorizer refuses UPDATE and DELETE in triggers.
/// See <https://sqlite.org/lang_conflict.html> and <https://sqlite.org/lang_createtrigger.html>.
pub(super) fn insert(
    mut connection: Connection,
    limits: &DatabaseLimits,
    call: &Arc<Call>,
    table: &str,
    rows: &[NewRow],
) -> Result<Inserted, Fault> {
    check_size(limits, rows)?;
    watch(&mut connection, call)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let Target { name, has_rowid, ordinary } = Target::find(&connection, table)?;
    let columns: BTreeSet<String> =
        columns(&connection, &name)?.into_iter().filter(|column| !column.generated).map(|column| column.name).collect();
    connection.authorizer(Some(authorizer::inserts(ordinary)))?;

    let mut rowids = Vec::new();
    let mut prepared: Option<(Vec<&String>, Statement<'_>)> = None;
    for (index, row) in rows.iter().enumerate() {
        let refused = |problem: &str| Fault::refused(format!("row {}: {problem}; nothing was inserted", index + 1));
        let shape: Vec<&String> = row.keys().collect();
        let statement = match prepared.take() {
            Some((prepared_for, statement)) if prepared_for == shape => statement,
            _ => {
                let sql = statement(&name, &columns, row).map_err(|problem| refused(&problem))?;
                connection.prepare(&sql)?
            }
        };
        let (_, statement) = prepared.insert((shape, statement));
        for (place, cell) in row.values().enumerate() {
            statement.raw_bind_parameter(place + 1, cell)?;
        }
        let inserted = statement.raw_execute().map_err(|error| match code(&error) {
            Some(ErrorCode::ConstraintViolation) => refused(&message(&error)),
            _ => error.into(),
        })?;
        if inserted != 1 {
            return Err(refused("a trigger of the table skipped it"));
        }
        rowids.push(connection.last_insert_rowid());
    }
    drop(prepared);

    connection.authorizer(NOBODY)?;
    commit(connection, call, &task(limits))?;
    Ok(Inserted { count: rows.len(), rowids: has_rowid.then_some(rowids) })
}

fn check_size(limits: &DatabaseLimits, rows: &[NewRow]) -> Result<(), Fault> {
    let most = limits.insert_rows;
    if rows.is_empty() || rows.len() > most {
        let given = rows.len();
        return Err(Fault::refused(format!("`rows` holds {given} rows; send 1 to {most}")));
    }
    let bytes: usize = rows.iter().flat_map(|row| row.values()).map(Cell::json_bytes).sum();
    if bytes > limits.insert_bytes {
        let most = limits.insert_bytes;
        return Err(Fault::refused(format!("`rows` holds {bytes} bytes of values; send at most {most} at a time")));
    }
    Ok(())
}

/// The table to insert into.
struct Target {
    name: String,
    has_rowid: bool,
    /// Every table that triggers may insert into.
    ordinary: BTreeSet<String>,
}

impl Target {
    fn find(connection: &Connection, wanted: &str) -> Result<Self, Fault> {
        let mut statement = connection.prepare(
            "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' \
             AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name",
        )?;
        let mut rows = statement.query([])?;
        let (mut found, mut other) = (None, None);
        let mut ordinary = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let (name, kind) = (text(row, 0)?, text(row, 1)?);
            // SQLite tells names apart without regard to ASCII case.
            let is_it = name.eq_ignore_ascii_case(wanted);
            if kind == "table" {
                if is_it {
                    found = Some((name.clone(), !row.get::<_, bool>(2)?));
                }
                ordinary.insert(name);
            } else if is_it {
                other = Some(kind);
            }
        }
        if let Some((name, has_rowid)) = found {
            return Ok(Self { name, has_rowid, ordinary });
        }
        let wanted = shown(wanted, 100);
        if let Some(kind) = other {
            let what = if kind == "view" { "view" } else { "virtual table or part of one" };
            return Err(Fault::refused(format!(
                "`{wanted}` is a {what}, where an insertion may change what exists; insert into \
                 an ordinary table, or let the user run `execute`"
            )));
        }
        let names: Vec<_> = ordinary.iter().take(20).map(|name| format!("`{}`", shown(name, 100))).collect();
        let names = names.join(", ");
        Err(Fault::refused(format!("there is no table `{wanted}`; tables are {names}")))
    }
}

/// The statement for a row with these columns, or what is wrong with them. Every name in it is
/// one that the schema holds, quoted.
fn statement(table: &str, columns: &BTreeSet<String>, row: &NewRow) -> Result<String, String> {
    let mut names = Vec::new();
    for wanted in row.keys() {
        let same = |name: &&String| name.eq_ignore_ascii_case(wanted);
        let Some(name) = columns.iter().find(same) else {
            let known: Vec<_> = columns.iter().take(50).map(|name| format!("`{}`", shown(name, 100))).collect();
            return Err(format!(
                "`{}` is no column to insert into; columns are {}",
                shown(wanted, 100),
                known.join(", ")
            ));
        };
        let quoted = quote(name);
        if names.contains(&quoted) {
            return Err(format!("column `{}` is given twice", shown(name, 100)));
        }
        names.push(quoted);
    }
    let table = quote(table);
    if names.is_empty() {
        return Ok(format!("INSERT OR ABORT INTO main.{table} DEFAULT VALUES"));
    }
    let places = vec!["?"; names.len()].join(", ");
    let names = names.join(", ");
    Ok(format!("INSERT OR ABORT INTO main.{table} ({names}) VALUES ({places})"))
}

/// A name as SQL.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
