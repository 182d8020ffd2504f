//! Databases in which a hint can fail that holds in the demo's: each builder changes a `shop.db`.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use rusqlite::{Connection, Result, config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE};

/// Changes the database at a path.
pub type Builder = fn(&Path) -> Result<()>;

/// All of them, by the name of their world.
pub const BUILDERS: [(&str, Builder); 6] = [
    ("write-ahead log", write_ahead_log),
    ("triggers", triggers),
    ("writable views", writable_views),
    ("generated columns", generated_columns),
    ("replacing columns", replacing_columns),
    ("foreign rows", foreign_rows),
];

/// WAL mode, with a row that only the log holds.
///
/// # Errors
///
/// If SQLite says no.
pub fn write_ahead_log(database: &Path) -> Result<()> {
    let connection = Connection::open(database)?;
    connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch(
        "INSERT INTO customers VALUES (11, 'Logged Florist', 'orders@logged-florist.example', 'Graz', '2026-03-02')",
    )
}

/// Triggers: a new order adds a row elsewhere, a new order line changes one elsewhere, a changed
/// product adds one, a deleted customer takes others along.
///
/// # Errors
///
/// If SQLite says no.
pub fn triggers(database: &Path) -> Result<()> {
    Connection::open(database)?.execute_batch(
        "CREATE TABLE order_log (id INTEGER PRIMARY KEY, order_id INTEGER, what TEXT);
         CREATE TABLE price_log (sku TEXT, old INTEGER, new INTEGER);
         CREATE TRIGGER orders_are_logged AFTER INSERT ON orders BEGIN
             INSERT INTO order_log (order_id, what) VALUES (new.id, 'placed');
         END;
         CREATE TRIGGER lines_take_from_stock AFTER INSERT ON order_lines BEGIN
             UPDATE products SET stock = max(0, stock - new.quantity) WHERE id = new.product_id;
         END;
         CREATE TRIGGER prices_are_logged AFTER UPDATE OF price ON products BEGIN
             INSERT INTO price_log VALUES (old.sku, old.price, new.price);
         END;
         CREATE TRIGGER customers_take_orders_along BEFORE DELETE ON customers BEGIN
             DELETE FROM order_lines WHERE order_id IN (SELECT id FROM orders WHERE customer_id = old.id);
             DELETE FROM orders WHERE customer_id = old.id;
         END;",
    )
}

/// A view that can be inserted into, updated and deleted from: each changes what lies below it.
///
/// # Errors
///
/// If SQLite says no.
pub fn writable_views(database: &Path) -> Result<()> {
    Connection::open(database)?.execute_batch(
        "CREATE VIEW catalogue AS SELECT sku, name, price FROM products WHERE discontinued = 0;
         CREATE TRIGGER catalogue_insert INSTEAD OF INSERT ON catalogue BEGIN
             INSERT OR REPLACE INTO products (sku, name, price) VALUES (new.sku, new.name, new.price);
         END;
         CREATE TRIGGER catalogue_update INSTEAD OF UPDATE ON catalogue BEGIN
             UPDATE products SET name = new.name, price = new.price WHERE sku = old.sku;
         END;
         CREATE TRIGGER catalogue_delete INSTEAD OF DELETE ON catalogue BEGIN
             UPDATE products SET discontinued = 1 WHERE sku = old.sku;
         END;",
    )
}

/// Columns that are computed when they are read and when they are written, one of them unique.
///
/// # Errors
///
/// If SQLite says no.
pub fn generated_columns(database: &Path) -> Result<()> {
    Connection::open(database)?.execute_batch(
        "CREATE TABLE parcels (
             id INTEGER PRIMARY KEY,
             length INTEGER, width INTEGER, height INTEGER,
             volume INTEGER GENERATED ALWAYS AS (length * width * height) VIRTUAL,
             label TEXT GENERATED ALWAYS AS ('P-' || length || '-' || width || '-' || height) STORED UNIQUE
         );
         INSERT INTO parcels (length, width, height) VALUES (30, 20, 10), (40, 30, 20), (60, 40, 40);",
    )
}

/// Constraints that replace the row in the way, where nothing in an INSERT says so.
///
/// # Errors
///
/// If SQLite says no.
pub fn replacing_columns(database: &Path) -> Result<()> {
    Connection::open(database)?.execute_batch(
        "CREATE TABLE settings (name TEXT PRIMARY KEY ON CONFLICT REPLACE, value TEXT);
         CREATE TABLE shelves (
             id INTEGER PRIMARY KEY ON CONFLICT REPLACE,
             place TEXT UNIQUE ON CONFLICT REPLACE,
             sku TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'TEA-ASS'
         );
         INSERT INTO settings VALUES ('currency', 'EUR'), ('language', 'en');
         INSERT INTO shelves (place, sku) VALUES ('A1', 'TEA-ASS'), ('A2', 'TEA-DAR'), ('B1', 'POT-1L');",
    )
}

/// What another program may have left: values of the wrong kind, text that is no UTF-8, odd names,
/// a table without row numbers, a full-text index and an R-tree.
///
/// # Errors
///
/// If SQLite says no.
pub fn foreign_rows(database: &Path) -> Result<()> {
    Connection::open(database)?.execute_batch(
        "ALTER TABLE customers ADD COLUMN imported_from TEXT DEFAULT 'elsewhere';
         CREATE TABLE oddities (value, rowid TEXT, _rowid_ BLOB);
         INSERT INTO oddities VALUES
             (NULL, 'nothing', x''), (1, 'whole', x'00ff'), (1.0, 'real', NULL), ('1', 'text', NULL),
             (9223372036854775807, 'greatest', NULL), (9e999, 'infinite', NULL), (-0.0, 'negative', NULL),
             (CAST(x'c3' AS TEXT), 'cut', NULL), (CAST(x'610062' AS TEXT), 'a zero byte', NULL),
             (x'deadbeef', 'bytes', zeroblob(20000));
         CREATE TABLE \"an \"\"odd\"\" näme; --\" (\"select\" TEXT, \"\" TEXT, \"two words\" INTEGER);
         INSERT INTO \"an \"\"odd\"\" näme; --\" VALUES ('a', 'b', 3);
         CREATE TABLE stock_by_place (place TEXT COLLATE NOCASE, sku TEXT, stock INTEGER, PRIMARY KEY (place, sku))
             WITHOUT ROWID;
         INSERT INTO stock_by_place VALUES ('Ghent', 'TEA-ASS', 12), ('graz', 'TEA-ASS', 3), ('Graz', 'POT-1L', 1);
         CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT);
         INSERT INTO counted (what) VALUES ('one'), ('two');
         CREATE VIRTUAL TABLE search USING fts5(name, tokenize = 'porter');
         INSERT INTO search SELECT name FROM products;
         CREATE VIRTUAL TABLE areas USING rtree(id, west, east);
         INSERT INTO areas VALUES (1, 0, 2.5), (2, 1, 7);",
    )
}

/// A lock on a database that another process holds, until this is dropped.
///
/// A process of its own, since on Unix a process loses its locks on a file as soon as it closes
/// any handle of that file, as a snapshot does.
#[derive(Debug)]
pub struct Lock(Child);

impl Lock {
    /// Let `program` hold the lock: it gets `arguments`, runs [`hold`], and this returns when the
    /// lock is held.
    ///
    /// # Errors
    ///
    /// If the program can't be started, or ends without holding the lock.
    pub fn held_by(mut program: Command) -> io::Result<Self> {
        let child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut lock = Self(child);
        let mut line = String::new();
        if let Some(output) = lock.0.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        if line.trim_end() == HELD { Ok(lock) } else { Err(io::Error::other("the lock could not be taken")) }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The process ends, and the lock with it, when its input does.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

const HELD: &str = "held";

/// Lock a database against all others, say so on standard output, and wait for the end of standard
/// input. In WAL mode others can go on reading.
///
/// # Errors
///
/// If the lock can't be taken.
pub fn hold(database: &Path) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let connection = Connection::open(database)?;
    connection.execute_batch("BEGIN EXCLUSIVE")?;
    let mut output = io::stdout();
    writeln!(output, "{HELD}")?;
    output.flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(connection.execute_batch("ROLLBACK")?)
}
