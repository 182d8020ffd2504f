//! What happens to one request, from its head to its answer. Each step may refuse it; the order is
//! such that a request costs little until its caller is known.

use std::{net::IpAddr, sync::Arc};

use bytes::Bytes;
use candor_tools::Scope;
use futures::StreamExt;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap},
    http::{request::Parts, uri::Uri},
};
use rmcp::model::RequestId;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    body,
    callers::{Caller, Callers},
    names::{self, Names},
    peek::{Call, Message},
    refusal::{Body, Refusal},
    sessions::SESSION_ID,
};
use crate::serve::{House, mislabel::Lies};

/// The one path.
pub(super) const PATH: &str = "/mcp";

/// Headers that decide how a message is read, so that two of them would be read in two ways.
const ONCE: [&str; 6] = ["mcp-protocol-version", "mcp-method", "mcp-name", SESSION_ID, "last-event-id", "content-type"];

pub(super) struct Endpoint {
    pub(super) house: Arc<House>,
    pub(super) names: Names,
    pub(super) callers: Arc<Callers>,
    pub(super) lies: Lies,
    /// Cancelled when the server is told to stop: no new calls.
    pub(super) closing: CancellationToken,
    /// Requests that have no answer yet, or not all of it.
    pub(super) running: TaskTracker,
}

impl Endpoint {
    pub(super) async fn answer(&self, request: Request<Incoming>, peer: IpAddr) -> Response<Body> {
        let _running = self.running.token();
        let (head, mut body) = request.into_parts();
        let page = self.names.page(&head.headers);
        let mut response = match self.admit(&head, &mut body, peer).await {
            Ok(Admitted::Preflight(response)) => response,
            Ok(Admitted::Caller(caller, bytes)) => {
                self.carry_out(caller, head, bytes).await.unwrap_or_else(Response::from)
            }
            Err(refusal) => {
                tracing::debug!(%peer, status = refusal.status.as_u16(), "refused");
                if refusal.status != StatusCode::REQUEST_TIMEOUT {
                    body::discard(&head, body, self.house.limits());
                }
                refusal.into()
            }
        };
        if let Some(page) = page {
            names::show_to(page, response.headers_mut());
        }
        response
    }

    /// Everything before the message is looked at.
    async fn admit(&self, head: &Parts, body: &mut Incoming, peer: IpAddr) -> Result<Admitted, Refusal> {
        self.names.check(head)?;
        if head.uri.path() != PATH {
            // Metadata of an authorization server's client (RFC 9728) would be answered here.
            return Err(Refusal::new(StatusCode::NOT_FOUND, format!("nothing here; the endpoint is `{PATH}`")));
        }
        if let Some(response) = names::preflight(head) {
            return Ok(Admitted::Preflight(response));
        }
        body::check(head, body, self.house.limits())?;
        if self.closing.is_cancelled() {
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping").later(5).closing());
        }
        let caller = self.callers.identify(head, peer)?;
        if let Some(name) = ONCE.iter().find(|name| head.headers.get_all(**name).iter().count() > 1) {
            let text = format!("`{name}` stands there more than once");
            return Err(Refusal::rpc(StatusCode::BAD_REQUEST, None, -32020, text));
        }
        Ok(Admitted::Caller(caller, body::read(body, self.house.limits()).await?))
    }

    async fn carry_out(&self, caller: Caller, mut head: Parts, body: Bytes) -> Result<Response<Body>, Refusal> {
        // rmcp turns away any other type unread.
        let posted = head.method == Method::POST && is_json(&head.headers);
        let message = if posted { Some(Message::read(&body)?) } else { None };
        let call = message.as_ref().map(Message::call).transpose()?.flatten();
        let beyond = call.as_ref().and_then(|call| self.house.lacks(&caller.who.grant, &call.name));
        // What reaches the gate as a call is counted there.
        if (call.is_none() || beyond.is_some()) && !caller.who.budget.spend() {
            let text = format!("more than {} requests a second", self.house.limits().calls_per_second);
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(1));
        }
        if let (Some(call), Some(scope)) = (call, beyond) {
            return Err(self.forbid(&caller, &call, scope, message.and_then(|message| message.id)).await);
        }
        let initialize = message.as_ref().is_some_and(Message::is_initialize);
        let opens = initialize && !head.headers.contains_key(SESSION_ID) && !self.house.modern_only();
        let stream = if head.method == Method::GET { Some(caller.door.stream()?) } else { None };

        // The head goes along with the message as far as the tools, who have no business with these.
        head.headers.remove(AUTHORIZATION);
        head.uri = Uri::from_static(PATH);
        head.extensions.insert(caller.who.clone());
        let request = Request::from_parts(head, Full::new(body.clone()));
        let mut response = caller.door.handle(request, opens).await?;

        // rmcp asks for a session where it could not read an `initialize` as one.
        let unread = match response.status() {
            StatusCode::UNSUPPORTED_MEDIA_TYPE => true,
            StatusCode::BAD_REQUEST => opens && !is_json(response.headers()),
            _ => false,
        };
        if let Some(message) = message.filter(|_| unread) {
            return Err(message.unreadable());
        }
        if initialize && self.house.modern_only() && response.status() == StatusCode::OK {
            *response.status_mut() = StatusCode::BAD_REQUEST; // -32022, which rmcp sends with 200
        }
        let (mut parts, mut body) = response.into_parts();
        if parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
            body = self.stream(body, &caller, stream);
        }
        if !self.lies.is_empty() {
            let lies = self.lies.clone();
            parts.headers.remove(CONTENT_LENGTH);
            body = body.map_frame(move |frame| frame.map_data(|data| lies.in_frame(data))).boxed();
        }
        Ok(Response::from_parts(parts, body))
    }

    /// A call beyond the grant is refused in HTTP's own words, which tell a client what to ask its
    /// authorization server for. The gate would refuse it in any case.
    async fn forbid(&self, caller: &Caller, call: &Call<'_>, scope: Scope, id: Option<RequestId>) -> Refusal {
        self.house.record_denied(&caller.who, &call.name, call.arguments().as_ref()).await;
        let text = format!(
            "`{}` needs the scope `{scope}`, which `{}` was not granted; only the server's operator can grant it",
            call.name, caller.who.name
        );
        Refusal::rpc(StatusCode::FORBIDDEN, id.as_ref(), 403, text).challenge(Some("insufficient_scope"), scope.name())
    }

    /// A stream ends when its token does. One that only waits (it has a `place`) ends when the
    /// server stops too; one that answers a call counts as running until it has.
    fn stream(&self, body: Body, caller: &Caller, place: Option<OwnedSemaphorePermit>) -> Body {
        let (callers, token) = (self.callers.clone(), caller.token);
        let closing = self.closing.clone();
        let waits = place.is_some();
        let held = (place, (!waits).then(|| self.running.token()));
        let end = async move {
            tokio::select! {
                () = callers.shut_out(token) => {}
                () = closing.cancelled(), if waits => {}
            }
        };
        let frames = BodyStream::new(body).take_until(end).map(move |frame| {
            let _ = &held;
            frame
        });
        BodyExt::boxed(StreamBody::new(frames))
    }
}

enum Admitted {
    Preflight(Response<Body>),
    Caller(Caller, Bytes),
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
