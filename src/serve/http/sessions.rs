//! rmcp's HTTP service, once for each caller's name. A session of one caller is unknown to all
//! others, whatever id they name, because they speak to another service.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request, Response, StatusCode, header::HeaderValue};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::sync::{MutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::refusal::{Body, Refusal};
use crate::serve::{Gate, House, Limits};

pub(super) const SESSION_ID: &str = "mcp-session-id";

/// Seconds after which another attempt to open a session may do better.
const RETRY: u64 = 30;

/// Where doors are made, and all their sessions counted.
#[derive(Debug)]
pub(super) struct Hall {
    house: Arc<House>,
    config: StreamableHttpServerConfig,
    /// Held from the counting of sessions to the opening of a new one.
    opening: tokio::sync::Mutex<()>,
    sessions: Mutex<Vec<Weak<LocalSessionManager>>>,
}

impl Hall {
    /// Everything ends when `stop` does.
    pub(super) fn new(house: Arc<House>, stop: CancellationToken) -> Self {
        let modern_only = house.modern_only();
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_legacy_session_mode(!modern_only) // never a session without it, and GET and DELETE get 405
            .with_stateless_protocol_metadata_required(modern_only)
            .with_max_request_body_bytes(house.limits().body_bytes)
            .disable_allowed_hosts() // `names` looks closer, and once
            .with_cancellation_token(stop);
        Self { house, config, opening: tokio::sync::Mutex::default(), sessions: Mutex::default() }
    }

    pub(super) fn house(&self) -> &Arc<House> {
        &self.house
    }

    pub(super) fn limits(&self) -> &Limits {
        self.house.limits()
    }

    /// A door without sessions.
    pub(super) fn door(self: &Arc<Self>) -> Arc<Door> {
        let stop = self.config.cancellation_token.child_token();
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(self.limits().session_seconds.0);
        let sessions = Arc::new(sessions);
        let mut all = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|sessions| sessions.strong_count() > 0);
        all.push(Arc::downgrade(&sessions));
        let house = self.house.clone();
        let service = StreamableHttpService::new(
            move || Ok(Gate::on_http(house.clone())),
            sessions.clone(),
            self.config.clone().with_cancellation_token(stop.clone()),
        );
        // Two for a session: a stream that is resumed may overlap the one that broke.
        let streams = Arc::new(Semaphore::new(2 * self.limits().sessions_per_caller as usize));
        Arc::new(Door { hall: self.clone(), service, sessions, streams, stop })
    }

    async fn in_total(&self) -> usize {
        let all: Vec<_> = {
            let all = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().filter_map(Weak::upgrade).collect()
        };
        let mut count = 0;
        for sessions in all {
            count += sessions.sessions.read().await.len();
        }
        count
    }
}

/// One caller's way in.
pub(super) struct Door {
    hall: Arc<Hall>,
    service: StreamableHttpService<Gate, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    streams: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Door {
    /// Let a request through to rmcp. `opens` says that it would open a session.
    pub(super) async fn handle(&self, request: Request<Full<Bytes>>, opens: bool) -> Result<Response<Body>, Refusal> {
        // rmcp looks too, but not before it ends a session, and not at every kind of request.
        if let Some(id) = request.headers().get(SESSION_ID)
            && !self.hall.house.modern_only()
            && !self.knows(id).await
        {
            return Err(Refusal::new(StatusCode::NOT_FOUND, "no such session; begin another with `initialize`"));
        }
        let _opening = if opens { Some(self.room_for_one().await?) } else { None };
        let ends = request.method() == Method::DELETE;
        let mut response = self.service.handle(request).await;
        if ends && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT; // the Python SDK takes 202 for a failure
        }
        Ok(response)
    }

    async fn knows(&self, id: &HeaderValue) -> bool {
        match id.to_str() {
            Ok(id) => self.sessions.sessions.read().await.contains_key(id),
            Err(_) => false,
        }
    }

    async fn room_for_one(&self) -> Result<MutexGuard<'_, ()>, Refusal> {
        let opening = self.hall.opening.lock().await;
        let limits = self.hall.limits();
        let full = |whose: &str, most| {
            let text = format!("{whose} {most} sessions are open; end one with DELETE, or wait");
            Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(RETRY))
        };
        if self.sessions.sessions.read().await.len() >= limits.sessions_per_caller as usize {
            return full("your", limits.sessions_per_caller);
        }
        if self.hall.in_total().await >= limits.sessions_in_total as usize {
            return full("all", limits.sessions_in_total);
        }
        Ok(opening)
    }

    /// A place for one more stream that the client holds open.
    pub(super) fn stream(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            let text = "you hold as many streams open as you may; close one";
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(RETRY)
        })
    }

    /// End all sessions.
    pub(super) fn close(&self) {
        self.stop.cancel();
    }
}
