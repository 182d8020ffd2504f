//! `execute` on the writer thread: run, count, and only then find out whether it may stay.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::schemars;
use rusqlite::{
    Connection,
    hooks::Action::{SQLITE_DELETE, SQLITE_INSERT, SQLITE_UPDATE},
};
use serde::Serialize;

use super::{
    DatabaseLimits,
    authorizer::{self, Counted, NOBODY, Touched, Verbs},
    cell::Cell,
    connection::{commit, watch},
    describe::text,
    insert::quote,
    question::question,
    refusal::{Fault, Task},
    statement::{self, Room, RowSet},
    threads::Call,
};
use crate::{Question, ToolError};

/// What a statement did to one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TableChange {
    /// The table.
    pub table: String,
    /// Rows in it before; null if it did not exist or cannot be counted.
    pub rows_before: Option<u64>,
    /// Rows in it afterwards; null if it no longer exists or cannot be counted.
    pub rows_after: Option<u64>,
    /// Rows inserted, updated or deleted, by triggers, cascades and REPLACE too; all rows of a
    /// table that was dropped or altered. Null where SQLite does not tell.
    pub rows_changed: Option<u64>,
}

/// What a statement did, or would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    /// Each table that it changed.
    pub tables: Vec<TableChange>,
    /// What its RETURNING clause returned.
    pub returned: Option<RowSet>,
    /// The question that the user is asked about it.
    pub question: Question,
}

pub(super) fn task(limits: &DatabaseLimits) -> Task {
    Task {
        time: limits.write_time,
        denied: "one statement only, and one that changes this database's content or schema: no \
                 transactions, other files, temporary objects, settings or extensions",
        state: "; nothing was changed",
    }
}

/// Run one statement in a transaction, count what it changed, and commit only if `agree` says so
/// about exactly these counts. Whatever else happens, closing the connection undoes it; until the
/// commit nothing has reached the file.
pub(super) fn execute(
    mut connection: Connection,
    limits: &DatabaseLimits,
    call: &Arc<Call>,
    sql: &str,
    params: &[Cell],
    agree: impl FnOnce(&Executed) -> Result<(), ToolError>,
) -> Result<Executed, Fault> {
    watch(&mut connection, call)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let touched = Arc::new(Mutex::new(Touched::default()));
    connection.authorizer(Some(authorizer::changes(Arc::clone(&touched))))?;
    let counting = Arc::clone(&touched);
    connection.update_hook(Some(move |action, _: &str, table: &str, _| {
        let mut touched = locked(&counting);
        let counted = touched.tables.entry(table.into()).or_default();
        match action {
            SQLITE_INSERT => counted.inserted += 1,
            SQLITE_UPDATE => counted.updated += 1,
            SQLITE_DELETE => counted.deleted += 1,
            _ => {}
        }
    }))?;

    let room = Room { rows: limits.rows, bytes: limits.result_bytes };
    let total = connection.total_changes();
    let (tables, returned) = run(&connection, &touched, sql, params, room)?;
    let total = connection.total_changes() - total;
    let question = question(sql, params, &tables, total, &locked(&touched)).map_err(ToolError::internal)?;
    let executed = Executed { tables, returned, question };
    agree(&executed)?;
    connection.authorizer(NOBODY)?;
    commit(connection, call, &task(limits))?;
    Ok(executed)
}

fn locked(touched: &Mutex<Touched>) -> MutexGuard<'_, Touched> {
    touched.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(
    connection: &Connection,
    touched: &Mutex<Touched>,
    sql: &str,
    params: &[Cell],
    room: Room,
) -> Result<(Vec<TableChange>, Option<RowSet>), Fault> {
    let mut statement = statement::one(connection, sql)?;
    if statement.readonly() || statement.is_explain() != 0 {
        return Err(Fault::refused("this statement only reads; use `query`"));
    }
    statement::bind(&mut statement, params)?;
    let tables_before = Kinds::read(connection)?;
    let names = locked(touched).names();
    let before: BTreeMap<_, _> = names
        .into_iter()
        .map(|name| (name.clone(), rows(connection, &tables_before, &name)))
        .map(|(name, rows)| rows.map(|rows| (name, rows)))
        .collect::<Result<_, _>>()?;

    let total = connection.total_changes();
    let has_columns = statement.column_count() > 0;
    let set = statement::collect(&mut statement, room, true)?;
    let total = connection.total_changes() - total;
    drop(statement);

    let tables_after = Kinds::read(connection)?;
    // The counting that follows must not add to what is counted.
    let names = locked(touched).names();
    let mut changes = Vec::new();
    for name in names {
        let kind = tables_after.0.get(&name).or_else(|| tables_before.0.get(&name)).copied();
        if matches!(kind, Some(Kind::View | Kind::Shadow)) {
            continue;
        }
        let touched = locked(touched);
        let counted = touched.tables.get(&name).copied().unwrap_or_default();
        let whole = touched.dropped.contains(&name) || touched.altered.contains(&name);
        let created = touched.created.contains(&name);
        drop(touched);
        let rows_before = before.get(&name).copied().flatten();
        let rows_after = rows(connection, &tables_after, &name)?;
        let rows_changed = if whole {
            rows_before
        } else if created {
            rows_after
        } else if kind == Some(Kind::Rowid) {
            Some(counted.all() + counted.unreported(rows_before, rows_after))
        } else {
            None
        };
        changes.push(TableChange { table: name, rows_before, rows_after, rows_changed });
    }
    let touched = locked(touched);
    attribute(&mut changes, total, &tables_after, &touched);
    // Compiling a statement names every table that a trigger or a foreign key might reach.
    changes.retain(|change| !change.is_none() || touched.schema(&change.table));
    Ok((changes, has_columns.then_some(set)))
}

/// SQLite reports the rows of WITHOUT ROWID tables only in its total, together with those of a
/// DELETE that empties a table at once. Give them to such a table if nothing else changed.
fn attribute(changes: &mut [TableChange], total: u64, kinds: &Kinds, touched: &Touched) {
    let reported: u64 = touched.tables.values().map(|counted| counted.all()).sum();
    let rest = total.saturating_sub(reported);
    let alone = changes.iter().filter(|change| !change.is_none()).count() == 1;
    for change in changes {
        let (Some(before), Some(after), None) = (change.rows_before, change.rows_after, change.rows_changed) else {
            continue;
        };
        if kinds.0.get(&change.table) != Some(&Kind::WithoutRowid) {
            continue;
        }
        let verbs = touched.tables.get(&change.table).map(|counted| counted.verbs);
        // How many rows there would be without those that a REPLACE removes, which no count holds.
        let expected = match verbs.unwrap_or_default() {
            _ if rest == 0 => after,
            _ if !alone => continue,
            Verbs { inserts: true, updates: false, deletes: false } => before + rest,
            Verbs { inserts: false, updates: true, deletes: false } => before,
            Verbs { inserts: false, updates: false, .. } => after,
            _ => continue,
        };
        change.rows_changed = Some(rest + expected.saturating_sub(after));
    }
}

/// What kind of table a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rowid,
    WithoutRowid,
    Virtual,
    View,
    Shadow,
}

struct Kinds(BTreeMap<String, Kind>);

impl Kinds {
    fn read(connection: &Connection) -> Result<Self, Fault> {
        let mut statement = connection.prepare("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'")?;
        let mut rows = statement.query([])?;
        let mut kinds = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let kind = match (text(row, 1)?.as_str(), row.get(2)?) {
                ("view", _) => Kind::View,
                ("shadow", _) => Kind::Shadow,
                ("virtual", _) => Kind::Virtual,
                (_, true) => Kind::WithoutRowid,
                (_, false) => Kind::Rowid,
            };
            kinds.insert(text(row, 0)?, kind);
        }
        Ok(Self(kinds))
    }
}

/// Rows in a table; none if there is no such table.
fn rows(connection: &Connection, kinds: &Kinds, table: &str) -> Result<Option<u64>, Fault> {
    match kinds.0.get(table) {
        Some(Kind::Rowid | Kind::WithoutRowid | Kind::Virtual) => {
            let sql = format!("SELECT count(*) FROM main.{}", quote(table));
            let rows: i64 = connection.query_one(&sql, [], |row| row.get(0))?;
            Ok(Some(rows.unsigned_abs()))
        }
        _ => Ok(None),
    }
}

impl Counted {
    fn all(self) -> u64 {
        self.inserted + self.updated + self.deleted
    }

    /// Rows that SQLite reports nowhere: removed by a REPLACE clause, or by a DELETE of all rows.
    fn unreported(self, before: Option<u64>, after: Option<u64>) -> u64 {
        let (Some(before), Some(after)) = (before, after) else {
            return 0;
        };
        (before + self.inserted).saturating_sub(self.deleted).saturating_sub(after)
    }
}

impl TableChange {
    fn is_none(&self) -> bool {
        self.rows_changed == Some(0) && self.rows_before == self.rows_after
    }
}
