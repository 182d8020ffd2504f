//! The client under test: started as the official conformance suite starts it, waited for, and ended
//! with everything that it started.

use std::time::Duration;

use serde_json::Value;
use tokio::{
    io::AsyncReadExt as _,
    process::ChildStdout,
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{scenario::Scenario, server::Server};
use crate::wire::{Era, WireError, process::Process};

/// What is kept of the start of its standard output.
const KEPT: usize = 256 * 1024;

/// How to start a client.
#[derive(Clone, Debug)]
pub(super) enum Client {
    /// A line for the shell, to which the server's address is added.
    Line(String),
    /// A program and its arguments, to which it is added as the last one.
    Words(Vec<String>),
}

/// What is left of a client.
pub(super) struct Left {
    /// What was wrong with how it ended.
    pub(super) fault: Option<String>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Client {
    fn words(&self, url: &str) -> Vec<String> {
        match self {
            Self::Line(line) => vec!["sh".into(), "-c".into(), format!("{line} {url}")],
            Self::Words(words) => words.iter().cloned().chain([url.to_owned()]).collect(),
        }
    }

    /// Run it to its end, or to the time limit.
    pub(super) async fn run(
        &self,
        scenario: &Scenario,
        era: Era,
        server: &Server,
        context: &Value,
        most: Duration,
    ) -> Result<Left, WireError> {
        let env = [
            ("MCP_CONFORMANCE_SCENARIO", scenario.name.to_owned()),
            ("MCP_CONFORMANCE_PROTOCOL_VERSION", era.name().to_owned()),
            ("MCP_CONFORMANCE_CONTEXT", context.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let (mut process, input, output) = Process::start(&self.words(&server.url()), &env, None)?;
        drop(input);
        let mut reader = JoinSet::new();
        if let Some(output) = output {
            reader.spawn(start_of(output));
        }
        let deadline = Instant::now() + most;
        let cut = loop {
            if process.has_ended() {
                break None;
            }
            if server.is_flooded() {
                break Some("it flooded the server with requests and was ended".to_owned());
            }
            if Instant::now() >= deadline {
                break Some(format!("it did not end within {} s and was ended", most.as_secs_f32()));
            }
            sleep(Duration::from_millis(10)).await;
        };
        // A process that it left behind may hold the output open: end it all first.
        let closed = process.end(cut.is_none()).await;
        let stdout = match tokio::time::timeout(Duration::from_secs(1), reader.join_next()).await {
            Ok(Some(Ok(text))) => text,
            _ => String::new(),
        };
        let fault = cut.or_else(|| match closed.status {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("it ended with {status}{}", last_line(&closed.stderr))),
            None => Some("it could not be ended".to_owned()),
        });
        Ok(Left { fault, stdout, stderr: closed.stderr })
    }
}

fn last_line(stderr: &str) -> String {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
    last.map(|line| format!("; its last words: {}", candor_tools::shown(line, 200))).unwrap_or_default()
}

/// The start of what it writes; the rest is read, so that it does not stumble, and forgotten.
async fn start_of(mut output: ChildStdout) -> String {
    let (mut kept, mut bytes) = (Vec::new(), vec![0; 16 * 1024]);
    while let Ok(count @ 1..) = output.read(&mut bytes).await {
        let room = KEPT.saturating_sub(kept.len());
        kept.extend(bytes.iter().take(count.min(room)));
    }
    String::from_utf8_lossy(&kept).into_owned()
}
