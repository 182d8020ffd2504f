//! `tools/list`, page by page, as bytes.

use std::sync::Arc;

use axum::{
    body::Body,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use futures::stream;
use serde_json::Value;

use super::{
    Stage,
    messages::{self, Request},
};
use crate::{
    conform::{
        ledger::Event,
        scenario::{Tool, When},
    },
    wire::Era,
};

impl Stage {
    /// The list as it is now.
    pub(super) fn tools(&self) -> &[Tool] {
        match &self.plan.later {
            Some((_, later)) if self.state().changed => later,
            _ => &self.plan.tools,
        }
    }
}

pub(super) fn list(stage: &Arc<Stage>, request: &Request) -> Response {
    let cursor = request.params.get("cursor").and_then(Value::as_str);
    let Some(page) = cursor.map_or(Some(0), |cursor| cursor.strip_prefix("page-")?.parse::<usize>().ok()) else {
        stage.fault("it sent a cursor that it never got");
        return messages::error(&request.id, -32602, "no such cursor", 400);
    };
    let due = match stage.plan.later {
        Some((When::Reconnected, _)) => stage.state().conversations > 1,
        Some((When::BetweenPages, _)) => page > 0,
        _ => false,
    };
    if due && !std::mem::replace(&mut stage.state().changed, true) {
        stage.note(Event::Changed { told: 0 });
    }
    stage.note(Event::Listed { page });
    let tools = stage.tools();
    let mut pages = tools.chunks(stage.plan.page.max(1)).skip(page);
    let here: Vec<String> = pages.next().unwrap_or_default().iter().map(Tool::wire).collect();
    let next = pages.next().map(|_| format!(",\"nextCursor\":\"page-{}\"", page + 1)).unwrap_or_default();
    let caching = match stage.era {
        Era::Modern => format!(",\"ttlMs\":{},\"cacheScope\":\"private\"", stage.plan.ttl),
        Era::Legacy => String::new(),
    };
    let members = format!("{}\"tools\":[{}]{next}{caching}", stage.complete(), here.join(","));
    let reply = stage.result(&request.id, &members);
    let delay = stage.plan.list_delay;
    if delay.is_zero() {
        return messages::json(StatusCode::OK, reply);
    }
    let slow = stream::once(async move {
        tokio::time::sleep(delay).await;
        Ok::<_, std::convert::Infallible>(messages::event(&reply))
    });
    (messages::event_stream(), Body::from_stream(slow)).into_response()
}
