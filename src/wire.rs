//! A client of MCP servers that speaks JSON-RPC as bytes, in both protocol eras, over stdio and
//! HTTP. What a server says stays as it stands on the wire, and whatever a server does, there is an
//! answer in time or a [`WireError`], and no process left.

mod call;
mod error;
mod events;
mod http;
mod message;
mod process;
mod question;
mod stdio;

use std::{path::PathBuf, time::Duration};

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    time::{Instant, sleep, timeout_at},
};

pub use call::Called;
pub use error::WireError;
pub use process::Closed;
pub use question::Question;

use error::cut;
use http::Http;
use message::{Incoming, Outcome};
use process::Process;
use stdio::Stdio;

use crate::hints::{DeclaredTool, ListError, read_list};

/// The two ways of opening a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// Every request stands alone.
    Modern,
    /// A handshake comes first.
    Legacy,
}

impl Era {
    /// Both, the newer one first.
    pub const ALL: [Self; 2] = [Self::Modern, Self::Legacy];

    /// The revision of the protocol that is asked for.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

/// Revisions that begin with a handshake; a server may answer with another than the one asked for.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What the user says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Yes: booleans are true, texts and numbers their default or the least that fits, of a choice
    /// the first.
    Accept,
    /// No.
    Decline,
    /// The question was closed without an answer.
    Cancel,
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program that speaks on its standard input and output.
    Stdio {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables beside the inherited environment.
        env: Vec<(String, String)>,
        /// Its working directory; ours by default.
        dir: Option<PathBuf>,
    },
    /// An address.
    Http {
        /// The endpoint.
        url: String,
        /// Headers for every request.
        headers: Vec<(String, String)>,
    },
    /// A program that serves HTTP and says where: the first `http://` address that it prints is the
    /// endpoint.
    Serving {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables beside the inherited environment.
        env: Vec<(String, String)>,
        /// Its working directory; ours by default.
        dir: Option<PathBuf>,
        /// Headers for every request.
        headers: Vec<(String, String)>,
    },
}

/// How much a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until the handshake is done. 10 s.
    pub start: Duration,
    /// For a call, from each question on anew, and for the whole list of tools. 30 s.
    pub call: Duration,
    /// Bytes of one message. 16 MiB.
    pub line_bytes: usize,
    /// Tools on all pages of a list. 1000.
    pub tools: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let [start, call] = [10, 30].map(Duration::from_secs);
        Self { start, call, line_bytes: 16 * 1024 * 1024, tools: 1000 }
    }
}

/// What a server calls itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerName {
    /// Its name; empty if it says none.
    pub name: String,
    /// Its version; empty if it says none.
    pub version: String,
}

type Inbox = Sender<Result<Incoming, WireError>>;

#[derive(Debug)]
enum Link {
    Stdio(Stdio),
    Http(Box<Http>),
}

/// A conversation with a server. When it is dropped, the server's processes are killed.
#[derive(Debug)]
pub struct Connection {
    link: Link,
    era: Era,
    limits: Limits,
    inbox: Receiver<Result<Incoming, WireError>>,
    last_id: u64,
    server: ServerName,
    process: Option<Process>,
}

impl Connection {
    /// Start or find the server, and open the conversation.
    ///
    /// # Errors
    ///
    /// If there is no server, or none that speaks this era, within the time limit. No process is
    /// left then.
    pub async fn open(target: &Target, era: Era, limits: &Limits) -> Result<Self, WireError> {
        let deadline = Instant::now() + limits.start;
        let (sender, inbox) = channel(16);
        let (link, process) = match target {
            Target::Stdio { command, env, dir } => {
                let (process, input, output) = Process::start(command, env, dir.as_deref())?;
                let (Some(input), Some(output)) = (input, output) else {
                    let cause = std::io::Error::other("it has no standard input or output");
                    return Err(WireError::Start { command: command.join(" "), cause });
                };
                (Link::Stdio(Stdio::new(input, output, sender, limits.line_bytes)), Some(process))
            }
            Target::Http { url, headers } => {
                let http = Http::new(url, headers, era, sender, limits.line_bytes)?;
                (Link::Http(Box::new(http)), None)
            }
            Target::Serving { command, env, dir, headers } => {
                let (mut process, _, output) = Process::start(command, env, dir.as_deref())?;
                if let Some(output) = output {
                    process.listen(output);
                }
                let url = address_of(&mut process, deadline, limits.start).await?;
                let http = Http::new(&url, headers, era, sender, limits.line_bytes)?;
                (Link::Http(Box::new(http)), Some(process))
            }
        };
        let server = ServerName::default();
        let mut connection = Self { link, era, limits: *limits, inbox, last_id: 0, server, process };
        connection.handshake(deadline).await?;
        Ok(connection)
    }

    /// What the server calls itself.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    async fn handshake(&mut self, deadline: Instant) -> Result<(), WireError> {
        let (era, limit) = (self.era, self.limits.start);
        let refused = |said: String| WireError::Era { era, said };
        let (method, params) = match era {
            Era::Modern => ("server/discover", Map::new()),
            Era::Legacy => ("initialize", message::initialize()),
        };
        let outcome = self.ask(method, params, deadline, limit).await?;
        let result: Value = match outcome {
            Outcome::Error(error) => return Err(refused(show_error(&error))),
            Outcome::Result(raw) => serde_json::from_str(raw.get()).map_err(|_| garbage(raw.get()))?,
        };
        let identity = match era {
            Era::Modern => {
                let versions = result.get("supportedVersions").and_then(Value::as_array);
                if !versions.is_some_and(|versions| versions.iter().any(|version| version == era.name())) {
                    let versions = result.get("supportedVersions").unwrap_or(&Value::Null);
                    return Err(refused(cut(&format!("it supports {versions}"))));
                }
                result.pointer("/_meta/io.modelcontextprotocol~1serverInfo")
            }
            Era::Legacy => {
                let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
                if !LEGACY.contains(&version) {
                    return Err(refused(cut(&format!("it answers with `{version}`"))));
                }
                if let Link::Http(http) = &mut self.link {
                    http.version = Some(version.to_owned());
                }
                result.get("serverInfo")
            }
        };
        let text = |key: &str| cut(identity.and_then(|server| server.get(key)?.as_str()).unwrap_or_default());
        self.server = ServerName { name: text("name"), version: text("version") };
        if era == Era::Legacy {
            let ready = message::notification("notifications/initialized", &json!({}));
            self.tell(&ready, "`initialize`", deadline, limit).await?;
            if let Link::Http(http) = &mut self.link {
                http.listen();
            }
        }
        Ok(())
    }

    /// The tools that the server declares, from all pages, in its order.
    ///
    /// # Errors
    ///
    /// If the list can't be had within the time limit, is none, or does not end.
    pub async fn list(&mut self) -> Result<Vec<DeclaredTool>, WireError> {
        let (deadline, limit) = (Instant::now() + self.limits.call, self.limits.call);
        let mut tools: Vec<DeclaredTool> = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let cursor = cursors.last().map(|cursor| ("cursor".to_owned(), Value::from(cursor.as_str())));
            let outcome = self.ask("tools/list", cursor.into_iter().collect(), deadline, limit).await?;
            let result = match outcome {
                Outcome::Result(result) => result,
                Outcome::Error(error) => return Err(refusal("`tools/list`", &error)),
            };
            let (page, next) = read_list(result.get().as_bytes())?;
            for tool in page {
                if tools.iter().any(|known| known.name == tool.name) {
                    return Err(ListError::Twice(tool.name).into());
                }
                tools.push(tool);
                if tools.len() > self.limits.tools {
                    return Err(WireError::TooManyTools(self.limits.tools));
                }
            }
            match next {
                None => return Ok(tools),
                Some(next) if cursors.contains(&next) => {
                    return Err(WireError::Endless(format!("the cursor `{}` comes back", cut(&next))));
                }
                Some(_) if cursors.len() >= self.limits.tools => {
                    return Err(WireError::Endless(format!("{} pages hold {} tools", cursors.len(), tools.len())));
                }
                Some(next) => cursors.push(next),
            }
        }
    }

    /// End the conversation and the server, with everything that it started: its input is closed,
    /// after 3 s it is asked to end, after 3 more it is killed. A server over HTTP is asked at once.
    pub async fn close(self) -> Closed {
        let Self { link, process, mut inbox, .. } = self;
        inbox.close();
        let (told, reader) = match link {
            Link::Stdio(stdio) => (true, Some(stdio.close())),
            Link::Http(http) => {
                http.close().await;
                (false, None)
            }
        };
        let closed = match process {
            Some(process) => process.end(told).await,
            None => Closed::default(),
        };
        drop(reader);
        closed
    }

    /// The server's processes now, as far as this system shows them (Linux).
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        self.process.as_ref().map(Process::family).unwrap_or_default()
    }

    /// Wait until the server has no process but these, for `most` at the longest. Returns whether
    /// that came true; at once where the system does not show processes.
    pub async fn settles(&self, to: &[u32], most: Duration) -> bool {
        match &self.process {
            Some(process) => process.settles(to, most).await,
            None => true,
        }
    }

    /// Make a request and wait for its answer.
    async fn ask(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        deadline: Instant,
        limit: Duration,
    ) -> Result<Outcome, WireError> {
        let waiting = format!("`{method}`");
        let id = self.begin(method, params, &waiting, deadline, limit).await?;
        loop {
            match self.receive(&waiting, deadline, limit).await? {
                Incoming::Reply { id: answered, outcome } if answered == id => return Ok(outcome),
                Incoming::Reply { id, .. } => self.stray(&id, &waiting)?,
                Incoming::Request { id, method, .. } => self.turn_down(&id, &method, &waiting, deadline, limit).await?,
            }
        }
    }

    async fn begin(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        waiting: &str,
        deadline: Instant,
        limit: Duration,
    ) -> Result<u64, WireError> {
        self.last_id += 1;
        let id = self.last_id;
        let message = message::request(self.era, id, method, params);
        if let Link::Http(http) = &mut self.link {
            http.request(&message);
        } else {
            self.tell(&message, waiting, deadline, limit).await?;
        }
        Ok(id)
    }

    /// Send what has no answer of its own.
    async fn tell(
        &mut self,
        message: &Value,
        waiting: &str,
        deadline: Instant,
        limit: Duration,
    ) -> Result<(), WireError> {
        let sent = match &mut self.link {
            Link::Http(http) => timeout_at(deadline, http.tell(message)).await,
            Link::Stdio(stdio) => timeout_at(deadline, stdio.send(message)).await.map(Ok),
        };
        sent.unwrap_or_else(|_| Err(self.silent(waiting, limit)))
    }

    async fn receive(&mut self, waiting: &str, deadline: Instant, limit: Duration) -> Result<Incoming, WireError> {
        match timeout_at(deadline, self.inbox.recv()).await {
            Ok(Some(incoming)) => incoming,
            Err(_) => Err(self.silent(waiting, limit)),
            Ok(None) => {
                let ended = match &mut self.process {
                    Some(process) => process.how_it_ended().await,
                    None => ("closed the connection".to_owned(), String::new()),
                };
                Err(WireError::Ended { how: ended.0, waiting: waiting.to_owned(), stderr: ended.1 })
            }
        }
    }

    fn silent(&self, waiting: &str, after: Duration) -> WireError {
        let stderr = self.process.as_ref().map(Process::stderr).unwrap_or_default();
        WireError::Silent { waiting: waiting.to_owned(), after, stderr }
    }

    /// An answer that nobody waits for: a second one is let pass, one to a request that was never
    /// made is a fault.
    fn stray(&self, id: &Value, waiting: &str) -> Result<(), WireError> {
        if id.as_u64().is_some_and(|id| (1..=self.last_id).contains(&id)) {
            return Ok(());
        }
        Err(WireError::WrongId { id: cut(&id.to_string()), waiting: waiting.to_owned() })
    }

    /// Answer a request that we offer nothing for. A legacy peer may ask whether we are there.
    async fn turn_down(
        &mut self,
        id: &Value,
        method: &str,
        waiting: &str,
        deadline: Instant,
        limit: Duration,
    ) -> Result<(), WireError> {
        let answer = if method == "ping" && self.era == Era::Legacy {
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        } else {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
        };
        self.tell(&answer, waiting, deadline, limit).await
    }
}

/// Wait until a server says where it listens.
async fn address_of(process: &mut Process, deadline: Instant, limit: Duration) -> Result<String, WireError> {
    let waiting = || "where it listens".to_owned();
    loop {
        let ended = process.has_ended();
        let written = process.stderr();
        // Up to the blank behind it: before that it may be half written.
        let address = written.find("http://").and_then(|at| written.get(at..)?.split_once(char::is_whitespace));
        if let Some((address, _)) = address {
            return Ok(address.to_owned());
        }
        if ended {
            let (how, stderr) = process.how_it_ended().await;
            return Err(WireError::Ended { how, waiting: waiting(), stderr });
        }
        if Instant::now() >= deadline {
            return Err(WireError::Silent { waiting: waiting(), after: limit, stderr: written });
        }
        sleep(Duration::from_millis(5)).await;
    }
}

fn garbage(text: &str) -> WireError {
    WireError::Garbage { line: cut(text) }
}

fn code_and_message(error: &Value) -> (i64, String) {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    (code, cut(error.get("message").and_then(Value::as_str).unwrap_or_default()))
}

fn show_error(error: &Value) -> String {
    let (code, message) = code_and_message(error);
    format!("error {code}: {message}")
}

fn refusal(request: &str, error: &Value) -> WireError {
    let (code, message) = code_and_message(error);
    WireError::Refused { request: request.to_owned(), code, message }
}
