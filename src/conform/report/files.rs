//! A folder a run: `checks.json`, `ledger.json`, and what the client wrote.

use std::{fs, io, path::Path, time::SystemTime};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::Run;
use crate::conform::judge::Outcome;

/// Write `VERSION/SCENARIO-TIME/` under a directory.
pub(in crate::conform) fn write(dir: &Path, run: &Run) -> io::Result<()> {
    let now = DateTime::<Utc>::from(SystemTime::now());
    let dir = dir.join(run.era.name()).join(format!("{}-{}", run.scenario, now.format("%Y-%m-%dT%H-%M-%S-%3fZ")));
    fs::create_dir_all(&dir)?;
    let checks = checks(run, &now.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
    fs::write(dir.join("checks.json"), format!("{checks:#}\n"))?;
    fs::write(dir.join("ledger.json"), format!("{:#}\n", json!(run.ledger)))?;
    fs::write(dir.join("stdout.txt"), &run.stdout)?;
    fs::write(dir.join("stderr.txt"), &run.stderr)
}

/// The schema of the official suite: an array of checks.
fn checks(run: &Run, timestamp: &str) -> Value {
    let page = format!("https://modelcontextprotocol.io/specification/{}/server/tools", run.era.name());
    let checks = run.checks.iter().map(|(check, outcome)| {
        let (fault, reason) = match outcome {
            Outcome::Success => (None, None),
            Outcome::Failure(fault) => (Some(fault), None),
            Outcome::Skipped => (None, Some("untested: the client reports no questions")),
        };
        let mut details = json!({"suite": run.suite, "protocolVersion": run.era.name()});
        add(&mut details, "reason", reason);
        let mut entry = json!({
            "id": check.id,
            "name": format!("{}/{}", run.scenario, check.id),
            "description": check.description,
            "status": match outcome {
                Outcome::Success => "SUCCESS",
                Outcome::Failure(_) => "FAILURE",
                Outcome::Skipped => "SKIPPED",
            },
            "timestamp": timestamp,
            "specReferences": [{"id": "MCP-Tools", "url": page}],
            "details": details,
        });
        add(&mut entry, "errorMessage", fault.map(String::as_str));
        entry
    });
    checks.collect()
}

fn add(entry: &mut Value, key: &str, text: Option<&str>) {
    if let (Some(members), Some(text)) = (entry.as_object_mut(), text) {
        members.insert(key.into(), text.into());
    }
}
