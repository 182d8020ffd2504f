//! What the user wants done, and whom the user trusts: from the environment.

use std::{env, time::Duration};

use serde::Deserialize;
use serde_json::Value;

pub(crate) type Fault = Box<dyn std::error::Error + Send + Sync>;

/// `MCP_CONFORMANCE_CONTEXT`, and what stands beside it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    #[serde(skip)]
    pub(crate) url: String,
    #[serde(skip)]
    pub(crate) modern: bool,
    pub(crate) tool_calls: Vec<Wanted>,
    pub(crate) trusted_servers: Vec<Known>,
    pub(crate) approval_url: String,
    pub(crate) elicitation: bool,
    pub(crate) patience_ms: u64,
}

/// A call that the model asks for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    #[serde(default)]
    pub(crate) reconnect: bool,
    pub(crate) stop_after_ms: Option<u64>,
}

/// A server that the user trusts. Its address identifies it; a name is whatever it says.
#[derive(Deserialize)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) url: String,
}

impl Task {
    pub(crate) fn from_environment() -> Result<Self, Fault> {
        let mut task: Self = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
        task.url = env::args().next_back().ok_or("the last argument is the server's address")?;
        task.modern = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")? == "2026-07-28";
        Ok(task)
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms)
    }
}
