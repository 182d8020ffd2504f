//! `execute` on the writer thread: run, count, and only then find out whether it may stay.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::schemars;
use rusqlite::{
    Connection,
    hooks::Action::{SQLITE_DELETE, SQLITE_INSERT, SQLITE_UPDATE},
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    DatabaseLimits,
    authorizer::{self, Counted, NOBODY, Touched, Verbs},
    cell::Cell,
    connection::{commit, watch},
    insert::quote,
    read::text,
    refusal::{Fault, Task, shown},
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
        let mut touched = counting.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = touched.tables.entry(table.into()).or_default();
        match action {
            SQLITE_INSERT => counted.inserted += 1,
            SQLITE_UPDATE => counted.updated += 1,
            SQLITE_DELETE => counted.deleted += 1,
            _ => {}
        }
    }))?;

    let room = Room {
        rows: limits.rows,
        bytes: limits.result_bytes,
    };
    let (tables, returned) = run(&connection, &touched, sql, params, room)?;
    let question = {
        let touched = touched.lock().unwrap_or_else(PoisonError::into_inner);
        question(sql, params, &tables, &touched)
    };
    let executed = Executed {
        tables,
        returned,
        question,
    };
    agree(&executed)?;
    connection.authorizer(NOBODY)?;
    commit(connection, call, &task(limits))?;
    Ok(executed)
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
    let names = touched
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .names();
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
    let names = touched
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .names();
    let mut changes = Vec::new();
    for name in names {
        let kind = tables_after
            .0
            .get(&name)
            .or_else(|| tables_before.0.get(&name))
            .copied();
        if matches!(kind, Some(Kind::View | Kind::Shadow)) {
            continue;
        }
        let touched = touched.lock().unwrap_or_else(PoisonError::into_inner);
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
            Some(counted.all() + counted.replaced(rows_before, rows_after))
        } else {
            None
        };
        changes.push(TableChange {
            table: name,
            rows_before,
            rows_after,
            rows_changed,
        });
    }
    let touched = touched.lock().unwrap_or_else(PoisonError::into_inner);
    attribute(&mut changes, total, &tables_after, &touched);
    // Compiling a statement names every table that a trigger or a foreign key might reach.
    changes.retain(|change| !change.is_none() || touched.schema(&change.table));
    Ok((changes, has_columns.then_some(set)))
}

/// SQLite reports the rows of WITHOUT ROWID tables only in its total, without those that a
/// REPLACE removes. Where one table is left without a number, the rest is that table's.
fn attribute(changes: &mut [TableChange], total: u64, kinds: &Kinds, touched: &Touched) {
    let known: u64 = changes
        .iter()
        .filter_map(|change| change.rows_changed)
        .sum();
    let mut unknown = changes
        .iter_mut()
        .filter(|change| change.rows_changed.is_none());
    let (Some(change), None) = (unknown.next(), unknown.next()) else {
        return;
    };
    let rest = total.saturating_sub(known);
    let (Some(before), Some(after)) = (change.rows_before, change.rows_after) else {
        return;
    };
    if kinds.0.get(&change.table) != Some(&Kind::WithoutRowid) {
        return;
    }
    let replaced = match touched
        .tables
        .get(&change.table)
        .map(|counted| counted.verbs)
    {
        Some(Verbs {
            inserts: true,
            updates: false,
            deletes: false,
        }) => before + rest,
        Some(Verbs {
            inserts: false,
            updates: true,
            deletes: false,
        }) => before,
        Some(Verbs {
            inserts: false,
            updates: false,
            deletes: true,
        }) => after,
        _ => return,
    };
    change.rows_changed = Some(rest + replaced.saturating_sub(after));
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
        let mut statement = connection
            .prepare("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'")?;
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

    /// Rows that a REPLACE clause removed, which SQLite reports nowhere.
    fn replaced(self, before: Option<u64>, after: Option<u64>) -> u64 {
        let (Some(before), Some(after)) = (before, after) else {
            return 0;
        };
        (before + self.inserted)
            .saturating_sub(self.deleted)
            .saturating_sub(after)
    }
}

fn question(sql: &str, params: &[Cell], tables: &[TableChange], touched: &Touched) -> Question {
    let mut text = format!(
        "Run this statement on the database?\n\n    {}\n",
        shown(sql, 1_000)
    );
    let params = serde_json::to_string(params).unwrap_or_default();
    if params != "[]" {
        let _ = writeln!(text, "    with {}", shown(&params, 500));
    }
    text.push('\n');
    for change in tables.iter().take(20) {
        let _ = writeln!(text, "- {}", change.told(touched));
    }
    if tables.len() > 20 {
        let _ = writeln!(text, "- and {} more tables", tables.len() - 20);
    }
    for (verb, name) in touched.notes.iter().take(20) {
        let _ = writeln!(text, "- {verb} `{}`", shown(name, 100));
    }
    if tables.is_empty() && touched.notes.is_empty() {
        text.push_str("- It changes nothing as the database is now.\n");
    }
    text.push_str("\nThis cannot be undone.");

    // A row that somebody else adds meanwhile is no reason to ask again; another number of
    // changed or removed rows is.
    let counts: Vec<_> = tables
        .iter()
        .map(|change| (&change.table, change.rows_changed, change.removed()))
        .collect();
    let exact = serde_json::to_string(&(sql, params, counts, &touched.notes)).unwrap_or_default();
    let digest = Sha256::digest(exact.as_bytes());
    let subject = digest
        .iter()
        .fold(String::from("execute "), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
    Question { subject, text }
}

impl TableChange {
    fn is_none(&self) -> bool {
        self.rows_changed == Some(0) && self.rows_before == self.rows_after
    }

    /// Rows fewer than before.
    fn removed(&self) -> Option<i128> {
        Some(i128::from(self.rows_before?) - i128::from(self.rows_after.unwrap_or(0)))
    }

    fn told(&self, touched: &Touched) -> String {
        let table = shown(&self.table, 100);
        let count = |rows: Option<u64>| rows.map_or("unknown".into(), |rows| rows.to_string());
        let (before, after) = (count(self.rows_before), count(self.rows_after));
        if touched.dropped.contains(&self.table) {
            return format!("drops the table `{table}` and its rows ({before})");
        }
        if touched.altered.contains(&self.table) {
            return format!("alters the table `{table}`, rows in it: {before}");
        }
        if touched.created.contains(&self.table) {
            return format!("creates the table `{table}`, rows in it: {after}");
        }
        let changed = count(self.rows_changed);
        format!("`{table}`: {changed} rows changed; {before} rows before, {after} after")
    }
}
