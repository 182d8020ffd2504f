//! Messages over Streamable HTTP: each in a POST of its own, answered with JSON or a stream of
//! events; what a session's server says on its own accord comes through a GET.

use std::{
    error::Error,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url, redirect::Policy};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use serde_json::Value;
use tokio::task::JoinSet;

use super::{
    Era, WireError,
    connection::Inbox,
    error::cut,
    events::Events,
    message::{self, Incoming, Outcome},
};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

#[derive(Debug)]
pub(super) struct Http {
    client: Client,
    url: Url,
    headers: Vec<(String, String)>,
    era: Era,
    /// Of the legacy era, once there is one.
    session: Arc<Mutex<Option<String>>>,
    /// What the handshake agreed on.
    pub(super) version: Option<String>,
    exchanges: JoinSet<()>,
    inbox: Inbox,
    limit: usize,
}

impl Http {
    pub(super) fn new(
        url: &str,
        socket: Option<&Path>,
        headers: &[(String, String)],
        era: Era,
        inbox: Inbox,
        limit: usize,
    ) -> Result<Self, WireError> {
        let failed = |cause: String| WireError::Network { url: url.to_owned(), cause };
        let parsed = Url::parse(url).map_err(|error| failed(error.to_string()))?;
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let tls = builder
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map(rustls::ConfigBuilder::<ClientConfig, _>::with_no_client_auth);
        // Without trusted certificates plain HTTP still works.
        let client = Client::builder().redirect(Policy::none()).http1_only();
        let client = match tls {
            Ok(tls) => client.tls_backend_preconfigured(tls),
            Err(error) if parsed.scheme() == "https" => return Err(failed(error.to_string())),
            Err(_) => {
                client.tls_backend_preconfigured(without_certificates().map_err(|error| failed(error.to_string()))?)
            }
        };
        let is_here = matches!(parsed.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let client = if is_here { client.no_proxy() } else { client };
        #[cfg(unix)]
        let client = match socket {
            Some(socket) => client.unix_socket(socket),
            None => client,
        };
        #[cfg(not(unix))]
        let _ = socket;
        Ok(Self {
            client: client.build().map_err(|error| failed(root(&error)))?,
            url: parsed,
            headers: headers.to_vec(),
            era,
            session: Arc::default(),
            version: None,
            exchanges: JoinSet::new(),
            inbox,
            limit,
        })
    }

    /// Send a request; what comes back goes to the inbox.
    pub(super) fn request(&mut self, message: &Value) {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut request = self.post(message);
        if self.era == Era::Modern {
            request = request.header("mcp-method", &method);
            if let Some(name) = message.pointer("/params/name").and_then(Value::as_str) {
                request = request.header("mcp-name", in_header(name));
            }
        }
        let exchange = Exchange { url: self.url.to_string(), what: format!("`{method}`"), limit: self.limit };
        let (inbox, session) = (self.inbox.clone(), self.session.clone());
        self.exchanges.spawn(async move {
            if let Err(error) = exchange.run(request, &session, &inbox).await {
                let _ = inbox.send(Err(error)).await;
            }
        });
    }

    /// Send what has no answer of its own.
    pub(super) async fn tell(&self, message: &Value) -> Result<(), WireError> {
        let failed = |error: reqwest::Error| WireError::Network { url: self.url.to_string(), cause: root(&error) };
        let response = self.post(message).send().await.map_err(failed)?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let challenge = challenge(&response);
        let text = String::from_utf8_lossy(&body(response, self.limit).await?).into_owned();
        let request = message.get("method").and_then(Value::as_str).unwrap_or("our answer to its question").to_owned();
        Err(WireError::Status { request, status: status.as_u16(), challenge, text: cut(&text) })
    }

    /// Listen to what the server of a session says on its own accord. It need not offer that.
    pub(super) fn listen(&mut self) {
        let request = self.with_headers(self.client.get(self.url.clone())).header("accept", "text/event-stream");
        let (inbox, limit) = (self.inbox.clone(), self.limit);
        self.exchanges.spawn(async move {
            if let Ok(response) = request.send().await
                && response.status() == StatusCode::OK
                && is_stream(&response)
            {
                let _ = stream(response, limit, &inbox).await;
            }
        });
    }

    /// End the session, and every exchange that still goes on.
    pub(super) async fn close(mut self) {
        self.exchanges.shutdown().await;
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if session {
            let request = self.with_headers(self.client.delete(self.url.clone()));
            let _ = request.timeout(Duration::from_secs(1)).send().await;
        }
    }

    fn post(&self, message: &Value) -> RequestBuilder {
        self.with_headers(self.client.post(self.url.clone()))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(message.to_string())
    }

    fn with_headers(&self, mut request: RequestBuilder) -> RequestBuilder {
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let version = if self.era == Era::Modern { Some(self.era.name()) } else { self.version.as_deref() };
        if let Some(version) = version {
            request = request.header(VERSION, version);
        }
        match self.session.lock().unwrap_or_else(PoisonError::into_inner).as_deref() {
            Some(session) => request.header(SESSION, session),
            None => request,
        }
    }
}

/// One request and what comes back.
struct Exchange {
    url: String,
    what: String,
    limit: usize,
}

impl Exchange {
    async fn run(
        &self,
        request: RequestBuilder,
        session: &Mutex<Option<String>>,
        inbox: &Inbox,
    ) -> Result<(), WireError> {
        let failed = |error: reqwest::Error| WireError::Network { url: self.url.clone(), cause: root(&error) };
        let response = request.send().await.map_err(failed)?;
        if let Some(id) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            *session.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_owned());
        }
        let status = response.status();
        if status.is_success() && is_stream(&response) {
            if stream(response, self.limit, inbox).await? {
                return Ok(());
            }
            let how = "closed the stream of events".to_owned();
            return Err(WireError::Ended { how, waiting: self.what.clone(), stderr: String::new() });
        }
        let challenge = challenge(&response);
        let body = body(response, self.limit).await?;
        match message::read(&body) {
            Ok(Some(reply @ Incoming::Reply { .. })) if status.is_success() || names_its_request(&reply) => {
                let _ = inbox.send(Ok(reply)).await;
                Ok(())
            }
            Err(garbage) if status.is_success() && !body.is_empty() => Err(garbage),
            _ => {
                let text = cut(&String::from_utf8_lossy(&body));
                Err(WireError::Status { request: self.what.clone(), status: status.as_u16(), challenge, text })
            }
        }
    }
}

/// An error with the id of its request is that request's answer, whatever the status.
fn names_its_request(reply: &Incoming) -> bool {
    matches!(reply, Incoming::Reply { id, outcome: Outcome::Error(_) } if !id.is_null())
}

fn challenge(response: &Response) -> Option<String> {
    let challenge = response.headers().get("www-authenticate")?;
    Some(cut(&String::from_utf8_lossy(challenge.as_bytes())))
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

/// Hand on the messages of a stream of events. Returns whether an answer was among them.
async fn stream(mut response: Response, limit: usize, inbox: &Inbox) -> Result<bool, WireError> {
    let mut events = Events::new(limit);
    let mut answered = false;
    while let Ok(Some(bytes)) = response.chunk().await {
        for data in events.feed(&bytes)? {
            if let Some(incoming) = message::read(&data)? {
                answered |= matches!(incoming, Incoming::Reply { .. });
                if inbox.send(Ok(incoming)).await.is_err() {
                    return Ok(true);
                }
            }
        }
    }
    Ok(answered)
}

async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, WireError> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend(bytes);
        if body.len() > limit {
            return Err(WireError::TooLong { limit });
        }
    }
    Ok(body)
}

/// A name as a header may carry it (specification, streamable-http: `=?base64?…?=`).
fn in_header(name: &str) -> String {
    let plain = name.chars().all(|char| char.is_ascii_graphic() || char == ' ') && name.trim() == name;
    if plain && !name.starts_with("=?base64?") {
        name.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(name))
    }
}

fn without_certificates() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let none = rustls::RootCertStore::empty();
    Ok(builder.with_safe_default_protocol_versions()?.with_root_certificates(none).with_no_client_auth())
}

/// What lies at the bottom of an error; the layers above only say that a request failed.
fn root(error: &reqwest::Error) -> String {
    let first: &(dyn Error + 'static) = error;
    let last = std::iter::successors(Some(first), |cause| (*cause).source()).last();
    last.map(ToString::to_string).unwrap_or_default()
}
