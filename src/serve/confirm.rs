//! Putting a tool's question to the user, in either protocol era.
//!
//! What was asked stays here: the wire carries a random id that is good for one answer. The
//! modern era returns the question as the result of the call, which the client repeats with the
//! answer; legacy peers are asked by a request of ours while their call waits.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use candor_tools::Question;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, InputRequest, InputRequiredResult, InputResponses,
    },
    service::RequestContext,
};

use super::{Limits, Principal, digest};

/// Rounds of asking about one call whose subject keeps changing.
const ROUNDS: u32 = 3;
/// The key of our one question among a call's input requests.
const KEY: &str = "confirm";

const STALE: &str = "this confirmation is not valid (used, expired, or given for another call); \
                     call again without it; nothing was changed";

/// What is known about the user's will.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Not asked yet, or asked without an answer.
    None,
    /// Agreed to this subject, in this round.
    Yes { subject: String, round: u32 },
    /// Not agreed; what to tell the model.
    No(String),
}

/// How a question was put.
pub(crate) enum Asked {
    /// The answer is here.
    Now(Answer),
    /// The client will repeat its call with the answer.
    Later(InputRequiredResult),
}

/// Questions that wait for their answer.
#[derive(Debug)]
pub(crate) struct Desk {
    open: Mutex<HashMap<String, Pending>>,
    most: usize,
    patience: Duration,
}

#[derive(Debug)]
struct Pending {
    caller: String,
    tool: String,
    arguments: [u8; 32],
    subject: String,
    round: u32,
    until: Instant,
}

impl Desk {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { open: Mutex::default(), most: limits.open_questions as usize, patience: limits.question_seconds.0 }
    }

    /// What a call carries in `requestState` and `inputResponses`. They count only together, and
    /// only for the caller, the tool and the arguments that were asked about.
    pub(crate) fn read(&self, who: &Principal, call: &mut CallToolRequestParams) -> Answer {
        let state = call.request_state.take();
        let answer = call.input_responses.take().and_then(|mut answers: InputResponses| answers.remove(KEY));
        let (id, answer) = match (state, answer) {
            (Some(id), Some(answer)) => (id, answer),
            (None, Some(_)) => return Answer::No(STALE.into()), // an answer to no question
            (_, None) => return Answer::None,                   // no answer: ask again
        };
        let Some(pending) = self.take(&id, who) else { return Answer::No(STALE.into()) };
        if pending.tool != call.name || pending.arguments != digest::of_arguments(call.arguments.as_ref()) {
            return Answer::No(STALE.into());
        }
        match serde_json::from_value(answer) {
            Ok(result) => judge(&result, pending.subject, pending.round),
            Err(_) => Answer::No(unreadable()),
        }
    }

    /// Put a question to the user, in the given round.
    ///
    /// # Errors
    ///
    /// -32021 to a modern client that cannot ask its user.
    pub(crate) async fn ask(
        &self,
        who: &Principal,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        question: Question,
        round: u32,
    ) -> Result<Asked, ErrorData> {
        if round > ROUNDS {
            let text =
                "what this call would change kept changing while the user was asked; nothing was changed; try again";
            return Ok(Asked::Now(Answer::No(text.into())));
        }
        let modern = super::is_modern(context);
        let can_show = context.client_capabilities().is_some_and(|capabilities| takes_forms(&capabilities));
        if !can_show && modern {
            return Err(ErrorData::missing_required_client_capability(forms()));
        }
        if !can_show || !(modern || has_way_back(context)) {
            let text = format!(
                "confirmation unavailable: `{}` needs the user's agreement here and your client can't ask; nothing was changed",
                call.name
            );
            return Ok(Asked::Now(Answer::No(text)));
        }
        let form = form(&question)?;
        if modern {
            let id = self.keep(who, call, question.subject, round)?;
            let request = InputRequest::Elicitation(ElicitRequest::new(form));
            let requests = BTreeMap::from([(KEY.to_owned(), request)]);
            return Ok(Asked::Later(InputRequiredResult::new(Some(requests), Some(id))));
        }
        let reply = context.peer.create_elicitation_with_timeout(form, Some(self.patience)).await;
        Ok(Asked::Now(match reply {
            Ok(result) => judge(&result, question.subject, round),
            Err(error) => {
                tracing::warn!(%error, tool = %call.name, "a question got no answer");
                Answer::No("the user gave no answer; nothing was changed".into())
            }
        }))
    }

    fn keep(
        &self,
        who: &Principal,
        call: &CallToolRequestParams,
        subject: String,
        round: u32,
    ) -> Result<String, ErrorData> {
        let mut id = [0; 32];
        getrandom::fill(&mut id).map_err(|error| {
            tracing::error!(%error, "no random id for a question");
            ErrorData::internal_error("internal error", None)
        })?;
        let id = hex::encode(id);
        let pending = Pending {
            caller: who.name.clone(),
            tool: call.name.to_string(),
            arguments: digest::of_arguments(call.arguments.as_ref()),
            subject,
            round,
            until: Instant::now() + self.patience,
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        open.retain(|_, pending| pending.until > now);
        if open.len() >= self.most {
            // The caller's own oldest question goes first, so that nobody can push out another's.
            let oldest = open.iter().min_by_key(|(_, p)| (p.caller != who.name, p.until)).map(|(id, _)| id.clone());
            oldest.map(|id| open.remove(&id));
        }
        open.insert(id.clone(), pending);
        Ok(id)
    }

    /// Spend a question, if it is this caller's and still open.
    fn take(&self, id: &str, who: &Principal) -> Option<Pending> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = open.get(id).filter(|pending| pending.caller == who.name)?;
        let fresh = pending.until > Instant::now();
        open.remove(id).filter(|_| fresh)
    }
}

/// One yes-or-no field: accepting the form is not yet agreeing.
fn form(question: &Question) -> Result<ElicitRequestParams, ErrorData> {
    let schema = ElicitationSchema::builder()
        .required_bool_property("confirm", |field| field.title("Go ahead").description("Yes, do it"));
    let requested_schema = schema.build().map_err(|error| {
        tracing::error!(error, "the confirmation form is wrong");
        ErrorData::internal_error("internal error", None)
    })?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message: question.text.clone(), requested_schema })
}

fn forms() -> ClientCapabilities {
    serde_json::from_value(serde_json::json!({"elicitation": {"form": {}}})).unwrap_or_default()
}

/// `elicitation: {}` means forms (specification, client/elicitation).
fn takes_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.as_ref().is_some_and(|how| how.form.is_some() || how.url.is_none())
}

/// A legacy peer is asked over stdio or within an HTTP session. A single HTTP request that names a
/// legacy version has no way back, and would wait until its time limit.
fn has_way_back(context: &RequestContext<RoleServer>) -> bool {
    let http = context.extensions.get::<axum::http::request::Parts>();
    http.is_none_or(|parts| parts.headers.contains_key("mcp-session-id"))
}

fn judge(result: &ElicitResult, subject: String, round: u32) -> Answer {
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Answer::No("the user declined; nothing was changed".into()),
        _ => return Answer::No("the user cancelled the question; nothing was changed".into()),
    }
    let content = result.content.as_ref().and_then(|content| content.as_object());
    match content.map(|fields| (fields.len(), fields.get("confirm").and_then(serde_json::Value::as_bool))) {
        Some((1, Some(true))) => Answer::Yes { subject, round },
        Some((1, Some(false))) => Answer::No("the user answered no; nothing was changed".into()),
        _ => Answer::No(unreadable()),
    }
}

fn unreadable() -> String {
    "the answer does not fit the question, which asks for `confirm` as true or false; nothing was changed".into()
}
