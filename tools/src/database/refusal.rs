//! What a caller is told when SQLite says no.

use std::time::Duration;

use rusqlite::{Error, ErrorCode, ffi};

use crate::{ToolError, text::shown};

/// What a piece of database work may take and how its failure is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// Waiting for a thread included.
    pub(crate) time: Duration,
    /// What to do instead of a statement that the authorizer refuses.
    pub(crate) denied: &'static str,
    /// Said after each failure: what became of the database. Empty for readers.
    pub(crate) state: &'static str,
}

/// Why database work ended without a result.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(Error),
    Tool(ToolError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<ToolError> for Fault {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl Fault {
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::Tool(ToolError::refused(text))
    }

    /// The fault in the words that a model can act on. Never names a path: SQLite's own messages
    /// are passed on only for mistakes in the statement or its data.
    pub(crate) fn told(self, task: &Task) -> ToolError {
        let error = match self {
            Self::Tool(error) => return error,
            Self::Sql(error) => error,
        };
        let Some(code) = code(&error) else {
            return ToolError::internal(error);
        };
        let text = match code {
            ErrorCode::OperationInterrupted => return task.out_of_time(),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                "the database is locked by another program; try again later".into()
            }
            ErrorCode::TooBig => "the statement, or a value in it, is larger than this server \
                                  allows; shorten it, or read parts with `substr` and `length`"
                .into(),
            ErrorCode::OutOfMemory => {
                "the statement needs more memory than this server has left; sort, group or change \
                 fewer rows at a time, or try again when it is less busy"
                    .into()
            }
            // SQLite says the same of the page limit and of the disk.
            ErrorCode::DiskFull => "the statement would let the database grow more than this server allows, or its \
                                    disk is full; change fewer rows at a time, or tell the operator"
                .into(),
            ErrorCode::ReadOnly if needs_recovery(&error) => {
                "the database needs recovery after a crash; its operator must open it once with \
                 a program that may write to it"
                    .into()
            }
            ErrorCode::ReadOnly => "the file cannot be written to".into(),
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
                format!("the database file is damaged: {}", message(&error))
            }
            ErrorCode::AuthorizationForStatementDenied => task.denied.into(),
            ErrorCode::Unknown
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::SchemaChanged => message(&error),
            _ => return ToolError::internal(error),
        };
        task.refused(&text)
    }
}

impl Task {
    pub(crate) fn busy(&self) -> ToolError {
        self.refused("the database is busy with other calls; try again later")
    }

    pub(crate) fn out_of_time(&self) -> ToolError {
        let limit = self.time.as_secs_f64();
        self.refused(&format!("stopped at the time limit of {limit} s; ask for less at a time"))
    }

    fn refused(&self, text: &str) -> ToolError {
        ToolError::refused(format!("{text}{}", self.state))
    }
}

/// SQLite's code, which rusqlite's own accessor leaves out for errors that name a place in the SQL.
pub(super) fn code(error: &Error) -> Option<ErrorCode> {
    match error {
        Error::SqliteFailure(error, _) | Error::SqlInputError { error, .. } => Some(error.code),
        _ => None,
    }
}

/// A crashed writer left a rollback journal that a read-only connection may not play back.
pub(super) fn needs_recovery(error: &Error) -> bool {
    matches!(
        error.sqlite_extended_error_code(),
        Some(ffi::SQLITE_READONLY_ROLLBACK | ffi::SQLITE_READONLY_RECOVERY | ffi::SQLITE_READONLY_CANTINIT)
    )
}

/// SQLite's own words about a mistake in a statement or its data.
pub(super) fn message(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(text)) | Error::SqlInputError { msg: text, .. } => shown(text, 300),
        other => shown(&other.to_string(), 300),
    }
}
