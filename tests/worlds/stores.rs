//! Databases in a world are judged by their rows, whatever their files do.

use std::path::Path;

use candor::verify::{Grade, World, WorldError};
use rusqlite::Connection;

use super::{Trial, told, worst};

fn lay_out(dir: &Path) -> Result<(), WorldError> {
    for (name, mode) in [("wal.db", "wal"), ("plain.db", "delete")] {
        let connection = Connection::open(dir.join(name))?;
        connection.pragma_update(None, "journal_mode", mode)?;
        connection.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);")?;
    }
    Ok(())
}

fn trial() -> Trial {
    Trial::of(&World::builder("stores", lay_out))
}

#[test]
fn rows_decide_in_either_journal_mode() {
    for store in ["wal.db", "plain.db"] {
        let mut trial = trial();
        let connection = Connection::open(trial.path().join(store)).unwrap();
        let mut run = |sql: &str| {
            let effects = trial.effects(|_| connection.execute_batch(sql).unwrap());
            assert!(effects.iter().all(|effect| effect.lens == "sqlite"), "{:?}", told(&effects));
            worst(&effects)
        };
        for (sql, grade) in [
            ("SELECT * FROM t", Grade::None),
            ("INSERT INTO t VALUES (3)", Grade::Additive),
            ("UPDATE t SET a = 4 WHERE a = 3", Grade::Lossy),
            ("BEGIN; DELETE FROM t; ROLLBACK", Grade::None),
            ("CREATE TABLE u(b)", Grade::Additive),
            ("DELETE FROM t WHERE a = 4", Grade::Lossy),
        ] {
            assert_eq!(run(sql), grade, "{store}: {sql}");
        }
    }
}

#[test]
fn files_beside_a_database_are_excused_by_a_rule() {
    let mut trial = trial();
    let mut connection = None;
    let effects = trial.effects(|world| {
        let open = Connection::open(world.join("wal.db")).unwrap();
        open.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        connection = Some(open);
    });
    assert!(!effects.is_empty() && effects.iter().all(|effect| effect.excuse.is_some()), "{:?}", told(&effects));
}

#[test]
fn a_database_that_became_something_else_is_no_store_any_more() {
    let mut trial = trial();
    let effects = trial.effects(|world| std::fs::write(world.join("plain.db"), "text").unwrap());
    assert_eq!((worst(&effects), effects[0].lens), (Grade::Lossy, "files"), "{:?}", told(&effects));
    let effects = trial.effects(|world| std::fs::remove_file(world.join("wal.db")).unwrap());
    assert_eq!(worst(&effects), Grade::Lossy);
}

#[test]
fn a_new_database_is_additive() {
    let mut trial = trial();
    let effects = trial.effects(|world| {
        Connection::open(world.join("new.db")).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
    });
    assert_eq!((worst(&effects), effects[0].place.as_str()), (Grade::Additive, "new.db"), "{:?}", told(&effects));
}
