//! What the reports file holds: three reports, unread and without comments.

use candor_tools::reports::SCHEMA;
use rusqlite::Connection;

/// A report as it is seeded.
struct Report {
    /// How tools name it.
    name: &'static str,
    title: &'static str,
    /// Markdown.
    text: &'static str,
}

const REPORTS: [Report; 3] = [
    Report { name: "2026-03-sales", title: "Sales, March 2026", text: include_str!("reports/2026-03-sales.md") },
    Report { name: "2026-03-stock", title: "Stock, end of March 2026", text: include_str!("reports/2026-03-stock.md") },
    Report { name: "label-incident", title: "Labels a cent short", text: include_str!("reports/label-incident.md") },
];

/// Make the tables of a reports file and write the reports.
pub(super) fn fill(file: &Connection) -> rusqlite::Result<()> {
    file.execute_batch(SCHEMA)?;
    REPORTS.iter().try_for_each(|Report { name, title, text }| {
        file.execute("INSERT INTO report (name, title, text) VALUES (?1, ?2, ?3)", [name, title, text]).map(drop)
    })
}
