//! A client of MCP servers that speaks JSON-RPC as bytes, in both protocol eras, over stdio and
//! HTTP. What a server says stays as it stands on the wire, and whatever a server does, there is an
//! answer in time or a [`WireError`], and no process left.

mod call;
mod connection;
mod error;
mod events;
mod exchange;
mod http;
mod list;
mod message;
pub(crate) mod process;
mod question;
mod stdio;

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

pub use call::Called;
pub use connection::Connection;
pub use error::WireError;
pub use process::Closed;
pub use question::Question;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
        /// The Unix socket by which its address is reached, if not by the network.
        socket: Option<PathBuf>,
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
