//! The reports file: recognised or created, and opened for one write.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use super::{APPLICATION_ID, ReportsLimits, SCHEMA};

/// The absolute path of a file that exists, or that can be created where it should.
pub(super) fn place(file: &Path) -> Result<PathBuf, String> {
    if file.to_string_lossy().starts_with("file:") {
        return Err("`file:` names are not taken; give a plain path".into());
    }
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_symlink() => {
            return Err("is a symbolic link; name the file that it leads to".into());
        }
        Ok(metadata) if !metadata.is_file() => return Err("is not a regular file".into()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.to_string()),
    }
    let name = file.file_name().ok_or("names no file")?;
    let parent = match file.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Err("names no file".into()),
    };
    let parent = fs::canonicalize(parent).map_err(|error| format!("its directory: {error}"))?;
    Ok(parent.join(name))
}

/// Write the tables into a new file, or recognise them in an old one.
pub(super) fn prepare(file: &Path, limits: &ReportsLimits) -> Result<(), String> {
    let told = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "is no SQLite database; name another file".into(),
        _ => format!("cannot be opened: {error}"),
    };
    let connection = open(file, limits, true).map_err(told)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(told)?;
    let number = |sql| connection.query_one(sql, [], |row| row.get::<_, i64>(0)).map_err(told);
    if number("SELECT count(*) FROM sqlite_schema")? == 0 {
        connection.execute_batch(SCHEMA).map_err(told)?;
    } else if number("PRAGMA application_id")? != APPLICATION_ID {
        return Err("is a database, but holds no reports; name another file".into());
    } else if number("PRAGMA user_version")? != 1 {
        return Err("was written by another version of this program".into());
    }
    connection.execute_batch("COMMIT").map_err(told)
}

pub(super) fn open(file: &Path, limits: &ReportsLimits, create: bool) -> rusqlite::Result<Connection> {
    let mut flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(limits.lock_time)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // EXTRA: what was acknowledged survives a power cut.
    connection.execute_batch("PRAGMA synchronous = EXTRA")?;
    let size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let bytes = i64::try_from(limits.file_bytes).unwrap_or(i64::MAX);
    let pages = (bytes / size.max(1)).clamp(1, i64::from(u32::MAX) - 2);
    connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    Ok(connection)
}
