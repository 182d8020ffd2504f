use std::fmt::Write as _;

use candor_tools::database::{Cell, DatabaseLimits, Inserted, NewRow};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Bench, SHOP, refused, text};

fn rows(json: Value) -> Vec<NewRow> {
    serde_json::from_value(json).unwrap()
}

/// Everything in the database, as text.
fn dump(bench: &Bench) -> String {
    let connection = Connection::open(&bench.file).unwrap();
    let tables: Vec<String> = {
        let mut names = connection
            .prepare("SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' ORDER BY 1")
            .unwrap();
        names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut dump = String::new();
    for table in tables {
        let mut all = connection.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let width = all.column_count();
        let mut rows = all.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..width {
                write!(dump, "{table} {:?} ", row.get_ref(column).unwrap()).unwrap();
            }
            dump.push('\n');
        }
    }
    dump
}

#[tokio::test]
async fn rows_are_inserted_with_their_defaults_and_numbered() {
    let bench = Bench::new(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'd', \"odd \"\" name\" BLOB, twice AS (a || a));",
    );
    let given = rows(json!([
        {"a": "x", "odd \" name": {"blob": "AP8="}},
        {},
        {"A": null},
        {"id": 9_007_199_254_740_993_i64, "a": "', ''); DROP TABLE t; --"},
    ]));
    let inserted = bench.adder().insert("T".into(), given).await.unwrap();
    let rowids = Some(vec![1, 2, 3, 9_007_199_254_740_993]);
    assert_eq!(inserted, Inserted { count: 4, rowids });
    let set = bench.query("SELECT a, \"odd \"\" name\" FROM t ORDER BY id").await.unwrap();
    assert_eq!(
        set.rows,
        [
            [text("x"), Cell::Blob(vec![0, 255])],
            [text("d"), Cell::Null],
            [Cell::Null, Cell::Null],
            [text("', ''); DROP TABLE t; --"), Cell::Null],
        ]
    );
}

#[tokio::test]
async fn a_table_without_rowid_takes_rows_and_names_none() {
    let bench = Bench::new("CREATE TABLE t (k TEXT PRIMARY KEY) WITHOUT ROWID");
    let inserted = bench.adder().insert("t".into(), rows(json!([{"k": "x"}]))).await.unwrap();
    assert_eq!(inserted, Inserted { count: 1, rowids: None });
}

#[tokio::test]
async fn no_schema_makes_an_insertion_change_what_exists() {
    let log = "CREATE TABLE log (k INTEGER PRIMARY KEY, v TEXT); INSERT INTO log VALUES (1, 'old');";
    for schema in [
        // Conflict clauses that would delete or change the old row.
        "CREATE TABLE t (k INTEGER PRIMARY KEY ON CONFLICT REPLACE, v TEXT)",
        "CREATE TABLE t (k INT UNIQUE ON CONFLICT REPLACE, v TEXT)",
        "CREATE TABLE t (k INT, v TEXT, UNIQUE (k) ON CONFLICT REPLACE)",
        "CREATE TABLE t (k INT PRIMARY KEY ON CONFLICT REPLACE, v TEXT) WITHOUT ROWID",
        "CREATE TABLE t (k INT PRIMARY KEY ON CONFLICT IGNORE, v TEXT)",
        "CREATE TABLE t (k INT PRIMARY KEY, v TEXT)",
        // Triggers that do.
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET v = 'lost' WHERE rowid = 1; END",
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TRIGGER r BEFORE INSERT ON t BEGIN DELETE FROM t; END",
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM log; END",
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT OR REPLACE INTO log VALUES (1, 'new'); END",
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN REPLACE INTO log VALUES (1, 'new'); END",
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN
             INSERT INTO log VALUES (1, 'new') ON CONFLICT (k) DO UPDATE SET v = 'new'; END",
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TABLE u (k INT UNIQUE ON CONFLICT REPLACE, v TEXT); INSERT INTO u VALUES (1, 'old');
         CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO u VALUES (1, 'new'); END",
        // A trigger whose insertion sets off another.
        "CREATE TABLE t (k INT, v TEXT); CREATE TABLE u (k INT);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO u VALUES (1); END;
         CREATE TRIGGER s AFTER INSERT ON u BEGIN DELETE FROM log; END",
        // Triggers that write to what is no ordinary table.
        "CREATE TABLE t (k INT, v TEXT); CREATE VIEW w AS SELECT * FROM log;
         CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO w VALUES (1, 'x'); END;
         CREATE TRIGGER s INSTEAD OF INSERT ON w BEGIN DELETE FROM log; END",
        "CREATE TABLE t (k INT, v TEXT); CREATE VIRTUAL TABLE f USING fts5(v);
         INSERT INTO f VALUES ('word');
         CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO f(f) VALUES ('delete-all'); END",
        // A trigger that lets a row vanish.
        "CREATE TABLE t (k INT, v TEXT);
         CREATE TRIGGER r BEFORE INSERT ON t WHEN new.k = 1 BEGIN SELECT raise(IGNORE); END",
    ] {
        let bench = Bench::new(&format!("{log} {schema};"));
        if !schema.contains("TRIGGER") {
            let connection = Connection::open(&bench.file).unwrap();
            connection.execute("INSERT INTO t VALUES (1, 'old')", []).unwrap();
        }
        let before = dump(&bench);
        let given = rows(json!([{"k": 7, "v": "fine"}, {"k": 1, "v": "new"}]));
        let told = refused(bench.adder().insert("t".into(), given).await, schema);
        assert!(told.contains("nothing was inserted"), "{told}");
        assert_eq!(dump(&bench), before, "{schema}");
    }
}

#[tokio::test]
async fn a_trigger_that_only_adds_runs() {
    let bench = Bench::new(
        "CREATE TABLE t (k INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);
         CREATE TABLE log (at INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);
         CREATE TRIGGER r AFTER INSERT ON t BEGIN
             INSERT INTO log (v) SELECT upper(new.v); INSERT INTO log (v) VALUES ('x'); END;",
    );
    let given = rows(json!([{"v": "a"}, {"v": "b"}]));
    let inserted = bench.adder().insert("t".into(), given).await.unwrap();
    assert_eq!(inserted, Inserted { count: 2, rowids: Some(vec![1, 2]) });
    assert_eq!(bench.cell("SELECT group_concat(v) FROM log").await, json!("A,x,B,x"));
}

#[tokio::test]
async fn what_is_no_ordinary_table_is_refused() {
    let bench = Bench::new(&format!(
        "{SHOP} CREATE VIEW v AS SELECT * FROM customer; CREATE VIRTUAL TABLE f USING fts5(a);
         CREATE TRIGGER r INSTEAD OF INSERT ON v BEGIN DELETE FROM customer; END;
         CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT);"
    ));
    let before = dump(&bench);
    for (table, expected) in [
        ("v", "is a view"),
        ("f", "virtual"),
        ("f_data", "part of one"),
        ("sqlite_schema", "no table"),
        ("sqlite_master", "no table"),
        ("sqlite_sequence", "no table"),
        ("sqlite_stat1", "no table"),
        ("absent", "tables are `auto`, `customer`, `purchase`"),
        ("main.customer", "no table"),
        ("customer\" (name) VALUES ('x'); --", "no table"),
        ("pragma_user_version", "no table"),
        ("json_each", "no table"),
        ("", "no table"),
    ] {
        let told = refused(bench.adder().insert(table.into(), rows(json!([{}]))).await, table);
        assert!(told.contains(expected), "{table}: {told}");
        assert_eq!(dump(&bench), before, "{table}");
    }
}

#[tokio::test]
async fn one_bad_row_leaves_none_behind() {
    let bench = Bench::new(&format!("{SHOP} CREATE TABLE g (a INT, b INT AS (a + 1)) STRICT;"));
    let before = dump(&bench);
    let good = json!({"customer": 1, "cents": 5});
    for (table, bad, expected) in [
        ("purchase", json!({"customer": 1, "cents": -5}), "CHECK"),
        ("purchase", json!({"customer": 99, "cents": 5}), "FOREIGN KEY"),
        ("purchase", json!({"customer": 1}), "NOT NULL"),
        ("purchase", json!({"id": 1, "customer": 1, "cents": 5}), "UNIQUE"),
        ("purchase", json!({"customer": 1, "cents": 5, "nope": 1}), "`nope` is no column"),
        ("purchase", json!({"customer": 1, "cents": 5, "rowid": 1}), "`rowid` is no column"),
        ("purchase", json!({"customer": 1, "cents": 5, "CENTS": 5}), "given twice"),
        ("purchase", json!({"cents) VALUES (1); --": 1}), "no column"),
        ("g", json!({"a": 1, "b": 2}), "`b` is no column"),
        ("g", json!({"a": "text"}), "cannot store TEXT"),
    ] {
        let first = if table == "g" { json!({"a": 1}) } else { good.clone() };
        let given = rows(json!([first, bad]));
        let told = refused(bench.adder().insert(table.into(), given).await, &bad.to_string());
        assert!(told.contains(expected) && told.contains("nothing was inserted"), "{told}");
        assert_eq!(dump(&bench), before, "{bad}");
    }
}

#[tokio::test]
async fn more_than_one_call_may_hold_is_refused() {
    let bench = Bench::new("CREATE TABLE t (a)");
    for count in [0, 501] {
        let given = vec![NewRow::new(); count];
        let told = refused(bench.adder().insert("t".into(), given).await, "count");
        assert!(told.contains("1 to 500"), "{told}");
    }
    let large = vec![NewRow::from([("a".into(), text(&"x".repeat(100_000)))]); 11];
    let told = refused(bench.adder().insert("t".into(), large).await, "bytes");
    assert!(told.contains("bytes of values"), "{told}");
    let larger = vec![NewRow::from([("a".into(), text(&"x".repeat(300_000)))])];
    let told = refused(bench.adder().insert("t".into(), larger).await, "value");
    assert!(told.contains("larger than this server allows"), "{told}");
    assert_eq!(bench.cell("SELECT count(*) FROM t").await, json!(0));
}

#[tokio::test]
async fn a_database_may_grow_by_its_budget_and_no_more() {
    let limits = DatabaseLimits { growth_bytes: 100_000, ..DatabaseLimits::default() };
    let bench = Bench::limited("CREATE TABLE t (a)", limits);
    let row = NewRow::from([("a".into(), text(&"x".repeat(50_000)))]);
    let told = refused(bench.adder().insert("t".into(), vec![row.clone(); 5]).await, "growth");
    assert!(told.contains("grow") && told.contains("nothing was inserted"), "{told}");
    bench.adder().insert("t".into(), vec![row]).await.unwrap();
    assert_eq!(bench.cell("SELECT count(*) FROM t").await, json!(1));
}
