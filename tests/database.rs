//! The database handles on real files.

mod describe;
mod execute;
mod files;
mod insert;
mod limits;
mod open;
mod query;
mod values;

use std::{fmt::Debug, fs, path::PathBuf, sync::Arc};

use candor_tools::{
    ToolError,
    database::{Cell, Database, DatabaseAdder, DatabaseConfig, DatabaseLimits, DatabaseReader, DatabaseWriter, RowSet},
};
use rusqlite::Connection;
use tempfile::TempDir;

/// A database in a directory of its own, and the server's view of it.
struct Bench {
    directory: TempDir,
    file: PathBuf,
    database: Arc<Database>,
}

const SHOP: &str = "
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE purchase (
        id INTEGER PRIMARY KEY,
        customer INTEGER NOT NULL REFERENCES customer ON DELETE CASCADE,
        cents INTEGER NOT NULL CHECK (cents > 0));
    INSERT INTO customer VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Mary');
    INSERT INTO purchase VALUES (1, 1, 500), (2, 1, 700), (3, 2, 900);";

impl Bench {
    fn new(schema: &str) -> Self {
        Self::limited(schema, DatabaseLimits::default())
    }

    fn limited(schema: &str, limits: DatabaseLimits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("shop.db");
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        connection.execute_batch(schema).unwrap();
        drop(connection);
        Self::opened(directory, file, limits)
    }

    fn opened(directory: TempDir, file: PathBuf, limits: DatabaseLimits) -> Self {
        let database = Database::open(DatabaseConfig { file: file.clone(), limits }).unwrap();
        Self { directory, file, database: Arc::new(database) }
    }

    fn reader(&self) -> DatabaseReader {
        DatabaseReader::new(Arc::clone(&self.database))
    }

    fn adder(&self) -> DatabaseAdder {
        DatabaseAdder::new(Arc::clone(&self.database))
    }

    fn writer(&self) -> DatabaseWriter {
        DatabaseWriter::new(Arc::clone(&self.database))
    }

    async fn query(&self, sql: &str) -> Result<RowSet, ToolError> {
        self.reader().query(sql.into(), Vec::new(), None).await
    }

    /// The only cell of the only row, as JSON.
    async fn cell(&self, sql: &str) -> serde_json::Value {
        let set = self.query(sql).await.unwrap();
        assert_eq!((set.rows.len(), set.columns.len()), (1, 1), "{sql}");
        serde_json::to_value(&set.rows[0][0]).unwrap()
    }

    /// Every file of the directory with its content, the main file under its own name.
    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// The text of a refusal.
#[track_caller]
fn refused<T: Debug>(result: Result<T, ToolError>, context: &str) -> String {
    match result {
        Err(ToolError::Refused(text)) => text,
        other => panic!("{context}: expected a refusal, got {other:?}"),
    }
}

fn text(text: &str) -> Cell {
    Cell::Text(text.into())
}
