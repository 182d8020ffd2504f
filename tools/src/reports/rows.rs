//! What is read from the reports file and added to it, inside a transaction of the caller's.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Comment, ReportsLimits, View};
use crate::database::{Fault, shown};

pub(super) fn view(connection: &Connection, limits: &ReportsLimits, report: &str) -> Result<View, Fault> {
    let id = id(connection, report)?;
    let sql = "INSERT INTO view (report, number) \
               SELECT ?1, coalesce(max(number), 0) + 1 FROM view WHERE report = ?1 \
               RETURNING number";
    let number = connection.query_one(sql, [id], |row| row.get::<_, i64>(0))?.unsigned_abs();
    let (title, text): (String, String) =
        connection
            .query_one("SELECT title, text FROM report WHERE id = ?1", [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut newest =
        connection.prepare("SELECT number, at, text FROM comment WHERE report = ?1 ORDER BY number DESC LIMIT ?2")?;
    let shown = i64::try_from(limits.comments_shown).unwrap_or(i64::MAX);
    let mut comments = newest
        .query_map(params![id, shown], |row| {
            let number = row.get::<_, i64>(0)?.unsigned_abs();
            Ok(Comment { number, at: row.get(1)?, text: row.get(2)? })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    comments.reverse();
    let mut kept = limits.text_bytes.min(text.len());
    while !text.is_char_boundary(kept) {
        kept -= 1;
    }
    Ok(View {
        number,
        title,
        truncated: kept < text.len(),
        text: text.get(..kept).unwrap_or_default().to_owned(),
        comment_count: comment_count(connection, id)?,
        comments,
    })
}

pub(super) fn comment(connection: &Connection, limits: &ReportsLimits, report: &str, text: &str) -> Result<u64, Fault> {
    let id = id(connection, report)?;
    let count = comment_count(connection, id)?;
    if count >= limits.comments_per_report {
        return Err(Fault::refused(format!("report `{report}` has {count} comments, as many as it may have")));
    }
    let sql = "INSERT INTO comment (report, number, text) \
               SELECT ?1, coalesce(max(number), 0) + 1, ?2 FROM comment WHERE report = ?1 \
               RETURNING number";
    let number = connection.query_one(sql, params![id, text], |row| row.get::<_, i64>(0))?;
    Ok(number.unsigned_abs())
}

fn comment_count(connection: &Connection, id: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM comment WHERE report = ?1";
    Ok(connection.query_one(sql, [id], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

/// Reports that a refusal names.
const NAMED: usize = 20;

fn id(connection: &Connection, report: &str) -> Result<i64, Fault> {
    let sql = "SELECT id FROM report WHERE name = ?1";
    let found = connection.query_one(sql, [report], |row| row.get(0)).optional()?;
    if let Some(id) = found {
        return Ok(id);
    }
    let mut statement = connection.prepare("SELECT name FROM report ORDER BY name LIMIT ?1")?;
    let names = statement
        .query_map([i64::try_from(NAMED + 1).unwrap_or(i64::MAX)], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let listed: Vec<_> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let there_are = match names.len() {
        0 => "there are none".into(),
        count if count > NAMED => format!("there are {} and more", listed.join(", ")),
        _ => format!("there are {}", listed.join(", ")),
    };
    Err(Fault::refused(format!("there is no report `{}`; {there_are}", shown(report, 100))))
}
