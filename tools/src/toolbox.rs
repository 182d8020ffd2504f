use std::sync::Arc;

use rmcp::{
    ErrorData,
    handler::server::{common::FromContextPart, tool::ToolCallContext},
};

use crate::{
    Scope,
    database::{Database, DatabaseAdder, DatabaseReader, DatabaseWriter},
    notes::{Notes, NotesAdder, NotesReader, NotesWriter},
    repo::{Repo, RepoAdder, RepoReader, RepoWriter},
    reports::{Reports, ReportsAdder},
    web::{Web, WebReader},
};

/// Everything that the tools can act on. A tool never sees it whole: its signature names the one
/// handle that it needs, and the handle can do no more than that tool.
///
/// A name that ends in `Reader` has no method that changes anything, `Adder` none that changes or
/// removes what exists, `Writer` may destroy.
#[derive(Debug, Default)]
pub struct Toolbox {
    repo: Option<Arc<Repo>>,
    notes: Option<Arc<Notes>>,
    database: Option<Arc<Database>>,
    reports: Option<Arc<Reports>>,
    web: Option<Arc<Web>>,
}

impl Toolbox {
    /// With a repository for the branch tools.
    #[must_use]
    pub fn with_repo(self, repo: Repo) -> Self {
        Self { repo: Some(Arc::new(repo)), ..self }
    }

    /// With a directory for the note tools.
    #[must_use]
    pub fn with_notes(self, notes: Notes) -> Self {
        Self { notes: Some(Arc::new(notes)), ..self }
    }

    /// With a database for the SQL tools.
    #[must_use]
    pub fn with_database(self, database: Database) -> Self {
        Self { database: Some(Arc::new(database)), ..self }
    }

    /// With a file for the report tools.
    #[must_use]
    pub fn with_reports(self, reports: Reports) -> Self {
        Self { reports: Some(Arc::new(reports)), ..self }
    }

    /// With a way out for `fetch_url`.
    #[must_use]
    pub fn with_web(self, web: Web) -> Self {
        Self { web: Some(Arc::new(web)), ..self }
    }

    /// Whether the tools that need this scope have something to act on.
    #[must_use]
    pub fn serves(&self, scope: Scope) -> bool {
        match scope {
            Scope::RepoRead | Scope::RepoWrite | Scope::RepoDelete => self.repo.is_some(),
            Scope::NotesRead | Scope::NotesWrite => self.notes.is_some(),
            Scope::DatabaseRead | Scope::DatabaseWrite | Scope::DatabaseAdmin => self.database.is_some(),
            Scope::ReportsRead | Scope::ReportsWrite => self.reports.is_some(),
            Scope::WebFetch => self.web.is_some(),
        }
    }
}

/// Lets a tool name a handle in its signature.
macro_rules! handles {
    ($($handle:ident from $field:ident),* $(,)?) => {$(
        impl FromContextPart<ToolCallContext<'_, Toolbox>> for $handle {
            fn from_context_part(context: &mut ToolCallContext<'_, Toolbox>) -> Result<Self, ErrorData> {
                let resource = context.service.$field.clone();
                // The gate lists no tool whose resource is missing.
                resource.map($handle::new).ok_or_else(|| ErrorData::internal_error("internal error", None))
            }
        }
    )*};
}

handles! {
    RepoReader from repo,
    RepoAdder from repo,
    RepoWriter from repo,
    NotesReader from notes,
    NotesAdder from notes,
    NotesWriter from notes,
    DatabaseReader from database,
    DatabaseAdder from database,
    DatabaseWriter from database,
    ReportsAdder from reports,
    WebReader from web,
}
