use std::collections::HashSet;

use rusqlite::Connection;
use serde_json::json;

use super::{Bench, SHOP, refused};

#[tokio::test]
async fn a_statement_that_reads_is_answered_however_it_is_written() {
    let bench = Bench::new(SHOP);
    for sql in [
        "SELECT count(*) FROM customer",
        "select*from(customer)",
        ";SELECT 1",
        ";;  ; SELECT 1;;",
        "-- a comment\nSELECT 1 -- and another",
        "/* DELETE FROM customer */ SELECT 1;",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "VALUES (1), (2)",
        "EXPLAIN SELECT * FROM customer",
        "EXPLAIN QUERY PLAN SELECT * FROM customer",
        "SELECT 'DROP TABLE customer; DELETE FROM purchase'",
        "SELECT name AS \"delete\" FROM customer",
        "SELECT * FROM pragma_table_info('customer')",
        "PRAGMA table_info(customer)",
        "PRAGMA user_version",
        "SELECT upper(name), printf('%d', id), json_object('a', 1) FROM customer",
    ] {
        assert!(bench.query(sql).await.is_ok(), "{sql}");
    }
}

#[tokio::test]
async fn text_and_range_indexes_can_be_searched() {
    let bench = Bench::new(
        "CREATE VIRTUAL TABLE new USING fts5(word); INSERT INTO new VALUES ('one'), ('two');
         CREATE VIRTUAL TABLE old USING fts4(word); INSERT INTO old VALUES ('one'), ('two');
         CREATE VIRTUAL TABLE area USING rtree(id, low, high); INSERT INTO area VALUES (1, 2, 3);",
    );
    for (sql, expected) in [
        ("SELECT highlight(new, 0, '<', '>') FROM new WHERE new MATCH 'two' ORDER BY bm25(new)", json!("<two>")),
        ("SELECT snippet(old) FROM old WHERE word MATCH 'tw*'", json!("<b>two</b>")),
        ("SELECT id FROM area WHERE low < 3 AND high > 2", json!(1)),
    ] {
        assert_eq!(bench.cell(sql).await, expected);
        // Connected anew under a reader that is already open.
        let writer = Connection::open(&bench.file).unwrap();
        writer.execute_batch("CREATE TABLE other (a); DROP TABLE other").unwrap();
        for _ in 0..10 {
            assert_eq!(bench.cell(sql).await, expected);
        }
    }
}

#[tokio::test]
async fn a_statement_that_could_change_anything_is_refused_and_leaves_no_trace() {
    let schema = format!(
        "{SHOP}
        CREATE VIEW rich AS SELECT * FROM customer;
        CREATE TRIGGER rich_delete INSTEAD OF DELETE ON rich
            BEGIN DELETE FROM customer WHERE id = old.id; END;
        CREATE VIEW hostile AS SELECT load_extension('x') FROM customer;
        CREATE VIRTUAL TABLE words USING fts3(word);
        CREATE VIRTUAL TABLE words5 USING fts5(word);"
    );
    let bench = Bench::new(&schema);
    let other = bench.directory.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE secret (a)").unwrap();
    let (bytes, files) = (bench.bytes(), bench.files());
    let directory = bench.directory.path().display();
    let other = other.display();

    for sql in [
        // Changing rows.
        "DELETE FROM customer",
        "/**/DELETE FROM customer",
        "WITH x AS (SELECT 1) DELETE FROM customer",
        "INSERT INTO customer VALUES (9, 'x') RETURNING id",
        "UPDATE customer SET name = 'x' WHERE 0",
        "REPLACE INTO customer VALUES (1, 'x')",
        "DELETE FROM rich",
        "DELETE FROM sqlite_schema",
        "EXPLAIN DELETE FROM customer",
        // The schema.
        "CREATE TABLE x (a)",
        "CREATE TABLE IF NOT EXISTS customer (a)",
        "DROP TABLE IF EXISTS absent",
        "DROP TABLE customer",
        "ALTER TABLE customer RENAME TO x",
        "CREATE INDEX x ON customer (name)",
        "REINDEX",
        "ANALYZE",
        // What only this connection would see.
        "CREATE TEMP TABLE x AS SELECT 1",
        "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE TEMP TRIGGER x AFTER INSERT ON customer BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE temp.x USING fts5vocab('main', 'words5', 'row')",
        // Transactions.
        "BEGIN",
        "BEGIN IMMEDIATE",
        "SAVEPOINT x",
        "COMMIT",
        "ROLLBACK",
        "RELEASE x",
        // Settings, also where they act while compiling.
        "PRAGMA query_only = 0",
        "PRAGMA query_only(0)",
        "EXPLAIN PRAGMA query_only = 0",
        "PRAGMA writable_schema = ON",
        "PRAGMA journal_mode = WAL",
        "PRAGMA main.journal_mode(TRUNCATE)",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA user_version(7)",
        "PRAGMA application_id = 7",
        "PRAGMA schema_version = 7",
        "PRAGMA hard_heap_limit = 1",
        "PRAGMA soft_heap_limit = 1",
        "PRAGMA cache_size = 1",
        "PRAGMA temp_store = 1",
        "PRAGMA busy_timeout = 60000",
        "PRAGMA foreign_keys = 0",
        "PRAGMA optimize",
        "PRAGMA incremental_vacuum",
        "PRAGMA database_list",
        "PRAGMA shrink_memory",
        "SELECT * FROM pragma_optimize",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_wal_checkpoint",
        "SELECT * FROM pragma_hard_heap_limit(1)",
        // Other files.
        &format!("ATTACH '{other}' AS o"),
        &format!("ATTACH '{directory}/ot' || 'her.db' AS o"),
        &format!("ATTACH DATABASE 'file:{other}?mode=ro' AS o"),
        &format!("ATTACH '{directory}/new.db' AS o"),
        "ATTACH ':memory:' AS o",
        "ATTACH '' AS o",
        "DETACH main",
        &format!("VACUUM INTO '{directory}/copy.db'"),
        &format!("EXPLAIN VACUUM INTO '{directory}/copy.db'"),
        "VACUUM",
        // Functions that do more than compute.
        "SELECT load_extension('x')",
        "SELECT LOAD_EXTENSION('x', 'y')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT fts3_tokenizer('simple', x'0000000000000000')",
        "SELECT optimize(words) FROM words",
        "SELECT sqlite_log(1, 'x')",
        "SELECT * FROM hostile",
    ] {
        refused(bench.query(sql).await, sql);
        assert!(bench.bytes() == bytes, "{sql} changed the database");
        assert_eq!(bench.files(), files, "{sql}");
        assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(3), "after {sql}");
    }
}

#[tokio::test]
async fn a_second_statement_is_refused_whatever_it_is() {
    let bench = Bench::new(SHOP);
    let bytes = bench.bytes();
    for sql in [
        "COMMIT; DROP TABLE customer",
        "select 1; drop table customer",
        "SELECT 1; PRAGMA query_only = 0",
        "SELECT 1; SELECT 2",
        "SELECT 1; nonsense",
        "SELECT 1;;;/* */; SELECT 2",
    ] {
        let told = refused(bench.query(sql).await, sql);
        assert!(told.contains("one statement only"), "{sql}: {told}");
    }
    for sql in ["", " \n", ";", ";;;", "-- only a comment", "/* open", "/**/;"] {
        let told = refused(bench.query(sql).await, sql);
        assert!(told.contains("empty"), "{sql}: {told}");
    }
    let told = refused(bench.query("SELECT 1\0; DROP TABLE customer").await, "NUL");
    assert!(told.contains("NUL"), "{told}");
    assert!(bench.bytes() == bytes);
}

#[tokio::test]
async fn one_text_answers_for_files_that_exist_and_files_that_do_not() {
    let bench = Bench::new(SHOP);
    let mut told = HashSet::new();
    for file in ["/etc/passwd", "/nope", "/", "", "nope", "/etc/shadow"] {
        told.insert(refused(bench.query(&format!("ATTACH '{file}' AS p")).await, file));
    }
    assert_eq!(told.len(), 1, "{told:?}");
}
