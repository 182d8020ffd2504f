use std::{fmt, str::FromStr};

use rmcp::model::{MetaObject, Tool};
use serde::{Deserialize, Serialize};

/// What a caller may do. Granted by the server's operator and checked by the server.
///
/// A scope is written on the tool that needs it and never derived from a hint: hints tell a
/// client what to expect, scopes say what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// List branches.
    #[serde(rename = "repo:read")]
    RepoRead,
    /// Create branches.
    #[serde(rename = "repo:write")]
    RepoWrite,
    /// Delete branches.
    #[serde(rename = "repo:delete")]
    RepoDelete,
    /// List and read notes.
    #[serde(rename = "notes:read")]
    NotesRead,
    /// Create, extend and replace notes.
    #[serde(rename = "notes:write")]
    NotesWrite,
    /// Describe and query the database.
    #[serde(rename = "database:read")]
    DatabaseRead,
    /// Insert rows.
    #[serde(rename = "database:write")]
    DatabaseWrite,
    /// Run any single statement.
    #[serde(rename = "database:admin")]
    DatabaseAdmin,
    /// Read reports; each reading is recorded.
    #[serde(rename = "reports:read")]
    ReportsRead,
    /// Comment on reports.
    #[serde(rename = "reports:write")]
    ReportsWrite,
    /// Fetch web pages.
    #[serde(rename = "web:fetch")]
    WebFetch,
}

/// Where a tool's scope stands in `Tool._meta`. MCP reserves keys whose second label is `mcp` or
/// `modelcontextprotocol`; anybody else takes a reversed domain name.
pub const SCOPE_KEY: &str = "org.example.candor/requiredScope";

impl Scope {
    /// Every scope, in the order of the tools that need them.
    pub const ALL: [Self; 11] = [
        Self::RepoRead,
        Self::RepoWrite,
        Self::RepoDelete,
        Self::NotesRead,
        Self::NotesWrite,
        Self::DatabaseRead,
        Self::DatabaseWrite,
        Self::DatabaseAdmin,
        Self::ReportsRead,
        Self::ReportsWrite,
        Self::WebFetch,
    ];

    /// For `#[tool(meta = …)]`.
    #[must_use]
    pub fn required(self) -> MetaObject {
        let mut meta = MetaObject::default();
        meta.insert(SCOPE_KEY.into(), serde_json::json!(self));
        meta
    }

    /// The scope that a listed tool asks for; `None` if it names none, which the gate refuses.
    #[must_use]
    pub fn of(tool: &Tool) -> Option<Self> {
        Self::deserialize(tool.meta.as_ref()?.get(SCOPE_KEY)?).ok()
    }

    /// The scope as the wire and the command line write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RepoRead => "repo:read",
            Self::RepoWrite => "repo:write",
            Self::RepoDelete => "repo:delete",
            Self::NotesRead => "notes:read",
            Self::NotesWrite => "notes:write",
            Self::DatabaseRead => "database:read",
            Self::DatabaseWrite => "database:write",
            Self::DatabaseAdmin => "database:admin",
            Self::ReportsRead => "reports:read",
            Self::ReportsWrite => "reports:write",
            Self::WebFetch => "web:fetch",
        }
    }

    /// One of the scopes that end in `:read`. `web:fetch` is not among them: a URL carries data out.
    #[must_use]
    pub fn reads_only(self) -> bool {
        self.name().ends_with(":read")
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|scope| scope.name() == name)
            .ok_or_else(|| format!("unknown scope `{name}`; the scopes are {}", known()))
    }
}
