//! The demo workspace: small, plausible, and the same bytes wherever it is laid out.
//!
//! A project's repository with its bare `origin`, a shop's database, a team's notes and reports.
//! Contents and dates are fixed, so that what the tools print about it is reproducible, and a copy
//! of the whole directory works as well as the original: `origin` is a relative path.

mod history;
mod reports;
mod repository;

use std::{
    fmt::Display,
    fs, io,
    path::{Path, PathBuf},
};

use candor_tools::OpenError;
use rusqlite::Connection;

/// Where the parts of a workspace lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoWorkspace {
    /// The repository with a working tree; its remote `origin` is `../origin.git`.
    pub repo: PathBuf,
    /// The bare repository that branches are created in and deleted from.
    pub origin: PathBuf,
    /// A directory of Markdown notes.
    pub notes: PathBuf,
    /// A database: customers, products, orders and their lines.
    pub database: PathBuf,
    /// The file of reports, their views and comments.
    pub reports: PathBuf,
}

impl DemoWorkspace {
    /// The workspace that [`lay_out`] makes, or has made, in a directory.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Self {
            repo: dir.join("repo"),
            origin: dir.join("origin.git"),
            notes: dir.join("notes"),
            database: dir.join("shop.db"),
            reports: dir.join("reports.db"),
        }
    }
}

const NOTES: [(&str, &str); 4] = [
    ("welcome.md", include_str!("demo/notes/welcome.md")),
    (
        "release-checklist.md",
        include_str!("demo/notes/release-checklist.md"),
    ),
    ("ideas.md", include_str!("demo/notes/ideas.md")),
    ("standup.md", include_str!("demo/notes/standup.md")),
];

/// Lay out the demo workspace in a directory, which is created if need be.
///
/// # Errors
///
/// If the directory holds anything already, or cannot be written.
pub fn lay_out(dir: &Path) -> Result<DemoWorkspace, OpenError> {
    claim(dir)?;
    let workspace = DemoWorkspace::at(dir);
    let DemoWorkspace {
        repo,
        origin,
        notes,
        database,
        reports,
    } = &workspace;
    repository::lay_out(repo, origin).map_err(|cause| failed(origin, cause))?;
    write_notes(notes).map_err(|cause| failed(notes, cause))?;
    write_database(database, &[include_str!("demo/shop.sql")])
        .map_err(|cause| failed(database, cause))?;
    reports::lay_out(reports).map_err(|cause| failed(reports, cause))?;
    Ok(workspace)
}

/// Make sure that nothing of anybody else's lies in the directory.
fn claim(dir: &Path) -> Result<(), OpenError> {
    let shown = dir.display();
    match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(OpenError(format!(
            "`{shown}` is not empty; name a new or empty directory"
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).map_err(|cause| failed(dir, cause))
        }
        Err(cause) => Err(failed(dir, cause)),
    }
}

fn failed(path: &Path, cause: impl Display) -> OpenError {
    let shown = path.display();
    OpenError(format!(
        "cannot lay out `{shown}`: {cause}; name a new directory that you may write to"
    ))
}

fn write_notes(dir: &Path) -> io::Result<()> {
    fs::create_dir(dir)?;
    NOTES
        .iter()
        .try_for_each(|(name, text)| fs::write(dir.join(name), text))
}

/// A new database, filled by scripts.
fn write_database(path: &Path, scripts: &[&str]) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA foreign_keys = ON; BEGIN")?;
    scripts
        .iter()
        .try_for_each(|script| connection.execute_batch(script))?;
    connection.execute_batch("COMMIT")
}
