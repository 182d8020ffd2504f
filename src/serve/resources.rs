//! What the tools act on: the operator's own repository, notes, database and reports, or the demo
//! workspace.

mod limits;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use candor_tools::{
    OpenError, Toolbox,
    database::{Database, DatabaseConfig},
    notes::{Notes, NotesConfig},
    repo::{Repo, RepoConfig},
    reports::{Reports, ReportsConfig},
    web::{Web, WebConfig},
};
use clap::Args;
use tempfile::TempDir;

use super::{
    demo::{self, DemoWorkspace},
    places::{Place, must_be_apart},
};
use limits::{DatabaseOptions, NotesOptions, RepoOptions, ReportsOptions, WebOptions};

/// What the tools act on. With none of these named, the demo workspace in a temporary directory.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Resources (none named: the demo workspace in a temporary directory)")]
pub struct ResourceOptions {
    /// The repository of the branch tools
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// The remote that they act on; `origin` where there is one, else the repository itself
    #[arg(long, value_name = "NAME", requires = "repo")]
    remote: Option<String>,
    /// Branches that are never deleted, such as `release/*`
    #[arg(long, value_name = "GLOB")]
    protect: Vec<String>,
    /// Change branches although the repository has hooks that could forbid it; they are not run
    #[arg(long, requires = "repo")]
    trust_hooks: bool,
    /// The directory of the note tools
    #[arg(long, value_name = "DIR")]
    notes: Option<PathBuf>,
    /// The SQLite database of the SQL tools
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    /// The server's own file of reports
    #[arg(long, value_name = "FILE")]
    reports: Option<PathBuf>,
    /// An origin such as <http://127.0.0.1:8080> that `fetch_url` may reach although its guard
    /// would refuse it
    #[arg(long, value_name = "ORIGIN")]
    fetch_allow: Vec<String>,

    #[command(flatten)]
    repo_limits: RepoOptions,
    #[command(flatten)]
    notes_limits: NotesOptions,
    #[command(flatten)]
    database_limits: DatabaseOptions,
    #[command(flatten)]
    reports_limits: ReportsOptions,
    #[command(flatten)]
    web_limits: WebOptions,
}

/// What belongs to the server itself and to no tool.
#[derive(Debug, Default)]
pub(super) struct Own<'a> {
    /// By the option that names it.
    pub(super) files: Vec<(&'static str, &'a Path)>,
    /// Where it listens, and under which further names.
    pub(super) address: Option<SocketAddr>,
    pub(super) hosts: Vec<String>,
}

/// The resources, opened.
pub(super) struct Resources {
    pub(super) toolbox: Toolbox,
    /// Removed when the server ends.
    _demo: Option<TempDir>,
}

impl ResourceOptions {
    /// Open what is named, or lay out the demo workspace.
    ///
    /// # Errors
    ///
    /// If something can't be opened, or two places lie inside one another.
    pub(super) fn open(mut self, own: Own<'_>) -> Result<Resources, Box<dyn std::error::Error>> {
        let demo = if self.names_any() { None } else { Some(self.lay_out_demo()?) };
        let mut places = Vec::new();
        for (option, file) in own.files {
            places.push(Place::new(option, file)?);
        }
        let mut toolbox = Toolbox::default();
        if let Some(dir) = self.repo {
            let mut config = RepoConfig {
                dir,
                remote: self.remote,
                protect: self.protect,
                trust_hooks: self.trust_hooks,
                ..RepoConfig::default()
            };
            self.repo_limits.set(&mut config.limits);
            places.push(Place::new("--repo", &config.dir)?);
            let repo = Repo::open(config)?;
            for dir in repo.directories() {
                places.push(Place::new("--repo", dir)?);
            }
            toolbox = toolbox.with_repo(repo);
        }
        if let Some(dir) = self.notes {
            let mut config = NotesConfig { dir, ..NotesConfig::default() };
            self.notes_limits.set(&mut config.limits);
            places.push(Place::new("--notes", &config.dir)?);
            must_be_apart(&places)?; // before anything in it is swept away
            toolbox = toolbox.with_notes(Notes::open(config)?);
        }
        if let Some(file) = self.database {
            let mut config = DatabaseConfig { file, ..DatabaseConfig::default() };
            self.database_limits.set(&mut config.limits);
            places.push(Place::new("--database", &config.file)?);
            toolbox = toolbox.with_database(Database::open(config)?);
        }
        if let Some(file) = self.reports {
            let mut config = ReportsConfig { file, ..ReportsConfig::default() };
            self.reports_limits.set(&mut config.limits);
            places.push(Place::new("--reports", &config.file)?);
            must_be_apart(&places)?; // before it is created
            toolbox = toolbox.with_reports(Reports::open(config)?);
        }
        must_be_apart(&places)?;
        let mut config = WebConfig {
            allow: self.fetch_allow,
            own_addresses: own.address.into_iter().collect(),
            own_hosts: own.hosts,
            ..WebConfig::default()
        };
        self.web_limits.set(&mut config);
        toolbox = toolbox.with_web(Web::new(config)?);
        Ok(Resources { toolbox, _demo: demo })
    }

    fn names_any(&self) -> bool {
        self.repo.is_some() || self.notes.is_some() || self.database.is_some() || self.reports.is_some()
    }

    fn lay_out_demo(&mut self) -> Result<TempDir, OpenError> {
        let dir = tempfile::Builder::new().prefix("candor-demo-").tempdir();
        let dir = dir.map_err(|error| OpenError(format!("no temporary directory for the demo workspace: {error}")))?;
        let DemoWorkspace { repo, notes, database, reports, .. } = demo::lay_out(dir.path())?;
        tracing::info!("demo workspace in {}, removed at the end", dir.path().display());
        (self.repo, self.notes) = (Some(repo), Some(notes));
        (self.database, self.reports) = (Some(database), Some(reports));
        self.protect.push("release/*".into()); // as the command does that `candor demo` prints
        Ok(dir)
    }
}
