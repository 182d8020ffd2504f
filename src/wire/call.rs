//! One call of a tool, with the questions that it asks.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{
    Answer, Connection, Era, Question, WireError,
    connection::Link,
    error::{code_and_message, cut, garbage},
    exchange::Wait,
    message::{Incoming, Outcome, notification},
};
use crate::verify::Reply;

/// How often one call may ask.
const ROUNDS: usize = 10;

/// What came of a call.
#[derive(Clone, Debug)]
pub struct Called {
    /// How it was answered.
    pub reply: Reply,
    /// What the user was asked, in order.
    pub questions: Vec<Question>,
    /// The result as the server sent it, or its error.
    pub result: Value,
}

/// A call that is under way.
struct Open {
    id: u64,
    rounds: usize,
    questions: Vec<Question>,
    done: Option<(Reply, Value)>,
}

/// What the result of a request says.
enum Said {
    Done(Reply, Value),
    /// The user is to be asked, and the call repeated with this.
    Asks {
        questions: Vec<(String, Question)>,
        state: Option<Value>,
    },
}

impl Connection {
    /// Call a tool. Its questions get this answer; `asked` runs while one is open. The whole
    /// dialogue is one call.
    ///
    /// # Errors
    ///
    /// If the call gets no valid answer in time. A refusal or an error is an answer.
    pub async fn call<F: Future<Output = ()>>(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
        answer: Answer,
        asked: impl FnMut(&Question) -> F,
    ) -> Result<Called, WireError> {
        let [called] = self.drive(tool, arguments, answer, asked).await?;
        Ok(called)
    }

    /// Call a tool twice at the same time. A legacy server does not say which of the two a question
    /// belongs to; both get it.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub async fn call_concurrently(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
        answer: Answer,
    ) -> Result<[Called; 2], WireError> {
        self.drive(tool, arguments, answer, |_: &Question| std::future::ready(())).await
    }

    async fn drive<const N: usize, F: Future<Output = ()>>(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
        answer: Answer,
        asked: impl FnMut(&Question) -> F,
    ) -> Result<[Called; N], WireError> {
        let mut open = [(); N].map(|()| Open { id: 0, rounds: 0, questions: Vec::new(), done: None });
        let outcome = self.converse(tool, arguments, answer, asked, &mut open).await;
        if let Err(error) = outcome {
            self.give_up(&open).await;
            return Err(error);
        }
        Ok(open.map(|call| {
            let (reply, result) = call.done.unwrap_or((Reply::Success, Value::Null)); // all are done
            Called { reply, questions: call.questions, result }
        }))
    }

    async fn converse<F: Future<Output = ()>>(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
        answer: Answer,
        mut asked: impl FnMut(&Question) -> F,
        calls: &mut [Open],
    ) -> Result<(), WireError> {
        let limit = self.limits.call;
        let anew = || Wait::new("`tools/call`", limit);
        let mut wait = anew();
        let mut params = Map::new();
        params.insert("name".into(), tool.into());
        params.insert("arguments".into(), Value::Object(arguments.clone()));
        for call in &mut *calls {
            call.id = self.begin("tools/call", params.clone(), &wait).await?;
        }
        let keeps_asking = || WireError::KeepsAsking { tool: tool.to_owned(), rounds: ROUNDS };
        while calls.iter().any(|call| call.done.is_none()) {
            match self.receive(&wait).await? {
                Incoming::Reply { id, outcome } => {
                    let Some(call) = calls.iter_mut().find(|call| call.done.is_none() && id == call.id) else {
                        self.stray(&id, &wait)?;
                        continue;
                    };
                    let (questions, state) = match said(self.era, outcome)? {
                        Said::Done(reply, result) => {
                            call.done = Some((reply, result));
                            continue;
                        }
                        Said::Asks { questions, state } => (questions, state),
                    };
                    call.rounds += 1;
                    if call.rounds > ROUNDS {
                        return Err(keeps_asking());
                    }
                    let mut again = params.clone();
                    let mut answers = Map::new();
                    for (key, question) in questions {
                        asked(&question).await;
                        answers.insert(key, question.result(answer));
                        call.questions.push(question);
                    }
                    again.insert("inputResponses".into(), Value::Object(answers));
                    again.extend(state.map(|state| ("requestState".to_owned(), state)));
                    wait = anew();
                    call.id = self.begin("tools/call", again, &wait).await?;
                }
                Incoming::Request { id, method, params }
                    if method == "elicitation/create" && self.era == Era::Legacy =>
                {
                    let question = Question::read(&params);
                    asked(&question).await;
                    wait = anew();
                    let reply = json!({"jsonrpc": "2.0", "id": id, "result": question.result(answer)});
                    self.tell(&reply, &wait).await?;
                    for call in calls.iter_mut().filter(|call| call.done.is_none()) {
                        call.questions.push(question.clone());
                        if call.questions.len() > ROUNDS * 2 {
                            return Err(keeps_asking());
                        }
                    }
                }
                Incoming::Request { id, method, .. } => self.turn_down(&id, &method, &wait).await?,
            }
        }
        Ok(())
    }

    /// Tell the server that nobody waits any more (specification, cancellation). A modern one over
    /// HTTP learns it from the closed connection.
    async fn give_up(&mut self, calls: &[Open]) {
        if self.era == Era::Modern && matches!(self.link, Link::Http(_)) {
            return;
        }
        for call in calls.iter().filter(|call| call.done.is_none() && call.id > 0) {
            let params = json!({"requestId": call.id, "reason": "no valid answer in time"});
            let message = notification("notifications/cancelled", &params);
            let _ = self.tell(&message, &Wait::new("", Duration::from_millis(200))).await;
        }
    }
}

fn said(era: Era, outcome: Outcome) -> Result<Said, WireError> {
    let raw = match outcome {
        Outcome::Error(error) => {
            let (code, message) = code_and_message(&error);
            return Ok(Said::Done(Reply::Error { code, message }, error));
        }
        Outcome::Result(raw) => raw,
    };
    let result: Value = serde_json::from_str(raw.get()).map_err(|_| garbage(raw.get()))?;
    if !result.is_object() {
        return Err(garbage(raw.get()));
    }
    match result.get("resultType").filter(|_| era == Era::Modern) {
        Some(kind) if kind == "input_required" => return asks(&result),
        Some(kind) if kind != "complete" => return Err(WireError::NotOffered(cut(&format!("resultType {kind}")))),
        _ => {}
    }
    let reply = match result.get("isError") {
        Some(Value::Bool(true)) => {
            let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
            Reply::Refused { text: cut(text) }
        }
        _ => Reply::Success,
    };
    Ok(Said::Done(reply, result))
}

fn asks(result: &Value) -> Result<Said, WireError> {
    let requests = result.get("inputRequests").and_then(Value::as_object);
    let mut questions = Vec::new();
    for (key, request) in requests.into_iter().flatten() {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        if method != "elicitation/create" {
            return Err(WireError::NotOffered(cut(method)));
        }
        questions.push((key.clone(), Question::read(request.get("params").unwrap_or(&Value::Null))));
    }
    Ok(Said::Asks { questions, state: result.get("requestState").cloned() })
}
