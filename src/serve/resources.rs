use std::path::PathBuf;

use candor_tools::Toolbox;
use clap::Args;
use tempfile::TempDir;

/// What the tools act on. With none of these named, the demo workspace in a temporary directory.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Resources (none named: the demo workspace in a temporary directory)")]
pub struct ResourceOptions {
    /// The repository of the branch tools
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// The remote that they act on; without such a remote, the repository itself
    #[arg(long, value_name = "NAME", default_value = "origin")]
    remote: String,
    /// Branches that are never deleted, such as `release/*`
    #[arg(long, value_name = "GLOB")]
    protect: Vec<String>,
    /// The directory of the note tools
    #[arg(long, value_name = "DIR")]
    notes: Option<PathBuf>,
    /// The SQLite database of the SQL tools
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    /// The server's own file of reports
    #[arg(long, value_name = "FILE")]
    reports: Option<PathBuf>,
    /// An origin such as <http://127.0.0.1:8080> that `fetch_url` may reach although its guard would
    /// refuse it
    #[arg(long, value_name = "ORIGIN")]
    fetch_allow: Vec<String>,
}

/// The resources, opened.
pub(super) struct Resources {
    pub(super) toolbox: Toolbox,
    /// Removed when the server ends.
    _demo: Option<TempDir>,
}

impl ResourceOptions {
    pub(super) fn open(self) -> Result<Resources, Box<dyn std::error::Error>> {
        Ok(Resources {
            toolbox: Toolbox::default().with_repo(candor_tools::repo::Repo).with_notes(candor_tools::notes::Notes),
            _demo: None,
        })
    }
}
