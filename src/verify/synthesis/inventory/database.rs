//! The tables of a SQLite database, read without touching it.

use std::{collections::BTreeSet, ffi::OsString, fs, io, path::Path};

use rusqlite::{Connection, OpenFlags, config::DbConfig, limits::Limit, types::ValueRef};
use serde_json::{Map, Value};

use super::{Column, Key, Table};

type Failure = Box<dyn std::error::Error>;

/// Bytes of a database that is copied to be read.
const BYTES: u64 = 256 << 20;
/// Rows kept of a table, bytes of a value in them, and virtual machine steps for a database.
const ROWS: usize = 3;
const VALUE: i32 = 1 << 20;
const TEXT: usize = 200;
const STEPS: i32 = 20_000_000;

pub(super) fn tables(path: &Path, place: &str, most: usize) -> Result<Vec<Table>, Failure> {
    // Even a reader writes beside a database in WAL mode.
    let dir = tempfile::tempdir()?;
    let copy = dir.path().join("copy.db");
    let sidecar = |path: &Path, end: &str| {
        let mut name = OsString::from(path);
        name.push(end);
        name
    };
    let mut left = BYTES;
    for end in ["", "-wal", "-journal"] {
        let bytes = match fs::metadata(sidecar(path, end)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !end.is_empty() => continue,
            found => found?.len(),
        };
        left = left.checked_sub(bytes).ok_or("the database is too large to be looked at")?;
        fs::copy(sidecar(path, end), sidecar(&copy, end))?;
    }
    let mut db =
        Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE)?;
    let mut steps = 0;
    db.progress_handler(
        1_000,
        Some(move || {
            steps += 1_000;
            steps > STEPS
        }),
    )?;
    let names = db
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")?
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<Result<Vec<_>, _>>()?;
    let names = names.into_iter().filter(|name| !name.starts_with("sqlite_")).take(most);
    names.map(|name| table(&db, place, name)).collect()
}

fn table(db: &Connection, place: &str, name: String) -> Result<Table, Failure> {
    let columns = columns(db, &name)?;
    let list: Vec<_> = columns.iter().map(|column| quoted(&column.name)).collect();
    let sql = format!("SELECT {} FROM {} LIMIT {ROWS}", list.join(", "), quoted(&name));
    let rows = db
        .prepare(&sql)?
        .query_map([], |row| {
            let value = |(at, column): (usize, &Column)| Ok((column.name.clone(), json(row.get_ref(at)?)));
            columns.iter().enumerate().map(value).collect::<Result<Vec<_>, _>>()
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let known = |row: Vec<(String, Option<Value>)>| -> Map<String, Value> {
        row.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    };
    Ok(Table { database: place.to_owned(), rows: rows.into_iter().map(known).collect(), name, columns })
}

fn json(value: ValueRef<'_>) -> Option<Value> {
    match value {
        ValueRef::Integer(value) => Some(value.into()),
        ValueRef::Real(value) => serde_json::Number::from_f64(value).map(Value::Number),
        ValueRef::Text(text) if text.len() <= TEXT => std::str::from_utf8(text).ok().map(Value::from),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    }
}

fn columns(db: &Connection, table: &str) -> Result<Vec<Column>, Failure> {
    let keys: BTreeSet<String> = db
        .prepare(
            "SELECT columns.name FROM pragma_index_list(?1) AS keys, pragma_index_info(keys.name) AS columns
             WHERE keys.\"unique\" AND columns.name IS NOT NULL",
        )?
        .query_map([table], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    // The second column is null where the primary key is meant.
    let references = db
        .prepare("SELECT \"from\", \"table\", coalesce(\"to\", 'id') FROM pragma_foreign_key_list(?1)")?
        .query_map([table], |row| Ok((row.get::<_, String>(0)?, (row.get(1)?, row.get(2)?))))?
        .collect::<Result<Vec<(String, (String, String))>, _>>()?;
    let mut columns = db
        .prepare("SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk, hidden FROM pragma_table_xinfo(?1)")?
        .query_map([table], |row| {
            let (name, declared): (String, String) = (row.get(0)?, row.get(1)?);
            let (not_null, default, primary): (bool, bool, u32) = (row.get(2)?, row.get(3)?, row.get(4)?);
            Ok(Column {
                key: match primary {
                    0 if keys.contains(&name) => Key::Unique,
                    0 => Key::None,
                    _ if declared.eq_ignore_ascii_case("integer") => Key::Rowid,
                    _ => Key::Unique,
                },
                needed: (not_null || primary > 0) && !default,
                generated: row.get::<_, u32>(5)? != 0,
                references: references.iter().find(|(from, _)| *from == name).map(|(_, to)| to.clone()),
                name,
                declared,
            })
        })?
        .collect::<Result<Vec<_>, _>>()?;
    // An integer is the rowid only where it is the whole key; the key's other columns are not null by declaration.
    let parts =
        db.query_row("SELECT count(*) FROM pragma_table_xinfo(?1) WHERE pk > 0", [table], |row| row.get::<_, u32>(0))?;
    let whole = parts == 1;
    for column in &mut columns {
        if column.key == Key::Rowid && !whole {
            column.key = Key::Unique;
        }
    }
    Ok(columns)
}

pub(in crate::verify::synthesis) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
