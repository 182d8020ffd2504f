//! The server at work on its demo workspace: a client of a hundred lines that starts
//! `candor serve`, speaks protocol 2026-07-28 to it, and shows what goes over the wire.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "a demonstration prints, and JSON values are indexed without panics"
)]

use std::{
    error::Error,
    io::{BufRead, BufReader, IsTerminal, Write},
    process::{Child, Command, Stdio},
};

use clap::Parser;
use serde_json::{Value, json};

/// The other end of the wire: this program again, as `candor serve`.
#[derive(Parser)]
struct Serve {
    #[command(flatten)]
    options: candor::serve::Options,
}

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().len() > 1 {
        return candor::serve::run(Serve::parse().options);
    }
    chapter("The tools, and what their annotations claim");
    print!("{}", candor::catalog::table(&candor_tools::inventory().1));

    let mut reader = Client::start(&["--grant", "read"])?;
    chapter("A caller with the read scopes reads");
    reader.call("list_branches", json!({"limit": 3}))?;
    reader.call("query", json!({"sql": "SELECT name, price FROM products ORDER BY price DESC LIMIT 3"}))?;
    chapter("A hint is no permission: the server refuses, whatever a client decided");
    reader.call("delete_branch", json!({"branch": "feature/search"}))?;
    chapter("Read-only by its connection, not by reading the SQL");
    reader.call("query", json!({"sql": "WITH gone AS (SELECT 1) DELETE FROM products"}))?;

    let mut writer = Client::start(&["--grant", "all"])?;
    chapter("Additive and idempotent: the repeat is refused, and nothing changes");
    writer.call("create_branch", json!({"branch": "feature/tour"}))?;
    writer.call("create_branch", json!({"branch": "feature/tour"}))?;
    chapter("Destructive: commits would be lost, so the server asks before it deletes");
    writer.call("delete_branch", json!({"branch": "feature/search"}))?;
    chapter("Nothing to lose, nothing to ask");
    writer.call("delete_branch", json!({"branch": "feature/tour"}))?;
    println!("\nNext: `cargo run -- serve --help`, or read tools/src/list_branches.rs.");
    Ok(())
}

/// Characters of a reply that are shown.
const SHOWN: usize = 300;

fn chapter(title: &str) {
    println!("\n== {title}\n");
}

struct Client {
    server: Child,
    replies: BufReader<std::process::ChildStdout>,
    id: u64,
}

impl Client {
    fn start(arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut server = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let replies = BufReader::new(server.stdout.take().ok_or("no output")?);
        Ok(Self { server, replies, id: 0 })
    }

    /// Call a tool and show the reply. If the server asks, so do we, and call again.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<(), Box<dyn Error>> {
        println!("-> {tool} {arguments}");
        let mut params = json!({"name": tool, "arguments": arguments});
        let mut result = self.request("tools/call", &params)?;
        if let Some(question) = result.pointer("/inputRequests/confirm/params/message").and_then(Value::as_str) {
            params["requestState"] = result["requestState"].clone();
            params["inputResponses"] = json!({"confirm": ask(question)?});
            result = self.request("tools/call", &params)?;
        }
        let reply = result["content"][0]["text"].as_str().unwrap_or_default();
        let mark = if result["isError"] == true { "refused: " } else { "" };
        let more = if reply.chars().count() > SHOWN { "…" } else { "" };
        println!("<- {mark}{}{more}\n", reply.chars().take(SHOWN).collect::<String>());
        Ok(())
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Box<dyn Error>> {
        self.id += 1;
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "tour", "version": env!("CARGO_PKG_VERSION")},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        });
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.server.stdin.as_mut().ok_or("no input")?, "{request}")?;
        let mut line = String::new();
        self.replies.read_line(&mut line)?;
        let mut reply: Value = serde_json::from_str(&line)?;
        match reply.get("error") {
            Some(error) => Err(format!("the server says {error}").into()),
            None => Ok(reply["result"].take()),
        }
    }
}

/// The user's answer; without a terminal, a refusal.
fn ask(question: &str) -> Result<Value, Box<dyn Error>> {
    println!("?? {question}");
    if !std::io::stdin().is_terminal() {
        println!("?? nobody is here to answer, so: no");
        return Ok(json!({"action": "decline"}));
    }
    print!("?? yes or no: ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let yes = matches!(answer.trim(), "y" | "yes");
    Ok(if yes { json!({"action": "accept", "content": {"confirm": true}}) } else { json!({"action": "decline"}) })
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.server.stdin.take()); // the server ends with its input
        let _ = self.server.wait();
    }
}
