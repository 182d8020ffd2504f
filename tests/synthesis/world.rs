//! What a world holds, and what parameters take from it.

use std::{fs, path::Path};

use candor::{
    serve::demo,
    verify::synthesis::{Inventory, Key},
};
use rusqlite::Connection;
use serde_json::json;

use super::{made_in, values};

fn world() -> (tempfile::TempDir, Inventory) {
    let dir = tempfile::tempdir().unwrap();
    demo::lay_out(&dir.path().join("world")).unwrap();
    let found = Inventory::of(&dir.path().join("world")).unwrap();
    (dir, found)
}

/// Every path below a directory, with what it holds and when it changed.
fn state(dir: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let mut state = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let changed = fs::symlink_metadata(&path).unwrap().modified().unwrap();
        let held = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        state.push((path.display().to_string(), held, changed));
        if path.is_dir() && !path.is_symlink() {
            state.extend(self::state(&path));
        }
    }
    state.sort();
    state
}

#[test]
fn the_demo_is_found_whole() {
    let (_dir, found) = world();
    let branches: Vec<_> = found.branches.iter().map(|branch| branch.name.as_str()).collect();
    assert_eq!(
        branches,
        ["experiment/cache", "feature/search", "fix/rounding", "fix/typo", "release/1.0", "docs/readme", "main"],
        "those that a HEAD names come last"
    );
    assert!(found.branches.iter().all(|branch| branch.head.len() == 40));
    assert_eq!(found.repositories, ["origin.git", "repo"]);
    assert_eq!(found.databases, ["reports.db", "shop.db"]);
    assert!(found.files.contains(&"notes/ideas.md".to_owned()) && found.files.contains(&"repo/README.md".to_owned()));
    assert!(!found.files.iter().any(|file| file.contains(".git/")), "{:?}", found.files);
    assert!(found.directories.contains(&"notes".to_owned()));
    assert_eq!(found.unread, [] as [String; 0]);
    let tables: Vec<_> = found.tables.iter().filter(|table| table.database == "shop.db").collect();
    assert_eq!(
        tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
        ["customers", "order_lines", "orders", "products"]
    );
    let column = |table: usize, name: &str| tables[table].columns.iter().find(|column| column.name == name).unwrap();
    assert_eq!(
        (column(0, "id").key, column(0, "email").key, column(0, "city").key),
        (Key::Rowid, Key::Unique, Key::None)
    );
    assert_eq!(
        (column(1, "line").key, column(1, "amount").generated, column(1, "price").generated),
        (Key::Unique, true, false)
    );
    assert_eq!(column(1, "order_id").references, Some(("orders".into(), "id".into())));
    assert!(column(2, "ordered_on").needed && !column(2, "status").needed && !column(2, "remark").needed);
}

#[test]
fn looking_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let world = dir.path().join("world");
    let places = demo::lay_out(&world).unwrap();
    // A database in WAL mode with what no checkpoint has put into it yet.
    let writer = Connection::open(&places.database).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.execute_batch("CREATE TABLE late (x TEXT NOT NULL); INSERT INTO late VALUES ('in the log')").unwrap();
    let before = state(&world);
    let found = Inventory::of(&world).unwrap();
    assert!(state(&world) == before, "something was written, or touched");
    let late = found.tables.iter().find(|table| table.name == "late").unwrap();
    assert_eq!(late.rows, [json!({"x": "in the log"}).as_object().unwrap().clone()]);
    assert!(!found.files.iter().any(|file| file.contains("-wal") || file.contains("-shm")), "{:?}", found.files);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("broken.db"), b"SQLite format 3\0 and then nothing of the kind").unwrap();
    fs::create_dir_all(at("broken.git/objects")).unwrap();
    fs::create_dir_all(at("broken.git/refs")).unwrap();
    fs::write(at("broken.git/HEAD"), "nonsense").unwrap();
    fs::write(at("a.txt"), "text").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc", at("away")).unwrap();
        std::os::unix::fs::symlink(".", at("round")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
    }
    let found = Inventory::of(dir.path()).unwrap();
    assert_eq!(found.files, ["a.txt"]);
    assert_eq!(found.unread.len(), 2, "{:?}", found.unread);
    assert!(found.unread[0].starts_with("`broken.db`: ") && found.unread[1].starts_with("`broken.git`: "));
    assert!(Inventory::of(&at("missing")).is_err());
}

#[test]
fn names_of_parameters_choose_the_source() {
    let (_dir, world) = world();
    let first = |name: &str| {
        let schema = json!({"type": "object", "required": [name], "properties": {name: {"type": "string"}}});
        values(&made_in(&world, &schema), name)
    };
    for name in ["branch", "branchName", "branch_name", "source_branch", "target-branch"] {
        let values = first(name);
        assert_eq!(values[0], "experiment/cache", "{name}: {values:?}");
        assert!(values.contains(&json!("candor-new")), "{name}: {values:?}");
    }
    for name in ["commit", "sha", "head"] {
        let values = first(name);
        assert_eq!(values[0].as_str().unwrap().len(), 40, "{name}: {values:?}");
    }
    for (name, value) in [("revision", "HEAD"), ("timezone", "UTC"), ("target_time_zone", "UTC"), ("time", "09:30")] {
        assert_eq!(first(name)[0], value, "{name}: {:?}", first(name));
    }
    for name in ["table", "table_name", "tableName"] {
        assert!(world.tables.iter().any(|table| first(name)[0] == table.name.as_str()), "{name}: {:?}", first(name));
    }
    for name in ["path", "file", "filePath", "file_name"] {
        let values = first(name);
        assert!(values[0].as_str().unwrap().starts_with("{world}/"), "{name}: {values:?}");
        assert!(values.contains(&json!("{world}/candor-new.txt")), "{name}: {values:?}");
        assert!(
            values.iter().any(|value| !value.as_str().unwrap().starts_with('{')),
            "{name}: relative too: {values:?}"
        );
    }
    assert_eq!(first("destination")[0], "{world}/candor-new.txt");
    assert_eq!(first("repo_path")[0], "{world}/origin.git");
    assert!(first("repo_path").contains(&json!("{world}/repo")));
    assert!(first("directory").contains(&json!("{world}")));
    assert_eq!(first("db_path")[0], "{world}/reports.db");
    assert_eq!(first("url")[..3], ["{listener}/", "{listener}/missing", "{listener}/redirect"]);
    assert!(first("text").len() == 2 && first("content").len() == 2);
    for name in ["sql", "query", "statement"] {
        let values = first(name);
        for (verb, least) in [("SELECT", 4), ("INSERT", 2), ("UPDATE", 4), ("DELETE", 2), ("DROP", 2), ("CREATE", 1)] {
            let count = values.iter().filter(|sql| sql.as_str().unwrap().starts_with(verb)).count();
            assert!(count >= least, "{name}: {count} {verb}: {values:?}");
        }
        assert!(values[0].as_str().unwrap().starts_with("SELECT"));
    }
}

#[test]
fn statements_work_on_names_that_need_quotes() {
    let dir = tempfile::tempdir().unwrap();
    let db = Connection::open(dir.path().join("a.db")).unwrap();
    db.execute_batch(
        "CREATE TABLE \"or\"\"der' t\" (\"group by\" TEXT NOT NULL, n INTEGER, UNIQUE (\"group by\"));
         INSERT INTO \"or\"\"der' t\" VALUES ('it''s', 1);
         CREATE VIRTUAL TABLE words USING fts5(text); CREATE VIEW v AS SELECT 1;
         CREATE TABLE blobs (b BLOB NOT NULL) STRICT; CREATE TABLE none (id INTEGER PRIMARY KEY);",
    )
    .unwrap();
    let world = Inventory::of(dir.path()).unwrap();
    assert_eq!(
        world.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
        ["blobs", "none", "or\"der' t"]
    );
    let only = Inventory { tables: world.tables[2..].to_vec(), ..Inventory::default() };
    let schema = json!({"type": "object", "required": ["sql"], "properties": {"sql": {"type": "string"}}});
    for sql in values(&made_in(&only, &schema), "sql") {
        db.execute_batch("SAVEPOINT trial").unwrap();
        db.execute_batch(sql.as_str().unwrap()).unwrap_or_else(|error| panic!("{sql}: {error}"));
        db.execute_batch("ROLLBACK TO trial").unwrap();
    }
}
