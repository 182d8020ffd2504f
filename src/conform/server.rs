//! The scenario server: one plan played over Streamable HTTP in one protocol era, and the address
//! to which the client under test reports its questions. What it says is written as bytes, so that
//! null, a key that stands there twice, and contradictions reach the client as they are.

mod approvals;
mod calls;
mod lists;
mod messages;

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{Router, extract::DefaultBodyLimit, routing::post};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{broadcast, oneshot},
    task::JoinHandle,
};

use super::{
    database::Database,
    ledger::{Event, Ledger},
    scenario::{Elicitation, Plan, Trusted},
};
use crate::wire::Era;

/// What the server calls itself; another server does so too.
pub(super) const NAME: &str = "acme-notes";
/// Of one message of the client.
const MOST_BYTES: usize = 1024 * 1024;

/// A running scenario.
pub(super) struct Server {
    stage: Arc<Stage>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// What the handlers share.
struct Stage {
    era: Era,
    plan: Plan,
    state: Mutex<State>,
    database: Database,
    /// To those who listen.
    news: broadcast::Sender<()>,
}

#[derive(Default)]
struct State {
    ledger: Ledger,
    /// Ids of sessions, and whether each has elicitation (legacy).
    sessions: HashMap<String, bool>,
    conversations: usize,
    changed: bool,
    /// How often each tool was called.
    calls: HashMap<String, usize>,
    /// Tools behind the requests that have no reply yet, by id (legacy).
    waiting: HashMap<String, String>,
    /// Questions of the server that have no answer yet, by id or state.
    asking: HashMap<String, oneshot::Sender<Value>>,
    next: u64,
}

impl Server {
    pub(super) async fn start(era: Era, plan: Plan, dir: &Path) -> io::Result<Self> {
        let database = Database::create(&dir.join("effects.db")).map_err(io::Error::other)?;
        let (news, _) = broadcast::channel(16);
        let stage = Arc::new(Stage { era, plan, state: Mutex::default(), database, news });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mcp = post(messages::post).get(messages::get).delete(messages::delete);
        let router = Router::new()
            .route("/mcp", mcp)
            .route("/approval", post(approvals::post))
            .layer(DefaultBodyLimit::max(MOST_BYTES))
            .with_state(Arc::clone(&stage));
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!("the scenario server ended: {error}");
            }
        });
        Ok(Self { stage, address, task })
    }

    /// What the client under test is called with.
    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// What the client under test is told in `MCP_CONFORMANCE_CONTEXT`.
    pub(super) fn context(&self, bridge: &[String]) -> Value {
        let plan = &self.stage.plan;
        let url = self.url();
        let trusted = match plan.trust {
            Trusted::Nobody => json!([]),
            Trusted::ThisServer => json!([{"name": NAME, "url": url}]),
            Trusted::Namesake => json!([{"name": NAME, "url": "http://127.0.0.1:9/mcp"}]),
        };
        let calls = plan.calls.iter().map(|call| {
            json!({
                "name": call.tool,
                "arguments": call.arguments,
                "reconnect": call.reconnect,
                "stopAfterMs": call.stop_after.map(|stop| u64::try_from(stop.as_millis()).unwrap_or(u64::MAX)),
            })
        });
        json!({
            "toolCalls": calls.collect::<Vec<_>>(),
            "trustedServers": trusted,
            "approvalUrl": format!("http://{}/approval", self.address),
            "elicitation": plan.elicitation != Elicitation::Unsupported,
            "patienceMs": u64::try_from(plan.patience.as_millis()).unwrap_or(u64::MAX),
            "stdioCommand": bridge.iter().cloned().chain([url]).collect::<Vec<_>>(),
        })
    }

    /// Whether so much was written down that nothing more is.
    pub(super) fn is_flooded(&self) -> bool {
        self.stage.state().ledger.0.len() >= super::ledger::MOST
    }

    /// Stop, and hand over what happened, with what the database holds.
    pub(super) fn stop(self, fault: Option<String>) -> Ledger {
        self.task.abort();
        let mut ledger = std::mem::take(&mut self.stage.state().ledger);
        match self.stage.database.rows() {
            Ok(rows) => ledger.0.extend(rows.into_iter().map(|(tool, count)| Event::Rows { tool, count })),
            Err(error) => ledger.0.push(Event::Fault { what: format!("our database failed: {error}") }),
        }
        ledger.0.push(Event::Ended { fault });
        ledger
    }
}

impl Stage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, event: Event) {
        self.state().ledger.note(event);
    }

    fn fault(&self, what: impl Into<String>) {
        self.note(Event::Fault { what: what.into() });
    }

    fn fresh_id(&self) -> String {
        let mut state = self.state();
        state.next += 1;
        format!("candor-{}", state.next)
    }

    /// Who speaks; in the modern era each result says so.
    fn identity() -> Value {
        json!({"name": NAME, "version": "1.0.0"})
    }

    /// A result with what its era adds, from members without braces.
    fn result(&self, id: &Value, members: &str) -> String {
        let extra = match self.era {
            Era::Legacy => String::new(),
            Era::Modern => {
                format!(",\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{}}}", Self::identity())
            }
        };
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{members}{extra}}}}}")
    }

    /// `"resultType":"complete",` where that is needed.
    fn complete(&self) -> &'static str {
        match self.era {
            Era::Legacy => "",
            Era::Modern => "\"resultType\":\"complete\",",
        }
    }
}
