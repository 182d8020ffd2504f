use rmcp::{
    ErrorData,
    handler::server::common::{AsRequestContext, FromContextPart},
};
use serde::{Deserialize, Serialize};

use crate::ToolError;

/// What the user is asked, and about which state of the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What is at stake, exactly: branch and commit, statement and row counts. An answer counts
    /// only for an equal subject.
    pub subject: String,
    /// What the user reads.
    pub text: String,
}

/// The subject that the user agreed to. Only the server's gate puts it into a call.
#[derive(Clone, Debug)]
pub struct Confirmed(
    /// The `subject` of the question that was accepted.
    pub String,
);

/// Extractor: what the user has already agreed to in this call.
///
/// Hints are about a tool, risk is about a call. A tool that meets a risk in its arguments asks
/// before its first effect; the gate puts the question to the user and runs the tool again.
#[derive(Debug)]
pub struct Consent(Option<Confirmed>);

impl Consent {
    /// Go on only if the user agreed to exactly this.
    ///
    /// # Errors
    ///
    /// [`ToolError::Confirm`] otherwise; return it with `?`.
    pub fn to(&self, question: Question) -> Result<(), ToolError> {
        match &self.0 {
            Some(Confirmed(subject)) if *subject == question.subject => Ok(()),
            _ => Err(ToolError::Confirm(question)),
        }
    }
}

impl<C: AsRequestContext> FromContextPart<C> for Consent {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        let extensions = &mut context.as_request_context_mut().extensions;
        Ok(Self(extensions.remove::<Confirmed>()))
    }
}
