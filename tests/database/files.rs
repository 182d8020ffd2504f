use std::{fs, time::Duration};

use candor_tools::database::DatabaseLimits;
use rusqlite::Connection;
use serde_json::json;

use super::{Bench, SHOP, refused};

#[tokio::test]
async fn a_column_name_that_is_no_text_ends_one_call_and_nothing_else() {
    let bench = Bench::new("CREATE TABLE odd (columnname TEXT); INSERT INTO odd VALUES ('x')");
    let mut bytes = bench.bytes();
    let mut found = 0;
    for start in 0..bytes.len() - 10 {
        if &bytes[start..start + 10] == b"columnname" {
            bytes[start] = 0xff;
            found += 1;
        }
    }
    assert_eq!(found, 1);
    fs::write(&bench.file, bytes).unwrap();
    let bench = Bench::opened(bench.directory, bench.file, DatabaseLimits::default());
    assert!(bench.query("SELECT * FROM odd").await.is_err());
    assert_eq!(bench.cell("SELECT count(*) FROM odd").await, json!(1));
    assert_eq!(bench.reader().describe().await.unwrap().tables.len(), 1);
}

#[tokio::test]
async fn reading_a_wal_database_changes_no_byte_of_it_and_sees_every_committed_row() {
    let bench = Bench::new(&format!("{SHOP} PRAGMA journal_mode = WAL;"));
    let bytes = bench.bytes();
    assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(3));
    assert!(bench.bytes() == bytes);

    // A writer that was killed leaves its committed frames in the -wal file.
    let copy = tempfile::tempdir().unwrap();
    let writer = Connection::open(&bench.file).unwrap();
    writer.execute_batch("INSERT INTO customer VALUES (4, 'Joan')").unwrap();
    for name in ["shop.db", "shop.db-wal"] {
        fs::copy(bench.directory.path().join(name), copy.path().join(name)).unwrap();
    }
    let file = copy.path().join("shop.db");
    let crashed = Bench::opened(copy, file, DatabaseLimits::default());
    let bytes = crashed.bytes();
    assert_eq!(crashed.cell("SELECT count(*) FROM customer").await, json!(4));
    assert!(crashed.bytes() == bytes);
}

#[tokio::test]
async fn a_database_that_needs_recovery_says_so_and_is_left_alone() {
    let source = Bench::new(SHOP);
    let writer = Connection::open(&source.file).unwrap();
    writer
        .execute_batch(
            "PRAGMA cache_size = 1; BEGIN; UPDATE customer SET name = name || 'x';
             CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)
             SELECT i, hex(randomblob(50)) FROM n;",
        )
        .unwrap();
    let copy = tempfile::tempdir().unwrap();
    for name in ["shop.db", "shop.db-journal"] {
        fs::copy(source.directory.path().join(name), copy.path().join(name)).unwrap();
    }
    let file = copy.path().join("shop.db");
    let bench = Bench::opened(copy, file, DatabaseLimits::default());
    let bytes = bench.bytes();
    let told = refused(bench.query("SELECT * FROM customer").await, "hot journal");
    assert!(told.contains("needs recovery"), "{told}");
    assert!(bench.bytes() == bytes);
    assert!(bench.files().contains(&"shop.db-journal".into()));
}

#[tokio::test]
async fn a_lock_that_another_program_holds_is_reported_before_the_time_limit() {
    let limits = DatabaseLimits { lock_time: Duration::from_millis(100), ..DatabaseLimits::default() };
    let bench = Bench::limited(SHOP, limits.clone());
    let writer = Connection::open(&bench.file).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let told = refused(bench.query("SELECT * FROM customer").await, "locked");
    assert!(told.contains("database is locked"), "{told}");
    // Also while the server starts.
    let late = Bench::opened(tempfile::tempdir().unwrap(), bench.file.clone(), limits);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(late.cell("SELECT count(*) FROM customer").await, json!(3));
}

#[tokio::test]
async fn a_file_that_was_replaced_is_read_anew() {
    let bench = Bench::new(SHOP);
    assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(3));
    let new = bench.directory.path().join("new.db");
    let connection = Connection::open(&new).unwrap();
    connection.execute_batch("CREATE TABLE customer (a)").unwrap();
    drop(connection);
    fs::rename(&new, &bench.file).unwrap();
    for _ in 0..20 {
        assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(0));
    }
}
