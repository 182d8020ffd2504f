//! What the SQLite lens makes of a change, and what it may not make of one.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use candor::{
    serve::demo,
    verify::{
        Effect, Grade,
        lens::sqlite::{effects, is_database},
        world::databases::{BUILDERS, Lock},
    },
};
use rusqlite::{Connection, ErrorCode, config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, types::Value};
use tempfile::TempDir;

use crate::support::candor;

/// A database before and after.
struct Pair {
    _dir: TempDir,
    before: PathBuf,
    after: PathBuf,
}

impl Pair {
    /// The same database twice.
    fn of(sql: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (before, after) = (dir.path().join("before.db"), dir.path().join("after.db"));
        run(&before, sql);
        copy(&before, &after);
        Self { _dir: dir, before, after }
    }

    fn then(self, sql: &str) -> Self {
        run(&self.after, sql);
        self
    }

    /// Twice, so that looking changes nothing.
    #[track_caller]
    fn effects(&self) -> Vec<Effect> {
        let found = effects("shop.db", Some(&self.before), Some(&self.after)).unwrap();
        let again = effects("shop.db", Some(&self.before), Some(&self.after)).unwrap();
        let counted = |effects: &[Effect]| effects.iter().filter(|e| e.excuse.is_none()).cloned().collect::<Vec<_>>();
        assert_eq!(counted(&found), counted(&again));
        found
    }

    /// As `grade place: what`, without the place of the database.
    #[track_caller]
    fn told(&self) -> Vec<String> {
        let tell = |e: Effect| format!("{:?} {}: {}", e.grade, e.place.trim_start_matches("shop.db: "), e.what);
        self.effects().into_iter().map(tell).collect()
    }
}

fn run(file: &Path, sql: &str) {
    Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

fn copy(from: &Path, to: &Path) {
    for suffix in ["", "-wal", "-journal"] {
        let with = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        if with(from).exists() {
            fs::copy(with(from), with(to)).unwrap();
        }
    }
}

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b, c REAL);
    INSERT INTO t VALUES (1, 'abc', 1, 1.5), (2, 'def', x'00ff', 2), (3, NULL, 'x', NULL);";

#[test]
fn a_change_of_rows_or_definitions_is_told_with_its_grade() {
    let cases: &[(&str, &str, &[&str])] = &[
        (TABLE, "SELECT * FROM t", &[]),
        (TABLE, "INSERT INTO t VALUES (9, 'new', 0, 0)", &["Additive t: 1 row new"]),
        (TABLE, "INSERT INTO t SELECT id + 10, a, b, c FROM t", &["Additive t: 3 rows new"]),
        (TABLE, "DELETE FROM t WHERE id = 2", &["Lossy t: 1 row gone"]),
        (TABLE, "DELETE FROM t", &["Lossy t: 3 rows gone"]),
        (TABLE, "UPDATE t SET b = 5 WHERE id < 3", &["Lossy t: 2 rows gone or changed, 2 rows new"]),
        // What SQL finds equal.
        (TABLE, "UPDATE t SET a = 'ABC' WHERE id = 1", &["Lossy t: 1 row gone or changed, 1 row new"]),
        (TABLE, "UPDATE t SET b = 1.0 WHERE id = 1", &["Lossy t: 1 row gone or changed, 1 row new"]),
        (TABLE, "UPDATE t SET b = x'78' WHERE id = 3", &["Lossy t: 1 row gone or changed, 1 row new"]),
        (TABLE, "UPDATE t SET b = '' WHERE id = 3", &["Lossy t: 1 row gone or changed, 1 row new"]),
        (TABLE, "UPDATE t SET id = 7 WHERE id = 3", &["Lossy t: 1 row gone or changed, 1 row new"]),
        (TABLE, "REPLACE INTO t VALUES (1, 'abc', 2, 1.5)", &["Lossy t: 1 row gone or changed, 1 row new"]),
        // What changes no row.
        (TABLE, "BEGIN; INSERT INTO t VALUES (9, 'new', 0, 0); ROLLBACK", &[]),
        (
            TABLE,
            "DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 'abc', 1, 1.5)",
            &["None shop.db: rewritten: main file"],
        ),
        (TABLE, "VACUUM", &["None shop.db: rewritten: main file"]),
        (TABLE, "PRAGMA page_size = 1024; VACUUM", &["None shop.db: rewritten: main file"]),
        (TABLE, "PRAGMA auto_vacuum = 1; VACUUM", &["None shop.db: rewritten: main file"]),
        (TABLE, "PRAGMA journal_mode = WAL", &["None shop.db: rewritten: main file"]),
        // Rows are a multiset: row numbers of a table without a key are nothing to anybody.
        (
            "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)",
            "DELETE FROM t; INSERT INTO t VALUES (2), (1)",
            &["None shop.db: rewritten: main file"],
        ),
        ("CREATE TABLE t (a); INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)", &["Additive t: 1 row new"]),
        (
            "CREATE TABLE t (a); INSERT INTO t VALUES (1), (1)",
            "DELETE FROM t WHERE rowid = 1",
            &["Lossy t: 1 row gone"],
        ),
        // Definitions.
        (TABLE, "CREATE TABLE u (x); INSERT INTO u VALUES (1)", &["Additive u: table created with 1 row"]),
        (TABLE, "CREATE INDEX i ON t (a)", &["Additive i: index created"]),
        (TABLE, "CREATE VIEW v AS SELECT 1", &["Additive v: view created"]),
        (TABLE, "CREATE TRIGGER t AFTER INSERT ON t BEGIN SELECT 1; END", &["Additive t: trigger created"]),
        (TABLE, "DROP TABLE t", &["Lossy t: table dropped with its 3 rows"]),
        (TABLE, "ALTER TABLE t ADD COLUMN d", &["Lossy t: table defined otherwise"]),
        (
            TABLE,
            "ALTER TABLE t RENAME TO u",
            &["Lossy t: table dropped with its 3 rows", "Additive u: table created with 3 rows"],
        ),
        ("CREATE TABLE t (a); CREATE INDEX i ON t (a)", "DROP INDEX i", &["Lossy i: index dropped"]),
        ("CREATE VIEW v AS SELECT 1", "DROP VIEW v; CREATE VIEW v AS SELECT 2", &["Lossy v: view defined otherwise"]),
        // Settings.
        (TABLE, "PRAGMA user_version = 3", &["Recoverable user_version: 0 before, 3 now"]),
        (TABLE, "PRAGMA application_id = 7", &["Recoverable application_id: 0 before, 7 now"]),
        // Bookkeeping.
        (
            TABLE,
            "ANALYZE",
            &["None sqlite_stat1: table created with 1 row", "None sqlite_stat4: table created with 0 rows"],
        ),
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t (a) VALUES (1)",
            "INSERT INTO t (a) VALUES (1)",
            &["None sqlite_sequence: 1 row gone or changed, 1 row new", "Additive t: 1 row new"],
        ),
    ];
    for (before, then, expected) in cases {
        assert_eq!(Pair::of(before).then(then).told(), *expected, "{then}");
    }
}

/// Every third row has a value that goes on in other pages.
const LARGE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, d GENERATED ALWAYS AS (length(b)) VIRTUAL);
    CREATE TABLE u (a, b); CREATE INDEX i ON t (b);
    CREATE TABLE w (a, b, PRIMARY KEY (a)) WITHOUT ROWID;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
    INSERT INTO t SELECT i * 2, i, printf('%.*c', CASE WHEN i % 3 THEN 20 ELSE 1500 END, 'x') FROM n;
    INSERT INTO u SELECT a, b FROM t; INSERT INTO w SELECT a, b FROM t;";

/// The rows of each table, and how often each stands there, by SQLite's own dump of values.
fn rows(file: &Path) -> BTreeMap<String, BTreeMap<String, i64>> {
    let connection = Connection::open(file).unwrap();
    let mut tables = BTreeMap::new();
    for table in ["t", "u", "w"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let counts: &mut BTreeMap<_, _> = tables.entry(table.to_owned()).or_default();
        while let Some(row) = rows.next().unwrap() {
            let mut text = String::new();
            (0..columns).for_each(|at| write!(text, "{:?}|", row.get::<_, Value>(at).unwrap()).unwrap());
            *counts.entry(text).or_default() += 1;
        }
    }
    tables
}

/// What must be told of two states, found the slow way.
fn expected(pair: &Pair) -> Vec<String> {
    let (before, after) = (rows(&pair.before), rows(&pair.after));
    let lacking = |one: &BTreeMap<String, i64>, other: &BTreeMap<String, i64>| -> i64 {
        one.iter().map(|(row, count)| (count - other.get(row).unwrap_or(&0)).max(0)).sum()
    };
    let rows = |count| if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
    let tell = |table: &String| match (lacking(&before[table], &after[table]), lacking(&after[table], &before[table])) {
        (0, 0) => Option::None,
        (0, new) => Some(format!("Additive {table}: {} new", rows(new))),
        (gone, 0) => Some(format!("Lossy {table}: {} gone", rows(gone))),
        (gone, new) => Some(format!("Lossy {table}: {} gone or changed, {} new", rows(gone), rows(new))),
    };
    before.keys().filter_map(tell).collect()
}

#[test]
fn what_is_skipped_by_pages_is_what_a_comparison_of_all_rows_finds_equal() {
    let changes = [
        "INSERT OR REPLACE INTO {t} (a, b) VALUES ({n}, 'new')",
        "INSERT OR REPLACE INTO {t} (a, b) VALUES (-{n}, printf('%.*c', 3000, 'y'))",
        "DELETE FROM {t} WHERE a = {n}",
        "DELETE FROM {t} WHERE a BETWEEN {n} AND {n} + 90",
        "UPDATE {t} SET b = b || 'z' WHERE a = {n}",
        // The last byte of a large value, which lies in a page of its own.
        "UPDATE {t} SET b = substr(b, 1, length(b) - 1) || '!' WHERE a = {n} / 3 * 3",
        "UPDATE {t} SET b = 'small' WHERE a BETWEEN {n} AND {n} + 40",
        "UPDATE {t} SET a = a WHERE a > {n}",
        "DELETE FROM {t}",
        "DELETE FROM {t} WHERE a = {n}; INSERT INTO u SELECT a, b FROM w WHERE a < {n} / 10",
        "DROP INDEX IF EXISTS i; DELETE FROM {t} WHERE a = {n}; CREATE INDEX i ON t (b)",
        "CREATE TABLE gone AS SELECT * FROM {t}; DROP TABLE gone; DELETE FROM {t} WHERE a = {n}",
        "VACUUM; DELETE FROM {t} WHERE a = {n}",
    ];
    for settings in ["", "PRAGMA auto_vacuum = 1;", "PRAGMA encoding = 'UTF-16le';"] {
        let start = Pair::of(&format!("PRAGMA page_size = 512; {settings} {LARGE}"));
        let mut random = 7_u64;
        for round in 0..25_u64 {
            fs::copy(&start.before, &start.after).unwrap();
            let mut told = String::new();
            for _ in 0..=round % 3 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let n = (random >> 33) % 600 + 1;
                let change = changes[(random >> 20) as usize % changes.len()];
                let table = ["t", "u", "w"][(random >> 50) as usize % 3];
                let sql = change.replace("{t}", table).replace("{n}", &n.to_string());
                run(&start.after, &format!("BEGIN; {sql}; COMMIT").replace("BEGIN; VACUUM;", "VACUUM; BEGIN;"));
                write!(told, "{sql}; ").unwrap();
            }
            let seen: Vec<_> = start.told().into_iter().filter(|effect| !effect.starts_with("None ")).collect();
            assert_eq!(seen, expected(&start), "{settings} {told}");
        }
    }
}

#[test]
fn a_log_and_a_journal_are_part_of_the_state() {
    let logged = Pair::of(&format!("PRAGMA journal_mode = WAL; {TABLE}"));
    let keep = |pair: &Pair, sql: &str| {
        let connection = Connection::open(&pair.after).unwrap();
        connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        connection.execute_batch(sql).unwrap();
    };
    keep(&logged, "SELECT count(*) FROM t");
    assert!(fs::exists(format!("{}-wal", logged.after.display())).unwrap());
    let effects = effects("shop.db", Some(&logged.before), Some(&logged.after)).unwrap();
    assert_eq!(effects.len(), 1);
    assert_eq!((effects[0].grade, effects[0].what.as_str()), (Grade::None, "rewritten: -wal, -shm"));
    assert!(effects[0].excuse.is_some());
    keep(&logged, "INSERT INTO t VALUES (9, 'new', 0, 0)");
    assert_eq!(logged.told(), ["Additive t: 1 row new"]);

    // A transaction that a crash cut short: half of it is in the main file already.
    let crashed = Pair::of(TABLE);
    let live = crashed.after.with_file_name("live.db");
    fs::copy(&crashed.before, &live).unwrap();
    let writer = Connection::open(&live).unwrap();
    writer
        .execute_batch(
            "PRAGMA cache_size = 2; BEGIN; CREATE TABLE u (x); INSERT INTO u VALUES (zeroblob(100000)); DELETE FROM t",
        )
        .unwrap();
    copy(&live, &crashed.after);
    assert!(fs::metadata(format!("{}-journal", crashed.after.display())).unwrap().len() > 512);
    assert_ne!(fs::read(&crashed.before).unwrap(), fs::read(&crashed.after).unwrap());
    assert!(crashed.effects().iter().all(|effect| effect.grade == Grade::None));
}

#[test]
fn what_cannot_be_read_is_lossy_if_it_changed_and_nothing_if_not() {
    let change = |pair: &Pair, bytes: &[u8]| fs::write(&pair.after, bytes).unwrap();
    let pair = Pair::of(TABLE);
    change(&pair, b"no database, or one that is encrypted");
    let [effect] = &pair.effects()[..] else { panic!() };
    assert!(effect.grade == Grade::Lossy && effect.what.contains("cannot be read"), "{effect:?}");
    fs::copy(&pair.after, &pair.before).unwrap();
    assert_eq!(pair.effects(), []);

    // A page of a table, overwritten.
    let pair = Pair::of(LARGE);
    let mut bytes = fs::read(&pair.after).unwrap();
    bytes[4096 * 40..4096 * 60].fill(0xff);
    change(&pair, &bytes);
    assert!(pair.effects().iter().any(|effect| effect.grade == Grade::Lossy), "{:?}", pair.effects());

    // A journal that would have SQLite look for, and remove, a file elsewhere.
    let pair = Pair::of(TABLE).then("INSERT INTO t VALUES (9, 'new', 0, 0)");
    let victim = pair.after.with_file_name("victim");
    fs::write(&victim, "mine").unwrap();
    let name = victim.to_str().unwrap().as_bytes();
    let mut journal = fs::read(&pair.before).unwrap();
    journal.extend(name);
    journal.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
    journal.extend(name.iter().map(|byte| u32::from(*byte)).sum::<u32>().to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(format!("{}-journal", pair.after.display()), journal).unwrap();
    let [effect] = &pair.effects()[..] else { panic!() };
    assert!(effect.grade == Grade::Lossy && effect.what.contains("elsewhere"), "{effect:?}");
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

#[test]
fn virtual_tables_are_judged_by_their_rows() {
    const FTS: &str = "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('one two'), ('three')";
    let worst = |before: &str, then: &str| Pair::of(before).then(then).effects().iter().map(|e| e.grade).max();
    let cases = [
        (FTS, "INSERT INTO f VALUES ('four')", Grade::Additive),
        (FTS, "DELETE FROM f WHERE rowid = 1", Grade::Lossy),
        (FTS, "UPDATE f SET a = 'two one' WHERE rowid = 1", Grade::Lossy),
        (FTS, "INSERT INTO f (f) VALUES ('optimize'); INSERT INTO f (f) VALUES ('rebuild')", Grade::None),
        (FTS, "DROP TABLE f", Grade::Lossy),
        ("CREATE VIRTUAL TABLE 'a \"b' USING fts4(x)", "INSERT INTO 'a \"b' VALUES ('one')", Grade::Additive),
        (
            "CREATE VIRTUAL TABLE f USING fts5(a, content = '')",
            "INSERT INTO f (rowid, a) VALUES (1, 'x')",
            Grade::Additive,
        ),
        ("CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "INSERT INTO r VALUES (1, 2, 3)", Grade::Additive),
        (
            "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3)",
            "INSERT INTO r VALUES (2, 2, 3)",
            Grade::Additive,
        ),
        (
            "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3)",
            "UPDATE r SET b = 4",
            Grade::Lossy,
        ),
    ];
    for (before, then, grade) in cases {
        assert_eq!(worst(before, then), Some(grade), "{then}");
    }

    // A module that we don't have: what it keeps in tables is not ours to read.
    let unknown = "CREATE TABLE x_rows (a); INSERT INTO x_rows VALUES (1); CREATE TABLE t (a);
        PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'CREATE VIRTUAL TABLE x USING vectors(a)');";
    assert_eq!(Pair::of(unknown).then("INSERT INTO t VALUES (1)").told(), ["Additive t: 1 row new"]);
    let told = Pair::of(unknown).then("INSERT INTO x_rows VALUES (1)").told();
    assert_eq!(told, ["Lossy x_rows: changed, and cannot be read: it belongs to an unknown module"]);
}

#[test]
fn a_database_that_comes_or_goes_is_one_effect() {
    let pair = Pair::of(TABLE);
    let grades = |before, after| {
        let effects = effects("shop.db", before, after).unwrap();
        effects.iter().map(|effect| effect.grade).collect::<Vec<_>>()
    };
    assert_eq!(grades(None, None), []);
    assert_eq!(grades(None, Some(&*pair.after)), [Grade::Additive]);
    assert_eq!(grades(Some(&*pair.before), None), [Grade::Lossy]);
    // An empty file is an empty database.
    fs::write(&pair.before, "").unwrap();
    assert_eq!(grades(Some(&*pair.before), Some(&*pair.after)), [Grade::Additive]);
    assert!(is_database(&fs::read(&pair.after).unwrap()) && !is_database(b"") && !is_database(b"SQLite format 4"));
}

#[test]
fn each_world_of_databases_can_be_built_the_same_twice_and_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    for (name, build) in BUILDERS {
        let database = |which: &str| demo::lay_out(&dir.path().join(format!("{name} {which}"))).unwrap().database;
        let [plain, one, other] = ["plain", "one", "other"].map(database);
        build(&one).unwrap();
        build(&other).unwrap();
        let worst = |before: &Path, after: &Path| {
            let effects = effects("shop.db", Some(before), Some(after)).unwrap();
            effects.iter().map(|effect| effect.grade).max().unwrap_or(Grade::None)
        };
        assert_eq!(worst(&one, &other), Grade::None, "{name}");
        assert!(worst(&plain, &one) > Grade::None, "{name}");
    }
}

#[test]
fn a_lock_is_held_until_it_is_dropped_even_if_the_file_is_read_meanwhile() {
    let pair = Pair::of(TABLE);
    let write = || Connection::open(&pair.after).unwrap().execute("DELETE FROM t WHERE id = 1", []);
    let mut holder = candor();
    holder.arg("__hold-lock").arg(&pair.after);
    let lock = Lock::held_by(holder).unwrap();
    fs::read(&pair.after).unwrap();
    assert_eq!(write().unwrap_err().sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
    assert_eq!(fs::read(&pair.before).unwrap(), fs::read(&pair.after).unwrap(), "a lock leaves no trace");
    drop(lock);
    assert_eq!(write(), Ok(1));

    let mut holder = candor();
    holder.arg("__hold-lock").arg(pair.after.with_file_name("missing/x.db"));
    assert!(Lock::held_by(holder).is_err());
}
