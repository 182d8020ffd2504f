//! The report for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Report, exit_status};
use crate::{hints::HintName, verify::Outcome};

/// The JSON Schema (2020-12) of what [`json()`] returns.
pub const SCHEMA: &str = include_str!("schema.json");

/// The whole report. Names and texts of the server are as they came; print it with [`safe_text`].
///
/// | member | what it holds |
/// |---|---|
/// | `schema` | `candor-verify/1`. New members may come under the same number; what is here keeps its meaning |
/// | `candor` | version of candor |
/// | `server` | `name`, `version` (null if not told), `command` |
/// | `sight` | `rung`, `changes` and `connections` (whether they are seen), `blind_to`, `why` it isn't a higher rung |
/// | `definition` | `mcp`, `openai-directory`, `anthropic-directory` |
/// | `seconds` | how long the run took |
/// | `status` | the exit status: `plain`, and `strict` under `--strict` |
/// | `counts` | number of verdicts by outcome |
/// | `tools` | `name`, `title`, `annotations_title`, `annotations`, and the four `hints` as declared |
/// | `verdicts` | four a tool: `id`, `tool`, `hint`, `declared`, `outcome`, `default` (the outcome of the default, if undeclared), `grade`, `world` (the smallest that refutes), `calls` and `worlds` (what tested it), `note`, `evidence` |
/// | `findings` | `id`, `tool` (null for the server), `rule`, `level` (`fault`, `warning`, `note`), `text` |
/// | `excuses` | `rule`, `lens`, `times`, `place` and `what` (of the first), `tools` |
/// | `uncalled` | `tool`, `why`: nothing could be called |
/// | `trials` | every trial: `tool`, `case`, `world`, `expect`, `transport`, `era`, `sees_connections`, `problem`, and its `steps` with `phase`, `reply`, `effects` |
///
/// A declared hint is `"absent"`, `{"is": true}`, `{"is": false}`, or `{"malformed": TEXT}`.
#[must_use]
pub fn json(report: &Report) -> Value {
    let tools: Vec<Value> = report
        .tools
        .iter()
        .map(|tool| {
            let hints = HintName::ALL.map(|hint| (hint.name().to_owned(), json!(tool.hint(hint))));
            json!({
                "name": tool.name,
                "title": tool.title,
                "annotations_title": tool.annotations_title,
                "annotations": tool.annotations,
                "hints": hints.into_iter().collect::<serde_json::Map<_, _>>(),
            })
        })
        .collect();
    let counts = Outcome::ALL.map(|outcome| (outcome.name().to_owned(), json!(report.count(outcome))));
    let uncalled = report.uncalled.iter().map(|(tool, why)| json!({"tool": tool, "why": why}));
    json!({
        "schema": "candor-verify/1",
        "candor": env!("CARGO_PKG_VERSION"),
        "server": report.server,
        "sight": report.sight,
        "definition": report.definition,
        "seconds": report.seconds,
        "status": {"plain": exit_status(report, false), "strict": exit_status(report, true)},
        "counts": counts.into_iter().collect::<serde_json::Map<_, _>>(),
        "tools": tools,
        "verdicts": report.verdicts,
        "findings": report.findings,
        "excuses": report.excuses,
        "uncalled": uncalled.collect::<Vec<_>>(),
        "trials": report.observations,
    })
}

/// JSON as text, for a file or a terminal: indented, and with every character escaped that isn't
/// printable ASCII. The same value once it is parsed.
#[must_use]
pub fn safe_text(value: &Value) -> String {
    let mut text = String::new();
    // Outside of its strings, JSON is ASCII.
    for char in format!("{value:#}").chars() {
        if matches!(char, ' '..='~' | '\n') {
            text.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}
