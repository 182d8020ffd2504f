//! Where calls have their effects: a real database, so that what ran twice is there twice.

use std::{path::Path, sync::Mutex};

use rusqlite::{Connection, params};

/// One row an effect.
pub(super) struct Database(Mutex<Connection>);

impl Database {
    pub(super) fn create(path: &Path) -> rusqlite::Result<Self> {
        let database = Connection::open(path)?;
        database.execute_batch(
            "PRAGMA synchronous = OFF;
             CREATE TABLE effects (id INTEGER PRIMARY KEY, tool TEXT NOT NULL, arguments TEXT NOT NULL)",
        )?;
        Ok(Self(Mutex::new(database)))
    }

    pub(super) fn act(&self, tool: &str, arguments: &str) -> rusqlite::Result<()> {
        let insert = "INSERT INTO effects (tool, arguments) VALUES (?, ?)";
        self.lock().execute(insert, params![tool, arguments]).map(drop)
    }

    /// How often each tool had its effect, by name.
    pub(super) fn rows(&self) -> rusqlite::Result<Vec<(String, usize)>> {
        let database = self.lock();
        let mut rows = database.prepare("SELECT tool, count(*) FROM effects GROUP BY tool ORDER BY tool")?;
        rows.query_map([], |row| Ok((row.get(0)?, usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0))))?.collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
