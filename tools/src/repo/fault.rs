use git2::{Error, ErrorClass, ErrorCode};

use crate::ToolError;

/// What libgit2 reports, for the model where it can act on it. Its own messages hold paths of the
/// server and so go to the log alone.
pub(super) fn refusal(error: &Error) -> ToolError {
    match (error.code(), error.class()) {
        (ErrorCode::Locked, _) => ToolError::refused(
            "the repository is locked by another program, nothing was changed; try again in a moment",
        ),
        (_, ErrorClass::Reference) if error.message().contains("corrupt") => {
            ToolError::refused("the repository's list of references is corrupt, nothing was changed; tell the operator")
        }
        (_, ErrorClass::Os | ErrorClass::Filesystem) => {
            tracing::error!(%error, "the repository's files fail");
            ToolError::refused(
                "the server could not read or write the repository's files (a full disk, or no permission); see `list_branches` for what is there, and tell the operator",
            )
        }
        _ => ToolError::internal(error),
    }
}

/// A remote that doesn't answer, before anything was asked of it.
pub(super) fn unreachable(error: &Error) -> ToolError {
    tracing::warn!(%error, "the remote cannot be reached");
    ToolError::refused(
        "the remote cannot be reached or does not serve the repository, nothing was changed; try again later, or tell the operator",
    )
}
