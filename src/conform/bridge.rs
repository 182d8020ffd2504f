//! From standard input and output to a running scenario: for clients that speak stdio alone. Bytes
//! pass as they are. A reply that is lost there ends the bridge, as a server that dies would.

use std::{error::Error, sync::Arc};

use reqwest::{Client, RequestBuilder, Response};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Stdout, stdin, stdout},
    sync::Mutex,
    task::JoinSet,
};

type Fault = Box<dyn Error + Send + Sync>;

/// Carry messages until standard input ends, or a reply is lost.
///
/// # Errors
///
/// If the scenario can't be reached, or breaks a reply off.
pub fn carry(url: &str) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(carry_all(url));
    runtime.shutdown_background();
    ended
}

async fn carry_all(url: &str) -> Result<(), Fault> {
    let none = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let client = Client::builder().no_proxy().tls_backend_preconfigured(none).build()?;
    let bridge = Bridge { client, url: url.to_owned(), session: Mutex::default(), output: Mutex::new(stdout()) };
    let bridge = Arc::new(bridge);
    let (mut lines, mut exchanges) = (BufReader::new(stdin()).lines(), JoinSet::new());
    loop {
        tokio::select! {
            line = lines.next_line() => {
                let Some(line) = line? else { return Ok(()) };
                let message: Value = serde_json::from_str(&line).unwrap_or_default();
                let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
                if method == "initialize" {
                    // Everything after it needs its session.
                    Arc::clone(&bridge).exchange(line, message).await?;
                    continue;
                }
                if method == "notifications/initialized" {
                    exchanges.spawn(Arc::clone(&bridge).listen());
                }
                exchanges.spawn(Arc::clone(&bridge).exchange(line, message));
            }
            Some(ended) = exchanges.join_next() => ended??,
        }
    }
}

struct Bridge {
    client: Client,
    url: String,
    session: Mutex<Option<String>>,
    output: Mutex<Stdout>,
}

impl Bridge {
    async fn exchange(self: Arc<Self>, line: String, message: Value) -> Result<(), Fault> {
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        let mut request = self.client.post(&self.url).header("content-type", "application/json");
        if let Some(version) = text("/params/_meta/io.modelcontextprotocol~1protocolVersion") {
            request = request.header("mcp-protocol-version", version);
        }
        let response = self.with_session(request).await.body(line).send().await?;
        if let Some(id) = response.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()) {
            *self.session.lock().await = Some(id.to_owned());
        }
        self.pass_on(response).await
    }

    /// What the server says on its own accord.
    async fn listen(self: Arc<Self>) -> Result<(), Fault> {
        let response = self.with_session(self.client.get(&self.url)).await.send().await?;
        self.pass_on(response).await
    }

    async fn with_session(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.header("accept", "application/json, text/event-stream");
        match self.session.lock().await.as_deref() {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    }

    async fn pass_on(&self, mut response: Response) -> Result<(), Fault> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            let body = response.bytes().await?;
            return if body.is_empty() { Ok(()) } else { self.say(&body).await };
        }
        let mut rest = Vec::new();
        while let Some(bytes) = response.chunk().await? {
            rest.extend(bytes);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                if let Some(data) = line.strip_prefix(b"data: ") {
                    self.say(data.trim_ascii_end()).await?;
                }
            }
        }
        Ok(())
    }

    async fn say(&self, message: &[u8]) -> Result<(), Fault> {
        let mut output = self.output.lock().await;
        output.write_all(message).await?;
        output.write_all(b"\n").await?;
        Ok(output.flush().await?)
    }
}
