//! The demo workspace: small, plausible, and the same bytes wherever it is laid out.
//!
//! A project's repository with its bare `origin`, a shop's database, a team's notes and reports.
//! Contents and dates are fixed, so that what the tools print about it is reproducible, and a copy
//! of the whole directory works as well as the original: `origin` is a relative path.

mod history;
mod reports;
mod repository;

use std::{
    fmt,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
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

const SHOP: &str = include_str!("demo/shop.sql");

const NOTES: [(&str, &str); 4] = [
    ("welcome.md", include_str!("demo/notes/welcome.md")),
    ("release-checklist.md", include_str!("demo/notes/release-checklist.md")),
    ("ideas.md", include_str!("demo/notes/ideas.md")),
    ("standup.md", include_str!("demo/notes/standup.md")),
];

/// Tuesday, 3 March 2026, 08:30 UTC. Each note is a day younger than the one before.
const FIRST_NOTE: u64 = 1_772_526_600;

/// What lies where, and how to serve it.
impl fmt::Display for DemoWorkspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repo, origin, notes, database, reports } = self;
        let [repo, origin, notes, database, reports] = [repo, origin, notes, database, reports].map(|path| word(path));
        writeln!(f, "The demo workspace:\n")?;
        writeln!(f, "  repository  {repo}")?;
        writeln!(f, "  its remote  {origin}")?;
        writeln!(f, "  notes       {notes}")?;
        writeln!(f, "  database    {database}")?;
        writeln!(f, "  reports     {reports}\n")?;
        writeln!(f, "To serve it:\n")?;
        write!(f, "  candor serve --repo {repo} --protect 'release/*'")?;
        writeln!(f, " --notes {notes} --database {database} --reports {reports}")
    }
}

/// A path as one word of a shell command.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |char: char| char.is_alphanumeric() || "/._-+:@%,".contains(char);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Lay out the demo workspace in a directory, which is created if need be.
///
/// # Errors
///
/// If the directory holds anything already, or cannot be written.
pub fn lay_out(dir: &Path) -> Result<DemoWorkspace, OpenError> {
    claim(dir)?;
    let workspace = DemoWorkspace::at(dir);
    let DemoWorkspace { repo, origin, notes, database, reports } = &workspace;
    repository::lay_out(repo, origin).map_err(|cause| failed(origin, cause))?;
    write_notes(notes).map_err(|cause| failed(notes, cause))?;
    write_database(database, |shop| shop.execute_batch(SHOP)).map_err(|cause| failed(database, cause))?;
    write_database(reports, reports::fill).map_err(|cause| failed(reports, cause))?;
    Ok(workspace)
}

/// Make sure that nothing of anybody else's lies in the directory.
fn claim(dir: &Path) -> Result<(), OpenError> {
    let shown = dir.display();
    match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(OpenError(format!("`{shown}` is not empty; name a new or empty directory"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).map_err(|cause| failed(dir, cause))
        }
        Err(cause) => Err(failed(dir, cause)),
    }
}

fn failed(path: &Path, cause: impl fmt::Display) -> OpenError {
    let shown = path.display();
    OpenError(format!("cannot lay out `{shown}`: {cause}; name a new directory that you may write to"))
}

fn write_notes(dir: &Path) -> io::Result<()> {
    fs::create_dir(dir)?;
    for ((name, text), days) in NOTES.iter().zip(0..) {
        let mut file = File::create_new(dir.join(name))?;
        file.write_all(text.as_bytes())?;
        // `list_notes` tells when a note last changed.
        file.set_modified(UNIX_EPOCH + Duration::from_secs(FIRST_NOTE + days * 86_400))?;
    }
    Ok(())
}

/// A new database, filled in one go.
fn write_database(path: &Path, fill: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction()?;
    fill(&transaction)?;
    transaction.commit()
}
