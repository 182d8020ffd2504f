//! What the client under test did, in order: all that the judge knows.

use serde::Serialize;
use serde_json::Value;

/// More entries than this are a flood; nothing after them is written down.
pub(super) const MOST: usize = 5_000;

/// A question that the client put to its user, as it reported it to the approval address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// The tool that it is about.
    pub tool: String,
    /// The heading that the user sees.
    pub title: String,
    /// The arguments that the user sees.
    pub arguments: Value,
    /// The warning that the user sees; empty if there is none.
    pub warning: String,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "event")]
pub enum Event {
    /// The client opened a conversation: `initialize` or `server/discover`.
    Opened {
        /// Which of the two.
        method: String,
    },
    /// It asked for a page of the list of tools.
    Listed {
        /// The page, from 0.
        page: usize,
    },
    /// The list is another from here on, and whether anybody was told.
    Changed {
        /// Streams that carried `notifications/tools/list_changed`.
        told: usize,
    },
    /// The client asked its user about a call.
    Asked(Question),
    /// What the user said: `accept` or `decline`.
    Answered {
        /// The tool.
        tool: String,
        /// The answer.
        answer: &'static str,
    },
    /// The client called a tool.
    Called {
        /// The tool.
        tool: String,
        /// With these arguments.
        arguments: Value,
    },
    /// The reply to a call was lost on purpose.
    Lost {
        /// The tool.
        tool: String,
    },
    /// The reply to a call went out whole.
    Replied {
        /// The tool.
        tool: String,
    },
    /// The client gave a call up.
    Cancelled {
        /// The tool.
        tool: String,
    },
    /// The server asked the user something (elicitation).
    Elicits {
        /// The tool behind it.
        tool: String,
    },
    /// The client put the server's question to its user.
    Relayed {
        /// The server that it named as the one who asks.
        server: String,
    },
    /// What the client told the server that the user said.
    Elicited {
        /// The action.
        action: String,
    },
    /// The client broke the protocol.
    Fault {
        /// How.
        what: String,
    },
    /// What the database holds at the end.
    Rows {
        /// The tool.
        tool: String,
        /// How often it had its effect.
        count: usize,
    },
    /// How the client ended.
    Ended {
        /// None if it ended well.
        fault: Option<String>,
    },
}

/// Everything, in order.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Ledger(pub Vec<Event>);

impl Ledger {
    /// Add an entry, unless this is a flood.
    pub(super) fn note(&mut self, event: Event) {
        if self.0.len() < MOST {
            self.0.push(event);
        }
    }

    /// The questions about a tool.
    pub fn questions<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Question> {
        self.0.iter().filter_map(move |event| match event {
            Event::Asked(question) if question.tool == tool => Some(question),
            _ => None,
        })
    }

    /// Where the calls of a tool stand.
    pub fn calls<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = usize> + 'a {
        let is_call = move |event: &Event| matches!(event, Event::Called { tool: called, .. } if called == tool);
        self.0.iter().enumerate().filter(move |(_, event)| is_call(event)).map(|(at, _)| at)
    }

    /// Whether the approval address was used.
    #[must_use]
    pub fn has_questions(&self) -> bool {
        self.0.iter().any(|event| matches!(event, Event::Asked(_)))
    }
}
