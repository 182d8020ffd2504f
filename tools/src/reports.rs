//! Reports with their comments, in a SQLite file of the server's own.
//!
//! Nothing here changes or removes a row, and triggers in the file see to it that nothing else
//! that opens it does so by accident.

mod file;
mod rows;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rmcp::schemars;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::{
    OpenError, ToolError,
    database::{Call, Fault, Task, Threads, commit, watch},
};

/// Tables of a reports file, and the mark by which one is recognised.
///
/// The operator writes reports with SQL: `INSERT INTO report (name, title, text) VALUES (…)`.
/// Names are lower-case letters, digits and hyphens. `view` and `comment` number their rows from
/// 1 in each report; `at` is UTC in RFC 3339 and defaults to now.
pub const SCHEMA: &str = "
CREATE TABLE report (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
        CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^a-z0-9-]*'),
    title TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE view (
    report INTEGER NOT NULL REFERENCES report,
    number INTEGER NOT NULL,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ')),
    PRIMARY KEY (report, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE comment (
    report INTEGER NOT NULL REFERENCES report,
    number INTEGER NOT NULL,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ')),
    text TEXT NOT NULL,
    PRIMARY KEY (report, number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER view_stays BEFORE UPDATE ON view BEGIN SELECT raise(ABORT, 'append only'); END;
CREATE TRIGGER view_kept BEFORE DELETE ON view BEGIN SELECT raise(ABORT, 'append only'); END;
CREATE TRIGGER comment_stays BEFORE UPDATE ON comment BEGIN SELECT raise(ABORT, 'append only'); END;
CREATE TRIGGER comment_kept BEFORE DELETE ON comment BEGIN SELECT raise(ABORT, 'append only'); END;
PRAGMA application_id = 1129270608;
PRAGMA user_version = 1;
";

/// `CORP`, as `SCHEMA` sets it.
const APPLICATION_ID: i64 = 1_129_270_608;

/// Which file, and how much of everything.
#[derive(Clone, Debug, Default)]
pub struct ReportsConfig {
    /// The reports file; created with [`SCHEMA`] if there is none. Not a symbolic link.
    pub file: PathBuf,
    /// What calls may spend.
    pub limits: ReportsLimits,
}

/// What calls may spend on reports.
#[derive(Clone, Debug)]
pub struct ReportsLimits {
    /// Calls that may wait for the one thread: 64.
    pub queue: usize,
    /// Time of a call, waiting included: 5 s.
    pub time: Duration,
    /// Time to wait for a lock that another program holds; keep it below `time`: 1 s.
    pub lock_time: Duration,
    /// Bytes of a report's text that are returned: 256 KiB.
    pub text_bytes: usize,
    /// Bytes of one comment: 4 KiB.
    pub comment_bytes: usize,
    /// Comments that are returned with a report, the newest ones: 50.
    pub comments_shown: usize,
    /// Comments that a report may have: 1,000.
    pub comments_per_report: u64,
    /// Bytes that the file may grow to: 1 GiB.
    pub file_bytes: u64,
}

impl Default for ReportsLimits {
    fn default() -> Self {
        Self {
            queue: 64,
            time: Duration::from_secs(5),
            lock_time: Duration::from_secs(1),
            text_bytes: 256 << 10,
            comment_bytes: 4 << 10,
            comments_shown: 50,
            comments_per_report: 1_000,
            file_bytes: 1 << 30,
        }
    }
}

/// Short name of a report.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct ReportName(#[schemars(regex(pattern = "^[a-z0-9-]{1,64}$"))] pub String);

/// A report as it was read, and the view that reading it added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// How many times the report was viewed, this time included.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Whether the text was cut at the limit.
    pub truncated: bool,
    /// All comments that it has.
    pub comment_count: u64,
    /// The newest comments, oldest first.
    pub comments: Vec<Comment>,
}

/// What somebody wrote about a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Comment {
    /// Its number among the comments on this report, from 1.
    pub number: u64,
    /// When it was written, in UTC (RFC 3339).
    pub at: String,
    /// What its author wrote; not to be trusted.
    pub text: String,
}

/// An open reports file. Tools reach it through [`ReportsAdder`].
#[derive(Debug)]
pub struct Reports {
    file: Arc<Path>,
    limits: Arc<ReportsLimits>,
    thread: Threads<()>,
}

impl Reports {
    /// Open the file, creating it if there is none.
    ///
    /// # Errors
    ///
    /// If the file is something else than a reports file, or cannot be created.
    pub fn open(config: ReportsConfig) -> Result<Self, OpenError> {
        let ReportsConfig { file, limits } = config;
        let path = file.display().to_string();
        let failed = |problem: &str| OpenError(format!("reports `{path}`: {problem}"));
        let file = file::place(&file).map_err(|problem| failed(&problem))?;
        file::prepare(&file, &limits).map_err(|problem| failed(&problem))?;
        let thread = Threads::start("reports", 1, limits.queue)
            .map_err(|error| failed(&format!("cannot start a thread: {error}")))?;
        Ok(Self { file: file.into(), limits: limits.into(), thread })
    }

    async fn add<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &ReportsLimits) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (file, limits) = (Arc::clone(&self.file), Arc::clone(&self.limits));
        let task = Task { time: limits.time, denied: "not allowed", state: "; nothing was recorded" };
        let work = move |_: &mut _, call: &Arc<Call>| {
            // A fresh connection costs little beside the sync of a commit.
            let mut connection = file::open(&file, &limits, false)?;
            watch(&mut connection, call)?;
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let done = work(&connection, &limits)?;
            commit(connection, call, &task)?;
            Ok(done)
        };
        self.thread.run(task, work).await
    }
}

/// Records views and comments, and changes or removes nothing that exists.
#[derive(Debug)]
pub struct ReportsAdder(Arc<Reports>);

impl ReportsAdder {
    /// A handle on these reports.
    #[must_use]
    pub fn new(reports: Arc<Reports>) -> Self {
        Self(reports)
    }

    /// Read a report with its newest comments, and record that it was viewed.
    ///
    /// # Errors
    ///
    /// Refused, with nothing recorded: no such report, a locked or full file.
    pub async fn view(&self, report: ReportName) -> Result<View, ToolError> {
        self.0.add(move |connection, limits| rows::view(connection, limits, &report.0)).await
    }

    /// Add a comment to a report; returns its number.
    ///
    /// # Errors
    ///
    /// Refused, with nothing recorded: no such report, an empty or too long comment, a report
    /// with too many, a locked or full file.
    pub async fn comment(&self, report: ReportName, text: String) -> Result<u64, ToolError> {
        let most = self.0.limits.comment_bytes;
        if text.trim().is_empty() {
            return Err(ToolError::refused("`text` is empty; write the comment there"));
        }
        if text.len() > most {
            let bytes = text.len();
            return Err(ToolError::refused(format!("`text` has {bytes} bytes; a comment has at most {most}")));
        }
        self.0.add(move |connection, limits| rows::comment(connection, limits, &report.0, &text)).await
    }
}
