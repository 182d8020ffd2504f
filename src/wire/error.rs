use std::{io, time::Duration};

use serde_json::Value;

use super::Era;
use crate::hints::ListError;

/// Why a server can't be talked to. The texts hold what the server wrote, cut and escaped.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// There is no such program, or it may not be run.
    #[error("cannot start `{command}`: {cause}; check the command after `--`")]
    Start {
        /// Its first word.
        command: String,
        /// Why.
        cause: io::Error,
    },
    /// The process ended, or closed its output.
    #[error("the server {how} before it answered {waiting}{}", last_words(.stderr))]
    Ended {
        /// What became of it: `ended with exit status: 3`.
        how: String,
        /// The request that has no answer.
        waiting: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// No answer in time.
    #[error("the server did not answer {waiting} within {} s{}", .after.as_secs_f32(), last_words(.stderr))]
    Silent {
        /// The request that has no answer.
        waiting: String,
        /// The time limit.
        after: Duration,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// Not a JSON-RPC message.
    #[error("the server sent `{line}`, which is no JSON-RPC message; its output is for messages alone")]
    Garbage {
        /// The line, cut.
        line: String,
    },
    /// A message over the limit.
    #[error("the server sent a message of more than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// An answer to a request that was never made.
    #[error("the server answered a request `{id}`, which was never made, while {waiting} waits")]
    WrongId {
        /// The id, cut.
        id: String,
        /// The request that has no answer.
        waiting: String,
    },
    /// The server does not speak this revision of the protocol.
    #[error("the server does not speak protocol {}: {said}", .era.name())]
    Era {
        /// The era that was tried.
        era: Era,
        /// What it said instead.
        said: String,
    },
    /// A JSON-RPC error where a result is needed.
    #[error("the server answered {request} with error {code}: {message}")]
    Refused {
        /// The request.
        request: String,
        /// The code.
        code: i64,
        /// The message, cut.
        message: String,
    },
    /// The list of tools is none.
    #[error(transparent)]
    List(#[from] ListError),
    /// More tools than the limit.
    #[error("the server lists more than {0} tools")]
    TooManyTools(usize),
    /// Pages that lead nowhere.
    #[error("`tools/list` does not end: {0}")]
    Endless(String),
    /// Questions without end.
    #[error("the server asks about one call of `{tool}` more than {rounds} times")]
    KeepsAsking {
        /// The tool.
        tool: String,
        /// The limit.
        rounds: usize,
    },
    /// The server needs what we said that we don't have.
    #[error("the server needs `{0}` from its client, which was not offered")]
    NotOffered(String),
    /// HTTP without a JSON-RPC message in it.
    #[error("the server answered {request} with HTTP status {status}{}{}", challenged(.challenge.as_deref()), said(.text))]
    Status {
        /// The request.
        request: String,
        /// The status.
        status: u16,
        /// What it asks for with `WWW-Authenticate`, cut.
        challenge: Option<String>,
        /// The body, cut.
        text: String,
    },
    /// No connection, or a broken one.
    #[error("cannot reach `{url}`: {cause}")]
    Network {
        /// The address.
        url: String,
        /// Why.
        cause: String,
    },
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

fn challenged(challenge: Option<&str>) -> String {
    challenge.map(|challenge| format!(" and the challenge `{challenge}`")).unwrap_or_default()
}

fn last_words(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default();
    if last.is_empty() {
        return "; it wrote nothing to standard error".into();
    }
    let last: Vec<String> = last.iter().map(|line| cut(line)).collect();
    format!("; its last words: {}", last.join(" / "))
}

/// Foreign text, short and on one line.
pub(super) fn cut(text: &str) -> String {
    const MOST: usize = 200;
    let shown: String = text.trim_end().chars().take(MOST).flat_map(escaped).collect();
    if text.trim_end().chars().count() > MOST { format!("{shown}…") } else { shown }
}

/// Quotes stay as they are; what could move the cursor does not.
fn escaped(char: char) -> impl Iterator<Item = char> {
    let plain = matches!(char, '"' | '\'' | '\\');
    let escape = (!plain).then(|| char.escape_debug());
    plain.then_some(char).into_iter().chain(escape.into_iter().flatten())
}

pub(super) fn garbage(text: &str) -> WireError {
    WireError::Garbage { line: cut(text) }
}

pub(super) fn code_and_message(error: &Value) -> (i64, String) {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    (code, cut(error.get("message").and_then(Value::as_str).unwrap_or_default()))
}

pub(super) fn show(error: &Value) -> String {
    let (code, message) = code_and_message(error);
    format!("error {code}: {message}")
}

pub(super) fn refusal(request: &str, error: &Value) -> WireError {
    let (code, message) = code_and_message(error);
    WireError::Refused { request: request.to_owned(), code, message }
}
