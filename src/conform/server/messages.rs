//! One message of the client: which era it speaks, and what it wants.

use std::{convert::Infallible, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures::stream;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::{Stage, calls, lists};
use crate::{conform::ledger::Event, wire::Era};

const SESSION: &str = "mcp-session-id";
/// JSON-RPC and MCP error codes.
const METHOD_NOT_FOUND: i64 = -32601;
const UNSUPPORTED_VERSION: i64 = -32022;

/// What there is to know of a request.
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) params: Value,
    /// Whether the client can put questions of the server to its user.
    pub(super) elicitation: bool,
}

pub(super) async fn post(State(stage): State<Arc<Stage>>, headers: HeaderMap, body: Bytes) -> Response {
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        stage.fault("it sent a message that is no JSON");
        return StatusCode::BAD_REQUEST.into_response();
    };
    let id = message.get("id").cloned();
    let params = message.get("params").cloned().unwrap_or_default();
    match (id, message.get("method").and_then(Value::as_str)) {
        (Some(id), Some(method)) => request(&stage, &headers, method, id, params),
        (None, Some(method)) => {
            notification(&stage, method, &params);
            StatusCode::ACCEPTED.into_response()
        }
        (Some(id), None) => {
            let waiting = id.as_str().and_then(|id| stage.state().asking.remove(id));
            match waiting {
                Some(waiting) => drop(waiting.send(message)),
                None => stage.fault(format!("it answered `{}`, which nobody asked", brief(&id))),
            }
            StatusCode::ACCEPTED.into_response()
        }
        (None, None) => {
            stage.fault("it sent a message that is neither request nor answer");
            StatusCode::BAD_REQUEST.into_response()
        }
    }
}

fn request(stage: &Arc<Stage>, headers: &HeaderMap, method: &str, id: Value, params: Value) -> Response {
    let elicitation = match stage.era {
        Era::Modern => match modern(stage, method, &id, &params) {
            Ok(elicitation) => elicitation,
            Err(refusal) => return *refusal,
        },
        Era::Legacy if method == "initialize" => return initialize(stage, &id, &params),
        // A client of both eras may try the other one first.
        Era::Legacy if method == "server/discover" => return error(&id, METHOD_NOT_FOUND, "no such method", 200),
        Era::Legacy => {
            let session = headers.get(SESSION).and_then(|session| session.to_str().ok());
            let Some(elicitation) = session.and_then(|session| stage.state().sessions.get(session).copied()) else {
                let status = if session.is_some() { 404 } else { 400 };
                return error(&id, -32600, "no such session; send `initialize` first", status);
            };
            elicitation
        }
    };
    let request = Request { id, params, elicitation };
    match method {
        "server/discover" => {
            stage.state().conversations += 1;
            stage.note(Event::Opened { method: method.into() });
            let members = "\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"ttlMs\":0,\
                           \"cacheScope\":\"private\",\"capabilities\":{\"tools\":{\"listChanged\":true}}";
            json(StatusCode::OK, stage.result(&request.id, members))
        }
        "tools/list" => lists::list(stage, &request),
        "tools/call" => calls::call(stage, request),
        "subscriptions/listen" => listen(stage, Some(request.id)),
        "ping" => json(StatusCode::OK, stage.result(&request.id, "")),
        _ => error(&request.id, METHOD_NOT_FOUND, "no such method", if stage.era == Era::Modern { 404 } else { 200 }),
    }
}

/// Whether the client has elicitation, or what is wrong with its version.
fn modern(stage: &Stage, method: &str, id: &Value, params: &Value) -> Result<bool, Box<Response>> {
    let meta = |key: &str| params.get("_meta").and_then(|meta| meta.get(format!("io.modelcontextprotocol/{key}")));
    let version = meta("protocolVersion").and_then(Value::as_str);
    if version != Some(Era::Modern.name()) {
        let spoken = params.get("protocolVersion").and_then(Value::as_str).or(version).unwrap_or("none");
        stage.fault(format!(
            "it speaks protocol version {spoken:.20} in `{method:.40}`, where 2026-07-28 was asked for"
        ));
        let data = json!({"supported": [Era::Modern.name()], "requested": spoken});
        let refusal = json!({"code": UNSUPPORTED_VERSION, "message": "unsupported protocol version", "data": data});
        let reply = json!({"jsonrpc": "2.0", "id": id, "error": refusal});
        return Err(Box::new(json(StatusCode::BAD_REQUEST, reply.to_string())));
    }
    Ok(meta("clientCapabilities").is_some_and(|capabilities| capabilities.get("elicitation").is_some()))
}

fn initialize(stage: &Stage, id: &Value, params: &Value) -> Response {
    let session = stage.fresh_id();
    let elicitation = params.pointer("/capabilities/elicitation").is_some();
    {
        let mut now = stage.state();
        now.sessions.insert(session.clone(), elicitation);
        now.conversations += 1;
    }
    stage.note(Event::Opened { method: "initialize".into() });
    let identity = Stage::identity();
    let members = format!(
        "\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{identity},\"capabilities\":{{\"tools\":{{\"listChanged\":true}}}}"
    );
    let reply = stage.result(id, &members);
    ([(SESSION, session)], json(StatusCode::OK, reply)).into_response()
}

fn notification(stage: &Stage, method: &str, params: &Value) {
    if method != "notifications/cancelled" {
        return;
    }
    let id = params.get("requestId").map(Value::to_string).unwrap_or_default();
    let waiting = stage.state().waiting.remove(&id);
    if let Some(tool) = waiting {
        stage.note(Event::Cancelled { tool });
    }
}

/// The stream of a session (legacy).
pub(super) async fn get(State(stage): State<Arc<Stage>>, headers: HeaderMap) -> Response {
    let known = headers.get(SESSION).and_then(|session| session.to_str().ok());
    match stage.era {
        Era::Modern => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        Era::Legacy if !known.is_some_and(|session| stage.state().sessions.contains_key(session)) => {
            StatusCode::NOT_FOUND.into_response()
        }
        Era::Legacy => listen(&stage, None),
    }
}

/// The end of a session (legacy).
pub(super) async fn delete(State(stage): State<Arc<Stage>>, headers: HeaderMap) -> StatusCode {
    let known = headers.get(SESSION).and_then(|session| session.to_str().ok());
    let ended = known.and_then(|session| stage.state().sessions.remove(session));
    if ended.is_some() { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

/// A stream of what changes; that of a request begins with an acknowledgement (modern).
fn listen(stage: &Arc<Stage>, request: Option<Value>) -> Response {
    let news = stage.news.subscribe();
    let meta = request.map(|id| json!({"io.modelcontextprotocol/subscriptionId": id}));
    let say = |method: &str, mut params: Map<String, Value>, meta: &Option<Value>| {
        params.extend(meta.iter().map(|meta| ("_meta".to_owned(), meta.clone())));
        event(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
    };
    let first = if meta.is_some() {
        let agreed = Map::from_iter([("notifications".to_owned(), json!({"toolsListChanged": true}))]);
        say("notifications/subscriptions/acknowledged", agreed, &meta)
    } else {
        Bytes::from_static(b": listening\n\n")
    };
    let events = stream::unfold((Some(first), news), move |(first, mut news)| {
        let changed = say("notifications/tools/list_changed", Map::new(), &meta);
        async move {
            if let Some(first) = first {
                return Some((Ok::<_, Infallible>(first), (None, news)));
            }
            match news.recv().await {
                Ok(()) | Err(RecvError::Lagged(_)) => Some((Ok(changed), (None, news))),
                Err(RecvError::Closed) => None,
            }
        }
    });
    (event_stream(), Body::from_stream(events)).into_response()
}

pub(super) const fn event_stream() -> [(header::HeaderName, &'static str); 2] {
    [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")]
}

pub(super) fn event(message: &str) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

pub(super) fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub(super) fn error(id: &Value, code: i64, message: &str, status: u16) -> Response {
    let reply = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    json(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), reply.to_string())
}

fn brief(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
