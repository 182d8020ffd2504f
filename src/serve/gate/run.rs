use std::{panic::AssertUnwindSafe, time::Duration};

use candor_tools::{Confirmed, Question, ToolError};
use futures::FutureExt;
use rmcp::{
    ErrorData, RoleServer,
    handler::server::tool::ToolCallContext,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock},
    service::RequestContext,
};

use super::{Gate, Outcome, Principal, Verdict, internal, refusal};

/// What one run of a tool came to.
pub(super) enum Ran {
    Ended(Outcome, Verdict),
    /// It met a risk in its arguments, and has done nothing yet.
    Asks(Question),
}

impl Gate {
    /// Run the tool once: when it is the caller's turn, inside the time limit, behind the panic
    /// barrier, and only for as long as the client wants it. Its future is dropped otherwise,
    /// which is how a handle learns that it should stop.
    pub(super) async fn run(
        &self,
        who: &Principal,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        confirmed: Option<Confirmed>,
    ) -> Ran {
        let limit = self.house.limits.call_seconds.0;
        let mut tool_context = context.clone();
        if let Some(confirmed) = confirmed {
            tool_context.extensions.insert(confirmed);
        }
        let tool = self.house.router.call(ToolCallContext::new(&self.house.toolbox, call.clone(), tool_context));
        let in_turn = async {
            let turn = tokio::time::timeout(limit, who.budget.turn()).await;
            let Ok(_turn) = turn else { return None };
            Some(tokio::time::timeout(limit, AssertUnwindSafe(tool).catch_unwind()).await)
        };
        let Some(ran) = context.ct.run_until_cancelled(in_turn).await else {
            // Heard only by a client that did not cancel: then the server is ending.
            let text =
                format!("`{}` was stopped because the server ends; check what it did before you repeat it", call.name);
            return Ran::Ended(Outcome::Cancelled, Ok(refusal(text)));
        };
        let Some(ran) = ran else {
            let text = format!("`{}` waited too long for other calls of yours to end; try again later", call.name);
            return Ran::Ended(Outcome::Limited, Ok(refusal(text)));
        };
        match ran {
            Ok(Ok(Ok(CallToolResponse::Complete(result)))) => self.within_limit(call, result),
            Ok(Ok(Err(error))) => match ToolError::question(&error) {
                Some(question) => Ran::Asks(question),
                None => Ran::Ended(Outcome::Failed, Err(ErrorData { data: None, ..error })),
            },
            Ok(Ok(Ok(_))) => {
                tracing::error!(tool = %call.name, "a tool spoke to the client past the gate");
                Ran::Ended(Outcome::Failed, Err(internal()))
            }
            Ok(Err(_panic)) => Ran::Ended(Outcome::Panicked, Err(internal())),
            Err(_elapsed) => Ran::Ended(Outcome::TimedOut, Ok(refusal(too_long(&call.name, limit)))),
        }
    }

    fn within_limit(&self, call: &CallToolRequestParams, mut result: CallToolResult) -> Ran {
        if let Some(why) = unreadable_arguments(&result) {
            let text = format!("wrong arguments for `{}`: {why}; its `inputSchema` says what it takes", call.name);
            result = CallToolResult::error(vec![ContentBlock::text(text)]);
        }
        let bytes: usize = result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.len()).sum();
        let most = self.house.limits.result_bytes;
        if bytes > most {
            let text =
                format!("`{}` ran, but its result takes {bytes} bytes and may take {most}; ask for less", call.name);
            return Ran::Ended(Outcome::Limited, Ok(refusal(text)));
        }
        let outcome = if result.is_error == Some(true) { Outcome::Refused } else { Outcome::Done };
        Ran::Ended(outcome, Ok(result.into()))
    }
}

/// What rmcp says of arguments that don't fit the tool's parameters.
fn unreadable_arguments(result: &CallToolResult) -> Option<&str> {
    let text = result.content.first().filter(|_| result.is_error == Some(true))?.as_text()?;
    text.text.strip_prefix("failed to deserialize parameters: ")
}

fn too_long(tool: &str, limit: Duration) -> String {
    format!(
        "`{tool}` took longer than {} s and was stopped; check what it did before you repeat it",
        limit.as_secs_f64()
    )
}
