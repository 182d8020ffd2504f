//! Drives the real binary as a client would, with JSON as the wire carries it.

pub(crate) mod host;

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing that works takes this long; a test that waits longer has found a hang.
pub(crate) const HANG: Duration = Duration::from_secs(60);

pub(crate) fn candor() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.env_remove("CANDOR_LOG");
    command
}

/// What the user says when asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Accepts,
    Declines,
    Cancels,
    /// Accepts the form and leaves its one field at false.
    SaysNo,
    /// The client tells the server that it cannot ask.
    CannotBeAsked,
}

impl User {
    pub(crate) fn answer(self) -> Value {
        match self {
            Self::Accepts => json!({"action": "accept", "content": {"confirm": true}}),
            Self::SaysNo => json!({"action": "accept", "content": {"confirm": false}}),
            Self::Declines => json!({"action": "decline"}),
            Self::Cancels | Self::CannotBeAsked => json!({"action": "cancel"}),
        }
    }

    fn capabilities(self) -> Value {
        match self {
            Self::CannotBeAsked => json!({}),
            _ => json!({"elicitation": {}}),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: every request stands alone.
    Modern,
    /// 2025-11-25: a handshake comes first.
    Legacy,
}

pub(crate) const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];

/// One server process on stdio and the client that talks to it.
pub(crate) struct Server {
    child: Child,
    /// Where it lays out its demo workspace: gone with the test, however the process ends.
    scratch: TempDir,
    input: Option<ChildStdin>,
    messages: Receiver<Result<Value, String>>,
    log: Option<JoinHandle<String>>,
    next_id: u64,
    era: Era,
    pub(crate) user: User,
    /// Questions that the user has seen.
    pub(crate) questions: Vec<String>,
}

impl Server {
    /// `candor serve` with these options, spoken to in the modern era by a user who accepts.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::start_in(Era::Modern, User::Accepts, options)
    }

    pub(crate) fn start_in(era: Era, user: User, options: &[&str]) -> Self {
        let mut server = Self::silent(era, user, options);
        if era == Era::Legacy {
            server.initialize();
        }
        server
    }

    /// Without a handshake, whatever the era.
    pub(crate) fn silent(era: Era, user: User, options: &[&str]) -> Self {
        let mut command = candor();
        command.arg("serve").args(options);
        Self::spawn(&mut command, era, user)
    }

    pub(crate) fn spawn(command: &mut Command, era: Era, user: User) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        command.env("TMPDIR", scratch.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (send, messages) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines() {
                let line = line.unwrap_or_else(|error| error.to_string());
                // Whatever is no JSON-RPC message on stdout is a fault, and told as the line.
                let message = serde_json::from_str(&line).map_err(|_| line);
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let mut errors = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        let input = child.stdin.take();
        Self { child, scratch, input, messages, log: Some(log), next_id: 0, era, user, questions: Vec::new() }
    }

    pub(crate) fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": self.user.capabilities(),
            "clientInfo": {"name": "tests", "version": "0"},
        });
        let reply = self.request("initialize", params);
        assert_eq!(reply["result"]["protocolVersion"], "2025-11-25", "{reply}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("input is open");
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Send a request and return its id.
    pub(crate) fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.user.capabilities(),
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
            });
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    /// The next message from the server; `None` at the end of its output.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.messages.recv_timeout(HANG) {
            Ok(Ok(message)) => Some(message),
            Ok(Err(line)) => panic!("not a JSON-RPC message on stdout: {line}"),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no message for {HANG:?}"),
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.reply_to(id)
    }

    /// The reply to a request; questions of the legacy era are answered on the way.
    pub(crate) fn reply_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().expect("the server is there");
            if message["method"] == "elicitation/create" {
                self.questions.push(message["params"]["message"].as_str().unwrap().into());
                let answer = self.user.answer();
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
            } else if message["id"] == id {
                return message;
            }
        }
    }

    /// Call a tool; a question of either era is answered as the user would.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` makes the arguments in place")]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        let mut params = json!({"name": tool, "arguments": arguments});
        for _ in 0..5 {
            let reply = self.request("tools/call", params.clone());
            let result = &reply["result"];
            if result["resultType"] != "input_required" {
                return Reply(reply);
            }
            let (key, question) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
            self.questions.push(question["params"]["message"].as_str().unwrap().into());
            params["requestState"] = result["requestState"].clone();
            params["inputResponses"] = json!({key: self.user.answer()});
        }
        panic!("`{tool}` keeps asking");
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
    }

    pub(crate) fn tool_names(&mut self) -> Vec<String> {
        self.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The server's input, to be written from another thread.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().expect("input is open")
    }

    /// The directory for its temporary files.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Send it a signal, such as `-TERM`.
    pub(crate) fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.pid()]).status().unwrap().success());
    }

    /// Wait for its end without closing our side.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Close our side and wait for the server's end: its status and what it logged.
    pub(crate) fn finish(mut self) -> (ExitStatus, String) {
        self.close_input();
        let status = wait(&mut self.child);
        (status, self.log.take().unwrap().join().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Wait for a process that should end by itself.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(began.elapsed() < HANG, "the process does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What came back for a call.
#[derive(Debug)]
pub(crate) struct Reply(pub(crate) Value);

impl Reply {
    /// The structured result of a call that worked.
    #[track_caller]
    pub(crate) fn output(&self) -> &Value {
        let result = &self.0["result"];
        assert!(result["isError"] != true && result["structuredContent"].is_object(), "{}", self.0);
        &result["structuredContent"]
    }

    /// The text of a call that was refused.
    #[track_caller]
    pub(crate) fn refusal(&self) -> &str {
        assert!(self.0["result"]["isError"] == true, "{}", self.0);
        self.0["result"]["content"][0]["text"].as_str().unwrap()
    }

    /// The code of a protocol error.
    #[track_caller]
    pub(crate) fn code(&self) -> i64 {
        self.0["error"]["code"].as_i64().unwrap_or_else(|| panic!("{}", self.0))
    }
}

/// What git says, run in `dir` with no configuration but the repository's.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
