use std::{
    collections::HashSet,
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use candor_tools::database::{Cell, DatabaseLimits, DatabaseReader};
use rusqlite::Connection;
use serde_json::json;

use super::{Bench, SHOP, refused, text};

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

fn impatient() -> DatabaseLimits {
    DatabaseLimits {
        query_time: Duration::from_millis(300),
        ..DatabaseLimits::default()
    }
}

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
        (
            "SELECT highlight(new, 0, '<', '>') FROM new WHERE new MATCH 'two' ORDER BY bm25(new)",
            json!("<two>"),
        ),
        (
            "SELECT snippet(old) FROM old WHERE word MATCH 'tw*'",
            json!("<b>two</b>"),
        ),
        ("SELECT id FROM area WHERE low < 3 AND high > 2", json!(1)),
    ] {
        assert_eq!(bench.cell(sql).await, expected);
        // Connected anew under a reader that is already open.
        let writer = Connection::open(&bench.file).unwrap();
        writer
            .execute_batch("CREATE TABLE other (a); DROP TABLE other")
            .unwrap();
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
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE secret (a)")
        .unwrap();
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
        assert_eq!(
            bench.cell("SELECT count(*) FROM customer").await,
            json!(3),
            "after {sql}"
        );
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
    for sql in [
        "",
        " \n",
        ";",
        ";;;",
        "-- only a comment",
        "/* open",
        "/**/;",
    ] {
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
        told.insert(refused(
            bench.query(&format!("ATTACH '{file}' AS p")).await,
            file,
        ));
    }
    assert_eq!(told.len(), 1, "{told:?}");
}

#[tokio::test]
async fn a_statement_too_large_for_the_parser_ends_in_an_error() {
    let bench = Bench::new(SHOP);
    let unions = vec!["SELECT 1"; 400].join(" UNION ALL ");
    let parentheses = format!("SELECT {}1{}", "(".repeat(900), ")".repeat(900));
    let selects = format!(
        "{}SELECT 1{}",
        "SELECT * FROM (".repeat(900),
        ")".repeat(900)
    );
    let columns = format!("SELECT {}", vec!["1"; 5_000].join(","));
    let joins = format!("SELECT 1 FROM {}", vec!["customer"; 100].join(","));
    let arguments = format!("SELECT max({})", vec!["1"; 200].join(","));
    for sql in [
        "SELECT 1;".repeat(20_000),
        "SELECT 1;".repeat(5_000),
        format!("SELECT {}1", "NOT ".repeat(20_000)),
        format!("SELECT {}1", "NOT ".repeat(10_000)),
        format!(
            "SELECT {}1",
            "-".repeat(2).repeat(1).replace("--", "- ").repeat(10_000)
        ),
        format!("SELECT 1{}", " + 1".repeat(10_000)),
        unions,
        parentheses,
        selects,
        columns,
        joins,
        arguments,
        format!("SELECT ?{}", i32::MAX),
        format!("SELECT 'a' LIKE '{}'", "%a".repeat(1_000)),
    ] {
        refused(bench.query(&sql).await, &sql[..sql.len().min(40)]);
    }
    // Not an error, but thousands of empty statements to step over.
    refused(bench.query(&";".repeat(60_000)).await, "semicolons");
    assert_eq!(bench.cell("SELECT 1").await, json!(1));
}

#[tokio::test]
async fn a_statement_stops_at_the_time_limit_wherever_it_spends_its_time() {
    let bench = Bench::limited(SHOP, impatient());
    let cross = format!("SELECT count(*) FROM {}", vec!["n"; 10].join(","));
    let cross = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) {cross}"
    );
    for sql in [
        ENDLESS,
        &cross,
        // No row ever, much work for each.
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
         SELECT length(hex(randomblob(50000))) FROM n WHERE i < 0",
        // One operation that takes seconds and cannot be interrupted.
        "SELECT length(trim(hex(zeroblob(100000)), replace(hex(zeroblob(10000)), '00', 'bc') || '0'))",
    ] {
        let start = Instant::now();
        let told = refused(bench.query(sql).await, sql);
        assert!(told.contains("time limit of 0.3 s"), "{sql}: {told}");
        assert!(start.elapsed() < Duration::from_secs(5), "hangs: {sql}");
        assert_eq!(bench.cell("SELECT 1").await, json!(1), "after {sql}");
    }
}

#[tokio::test]
async fn a_cancelled_statement_frees_its_thread() {
    let limits = DatabaseLimits {
        readers: 1,
        ..DatabaseLimits::default()
    };
    let bench = Bench::limited(SHOP, limits);
    let reader = bench.reader();
    let call = tokio::spawn(async move { reader.query(ENDLESS.into(), vec![], None).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let start = Instant::now();
    call.abort();
    // Within the default time limit the only thread is free again.
    assert_eq!(bench.cell("SELECT 1").await, json!(1));
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn more_calls_than_the_queue_holds_are_told_that_the_database_is_busy() {
    let limits = DatabaseLimits {
        readers: 2,
        queue: 2,
        ..impatient()
    };
    let bench = Bench::limited(SHOP, limits);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let reader = DatabaseReader::new(Arc::clone(&bench.database));
            tokio::spawn(async move { reader.query(ENDLESS.into(), vec![], None).await })
        })
        .collect();
    let mut busy = 0;
    for call in calls {
        let told = refused(call.await.unwrap(), "endless");
        busy += usize::from(told.contains("busy"));
    }
    assert!(busy >= 16, "{busy}");
    assert_eq!(bench.cell("SELECT 1").await, json!(1));
}

#[tokio::test]
async fn a_value_larger_than_the_limit_is_refused_before_it_is_built() {
    let bench = Bench::new(SHOP);
    for sql in [
        "SELECT length(hex(zeroblob(400000000)))",
        "SELECT length(randomblob(900000000))",
        "SELECT length(printf('%.*c', 900000000, 'x'))",
        "SELECT length(replace(hex(zeroblob(100000)), '0', 'long text'))",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) \
         SELECT length(group_concat(i)) FROM n",
    ] {
        let told = refused(bench.query(sql).await, sql);
        assert!(
            told.contains("larger than this server allows"),
            "{sql}: {told}"
        );
    }
}

#[tokio::test]
async fn a_statement_cannot_fill_the_memory_or_the_disk() {
    let bench = Bench::new(SHOP);
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000)";
    for sql in [
        format!("{rows} SELECT count(*) FROM (SELECT DISTINCT randomblob(200000) FROM n)"),
        format!("{rows} SELECT i FROM n ORDER BY randomblob(200000) LIMIT 1 OFFSET 3000"),
        format!(
            "{rows}, b AS MATERIALIZED (SELECT randomblob(200000) x FROM n) \
                 SELECT count(*) FROM b, b AS c WHERE b.x = c.x"
        ),
    ] {
        let told = refused(bench.query(&sql).await, &sql);
        assert!(
            told.contains("memory") || told.contains("time limit"),
            "{sql}: {told}"
        );
        assert_eq!(bench.files(), ["shop.db"]);
    }
    assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(3));
}

#[tokio::test]
async fn results_stop_at_the_row_limit_and_the_byte_limit() {
    let bench = Bench::new(SHOP);
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000000)";
    let reader = bench.reader();
    let ask = |sql: String, limit| reader.query(sql, vec![], limit);

    let set = ask(format!("{rows} SELECT i FROM n"), None).await.unwrap();
    assert_eq!((set.rows.len(), set.truncated), (100, true));
    let set = ask(format!("{rows} SELECT i FROM n"), Some(1_000))
        .await
        .unwrap();
    assert_eq!((set.rows.len(), set.truncated), (1_000, true));
    let set = ask("SELECT id FROM customer".into(), Some(3))
        .await
        .unwrap();
    assert_eq!((set.rows.len(), set.truncated), (3, false));
    let set = ask("SELECT id FROM customer".into(), Some(2))
        .await
        .unwrap();
    assert_eq!((set.rows.len(), set.truncated), (2, true));

    for content in [
        "hex(zeroblob(100000))",
        "zeroblob(200000)",
        "replace(hex(zeroblob(20000)), '0', char(1))",
    ] {
        let set = ask(format!("{rows} SELECT {content} FROM n"), Some(1_000))
            .await
            .unwrap();
        let bytes = serde_json::to_vec(&set.rows).unwrap().len();
        assert!(
            set.truncated && bytes > 500_000 && bytes <= 1 << 20,
            "{content}: {bytes}"
        );
    }
    let wide = format!("SELECT {}", vec!["hex(zeroblob(100000))"; 6].join(","));
    let told = refused(ask(wide, None).await, "wide");
    assert!(told.contains("first row is larger"), "{told}");
    for limit in [0, 1_001, usize::MAX] {
        let told = refused(ask("SELECT 1".into(), Some(limit)).await, "limit");
        assert!(told.contains(&format!("`{limit}`")), "{told}");
    }
}

#[tokio::test]
async fn every_value_is_exact_in_json() {
    let bench = Bench::new(SHOP);
    for (sql, expected) in [
        ("SELECT NULL", json!(null)),
        ("SELECT 9007199254740991", json!(9_007_199_254_740_991_i64)),
        (
            "SELECT -9007199254740991",
            json!(-9_007_199_254_740_991_i64),
        ),
        (
            "SELECT 9007199254740992",
            json!({"integer": "9007199254740992"}),
        ),
        (
            "SELECT 9007199254740993",
            json!({"integer": "9007199254740993"}),
        ),
        (
            "SELECT -9223372036854775808",
            json!({"integer": "-9223372036854775808"}),
        ),
        ("SELECT 1.5", json!(1.5)),
        ("SELECT 1e300", json!(1e300)),
        ("SELECT 9e999", json!({"real": "Infinity"})),
        ("SELECT -9e999", json!({"real": "-Infinity"})),
        ("SELECT 9e999 - 9e999", json!(null)),
        ("SELECT 'Infinity'", json!("Infinity")),
        ("SELECT 'a' || char(0) || 'b'", json!("a\0b")),
        (
            "SELECT CAST(x'ff61' AS TEXT)",
            json!({"invalid_text": "/2E="}),
        ),
        (
            "SELECT CAST(x'eda080' AS TEXT)",
            json!({"invalid_text": "7aCA"}),
        ),
        ("SELECT x'00ff'", json!({"blob": "AP8="})),
        ("SELECT x''", json!({"blob": ""})),
        ("SELECT ''", json!("")),
        (
            "SELECT '{\"blob\": \"AP8=\"}'",
            json!("{\"blob\": \"AP8=\"}"),
        ),
    ] {
        assert_eq!(bench.cell(sql).await, expected, "{sql}");
    }
    assert!(
        bench
            .query("SELECT char(0xD800), char(55296, 57343)")
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_value_that_was_returned_can_be_sent_back_as_a_parameter() {
    let bench = Bench::new(SHOP);
    for sql in [
        "NULL",
        "1",
        "-9223372036854775808",
        "9007199254740993",
        "0.1",
        "9e999",
        "-9e999",
        "'text'",
        "CAST(x'ff61' AS TEXT)",
        "x'00ff'",
        "'a' || char(0)",
        "1.0",
    ] {
        let json = bench.cell(&format!("SELECT {sql}")).await;
        let cell: Cell = serde_json::from_value(json.clone()).unwrap();
        let check = format!("SELECT ?1 IS {sql}, typeof(?1) = typeof({sql})");
        let set = bench.reader().query(check, vec![cell], None).await.unwrap();
        assert_eq!(
            set.rows,
            [[Cell::Integer(1), Cell::Integer(1)]],
            "{sql} came as {json}"
        );
    }
    let truth: Cell = serde_json::from_value(json!(true)).unwrap();
    assert_eq!(truth, Cell::Integer(1));
}

#[test]
fn a_parameter_of_another_shape_is_refused_by_name() {
    for json in [
        json!([]),
        json!({}),
        json!({"blob": 1}),
        json!({"blob": "!"}),
        json!({"blob": "AP8=", "integer": "1"}),
        json!({"integer": "9223372036854775808"}),
        json!({"integer": 1}),
        json!({"real": "NaN"}),
        json!({"other": "1"}),
        json!(u64::MAX),
    ] {
        assert!(
            serde_json::from_value::<Cell>(json.clone()).is_err(),
            "{json}"
        );
    }
}

#[tokio::test]
async fn parameters_are_values_and_never_sql() {
    let bench = Bench::new(SHOP);
    let reader = bench.reader();
    let ask = |sql: &str, params| reader.query(sql.into(), params, None);
    let hostile = "Ada'; DROP TABLE customer; --";
    let set = ask("SELECT ? AS given", vec![text(hostile)]).await.unwrap();
    assert_eq!(set.rows, [[text(hostile)]]);
    let set = ask(
        "SELECT id FROM customer WHERE name = :name",
        vec![text("Ada")],
    )
    .await
    .unwrap();
    assert_eq!(set.rows, [[Cell::Integer(1)]]);
    for (sql, params) in [
        ("SELECT ?", vec![]),
        ("SELECT ?, ?", vec![Cell::Null]),
        ("SELECT 1", vec![Cell::Null]),
        ("SELECT ?2", vec![Cell::Null]),
    ] {
        let told = refused(ask(sql, params).await, sql);
        assert!(told.contains("parameters"), "{told}");
    }
}

#[tokio::test]
async fn columns_of_one_name_all_arrive() {
    let bench = Bench::new(SHOP);
    let set = bench.query("SELECT 1 AS a, 2 AS a, 3 AS A").await.unwrap();
    assert_eq!(set.columns, ["a", "a", "A"]);
    assert_eq!(set.rows[0].len(), 3);
}

#[tokio::test]
async fn a_misspelt_column_is_an_error_and_not_a_string() {
    let bench = Bench::new(SHOP);
    let told = refused(
        bench.query("SELECT \"nosuchcol\" FROM customer").await,
        "column",
    );
    assert!(
        told.contains("no such column: nosuchcol") || told.contains("nosuchcol"),
        "{told}"
    );
}

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
    writer
        .execute_batch("INSERT INTO customer VALUES (4, 'Joan')")
        .unwrap();
    for name in ["shop.db", "shop.db-wal"] {
        fs::copy(bench.directory.path().join(name), copy.path().join(name)).unwrap();
    }
    let file = copy.path().join("shop.db");
    let crashed = Bench::opened(copy, file, DatabaseLimits::default());
    let bytes = crashed.bytes();
    assert_eq!(
        crashed.cell("SELECT count(*) FROM customer").await,
        json!(4)
    );
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
    let limits = DatabaseLimits {
        lock_time: Duration::from_millis(100),
        ..DatabaseLimits::default()
    };
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
async fn a_schema_that_is_larger_than_a_statement_may_be_can_be_read() {
    let view = vec!["SELECT 1 AS a"; 120].join(" UNION ALL ");
    let sum = format!("1{}", " + 1".repeat(300));
    let bench = Bench::new(&format!(
        "CREATE VIEW long AS {view}; CREATE TABLE deep (a CHECK (a < {sum}));"
    ));
    assert_eq!(bench.cell("SELECT count(*) FROM deep").await, json!(0));
    assert_eq!(bench.reader().describe().await.unwrap().tables.len(), 2);
    // Changed under a reader that is already open.
    let writer = Connection::open(&bench.file).unwrap();
    writer
        .execute_batch(&format!("CREATE VIEW longer AS {view}"))
        .unwrap();
    for _ in 0..20 {
        assert_eq!(bench.cell("SELECT count(*) FROM deep").await, json!(0));
    }
}

#[tokio::test]
async fn a_file_that_was_replaced_is_read_anew() {
    let bench = Bench::new(SHOP);
    assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(3));
    let new = bench.directory.path().join("new.db");
    let connection = Connection::open(&new).unwrap();
    connection
        .execute_batch("CREATE TABLE customer (a)")
        .unwrap();
    drop(connection);
    fs::rename(&new, &bench.file).unwrap();
    for _ in 0..20 {
        assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(0));
    }
}

#[tokio::test]
async fn a_name_in_the_schema_is_never_taken_for_sql() {
    let name = "users); DROP TABLE users; --";
    let bench = Bench::new(&format!(
        "CREATE TABLE \"{name}\" (\"a\"\"b\" INT UNIQUE, doubled AS (\"a\"\"b\" * 2) STORED);
         CREATE TABLE users (id INTEGER PRIMARY KEY, boss INT NOT NULL DEFAULT 7
             REFERENCES users (id) ON DELETE CASCADE);
         CREATE VIEW broken AS SELECT * FROM absent;
         CREATE VIRTUAL TABLE words USING fts5(word);"
    ));
    let description = bench.reader().describe().await.unwrap();
    let tables: Vec<_> = description
        .tables
        .iter()
        .map(|table| (table.name.as_str(), table.kind.as_str()))
        .collect();
    assert_eq!(
        tables,
        [
            ("broken", "view"),
            ("users", "table"),
            (name, "table"),
            ("words", "virtual")
        ]
    );
    let users = serde_json::to_value(&description.tables[1]).unwrap();
    assert_eq!(
        users["foreign_keys"],
        json!([{"columns": ["boss"], "table": "users", "references": ["id"], "on_delete": "CASCADE"}])
    );
    assert_eq!(users["columns"][1]["default"], json!("7"));
    let odd = serde_json::to_value(&description.tables[2]).unwrap();
    assert_eq!(odd["unique"], json!([["a\"b"]]));
    assert_eq!(odd["columns"][1]["generated"], json!(true));
}

#[tokio::test]
async fn a_description_is_capped() {
    let tables: String = (0..300)
        .map(|n| format!("CREATE TABLE t{n} (a);"))
        .collect();
    let description = Bench::new(&tables).reader().describe().await.unwrap();
    assert_eq!(
        (description.tables.len(), description.truncated),
        (200, true)
    );
}
