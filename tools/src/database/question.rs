//! What the user is asked before a statement's changes stay.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::{Cell, TableChange, authorizer::Touched, refusal::shown};
use crate::Question;

/// The statement and what it changed, in words for the user and as a digest for the gate.
pub(super) fn question(
    sql: &str,
    params: &[Cell],
    tables: &[TableChange],
    total: u64,
    touched: &Touched,
) -> serde_json::Result<Question> {
    let mut text = format!("Run this statement on the database?\n\n    {}\n", shown(sql, 1_000));
    let params = serde_json::to_string(params)?;
    if params != "[]" {
        let _ = writeln!(text, "    with {}", shown(&params, 500));
    }
    text.push('\n');
    for change in tables.iter().take(20) {
        let _ = writeln!(text, "- {}", change.told(touched));
    }
    if tables.len() > 20 {
        let _ = writeln!(text, "- and {} more tables", tables.len() - 20);
    }
    for (verb, name) in touched.notes.iter().take(20) {
        let _ = writeln!(text, "- {verb} `{}`", shown(name, 100));
    }
    if tables.is_empty() && touched.notes.is_empty() {
        text.push_str("- It changes nothing as the database is now.\n");
    }
    text.push_str("\nThis cannot be undone.");

    // A row that somebody else adds meanwhile is no reason to ask again; another number of
    // changed or removed rows is.
    let counts: Vec<_> = tables.iter().map(|change| (&change.table, change.rows_changed, change.removed())).collect();
    let exact = serde_json::to_string(&(sql, params, counts, total, &touched.notes))?;
    let digest = Sha256::digest(exact.as_bytes());
    let subject = digest.iter().fold(String::from("execute "), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    Ok(Question { subject, text })
}

impl TableChange {
    /// Rows fewer than before.
    fn removed(&self) -> Option<i64> {
        let signed = |rows: u64| i64::try_from(rows).ok();
        Some(signed(self.rows_before?)? - signed(self.rows_after.unwrap_or(0))?)
    }

    fn told(&self, touched: &Touched) -> String {
        let table = shown(&self.table, 100);
        let count = |rows: Option<u64>| rows.map_or("unknown".into(), |rows| rows.to_string());
        let (before, after) = (count(self.rows_before), count(self.rows_after));
        if touched.dropped.contains(&self.table) {
            return format!("drops the table `{table}` and its rows ({before})");
        }
        if touched.altered.contains(&self.table) {
            return format!("alters the table `{table}`, rows in it: {before}");
        }
        if touched.created.contains(&self.table) {
            return format!("creates the table `{table}`, rows in it: {after}");
        }
        let changed = count(self.rows_changed);
        format!("`{table}`: {changed} rows changed; {before} rows before, {after} after")
    }
}
