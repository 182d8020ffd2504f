//! How connections are opened: the first of the layers that keep a statement within its bounds.

use std::{path::Path, sync::Arc};

use rusqlite::{
    Connection, OpenFlags, Result,
    config::DbConfig::{
        SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_DQS_DML,
        SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, SQLITE_DBCONFIG_ENABLE_FKEY,
        SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    },
    limits::Limit,
};

use super::{
    DatabaseLimits, authorizer,
    describe::text,
    insert::quote,
    refusal::{Fault, Task},
    threads::Call,
};

/// Virtual machine steps between two looks at the clock. A step can take milliseconds.
const STEPS: i32 = 100;

/// A connection that cannot write, with the authorizer of [`authorizer::reads`] installed before
/// anybody else's statement reaches it. It can be kept: nothing that the authorizer lets through
/// leaves state behind.
pub(super) fn reader(file: &Path, limits: &DatabaseLimits) -> Result<Connection> {
    let mut connection = open(file, OpenFlags::SQLITE_OPEN_READ_ONLY, limits)?;
    connection.set_db_config(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA query_only = 1")?;
    connect_virtual_tables(&connection)?;
    connection.authorizer(Some(authorizer::reads))?;
    narrow(&connection, limits)?;
    Ok(connection)
}

/// Some modules compile their writing statements when a table of theirs is first named, which the
/// authorizer would refuse.
fn connect_virtual_tables(connection: &Connection) -> Result<()> {
    let mut names =
        connection.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")?;
    let mut rows = names.query([])?;
    while let Some(row) = rows.next()? {
        // A module that is missing matters only to a statement that names its table.
        let _ = connection.prepare(&format!("SELECT 1 FROM main.{}", quote(&text(row, 0)?)));
    }
    Ok(())
}

/// A connection for one write. Never kept: a fresh one has no state that another call left.
pub(super) fn writer(file: &Path, limits: &DatabaseLimits) -> Result<Connection> {
    let connection = open(file, OpenFlags::SQLITE_OPEN_READ_WRITE, limits)?;
    connection.set_db_config(SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // EXTRA syncs the directory too, so that a removed rollback journal cannot come back after a
    // power cut and undo what was acknowledged. Without spilling, a transaction that is rolled
    // back never reached the database file.
    connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA cache_spill = 0")?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let growth = i64::try_from(limits.growth_bytes).unwrap_or(i64::MAX) / pragma("page_size")?.max(1);
    let pages = pragma("page_count")?.saturating_add(growth).clamp(1, i64::from(u32::MAX) - 2);
    connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    narrow(&connection, limits)?;
    Ok(connection)
}

fn open(file: &Path, mode: OpenFlags, limits: &DatabaseLimits) -> Result<Connection> {
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(limits.lock_time)?;
    for (option, value) in [
        (SQLITE_DBCONFIG_DEFENSIVE, true),
        (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        // A misspelt column must not turn into a string.
        (SQLITE_DBCONFIG_DQS_DML, false),
        (SQLITE_DBCONFIG_DQS_DDL, false),
        (SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    ] {
        connection.set_db_config(option, value)?;
    }
    // Sorters and temporary tables stay in memory, where the process-wide heap limit bounds them;
    // nothing bounds temporary files.
    connection.execute_batch("PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")?;
    Ok(connection)
}

/// Narrow limits for statements from outside. The schema is read first: it may hold a view that
/// is larger than a caller's statement may be.
fn narrow(connection: &Connection, limits: &DatabaseLimits) -> Result<()> {
    connection.query_one("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, limits.value_bytes),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, limits.statement_bytes),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_PARSER_DEPTH, 250),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, PARAMETERS),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, i32::try_from(most).unwrap_or(i32::MAX))?;
    }
    Ok(())
}

/// Parameters in one statement; a row of a table may have as many columns.
pub(super) const PARAMETERS: usize = 2_000;

/// Let the call's end stop whatever runs on this connection.
pub(crate) fn watch(connection: &mut Connection, call: &Arc<Call>) -> Result<()> {
    let call = Arc::clone(call);
    connection.progress_handler(STEPS, Some(move || call.stopped()))
}

/// End the transaction if the call may still do so. Otherwise, or if that fails, the connection is
/// closed, which undoes the transaction.
pub(crate) fn commit(mut connection: Connection, call: &Call, task: &Task) -> std::result::Result<(), Fault> {
    if !call.commits() {
        return Err(task.out_of_time().into());
    }
    // A commit that has begun should end.
    connection.progress_handler(0, None::<fn() -> bool>)?;
    Ok(connection.execute_batch("COMMIT")?)
}
