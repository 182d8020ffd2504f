//! The wire: Streamable HTTP, in both protocol eras.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json, value::RawValue};
use tokio::{task::JoinHandle, time::Instant};

use crate::{
    policy::Policy,
    task::{Fault, Task},
};

/// What came of a request.
pub(crate) enum Outcome {
    Result(Value),
    Stopped(Stopped),
}

/// Why there is no reply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The user had enough.
    ByUser,
    /// It may have had its effect, or not.
    Lost,
    /// It never began: the server knows the session no more.
    NoSession,
}

/// A connection.
pub(crate) struct Link {
    http: Client,
    url: String,
    modern: bool,
    elicitation: bool,
    cancels: bool,
    patience: Duration,
    session: Option<String>,
    next_id: u64,
    /// What the server calls itself.
    pub(crate) server: String,
    told: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

/// A client for loopback: no certificates.
pub(crate) fn http() -> Result<Client, Fault> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let none = rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty());
    Ok(Client::builder().no_proxy().tls_backend_preconfigured(none.with_no_client_auth()).build()?)
}

impl Link {
    pub(crate) async fn open(http: Client, task: &Task, policy: &Policy) -> Result<Self, Fault> {
        let mut link = Self {
            http,
            url: task.url.clone(),
            modern: task.modern,
            elicitation: (policy.habits.offers)(task.elicitation),
            cancels: policy.habits.cancels,
            patience: task.patience(),
            session: None,
            next_id: 0,
            server: String::new(),
            told: Arc::default(),
            listener: None,
        };
        let (method, params, identity) = if link.modern {
            ("server/discover", json!({}), "/_meta/io.modelcontextprotocol~1serverInfo/name")
        } else {
            let version = json!({"protocolVersion": "2025-11-25", "capabilities": link.capabilities(),
                                 "clientInfo": identity()});
            ("initialize", version, "/serverInfo/name")
        };
        let Outcome::Result(result) = link.request(method, params, None, &nobody).await? else {
            return Err("the server does not answer".into());
        };
        link.server = result.pointer(identity).and_then(Value::as_str).unwrap_or_default().to_owned();
        if !link.modern {
            link.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        }
        link.listen().await?;
        Ok(link)
    }

    /// Whether the server said that its list changed, since this was asked last.
    pub(crate) fn was_told_of_change(&self) -> bool {
        self.told.swap(false, Ordering::Relaxed)
    }

    /// One page of the list as bytes, and how long it is good for: until told otherwise, if the server
    /// does not say (legacy).
    pub(crate) async fn list(&mut self, params: Value) -> Result<(Vec<u8>, Duration), Fault> {
        let id = self.take_id();
        let response = self.post(&self.message(id, "tools/list", params)).await?;
        let mut messages = Messages::new(response);
        let read = async {
            while let Some(bytes) = messages.next().await? {
                #[derive(serde::Deserialize)]
                struct Reply<'a> {
                    #[serde(borrow)]
                    result: Option<&'a RawValue>,
                }
                if let Some(result) = serde_json::from_slice::<Reply<'_>>(&bytes)?.result {
                    return Ok::<_, Fault>(result.get().as_bytes().to_vec());
                }
            }
            Err("the server does not list its tools".into())
        };
        let bytes = tokio::time::timeout(self.patience, read).await??;
        let ttl = serde_json::from_slice::<Value>(&bytes)?.get("ttlMs").and_then(Value::as_u64);
        let ttl = if self.modern { Duration::from_millis(ttl.unwrap_or(0)) } else { Duration::MAX };
        Ok((bytes, ttl))
    }

    /// A request and its reply. The server's questions meanwhile get what `ask` returns.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        params: Value,
        stop: Option<Duration>,
        ask: &impl AsyncFn(&Value) -> Value,
    ) -> Result<Outcome, Fault> {
        let id = self.take_id();
        let message = self.message(id, method, params);
        let wait = stop.unwrap_or(self.patience).min(self.patience);
        let mut give_up = Instant::now() + wait;
        let Ok(sent) = tokio::time::timeout_at(give_up, self.post(&message)).await else {
            return self.stopped(id, stop).await;
        };
        let Ok(response) = sent else { return Ok(Outcome::Stopped(Stopped::Lost)) };
        if response.status() == StatusCode::NOT_FOUND && self.session.is_some() {
            return Ok(Outcome::Stopped(Stopped::NoSession));
        }
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.to_str()?.to_owned());
        }
        let mut messages = Messages::new(response);
        loop {
            let next = match tokio::time::timeout_at(give_up, messages.next()).await {
                Err(_) => {
                    drop(messages); // In the modern era this is what cancels it.
                    return self.stopped(id, stop).await;
                }
                Ok(Err(_) | Ok(None)) => return Ok(Outcome::Stopped(Stopped::Lost)),
                Ok(Ok(Some(next))) => serde_json::from_slice::<Value>(&next)?,
            };
            if next.get("method").and_then(Value::as_str) == Some("elicitation/create") {
                let answer = ask(next.pointer("/params/message").unwrap_or(&Value::Null)).await;
                self.post(&json!({"jsonrpc": "2.0", "id": next.get("id"), "result": answer})).await?;
                give_up = Instant::now() + wait; // the time that the user takes is not the server's
            } else if let Some(error) = next.get("error") {
                return Ok(Outcome::Result(json!({"isError": true, "error": error})));
            } else if let Some(result) = next.get("result") {
                return Ok(Outcome::Result(result.clone()));
            }
        }
    }

    /// Give a call up, and say so.
    async fn stopped(&self, id: u64, stop: Option<Duration>) -> Result<Outcome, Fault> {
        if !self.modern && self.cancels {
            let params = json!({"requestId": id, "reason": "the user does not wait any longer"});
            self.post(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await?;
        }
        Ok(Outcome::Stopped(if stop.is_some() { Stopped::ByUser } else { Stopped::Lost }))
    }

    /// Hear what changes: on the stream of the session (legacy), or on one of our own (modern).
    async fn listen(&mut self) -> Result<(), Fault> {
        let request = if self.modern {
            let id = self.take_id();
            let message =
                self.message(id, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
            self.prepare(&message)
        } else {
            let get = self.http.get(&self.url).header("accept", "text/event-stream");
            get.header("mcp-session-id", self.session.as_deref().unwrap_or_default())
        };
        // Not before the server has heard: what changes in between would be lost.
        let Ok(response) = request.send().await else { return Ok(()) };
        let told = Arc::clone(&self.told);
        self.listener = Some(tokio::spawn(async move {
            let mut messages = Messages::new(response);
            while let Ok(Some(message)) = messages.next().await {
                let message: Value = serde_json::from_slice(&message).unwrap_or_default();
                if message.get("method").and_then(Value::as_str) == Some("notifications/tools/list_changed") {
                    told.store(true, Ordering::Relaxed);
                }
            }
        }));
        Ok(())
    }

    pub(crate) async fn close(self) {
        if let Some(session) = &self.session {
            let _ = self.http.delete(&self.url).header("mcp-session-id", session).send().await;
        }
    }

    fn capabilities(&self) -> Value {
        if self.elicitation { json!({"elicitation": {}}) } else { json!({}) }
    }

    fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// In the modern era each request says for itself who asks.
    fn message(&self, id: u64, method: &str, mut params: Value) -> Value {
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
                "io.modelcontextprotocol/clientInfo": identity(),
            });
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    fn prepare(&self, message: &Value) -> reqwest::RequestBuilder {
        let mut request = self.http.post(&self.url).header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        request = request.header("mcp-protocol-version", if self.modern { "2026-07-28" } else { "2025-11-25" });
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if self.modern {
            let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
            request = request.header("mcp-method", text("/method").unwrap_or_default());
            if let Some(name) = text("/params/name") {
                request = request.header("mcp-name", name);
            }
        }
        request.body(message.to_string())
    }

    async fn post(&self, message: &Value) -> Result<Response, reqwest::Error> {
        self.prepare(message).send().await
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            listener.abort();
        }
    }
}

fn identity() -> Value {
    json!({"name": "reference-client", "version": "1.0.0"})
}

async fn nobody(_: &Value) -> Value {
    json!({"action": "cancel"})
}

/// The messages of a response: one as JSON, or many as server-sent events.
struct Messages {
    response: Option<Response>,
    streams: bool,
    rest: Vec<u8>,
}

impl Messages {
    fn new(response: Response) -> Self {
        let kind = response.headers().get("content-type").map(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        Self { response: Some(response), streams: kind == Some(true), rest: Vec::new() }
    }

    async fn next(&mut self) -> Result<Option<Vec<u8>>, reqwest::Error> {
        if !self.streams {
            let Some(response) = self.response.take() else { return Ok(None) };
            return Ok(Some(response.bytes().await?.to_vec()));
        }
        loop {
            while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                if let Some(data) = line.strip_prefix(b"data:") {
                    return Ok(Some(data.trim_ascii().to_vec()));
                }
            }
            let Some(response) = &mut self.response else { return Ok(None) };
            match response.chunk().await? {
                Some(bytes) => self.rest.extend(bytes),
                None => return Ok(None),
            }
        }
    }
}
