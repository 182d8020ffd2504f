//! What the reports file holds: three reports, unread and without comments.

use std::path::Path;

/// A report as it is seeded.
struct Report {
    /// How tools name it.
    name: &'static str,
    title: &'static str,
    /// Markdown.
    text: &'static str,
}

const REPORTS: [Report; 3] = [
    Report {
        name: "2026-03-sales",
        title: "Sales, March 2026",
        text: include_str!("reports/2026-03-sales.md"),
    },
    Report {
        name: "2026-03-stock",
        title: "Stock, end of March 2026",
        text: include_str!("reports/2026-03-stock.md"),
    },
    Report {
        name: "label-incident",
        title: "Labels a cent short",
        text: include_str!("reports/label-incident.md"),
    },
];

/// Write the reports file.
pub(super) fn lay_out(path: &Path) -> rusqlite::Result<()> {
    super::write_database(path, &[SCHEMA])?;
    let connection = rusqlite::Connection::open(path)?;
    for Report { name, title, text } in &REPORTS {
        connection.execute(
            "INSERT INTO reports (name, title, text) VALUES (?1, ?2, ?3)",
            [name, title, text],
        )?;
    }
    Ok(())
}

const SCHEMA: &str =
    "CREATE TABLE reports (name TEXT PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL) STRICT";
