//! A scenario: what the server says and does, what the user wants and says, and what is checked.

use std::time::Duration;

use serde_json::{Value, json};

use super::judge::Check;
use crate::wire::Era;

/// A name, a subject, and a plan for each era that has it.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Unique; never changes.
    pub name: &'static str,
    /// The suite, as `--suite` takes it.
    pub suite: &'static str,
    /// The plan.
    pub plan: fn(Era) -> Plan,
}

/// What happens when a tool is called. The effect is a row in the server's database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Act {
    /// The effect, then a reply.
    #[default]
    Reply,
    /// The reply of the first call is lost.
    Lose(Loss),
    /// The server asks the user first (elicitation), and has its effect if the user accepts.
    Elicit,
    /// The reply tells the client to call something else.
    Inject,
    /// The first call changes the list; those who listen are told.
    Change,
    /// Nothing comes until the client gives up.
    Wait,
}

/// How a reply is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The stream is cut before the effect.
    Before,
    /// After it.
    After,
    /// After it, in the middle of the reply.
    Middle,
    /// After it nothing comes.
    Silence,
    /// After it the server restarts: it knows no session any more.
    Restart,
}

/// One tool as the list shows it.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// `Tool.title`.
    pub title: Option<String>,
    /// `annotations` as bytes; none if it has none.
    pub annotations: Option<String>,
    /// What a call does.
    pub act: Act,
}

impl Tool {
    /// Without title and annotations.
    pub fn bare(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, annotations: None, act: Act::Reply }
    }

    /// With these annotations, as they stand on the wire.
    pub fn new(name: impl Into<String>, annotations: impl Into<String>) -> Self {
        Self { annotations: Some(annotations.into()), ..Self::bare(name) }
    }

    /// The same with a title.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// The same with another act.
    #[must_use]
    pub fn act(self, act: Act) -> Self {
        Self { act, ..self }
    }

    /// As the wire carries it.
    #[must_use]
    pub fn wire(&self) -> String {
        let title = self.title.as_ref().map(|title| format!("\"title\":{},", json!(title))).unwrap_or_default();
        let annotations = self.annotations.as_ref().map(|raw| format!("\"annotations\":{raw},")).unwrap_or_default();
        format!(
            "{{\"name\":{},{title}{annotations}\"description\":\"A tool of a scenario.\",\
             \"inputSchema\":{{\"type\":\"object\",\"properties\":{{\"target\":{{\"type\":\"string\"}}}}}}}}",
            json!(self.name)
        )
    }
}

/// A call that the user wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// Made over a new connection.
    pub reconnect: bool,
    /// The user stops it after so long.
    pub stop_after: Option<Duration>,
}

/// What the user says to questions of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elicitation {
    /// The client is told not to offer elicitation at all.
    Unsupported,
    /// Yes.
    Accept,
    /// No.
    Decline,
    /// Neither.
    Cancel,
    /// Nothing, for longer than the client waits.
    Silence,
}

/// Everything that differs between scenarios.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The list.
    pub tools: Vec<Tool>,
    /// What the list becomes.
    pub later: Option<(When, Vec<Tool>)>,
    /// Tools on a page.
    pub page: usize,
    /// How long the list takes.
    pub list_delay: Duration,
    /// `ttlMs` of the list (modern).
    pub ttl: u64,
    /// Whom the user trusts.
    pub trust: Trusted,
    /// What the user wants done, in order.
    pub calls: Vec<Wanted>,
    /// Tools that the user declines when asked.
    pub declines: Vec<&'static str>,
    /// What the user says when the server asks.
    pub elicitation: Elicitation,
    /// How long the client is to wait for a reply or an answer.
    pub patience: Duration,
    /// What is checked.
    pub checks: Vec<Check>,
}

/// When the list becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the first call of a tool whose act says so.
    Called,
    /// With the second conversation, silently.
    Reconnected,
    /// After the first page was read, silently.
    BetweenPages,
}

/// Whom the user trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusted {
    /// Nobody.
    Nobody,
    /// This server.
    ThisServer,
    /// Another server that gives itself the same name.
    Namesake,
}

impl Plan {
    /// A trusted server with these tools, each called once.
    #[must_use]
    pub fn trusted(tools: Vec<Tool>) -> Self {
        let calls = tools.iter().map(|tool| Wanted::new(&tool.name)).collect();
        Self {
            tools,
            later: None,
            page: 50,
            list_delay: Duration::ZERO,
            ttl: 0,
            trust: Trusted::ThisServer,
            calls,
            declines: Vec::new(),
            elicitation: Elicitation::Accept,
            patience: Duration::from_secs(5),
            checks: Vec::new(),
        }
    }

    /// The same from a server that nobody trusts.
    #[must_use]
    pub fn untrusted(tools: Vec<Tool>) -> Self {
        Self { trust: Trusted::Nobody, ..Self::trusted(tools) }
    }

    /// With these checks.
    #[must_use]
    pub fn checks(self, checks: Vec<Check>) -> Self {
        Self { checks, ..self }
    }
}

impl Wanted {
    /// A call with an argument of its own.
    #[must_use]
    pub fn new(tool: &str) -> Self {
        let arguments = json!({"target": format!("{tool}-target")});
        Self { tool: tool.to_owned(), arguments, reconnect: false, stop_after: None }
    }

    /// The same over a new connection.
    #[must_use]
    pub fn reconnected(self) -> Self {
        Self { reconnect: true, ..self }
    }
}
