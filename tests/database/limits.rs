use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use candor_tools::database::{DatabaseLimits, DatabaseReader};
use rusqlite::Connection;
use serde_json::json;

use super::{Bench, SHOP, refused, text};

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

fn impatient() -> DatabaseLimits {
    DatabaseLimits { query_time: Duration::from_millis(300), ..DatabaseLimits::default() }
}

#[tokio::test]
async fn a_statement_too_large_for_the_parser_ends_in_an_error() {
    let bench = Bench::new(SHOP);
    let unions = vec!["SELECT 1"; 400].join(" UNION ALL ");
    let parentheses = format!("SELECT {}1{}", "(".repeat(900), ")".repeat(900));
    let selects = format!("{}SELECT 1{}", "SELECT * FROM (".repeat(900), ")".repeat(900));
    let columns = format!("SELECT {}", vec!["1"; 5_000].join(","));
    let joins = format!("SELECT 1 FROM {}", vec!["customer"; 100].join(","));
    let arguments = format!("SELECT max({})", vec!["1"; 200].join(","));
    for sql in [
        "SELECT 1;".repeat(20_000),
        "SELECT 1;".repeat(5_000),
        format!("SELECT {}1", "NOT ".repeat(20_000)),
        format!("SELECT {}1", "NOT ".repeat(10_000)),
        format!("SELECT {}1", "- ".repeat(10_000)),
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
    let cross = format!("SELECT count(*) FROM {}", ["n"; 10].join(","));
    let cross = format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) {cross}");
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
async fn slow_functions_cannot_be_lined_up_to_hold_a_thread() {
    let bench = Bench::new(SHOP);
    let called = |count| vec!["TRIM(name, 'x')"; count].join(", ");
    let merged = |count| {
        let columns = vec!["t"; count].join(", ");
        format!("WITH x AS (SELECT replace(name, id, 'b') AS t FROM customer) SELECT {columns} FROM x")
    };
    for sql in [format!("SELECT {} FROM customer", called(33)), format!("; /**/{}", merged(40))] {
        let told = refused(bench.query(&sql).await, &sql);
        assert!(told.contains("32 times at most"), "{told}");
    }
    let told = refused(bench.query("/**/; SELECT trim('x')").await, "hidden");
    assert!(told.contains("in front of"), "{told}");
    for sql in [
        format!("SELECT {} FROM customer", called(32)),
        merged(20),
        "SELECT ltrim(?), \"replace\"(name, ?, ?) FROM customer -- ?".into(),
        "EXPLAIN SELECT trim('x')".into(),
    ] {
        let params = vec![text("x"); sql.matches('?').count().saturating_sub(1)];
        assert!(bench.reader().query(sql.clone(), params, None).await.is_ok(), "{sql}");
    }
    let sql = format!("UPDATE customer SET name = {}", vec!["rtrim(name, 'x')"; 40].join(" || "));
    let told = refused(bench.writer().execute(sql, vec![], |_| Ok(())).await, "update");
    assert!(told.contains("32 times at most"), "{told}");
}

#[tokio::test]
async fn a_cancelled_statement_frees_its_thread() {
    let limits = DatabaseLimits { readers: 1, ..DatabaseLimits::default() };
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
    let limits = DatabaseLimits { readers: 2, queue: 2, ..impatient() };
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
        assert!(told.contains("larger than this server allows"), "{sql}: {told}");
    }
}

/// The heap limit is the process's, so the statements that reach it run in one of their own.
#[test]
fn a_statement_cannot_fill_the_memory_or_the_disk() {
    let outcome = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "database::limits::in_a_process_of_its_own"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status.success() && told.contains("1 passed"), "{told}");
}

#[tokio::test]
#[ignore = "run by the test above"]
async fn in_a_process_of_its_own() {
    let limits = DatabaseLimits { query_time: Duration::from_secs(60), ..DatabaseLimits::default() };
    let bench = Bench::limited(SHOP, limits);
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000)";
    for sql in [
        format!("{rows} SELECT count(*) FROM (SELECT DISTINCT i || hex(zeroblob(100000)) FROM n)"),
        format!("{rows} SELECT i FROM n ORDER BY i || hex(zeroblob(100000)) LIMIT 1 OFFSET 3000"),
        format!(
            "{rows}, b AS MATERIALIZED (SELECT i || hex(zeroblob(100000)) AS x FROM n) \
                 SELECT count(*) FROM b, b AS c WHERE b.x = c.x"
        ),
    ] {
        let told = refused(bench.query(&sql).await, &sql);
        assert!(told.contains("memory"), "{sql}: {told}");
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
    let set = ask(format!("{rows} SELECT i FROM n"), Some(1_000)).await.unwrap();
    assert_eq!((set.rows.len(), set.truncated), (1_000, true));
    let set = ask("SELECT id FROM customer".into(), Some(3)).await.unwrap();
    assert_eq!((set.rows.len(), set.truncated), (3, false));
    let set = ask("SELECT id FROM customer".into(), Some(2)).await.unwrap();
    assert_eq!((set.rows.len(), set.truncated), (2, true));

    for content in ["hex(zeroblob(100000))", "zeroblob(200000)", "replace(hex(zeroblob(20000)), '0', char(1))"] {
        let set = ask(format!("{rows} SELECT {content} FROM n"), Some(1_000)).await.unwrap();
        let bytes = serde_json::to_vec(&set.rows).unwrap().len();
        assert!(set.truncated && bytes > 500_000 && bytes <= 1 << 20, "{content}: {bytes}");
    }
    let wide = format!("SELECT {}", ["hex(zeroblob(100000))"; 6].join(","));
    let told = refused(ask(wide, None).await, "wide");
    assert!(told.contains("first row is larger"), "{told}");
    for limit in [0, 1_001, usize::MAX] {
        let told = refused(ask("SELECT 1".into(), Some(limit)).await, "limit");
        assert!(told.contains(&format!("`{limit}`")), "{told}");
    }
}

#[tokio::test]
async fn a_schema_that_is_larger_than_a_statement_may_be_can_be_read() {
    let view = vec!["SELECT 1 AS a"; 120].join(" UNION ALL ");
    let sum = format!("1{}", " + 1".repeat(300));
    let bench = Bench::new(&format!("CREATE VIEW long AS {view}; CREATE TABLE deep (a CHECK (a < {sum}));"));
    assert_eq!(bench.cell("SELECT count(*) FROM deep").await, json!(0));
    assert_eq!(bench.reader().describe().await.unwrap().tables.len(), 2);
    // Changed under a reader that is already open.
    let writer = Connection::open(&bench.file).unwrap();
    writer.execute_batch(&format!("CREATE VIEW longer AS {view}")).unwrap();
    for _ in 0..20 {
        assert_eq!(bench.cell("SELECT count(*) FROM deep").await, json!(0));
    }
}
