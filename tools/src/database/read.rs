//! Work on a reader thread, and `query`.

use std::{path::Path, sync::Arc};

use rusqlite::{Connection, ErrorCode};

use super::{
    DatabaseLimits,
    cell::Cell,
    connection,
    refusal::{Fault, Task, code},
    statement::{self, Room, RowSet},
    threads::Call,
};

/// Told instead of everything that a reader may not do.
const READS_ONLY: &str = "one statement only, and only one that reads; to add rows use \
                          `insert_rows`, for any other change `execute`";

pub(super) fn task(limits: &DatabaseLimits) -> Task {
    Task { time: limits.query_time, denied: READS_ONLY, state: "" }
}

/// The connection that a reader thread keeps, and the file that it has open.
#[derive(Debug)]
pub(super) struct Kept {
    connection: Connection,
    file: Option<FileIdentity>,
}

/// Run this on the kept connection if it still has the configured file open, or on a fresh one;
/// keep it if all went well.
pub(super) fn with_reader<T>(
    slot: &mut Option<Kept>,
    file: &Path,
    limits: &DatabaseLimits,
    call: &Arc<Call>,
    work: impl Fn(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let identity = FileIdentity::of(file);
    let mut done = None;
    if let Some(kept) = slot.take().filter(|kept| kept.file == identity) {
        match run(kept, slot, call, &work) {
            // Another program may have changed the schema: a view that is larger than a statement
            // may be here, a virtual table. Those are read before limits and authorizer are set.
            Err(Fault::Sql(error))
                if matches!(
                    code(&error),
                    Some(ErrorCode::DatabaseCorrupt | ErrorCode::AuthorizationForStatementDenied)
                ) => {}
            other => done = Some(other),
        }
    }
    done.unwrap_or_else(|| {
        let connection = connection::reader(file, limits)?;
        run(Kept { connection, file: identity }, slot, call, &work)
    })
}

fn run<T>(
    mut kept: Kept,
    slot: &mut Option<Kept>,
    call: &Arc<Call>,
    work: impl Fn(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    connection::watch(&mut kept.connection, call)?;
    let done = work(&kept.connection)?;
    if kept.connection.is_autocommit() {
        *slot = Some(kept);
    }
    Ok(done)
}

/// Tells a file from another that took its name.
#[derive(Debug, PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    #[cfg(unix)]
    fn of(file: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        file.symlink_metadata().ok().map(|metadata| Self(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Self> {
        None
    }
}

pub(super) fn query(connection: &Connection, sql: &str, params: &[Cell], room: Room) -> Result<RowSet, Fault> {
    let mut statement = statement::one(connection, sql)?;
    // Closes the two holes of the authorizer: a write that SQLite drops while compiling, and
    // EXPLAIN of one.
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(Fault::refused(READS_ONLY));
    }
    statement::bind(&mut statement, params)?;
    statement::collect(&mut statement, room, false)
}
