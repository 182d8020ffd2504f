use std::{
    fmt::Write as _,
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{Server, server::GUARD};

/// A request, to be spoilt at will.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) target: String,
    /// `None` for the value stands for the server's own address.
    headers: Vec<(String, Option<String>)>,
    pub(super) body: String,
}

impl Request {
    fn new(method: &'static str, body: String) -> Self {
        let request = Self { method, target: "/mcp".into(), headers: vec![("host".into(), None)], body };
        request.header("accept", "application/json, text/event-stream")
    }

    pub(super) fn post(body: &Value) -> Self {
        Self::new("POST", body.to_string()).header("content-type", "application/json")
    }

    /// Of protocol 2026-07-28.
    pub(super) fn modern(method: &str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
        });
        let mut request = Self::post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if let Some(name) = params["name"].as_str() {
            request = request.header("mcp-name", name);
        }
        request
    }

    pub(super) fn list() -> Self {
        Self::modern("tools/list", json!({}))
    }

    pub(super) fn call(tool: &str) -> Self {
        Self::modern("tools/call", json!({"name": tool, "arguments": {}}))
    }

    /// Of a session, in protocol 2025-11-25.
    pub(super) fn legacy(session: &str, method: &str, params: &Value) -> Self {
        Self::post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            .header("mcp-session-id", session)
            .header("mcp-protocol-version", "2025-11-25")
    }

    pub(super) fn initialize() -> Self {
        Self::post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"},
        }}))
    }

    /// GET and DELETE of a session.
    pub(super) fn bare(method: &'static str, session: &str) -> Self {
        Self::new(method, String::new()).header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25")
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), Some(value.into())));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(super) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    pub(super) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(super) fn head(&self, server: &Server) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            let own = server.address.to_string();
            write!(text, "{name}: {}\r\n", value.as_ref().unwrap_or(&own)).unwrap();
        }
        text
    }

    pub(super) fn bytes(&self, server: &Server) -> Vec<u8> {
        let length =
            if self.body.is_empty() { String::new() } else { format!("content-length: {}\r\n", self.body.len()) };
        format!("{}{length}\r\n{}", self.head(server), self.body).into()
    }
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC message, plain or in the last event of a stream.
    pub(super) fn json(&self) -> Value {
        let text = self.body.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(super) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    pub(super) fn tools(&self) -> Vec<String> {
        assert_eq!(self.status, 200, "{self:?}");
        let json = self.json();
        let tools = json["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {self:?}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(GUARD)).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    /// A server that has seen enough may close while we write.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    pub(super) fn reply(&mut self) -> Reply {
        let mut reply = self.reply_head();
        let mut body = Vec::new();
        if reply.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                body.extend(chunk);
            }
        } else if let Some(length) = reply.header("content-length") {
            let length = length.parse().unwrap();
            self.fill(length);
            body = self.buffer.drain(..length).collect();
        }
        reply.body = String::from_utf8(body).unwrap();
        reply
    }

    pub(super) fn reply_head(&mut self) -> Reply {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at;
            }
            assert!(self.more(), "closed without an answer: {:?}", String::from_utf8_lossy(&self.buffer));
        };
        let head = String::from_utf8(self.buffer.drain(..end + 4).collect()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Reply { status, headers, body: String::new() }
    }

    /// The next chunk of a chunked body; `None` at its end, however it ends.
    pub(super) fn chunk(&mut self) -> Option<Vec<u8>> {
        let end = loop {
            if let Some(at) = self.buffer.windows(2).position(|bytes| bytes == b"\r\n") {
                break at;
            }
            if !self.more() {
                return None;
            }
        };
        let size = usize::from_str_radix(std::str::from_utf8(&self.buffer[..end]).unwrap(), 16).unwrap();
        self.fill(end + 2 + size + 2);
        let chunk = self.buffer[end + 2..end + 2 + size].to_vec();
        self.buffer.drain(..end + 2 + size + 2);
        (size > 0).then_some(chunk)
    }

    /// Whether the server closes, having sent nothing more.
    pub(super) fn is_closed(&mut self) -> bool {
        !self.more() && self.buffer.is_empty()
    }

    fn fill(&mut self, length: usize) {
        while self.buffer.len() < length {
            assert!(self.more(), "cut off after {:?}", String::from_utf8_lossy(&self.buffer));
        }
    }

    fn more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(count) => {
                self.buffer.extend(&bytes[..count]);
                count > 0
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => self.more(),
            Err(error) => panic!("hangs: {error}"),
        }
    }
}
