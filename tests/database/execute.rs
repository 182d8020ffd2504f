use std::{
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

use candor_tools::{
    Question, ToolError,
    database::{DatabaseLimits, Executed, TableChange},
};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Bench, SHOP, refused, text};

impl Bench {
    /// With a user who agrees to everything.
    async fn agreed(&self, sql: &str) -> Result<Executed, ToolError> {
        self.writer().execute(sql.into(), vec![], |_| Ok(())).await
    }

    /// What the user would be asked.
    async fn asked(&self, sql: &str) -> Question {
        let declined = |preview: &Executed| Err(ToolError::Confirm(preview.question.clone()));
        match self.writer().execute(sql.into(), vec![], declined).await {
            Err(ToolError::Confirm(question)) => question,
            other => panic!("{sql}: {other:?}"),
        }
    }
}

fn counts(changes: &[TableChange]) -> Value {
    changes
        .iter()
        .map(|change| json!([change.table, change.rows_before, change.rows_after, change.rows_changed]))
        .collect()
}

const WIDE: &str = "
    CREATE TABLE keyed (k TEXT PRIMARY KEY, v INT) WITHOUT ROWID;
    INSERT INTO keyed VALUES ('a', 1), ('b', 2);
    CREATE TABLE loose (k INT UNIQUE ON CONFLICT REPLACE, v INT);
    INSERT INTO loose VALUES (1, 1), (2, 2);
    CREATE TABLE twin (id INTEGER PRIMARY KEY, k TEXT UNIQUE); INSERT INTO twin VALUES (1, 'a');
    CREATE TABLE child (k TEXT PRIMARY KEY REFERENCES twin (k)) WITHOUT ROWID;
    CREATE TRIGGER twins AFTER INSERT ON twin BEGIN INSERT INTO keyed VALUES (new.k, 3); END;
    CREATE TABLE log (text TEXT);
    CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT);
    INSERT INTO numbered DEFAULT VALUES; DELETE FROM numbered;
    CREATE TRIGGER logged AFTER DELETE ON loose BEGIN INSERT INTO log VALUES (old.k); END;
    CREATE VIEW rich AS SELECT * FROM customer;
    CREATE TRIGGER rich_gone INSTEAD OF DELETE ON rich
        BEGIN DELETE FROM customer WHERE id = old.id; END;
    CREATE VIRTUAL TABLE words USING fts5(word);
    INSERT INTO words VALUES ('one'), ('two');";

/// Statements, with table, rows before, after and changed.
fn changes() -> Vec<(&'static str, Value)> {
    vec![
        ("UPDATE purchase SET cents = 1", json!([["purchase", 3, 3, 3]])),
        ("UPDATE purchase SET cents = 1 WHERE 0", json!([])),
        ("DELETE FROM purchase", json!([["purchase", 3, 0, 3]])),
        ("DELETE FROM purchase WHERE id > 1", json!([["purchase", 3, 1, 2]])),
        ("DELETE FROM sqlite_sequence", json!([["sqlite_sequence", 1, 0, 1]])),
        ("INSERT INTO customer VALUES (7, 'x')", json!([["customer", 3, 4, 1]])),
        ("INSERT INTO log SELECT name FROM customer", json!([["log", 0, 3, 3]])),
        // By a cascade, a trigger, a view.
        ("DELETE FROM customer WHERE id = 1", json!([["customer", 3, 2, 1], ["purchase", 3, 1, 2]])),
        ("DELETE FROM customer", json!([["customer", 3, 0, 3], ["purchase", 3, 0, 3]])),
        ("DELETE FROM loose", json!([["log", 0, 2, 2], ["loose", 2, 0, 2]])),
        ("DELETE FROM rich WHERE id = 2", json!([["customer", 3, 2, 1], ["purchase", 3, 2, 1]])),
        // Rows that a REPLACE removes.
        ("REPLACE INTO customer VALUES (3, 'x')", json!([["customer", 3, 3, 2]])),
        (
            "UPDATE OR REPLACE customer SET name = 'Ada' WHERE id = 3",
            json!([["customer", 3, 2, 2], ["purchase", 3, 1, 2]]),
        ),
        ("INSERT INTO loose VALUES (1, 9)", json!([["loose", 2, 2, 2]])),
        // Without a rowid.
        ("DELETE FROM keyed", json!([["keyed", 2, 0, 2]])),
        ("UPDATE keyed SET v = 0 WHERE k = 'a'", json!([["keyed", 2, 2, 1]])),
        ("INSERT INTO keyed VALUES ('c', 3)", json!([["keyed", 2, 3, 1]])),
        ("REPLACE INTO keyed VALUES ('a', 3)", json!([["keyed", 2, 2, 2]])),
        // Together with another table, or not touched at all.
        ("REPLACE INTO twin VALUES (1, 'x')", json!([["keyed", 2, 3, null], ["twin", 1, 1, 2]])),
        ("DELETE FROM twin", json!([["twin", 1, 0, 1]])),
        // A virtual table.
        ("DELETE FROM words WHERE word = 'one'", json!([["words", 2, 1, null]])),
        // The schema.
        ("DROP TABLE purchase", json!([["purchase", 3, null, 3]])),
        ("DROP TABLE keyed", json!([["keyed", 2, null, 2]])),
        ("DROP TABLE words", json!([["words", 2, null, 2]])),
        ("DROP TABLE IF EXISTS absent", json!([])),
        ("DROP VIEW rich", json!([])),
        ("ALTER TABLE purchase DROP COLUMN cents", json!([["purchase", 3, 3, 3]])),
        ("ALTER TABLE loose DROP COLUMN v", json!([["loose", 2, 2, 2]])),
        ("ALTER TABLE loose ADD COLUMN w", json!([["loose", 2, 2, 2]])),
        ("CREATE TABLE copy AS SELECT * FROM customer", json!([["copy", null, 3, 3]])),
        ("CREATE TABLE fresh (a)", json!([["fresh", null, 0, 0]])),
        ("CREATE INDEX i ON customer (name)", json!([])),
        ("PRAGMA user_version = 3", json!([])),
    ]
}

#[tokio::test]
async fn what_a_statement_changes_is_counted_in_every_table() {
    for (sql, expected) in changes() {
        let bench = Bench::new(&format!("{SHOP}{WIDE}"));
        let bytes = bench.bytes();
        let asked = bench.asked(sql).await;
        assert!(bench.bytes() == bytes, "asking about `{sql}` changed the file");
        assert_eq!(bench.files(), ["shop.db"]);
        let done = bench.agreed(sql).await.unwrap();
        assert_eq!(counts(&done.tables), expected, "{sql}");
        assert_eq!(done.question, asked, "{sql}");
        assert!(asked.text.contains(sql), "{}", asked.text);
        assert!(bench.bytes() != bytes || sql.contains("absent") || sql.contains("WHERE 0"), "{sql}");
    }
}

#[tokio::test]
async fn the_question_shows_the_statement_and_its_counts() {
    let bench = Bench::new(SHOP);
    for (sql, expected) in [
        ("DELETE FROM purchase WHERE id > 1", "`purchase`: 2 rows changed; 3 rows before, 1 after"),
        ("DROP TABLE purchase", "drops the table `purchase` and its rows (3)"),
        ("ALTER TABLE purchase RENAME TO p", "alters the table `purchase`, rows in it: 3"),
        ("CREATE INDEX i ON customer (name)", "creates the index `i`"),
        ("PRAGMA user_version = 3", "sets `user_version`"),
        ("DROP TABLE IF EXISTS absent", "changes nothing"),
    ] {
        let text = bench.asked(sql).await.text;
        assert!(text.contains(expected), "{text}");
    }
    // A statement cannot pose as the rest of the question, nor hide a part of itself.
    let sql = "DELETE FROM purchase /*\n\n- It changes nothing\r\u{1b}[2K\u{202e}*/";
    let text = bench.asked(sql).await.text;
    assert!(text.contains("/*\\n\\n- It changes nothing\\r\\u{1b}[2K\\u{202e}"), "{text}");
    let long = format!("DELETE FROM purchase WHERE id IN ({})", vec!["1"; 5_000].join(","));
    let text = bench.asked(&long).await.text;
    assert!(text.contains("more characters)") && text.contains("1 rows changed"), "{text}");
}

#[tokio::test]
async fn a_question_is_about_one_statement_its_values_and_its_counts() {
    let bench = Bench::new(SHOP);
    let ask = async |sql: &str, param: Option<&str>| {
        let declined = |preview: &Executed| Err(ToolError::Confirm(preview.question.clone()));
        let params = param.map(text).into_iter().collect();
        match bench.writer().execute(sql.into(), params, declined).await {
            Err(ToolError::Confirm(question)) => question.subject,
            other => panic!("{other:?}"),
        }
    };
    let one = ask("DELETE FROM customer WHERE name = ?", Some("Ada")).await;
    assert_eq!(one, ask("DELETE FROM customer WHERE name = ?", Some("Ada")).await);
    assert_ne!(one, ask("DELETE FROM customer WHERE name = ?", Some("Grace")).await);
    assert_ne!(one, ask("DELETE FROM customer WHERE name = ? ", Some("Ada")).await);
    let elsewhere = Connection::open(&bench.file).unwrap();
    elsewhere.execute_batch("INSERT INTO customer (name) VALUES ('Joan')").unwrap();
    assert_eq!(one, ask("DELETE FROM customer WHERE name = ?", Some("Ada")).await);
    elsewhere.execute_batch("INSERT INTO purchase (customer, cents) VALUES (1, 3)").unwrap();
    assert_ne!(one, ask("DELETE FROM customer WHERE name = ?", Some("Ada")).await);
    let two = ask("UPDATE purchase SET cents = 1", None).await;
    elsewhere.execute_batch("INSERT INTO purchase (customer, cents) VALUES (1, 3)").unwrap();
    assert_ne!(two, ask("UPDATE purchase SET cents = 1", None).await);
}

#[tokio::test]
async fn a_consent_to_other_counts_commits_nothing() {
    let bench = Bench::new(SHOP);
    let sql = "DELETE FROM purchase WHERE cents > 600";
    let agreed = bench.asked(sql).await.subject;
    Connection::open(&bench.file).unwrap().execute_batch("INSERT INTO purchase VALUES (9, 3, 999)").unwrap();
    let consent = move |preview: &Executed| match &preview.question {
        question if question.subject == agreed => Ok(()),
        question => Err(ToolError::Confirm(question.clone())),
    };
    let outcome = bench.writer().execute(sql.into(), vec![], consent).await;
    assert!(matches!(outcome, Err(ToolError::Confirm(_))), "{outcome:?}");
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(4));
}

#[tokio::test]
async fn returned_rows_arrive_and_the_statement_runs_once() {
    let bench = Bench::new(SHOP);
    let sql = "INSERT INTO customer (name) VALUES ('Joan'), ('Edith') RETURNING id, name";
    let done = bench.agreed(sql).await.unwrap();
    assert_eq!(serde_json::to_value(done.returned.unwrap().rows).unwrap(), json!([[4, "Joan"], [5, "Edith"]]));
    assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(5));
    assert!(bench.agreed("DELETE FROM purchase").await.unwrap().returned.is_none());
    // More rows than a result may hold are changed all the same.
    let many = "INSERT INTO customer (name) WITH RECURSIVE n(i) AS
        (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) SELECT i FROM n RETURNING id";
    let set = bench.agreed(many).await.unwrap().returned.unwrap();
    assert_eq!((set.rows.len(), set.truncated), (1_000, true));
    assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(3_005));
}

#[tokio::test]
async fn a_statement_that_fails_changes_nothing_and_says_so() {
    let bench = Bench::new(SHOP);
    let bytes = bench.bytes();
    for (sql, expected) in [
        ("INSERT INTO customer (name) VALUES ('new'), ('Ada')", "UNIQUE"),
        ("INSERT OR FAIL INTO customer (name) VALUES ('new'), ('Ada')", "UNIQUE"),
        ("INSERT OR ROLLBACK INTO customer (name) VALUES ('new'), ('Ada')", "UNIQUE"),
        ("UPDATE purchase SET customer = 99", "FOREIGN KEY"),
        ("UPDATE absent SET a = 1", "no such table"),
        ("nonsense", "syntax error"),
    ] {
        let told = refused(bench.agreed(sql).await, sql);
        assert!(told.contains(expected) && told.contains("nothing was changed"), "{told}");
        assert!(bench.bytes() == bytes, "{sql}");
    }
}

#[tokio::test]
async fn what_reaches_beyond_content_and_schema_is_refused() {
    let bench = Bench::new(&format!("{SHOP} CREATE VIRTUAL TABLE words USING fts5(word);"));
    let directory = bench.directory.path().display().to_string();
    let (bytes, files) = (bench.bytes(), bench.files());
    for sql in [
        &format!("ATTACH '{directory}/new.db' AS o"),
        &format!("ATTACH '{directory}/shop.db' AS o"),
        "DETACH main",
        &format!("VACUUM INTO '{directory}/copy.db'"),
        "VACUUM",
        "PRAGMA writable_schema = 1",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = OFF",
        "PRAGMA foreign_keys = OFF",
        "PRAGMA hard_heap_limit = 1",
        "PRAGMA max_page_count = 1000000000",
        "PRAGMA optimize",
        "PRAGMA wal_checkpoint",
        "PRAGMA incremental_vacuum",
        "BEGIN",
        "COMMIT",
        "END",
        "ROLLBACK",
        "SAVEPOINT s",
        "RELEASE s",
        "DELETE FROM customer; COMMIT",
        "DELETE FROM customer; DELETE FROM purchase",
        "UPDATE customer SET name = load_extension('x')",
        "UPDATE customer SET name = fts3_tokenizer('simple')",
        "CREATE TEMP TABLE x (a)",
        "CREATE TABLE temp.x (a)",
        "CREATE TEMP TRIGGER x AFTER INSERT ON customer BEGIN SELECT 1; END",
        "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE VIRTUAL TABLE temp.x USING fts5(a)",
        "CREATE VIRTUAL TABLE x USING dbstat",
        "UPDATE sqlite_schema SET sql = 'x'",
        "DELETE FROM sqlite_master",
        "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'x')",
        "DELETE FROM words_data",
        "SELECT 1",
        "SELECT * FROM customer",
        "EXPLAIN DELETE FROM customer",
        "PRAGMA user_version",
        "PRAGMA table_info(customer)",
        "",
        "-- nothing",
        "DELETE FROM customer\0",
    ] {
        refused(bench.agreed(sql).await, sql);
        assert!(bench.bytes() == bytes, "{sql}");
        assert_eq!(bench.files(), files, "{sql}");
    }
    let told = refused(bench.agreed("SELECT 1").await, "SELECT");
    assert!(told.contains("`query`"), "{told}");
}

const SLOW: &str = "INSERT INTO customer (name) WITH RECURSIVE n(i) AS
    (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i % 100000 = 0";

#[tokio::test]
async fn the_time_limit_rolls_back_and_says_so() {
    let limits = DatabaseLimits { write_time: Duration::from_millis(300), ..DatabaseLimits::default() };
    let bench = Bench::limited(SHOP, limits);
    let bytes = bench.bytes();
    let told = refused(bench.agreed(SLOW).await, "slow");
    assert!(told.contains("time limit") && told.contains("nothing was changed"), "{told}");
    assert!(bench.bytes() == bytes);
    // An agreement that comes too late counts for nothing.
    let late = |_: &Executed| {
        std::thread::sleep(Duration::from_millis(400));
        Ok(())
    };
    let outcome = bench.writer().execute("DELETE FROM purchase".into(), vec![], late).await;
    let told = refused(outcome, "late");
    assert!(told.contains("nothing was changed"), "{told}");
    assert!(bench.bytes() == bytes);
    assert!(bench.agreed("DELETE FROM purchase").await.is_ok());
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_the_commit_changes_nothing() {
    let bench = Bench::new(SHOP);
    let bytes = bench.bytes();
    let (reached, at_question) = mpsc::channel();
    let (go_on, waiting) = mpsc::channel::<()>();
    let waiting = Mutex::new(waiting);
    let writer = bench.writer();
    let call = tokio::spawn(async move {
        let agree = move |_: &Executed| {
            reached.send(()).unwrap();
            waiting.lock().unwrap().recv().unwrap();
            Ok(())
        };
        writer.execute("DELETE FROM purchase".into(), vec![], agree).await
    });
    tokio::task::spawn_blocking(move || at_question.recv().unwrap()).await.unwrap();
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    go_on.send(()).unwrap();
    // The writer is free again and the deletion was not done.
    assert!(bench.agreed("PRAGMA user_version = 0").await.is_ok());
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(3));
    let writer = bench.writer();
    let call = tokio::spawn(async move { writer.execute(SLOW.into(), vec![], |_| Ok(())).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let start = Instant::now();
    call.abort();
    assert!(bench.agreed("PRAGMA user_version = 0").await.is_ok());
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(bench.cell("SELECT count(*) FROM customer").await, json!(3));
    drop(bytes);
}

#[tokio::test]
async fn an_agreement_that_panics_ends_one_call_and_nothing_else() {
    let bench = Bench::new(SHOP);
    let agree = |_: &Executed| panic!("as planned");
    let outcome = bench.writer().execute("DELETE FROM purchase".into(), vec![], agree).await;
    assert!(matches!(outcome, Err(ToolError::Internal(_))), "{outcome:?}");
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(3));
    assert!(bench.agreed("DELETE FROM purchase").await.is_ok());
}

#[tokio::test]
async fn one_write_leaves_no_state_for_the_next() {
    let bench = Bench::new(SHOP);
    bench.agreed("INSERT INTO customer (name) VALUES ('Joan')").await.unwrap();
    let sql = "UPDATE customer SET name = 'x' WHERE last_insert_rowid() + changes() + total_changes() > 0";
    let done = bench.agreed(sql).await.unwrap();
    assert_eq!(done.tables, []);
}

#[tokio::test]
async fn a_lock_that_another_program_holds_is_reported_and_nothing_is_changed() {
    let limits = DatabaseLimits { lock_time: Duration::from_millis(100), ..DatabaseLimits::default() };
    let bench = Bench::limited(SHOP, limits);
    let other = Connection::open(&bench.file).unwrap();
    for lock in ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE", "BEGIN; SELECT * FROM customer"] {
        other.execute_batch(lock).unwrap();
        // A reader's lock is met at the commit.
        let keep = lock.ends_with("customer");
        let mut statement = keep.then(|| other.prepare("SELECT * FROM customer").unwrap());
        let rows = statement.as_mut().map(|statement| {
            let mut rows = statement.query([]).unwrap();
            rows.next().unwrap();
            rows
        });
        let told = refused(bench.agreed("DELETE FROM purchase").await, lock);
        assert!(told.contains("locked") && told.contains("nothing was changed"), "{lock}: {told}");
        drop(rows);
        drop(statement);
        other.execute_batch("ROLLBACK").unwrap();
    }
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(3));
}

#[tokio::test]
async fn a_statement_that_would_change_more_than_fits_is_refused_and_undone() {
    let limits = DatabaseLimits { growth_bytes: 1 << 20, ..DatabaseLimits::default() };
    let bench = Bench::limited(SHOP, limits);
    let bytes = bench.bytes();
    let sql = "CREATE TABLE large AS WITH RECURSIVE n(i) AS
        (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT randomblob(100000) FROM n";
    let told = refused(bench.agreed(sql).await, sql);
    assert!(told.contains("grow") && told.contains("nothing was changed"), "{told}");
    assert!(bench.bytes() == bytes);
}

#[tokio::test]
async fn reads_go_on_while_a_write_waits_for_the_user() {
    let bench = Arc::new(Bench::new(SHOP));
    let question = bench.asked("DELETE FROM purchase").await;
    assert!(!question.text.is_empty());
    // Nothing is locked between the question and the answer.
    let other = Connection::open(&bench.file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE; COMMIT").unwrap();
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(3));
}

#[tokio::test]
async fn asking_does_not_even_write_the_same_bytes_again() {
    let bench = Bench::new(
        "CREATE TABLE large AS WITH RECURSIVE n(i) AS
             (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000)
         SELECT i, hex(zeroblob(500)) AS filler FROM n",
    );
    let written = || std::fs::metadata(&bench.file).unwrap().modified().unwrap();
    let before = written();
    bench.asked("UPDATE large SET filler = upper(filler) || 'x'").await;
    assert_eq!(written(), before);
    assert_eq!(bench.files(), ["shop.db"]);
}

#[tokio::test]
async fn a_wal_database_is_written_and_read_like_any_other() {
    let bench = Bench::new(&format!("{SHOP} PRAGMA journal_mode = WAL;"));
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(3));
    bench.asked("DELETE FROM purchase").await;
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(3));
    bench.agreed("DELETE FROM purchase").await.unwrap();
    assert_eq!(bench.cell("SELECT count(*) FROM purchase").await, json!(0));
}
