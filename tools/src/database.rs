//! One SQLite file, as much of it as a tool needs.
//!
//! No single layer keeps a statement within its bounds, so there are four: how the connection is
//! opened (`connection.rs`), what SQLite asks while compiling (`authorizer.rs`), what is checked
//! of the compiled statement (`statement.rs`), and what the statement may spend (limits, the
//! clock that `threads.rs` holds, and a heap limit for the whole process).
//!
//! Reading a database in WAL mode leaves its `-wal` and `-shm` files behind; the database file
//! itself stays as it is, byte for byte.

mod authorizer;
mod cell;
mod connection;
mod describe;
mod execute;
mod insert;
mod question;
mod read;
mod refusal;
mod statement;
mod threads;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

pub use cell::Cell;
pub(crate) use connection::{commit, watch};
pub use describe::{Column, Description, ForeignKey, Table};
pub use execute::{Executed, TableChange};
pub use insert::{Inserted, NewRow};
pub(crate) use refusal::{Fault, Task, shown};
use rusqlite::{Connection, ErrorCode};
use statement::Room;
pub use statement::RowSet;
pub(crate) use threads::{Call, Threads};

use crate::{OpenError, ToolError};

/// Which file, and how much of everything.
#[derive(Clone, Debug, Default)]
pub struct DatabaseConfig {
    /// The database file. It must exist and be a regular file, not a symbolic link.
    pub file: PathBuf,
    /// What calls may spend.
    pub limits: DatabaseLimits,
}

/// What calls may spend on the database.
#[derive(Clone, Debug)]
pub struct DatabaseLimits {
    /// Threads that read, each with its own connection: 8.
    pub readers: usize,
    /// Calls that may wait for a thread, for readers and for writers: 64.
    pub queue: usize,
    /// Time of a read, waiting included: 5 s.
    pub query_time: Duration,
    /// Time of a write, waiting included: 10 s.
    pub write_time: Duration,
    /// Time to wait for a lock that another program holds; keep it below the two above: 1 s.
    pub lock_time: Duration,
    /// Rows in one result, and the largest `limit` of `query`: 1,000.
    pub rows: usize,
    /// Bytes of one result as JSON: 1 MiB.
    pub result_bytes: usize,
    /// Bytes of one SQL statement: 64 KiB.
    pub statement_bytes: usize,
    /// Bytes of one value, and of one row where SQLite builds it: 256 KiB. Some functions take
    /// time that grows with the square of it and cannot be interrupted.
    pub value_bytes: usize,
    /// Rows in one call of `insert_rows`: 500.
    pub insert_rows: usize,
    /// Bytes of the values in one call of `insert_rows`, as JSON: 1 MiB.
    pub insert_bytes: usize,
    /// Tables that `describe_database` describes: 200.
    pub described_tables: usize,
    /// Bytes by which one write may let the file grow: 256 MiB.
    pub growth_bytes: u64,
    /// Bytes of memory for all SQLite work of this process, sorting and uncommitted changes
    /// included: 256 MiB. SQLite lets a process lower this limit and never raise it.
    pub memory_bytes: u64,
}

impl Default for DatabaseLimits {
    fn default() -> Self {
        Self {
            readers: 8,
            queue: 64,
            query_time: Duration::from_secs(5),
            write_time: Duration::from_secs(10),
            lock_time: Duration::from_secs(1),
            rows: 1_000,
            result_bytes: 1 << 20,
            statement_bytes: 64 << 10,
            value_bytes: 256 << 10,
            insert_rows: 500,
            insert_bytes: 1 << 20,
            described_tables: 200,
            growth_bytes: 256 << 20,
            memory_bytes: 256 << 20,
        }
    }
}

/// Rows that `query` returns if it isn't told how many.
const DEFAULT_ROWS: usize = 100;

/// An open database. Tools reach it through the three handles below.
#[derive(Debug)]
pub struct Database {
    file: Arc<Path>,
    limits: Arc<DatabaseLimits>,
    readers: Threads<read::Kept>,
    writer: Threads<()>,
}

impl Database {
    /// Check the file and start the threads. Creates and changes nothing.
    ///
    /// # Errors
    ///
    /// Without an existing regular file that holds a database.
    pub fn open(config: DatabaseConfig) -> Result<Self, OpenError> {
        let DatabaseConfig { file, limits } = config;
        let path = file.display().to_string();
        let failed = |problem: &str| OpenError(format!("database `{path}`: {problem}"));
        let file = existing_file(&file).map_err(|problem| failed(&problem))?;
        match check(&file, &limits) {
            Ok(()) => {}
            // Locked or left behind by a crash: it is a database, and calls say what is wrong.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            Err(error) if refusal::needs_recovery(&error) => {}
            Err(error) => return Err(failed(&format!("cannot be read as SQLite: {error}"))),
        }
        let no_threads = |error: std::io::Error| failed(&format!("cannot start threads: {error}"));
        Ok(Self {
            readers: Threads::start("database reader", limits.readers, limits.queue).map_err(no_threads)?,
            writer: Threads::start("database writer", 1, limits.queue).map_err(no_threads)?,
            file: file.into(),
            limits: limits.into(),
        })
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection, &DatabaseLimits) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (file, limits) = (Arc::clone(&self.file), Arc::clone(&self.limits));
        let task = read::task(&limits);
        let work = move |kept: &mut _, call: &Arc<_>| {
            read::with_reader(kept, &file, &limits, call, |connection| work(connection, &limits))
        };
        self.readers.run(task, work).await
    }

    async fn write<T: Send + 'static>(
        &self,
        task: Task,
        work: impl FnOnce(Connection, &DatabaseLimits, &Arc<Call>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (file, limits) = (Arc::clone(&self.file), Arc::clone(&self.limits));
        let work = move |_: &mut _, call: &Arc<_>| work(connection::writer(&file, &limits)?, &limits, call);
        self.writer.run(task, work).await
    }
}

/// The absolute path of a regular file that SQLite will take for nothing else.
fn existing_file(file: &Path) -> Result<PathBuf, String> {
    if file.to_string_lossy().starts_with("file:") {
        return Err("`file:` names are not taken; give a plain path".into());
    }
    let metadata = fs::symlink_metadata(file).map_err(|error| error.to_string())?;
    if metadata.is_symlink() {
        return Err("is a symbolic link; name the file that it leads to".into());
    }
    if !metadata.is_file() {
        return Err("is not a regular file".into());
    }
    // SQLite refuses a symbolic link anywhere in the path; the operator's directories may be one.
    fs::canonicalize(file).map_err(|error| error.to_string())
}

fn check(file: &Path, limits: &DatabaseLimits) -> rusqlite::Result<()> {
    let memory = i64::try_from(limits.memory_bytes).unwrap_or(i64::MAX);
    Connection::open_in_memory()?.pragma_update_and_check(None, "hard_heap_limit", memory, |_| Ok(()))?;
    connection::reader(file, limits).map(drop)
}

/// Reads the database, on connections that cannot write.
#[derive(Debug)]
pub struct DatabaseReader(Arc<Database>);

impl DatabaseReader {
    /// A handle on this database.
    #[must_use]
    pub fn new(database: Arc<Database>) -> Self {
        Self(database)
    }

    /// The rows of one statement that reads, at most `limit` of them (100 if not given).
    ///
    /// # Errors
    ///
    /// Refused: anything but one such statement, wrong parameters, limits, a locked database.
    pub async fn query(&self, sql: String, params: Vec<Cell>, limit: Option<usize>) -> Result<RowSet, ToolError> {
        let most = self.0.limits.rows;
        let rows = limit.unwrap_or_else(|| DEFAULT_ROWS.min(most));
        if rows == 0 || rows > most {
            return Err(ToolError::refused(format!("`limit` is `{rows}`; give 1 to {most}")));
        }
        let room = Room { rows, bytes: self.0.limits.result_bytes };
        self.0.read(move |connection, _| read::query(connection, &sql, &params, room)).await
    }

    /// Tables, views, their columns and keys.
    ///
    /// # Errors
    ///
    /// Refused if the database cannot be read now.
    pub async fn describe(&self) -> Result<Description, ToolError> {
        self.0.read(describe::describe).await
    }
}

/// Adds rows, and changes or removes none.
#[derive(Debug)]
pub struct DatabaseAdder(Arc<Database>);

impl DatabaseAdder {
    /// A handle on this database.
    #[must_use]
    pub fn new(database: Arc<Database>) -> Self {
        Self(database)
    }

    /// Insert all these rows into an ordinary table, or none.
    ///
    /// # Errors
    ///
    /// Refused, with nothing inserted: no such table or column, a constraint, a trigger that does
    /// more than insert, limits, a locked database.
    pub async fn insert(&self, table: String, rows: Vec<NewRow>) -> Result<Inserted, ToolError> {
        let work = move |connection, limits: &_, call: &_| insert::insert(connection, limits, call, &table, &rows);
        self.0.write(insert::task(&self.0.limits), work).await
    }
}

/// Runs any one statement that changes content or schema.
#[derive(Debug)]
pub struct DatabaseWriter(Arc<Database>);

impl DatabaseWriter {
    /// A handle on this database.
    #[must_use]
    pub fn new(database: Arc<Database>) -> Self {
        Self(database)
    }

    /// Run one statement in a transaction and count what it changes; `agree` decides whether that
    /// stays. Its refusal comes back as it is, with nothing changed.
    ///
    /// # Errors
    ///
    /// Refused, with nothing changed: what reads only or reaches beyond this database's content
    /// and schema, mistakes, constraints, limits, a locked database.
    pub async fn execute(
        &self,
        sql: String,
        params: Vec<Cell>,
        agree: impl FnOnce(&Executed) -> Result<(), ToolError> + Send + 'static,
    ) -> Result<Executed, ToolError> {
        let work =
            move |connection, limits: &_, call: &_| execute::execute(connection, limits, call, &sql, &params, agree);
        self.0.write(execute::task(&self.0.limits), work).await
    }
}
