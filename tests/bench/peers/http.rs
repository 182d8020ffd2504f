//! A client of a server over HTTP that keeps each connection and writes each request as bytes made
//! beforehand, and the floor: axum with a token check and nothing behind it.

use std::{
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    routing::post,
    serve::ListenerExt,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{Failure, figures::Run};

/// Which protocol the client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: every request stands alone.
    Modern,
    /// 2025-11-25: a handshake first, and a session if the server wants one.
    Legacy,
    /// No MCP at all.
    Hello,
}

/// Of the same length as all that follow it: in a session no two open requests may share one.
const FIRST_ID: usize = 1_000_000;

/// A server process that listens, ended with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    token: String,
}

impl Server {
    /// Start it and wait until it takes connections. `token` is shown with every request.
    pub(crate) fn start(command: &[String], port: u16, token: &str) -> Result<Self, Failure> {
        let [program, arguments @ ..] = command else { return Err("no command".into()) };
        let child = Command::new(program)
            .args(arguments)
            .env("CANDOR_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let server = Self { child, address: ([127, 0, 0, 1], port).into(), token: token.to_owned() };
        let began = Instant::now();
        while std::net::TcpStream::connect(server.address).is_err() {
            if began.elapsed() > Duration::from_secs(30) {
                return Err(format!("{program} does not listen").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The identifier of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The bytes of one request.
    fn request(&self, headers: &str, body: &Value) -> Vec<u8> {
        let body = body.to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
        .into_bytes()
    }

    /// The bytes of one `initialize`, which opens a session where there are any.
    pub(crate) fn initialize(&self) -> Vec<u8> {
        let client = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.request("", &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
    }

    /// The bytes of a call, after whatever has to come before it.
    pub(crate) async fn prepare(&self, era: Era, call: &Value) -> Result<Vec<u8>, Failure> {
        let mut call = call.clone();
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let headers = match era {
            Era::Hello => String::new(),
            Era::Modern => {
                let version = "2026-07-28";
                call["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": version,
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                });
                format!("MCP-Protocol-Version: {version}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n")
            }
            Era::Legacy => {
                let mut connection = Connection::open(self.address).await?;
                let answer = connection.exchange(&self.initialize()).await?;
                let head = String::from_utf8_lossy(&answer);
                let session = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("mcp-session-id").then(|| format!("Mcp-Session-Id: {}\r\n", value.trim()))
                });
                let headers = format!("MCP-Protocol-Version: 2025-11-25\r\n{}", session.unwrap_or_default());
                let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                connection.exchange(&self.request(&headers, &ready)).await?;
                headers
            }
        };
        let request =
            self.request(&headers, &json!({"jsonrpc": "2.0", "id": FIRST_ID, "method": "tools/call", "params": call}));
        let answer = Connection::open(self.address).await?.exchange(&request).await?;
        let text = String::from_utf8_lossy(&answer);
        if !text.starts_with("HTTP/1.1 200") || text.contains("\"isError\":true") || text.contains("\"error\":") {
            return Err(format!("{call}: {text}").into());
        }
        Ok(request)
    }

    /// The same request again and again on this many connections.
    pub(crate) async fn load(&self, request: &[u8], connections: usize, time: Duration) -> Result<Run, Failure> {
        let mut opened = Vec::new();
        for _ in 0..connections {
            opened.push(Connection::open(self.address).await?);
        }
        let began = Instant::now();
        let text = std::str::from_utf8(request)?;
        let (from, requests) = (FIRST_ID.to_string(), 0..connections);
        let requests = requests.map(|number| text.replacen(&from, &(FIRST_ID + number).to_string(), 1).into_bytes());
        let clients = opened.into_iter().zip(requests).map(|(mut connection, request)| async move {
            let mut times = Vec::new();
            while began.elapsed() < time {
                let sent = Instant::now();
                let answer = connection.exchange(&request).await?;
                if !answer.starts_with(b"HTTP/1.1 200") {
                    return Err(String::from_utf8_lossy(&answer).into_owned().into());
                }
                times.push(sent.elapsed());
            }
            Ok::<_, Failure>(times)
        });
        let times = futures::future::try_join_all(clients).await?;
        Ok(Run::new(times.concat(), began.elapsed()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One kept connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 << 10) })
    }

    /// The whole answer, head and body.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        while !is_whole(&self.buffer) {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(format!("cut off: {}", String::from_utf8_lossy(&self.buffer)).into());
            }
        }
        Ok(self.buffer.clone())
    }
}

/// Whether an answer has come to its end.
fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let (head, body) = answer.split_at(end + 4);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    if head.contains("transfer-encoding: chunked") {
        return body.ends_with(b"0\r\n\r\n");
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    body.len() >= length.unwrap_or(0)
}

/// The floor: the same check of the same token, then a fixed answer.
pub(crate) fn hello(port: u16, token: &str) -> Result<(), Failure> {
    let digest: [u8; 32] = Sha256::digest(token).into();
    let answer = move |headers: HeaderMap, body: Bytes| async move {
        let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let shown: [u8; 32] = Sha256::digest(shown.unwrap_or_default()).into();
        if bool::from(shown.ct_eq(&digest)) && !body.is_empty() {
            (StatusCode::OK, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        } else {
            (StatusCode::UNAUTHORIZED, "")
        }
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port)).await?.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, Router::new().route("/mcp", post(answer))).await?;
        Ok(())
    })
}
