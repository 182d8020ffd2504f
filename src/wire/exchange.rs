//! Requests and their answers, in time.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::{
    Connection, Era, WireError,
    connection::Link,
    error::cut,
    message::{self, Incoming, Outcome},
    process::Process,
};

/// What is waited for, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// As an error names it.
    pub(super) what: &'static str,
    /// How long in all.
    pub(super) limit: Duration,
    /// Until when.
    pub(super) deadline: Instant,
}

impl Wait {
    pub(super) fn new(what: &'static str, limit: Duration) -> Self {
        Self { what, limit, deadline: Instant::now() + limit }
    }
}

impl Connection {
    /// Make a request and wait for its answer.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        wait: &Wait,
    ) -> Result<Outcome, WireError> {
        let id = self.begin(method, params, wait).await?;
        loop {
            match self.receive(wait).await? {
                Incoming::Reply { id: answered, outcome } if answered == id => return Ok(outcome),
                Incoming::Reply { id, .. } => self.stray(&id, wait)?,
                Incoming::Request { id, method, .. } => self.turn_down(&id, &method, wait).await?,
            }
        }
    }

    pub(super) async fn begin(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        wait: &Wait,
    ) -> Result<u64, WireError> {
        self.last_id += 1;
        let id = self.last_id;
        let message = message::request(self.era, id, method, params);
        if let Link::Http(http) = &mut self.link {
            http.request(&message);
        } else {
            self.tell(&message, wait).await?;
        }
        Ok(id)
    }

    /// Send what has no answer of its own.
    pub(super) async fn tell(&mut self, message: &Value, wait: &Wait) -> Result<(), WireError> {
        let sent = match &mut self.link {
            Link::Http(http) => timeout_at(wait.deadline, http.tell(message)).await,
            Link::Stdio(stdio) => timeout_at(wait.deadline, stdio.send(message)).await.map(Ok),
        };
        sent.unwrap_or_else(|_| Err(self.silent(wait)))
    }

    pub(super) async fn receive(&mut self, wait: &Wait) -> Result<Incoming, WireError> {
        match timeout_at(wait.deadline, self.inbox.recv()).await {
            Ok(Some(incoming)) => incoming,
            Err(_) => Err(self.silent(wait)),
            Ok(None) => {
                let ended = match &mut self.process {
                    Some(process) => process.how_it_ended().await,
                    None => ("closed the connection".to_owned(), String::new()),
                };
                Err(WireError::Ended { how: ended.0, waiting: wait.what.to_owned(), stderr: ended.1 })
            }
        }
    }

    fn silent(&self, wait: &Wait) -> WireError {
        let stderr = self.process.as_ref().map(Process::stderr).unwrap_or_default();
        WireError::Silent { waiting: wait.what.to_owned(), after: wait.limit, stderr }
    }

    /// An answer that nobody waits for: a second one is let pass, one to a request that was never
    /// made is a fault.
    pub(super) fn stray(&self, id: &Value, wait: &Wait) -> Result<(), WireError> {
        if id.as_u64().is_some_and(|id| (1..=self.last_id).contains(&id)) {
            return Ok(());
        }
        Err(WireError::WrongId { id: cut(&id.to_string()), waiting: wait.what.to_owned() })
    }

    /// Answer a request that we offer nothing for. A legacy peer may ask whether we are there.
    pub(super) async fn turn_down(&mut self, id: &Value, method: &str, wait: &Wait) -> Result<(), WireError> {
        let answer = if method == "ping" && self.era == Era::Legacy {
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        } else {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
        };
        self.tell(&answer, wait).await
    }
}
