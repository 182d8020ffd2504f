use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    time::{Instant, sleep},
};

use super::{
    Closed, Era, LEGACY, Limits, ServerName, Target, WireError,
    error::{cut, garbage, show},
    exchange::Wait,
    http::Http,
    message::{self, Incoming, Outcome},
    process::Process,
    stdio::Stdio,
};

/// Where what a transport reads goes to.
pub(super) type Inbox = Sender<Result<Incoming, WireError>>;

#[derive(Debug)]
pub(super) enum Link {
    Stdio(Stdio),
    Http(Box<Http>),
}

/// A conversation with a server. When it is dropped, the server's processes are killed.
#[derive(Debug)]
pub struct Connection {
    pub(super) link: Link,
    pub(super) era: Era,
    pub(super) limits: Limits,
    pub(super) inbox: Receiver<Result<Incoming, WireError>>,
    pub(super) last_id: u64,
    server: ServerName,
    pub(super) process: Option<Process>,
}

impl Connection {
    /// Start or find the server, and open the conversation.
    ///
    /// # Errors
    ///
    /// If there is no server, or none that speaks this era, within the time limit. No process is
    /// left then.
    pub async fn open(target: &Target, era: Era, limits: &Limits) -> Result<Self, WireError> {
        let wait = Wait::new("where it listens", limits.start);
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
                let http = Http::new(url, None, headers, era, sender, limits.line_bytes)?;
                (Link::Http(Box::new(http)), None)
            }
            Target::Serving { command, env, dir, headers, socket } => {
                let (mut process, _, output) = Process::start(command, env, dir.as_deref())?;
                if let Some(output) = output {
                    process.listen(output);
                }
                let url = address_of(&mut process, &wait).await?;
                let http = Http::new(&url, socket.as_deref(), headers, era, sender, limits.line_bytes)?;
                (Link::Http(Box::new(http)), Some(process))
            }
        };
        let server = ServerName::default();
        let mut connection = Self { link, era, limits: *limits, inbox, last_id: 0, server, process };
        connection.handshake(wait.deadline).await?;
        Ok(connection)
    }

    /// What the server calls itself.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    async fn handshake(&mut self, deadline: Instant) -> Result<(), WireError> {
        let era = self.era;
        let refused = |said: String| WireError::Era { era, said };
        let (method, what, params) = match era {
            Era::Modern => ("server/discover", "`server/discover`", Map::new()),
            Era::Legacy => ("initialize", "`initialize`", message::initialize()),
        };
        let wait = Wait { what, limit: self.limits.start, deadline };
        let outcome = self.ask(method, params, &wait).await?;
        let result: Value = match outcome {
            Outcome::Error(error) => return Err(refused(show(&error))),
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
            self.tell(&ready, &wait).await?;
            if let Link::Http(http) = &mut self.link {
                http.listen();
            }
        }
        Ok(())
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
}

/// Wait until a server says where it listens.
async fn address_of(process: &mut Process, wait: &Wait) -> Result<String, WireError> {
    let waiting = || wait.what.to_owned();
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
        if Instant::now() >= wait.deadline {
            return Err(WireError::Silent { waiting: waiting(), after: wait.limit, stderr: written });
        }
        sleep(Duration::from_millis(5)).await;
    }
}
