use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// Nothing here takes this long unless it hangs.
pub(super) const GUARD: Duration = Duration::from_secs(30);

/// A running `candor serve --http`.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Server {
    /// On a free port of 127.0.0.1.
    pub(super) fn start(options: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", options)
    }

    pub(super) fn start_at(address: &str, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command.args(["serve", "--http", address]).args(options).env("CANDOR_LOG", "trace,rmcp=trace");
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (listening, told) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let into = log.clone();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix("candor: listening on http://") {
                    let _ = listening.send(url.strip_suffix("/mcp").unwrap().parse().unwrap());
                }
                writeln!(into.lock().unwrap(), "{line}").unwrap();
            }
        });
        let Ok(address) = told.recv_timeout(GUARD) else {
            panic!("no server: {:?}, {}", child.try_wait(), log.lock().unwrap());
        };
        Self { child, address, log }
    }

    /// With these tokens.
    pub(super) fn with(tokens: &Tokens, options: &[&str]) -> Self {
        let file = ["--tokens", tokens.path.to_str().unwrap()];
        Self::start(&[&file, options].concat())
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(GUARD)).unwrap();
        Connection { stream, buffer: Vec::new() }
    }

    /// On a connection of its own.
    pub(super) fn send(&self, request: &Request) -> Reply {
        let mut connection = self.connect();
        connection.send(&request.bytes(self));
        if request.method == "HEAD" { connection.reply_head() } else { connection.reply() }
    }

    /// Everything on standard error so far.
    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(super) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    pub(super) fn wait(&mut self) -> ExitStatus {
        let from = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(from.elapsed() < GUARD, "the server does not end: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A tokens file, filled by `candor token new`.
pub(super) struct Tokens {
    pub(super) path: PathBuf,
    _dir: tempfile::TempDir,
}

impl Tokens {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { path: dir.path().join("tokens.toml"), _dir: dir }
    }

    pub(super) fn issue(&self, name: &str, scopes: &str) -> String {
        self.append(&Self::entry(&[name, scopes]))
    }

    pub(super) fn append(&self, entry: &str) -> String {
        let old = fs::read_to_string(&self.path).unwrap_or_default();
        replace(&self.path, &format!("{old}{entry}"));
        token_in(entry).to_owned()
    }

    /// What `candor token new` prints.
    pub(super) fn entry(arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        let output = command.args(["token", "new"]).args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(super) fn token_in(entry: &str) -> &str {
    entry
        .lines()
        .find_map(|line| line.strip_prefix("# candor_"))
        .map(|rest| &entry[entry.find(rest).unwrap() - 7..][..71])
        .unwrap()
}

/// As careful editors do it.
pub(super) fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

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
            Err(error) => panic!("hangs: {error}"),
        }
    }
}
