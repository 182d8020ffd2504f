//! The approval address: the client under test reports each question that it puts to its user, and
//! gets the user's answer.

use std::{sync::Arc, time::Duration};

use axum::body::Bytes;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Stage, messages};
use crate::conform::{
    ledger::{Event, Question},
    scenario::Elicitation,
};

#[derive(Deserialize)]
#[serde(untagged)]
enum Report {
    /// The server's own question.
    Elicitation { elicitation: Asks },
    /// About a call.
    Call(Call),
}

#[derive(Deserialize)]
struct Asks {
    #[serde(default)]
    server: String,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    warning: Option<String>,
}

pub(super) async fn post(State(stage): State<Arc<Stage>>, body: Bytes) -> Response {
    match serde_json::from_slice(&body) {
        Ok(Report::Elicitation { elicitation: Asks { server } }) => {
            stage.note(Event::Relayed { server });
            let answer = match stage.plan.elicitation {
                Elicitation::Accept => json!({"action": "accept", "content": {"confirm": true}}),
                Elicitation::Decline => json!({"action": "decline"}),
                Elicitation::Cancel | Elicitation::Unsupported => json!({"action": "cancel"}),
                Elicitation::Silence => {
                    tokio::time::sleep(stage.plan.patience + Duration::from_secs(60)).await;
                    json!({"action": "cancel"})
                }
            };
            messages::json(StatusCode::OK, answer.to_string())
        }
        Ok(Report::Call(Call { tool, title, arguments, warning })) => {
            let answer = if stage.plan.declines.contains(&tool.as_str()) { "decline" } else { "accept" };
            let warning = warning.unwrap_or_default();
            stage.note(Event::Asked(Question { tool: tool.clone(), title, arguments, warning }));
            stage.note(Event::Answered { tool, answer });
            messages::json(StatusCode::OK, json!({"answer": answer}).to_string())
        }
        Err(error) => {
            stage.fault(format!("it sent the approval address what is no question: {error}"));
            (StatusCode::BAD_REQUEST, "a question is {\"tool\", \"title\", \"arguments\", \"warning\"}\n")
                .into_response()
        }
    }
}
