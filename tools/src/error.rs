use std::fmt;

use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult,
    model::{CallToolResponse, CallToolResult, ContentBlock, ErrorCode},
};

use crate::Question;

/// Why a tool did not do what it was asked.
#[derive(Debug)]
pub enum ToolError {
    /// The model can act on this: lower case, the value in backticks, then the next step.
    Refused(String),
    /// The user must agree first. Nothing has happened yet.
    Confirm(Question),
    /// Our fault. The caller learns nothing but that; the cause goes to the log.
    Internal(String),
}

/// Carries a question from the tool to the gate. Outside the range that JSON-RPC reserves, and
/// never sent to a client.
const CONFIRM: ErrorCode = ErrorCode(1);

impl ToolError {
    /// Refuse, telling the model what to do about it.
    pub fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }

    /// Report a fault of ours, with the cause for the log.
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::Internal(cause.to_string())
    }

    /// The question inside an error that came back through the router.
    #[must_use]
    pub fn question(error: &ErrorData) -> Option<Question> {
        if error.code != CONFIRM {
            return None;
        }
        serde_json::from_value(error.data.clone()?).ok()
    }
}

impl IntoCallToolResult for ToolError {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::Refused(text) => Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into()),
            Self::Confirm(question) => {
                Err(ErrorData::new(CONFIRM, "the user must confirm this call", serde_json::to_value(question).ok()))
            }
            Self::Internal(cause) => {
                tracing::error!(cause, "a tool failed");
                Err(ErrorData::internal_error("internal error", None))
            }
        }
    }
}

/// Why a resource could not be opened when the server starts. Names the path and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);
