//! `candor verify` on the command line: what is true holds, a lie is found, and whatever can't be run
//! is told, with nothing left behind.
#![cfg(unix)]

mod broken;
mod foreign;
mod ours;
mod remote;
mod worlds;

use std::{fmt, fs, path::Path, process::Command};

use candor::wire::Target;
use serde_json::Value;

use crate::{support::candor, wire::small::Small};

/// What a run said.
struct Told {
    status: Option<i32>,
    output: String,
    errors: String,
    report: Value,
}

/// Without the report, which is long.
impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {:?}\n{}\n{}", self.status, self.output, self.errors)
    }
}

impl Told {
    #[track_caller]
    fn verdict(&self, id: &str) -> &Value {
        let verdicts = self.report["verdicts"].as_array();
        let found = verdicts.and_then(|verdicts| verdicts.iter().find(|verdict| verdict["id"] == id));
        found.unwrap_or_else(|| panic!("no {id}: {self:?}"))
    }

    #[track_caller]
    fn outcome(&self, id: &str) -> &str {
        self.verdict(id)["outcome"].as_str().unwrap()
    }

    #[track_caller]
    fn finding(&self, id: &str) -> &str {
        let findings = self.report["findings"].as_array();
        let found = findings.and_then(|findings| findings.iter().find(|finding| finding["id"] == id));
        found.unwrap_or_else(|| panic!("no {id}: {}", self.report["findings"]))["text"].as_str().unwrap()
    }
}

/// Run `candor verify` with these words, and see that it leaves no directory.
fn verify(words: &[&str]) -> Told {
    run(candor().arg("verify").args(words))
}

fn run(command: &mut Command) -> Told {
    let (report, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let json = report.path().join("report.json");
    // Before the words of the server, if there are any.
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let mut whole = Command::new(command.get_program());
    whole.args(&words[..1]).arg("--json").arg(&json).args(&words[1..]).env_remove("CANDOR_LOG");
    whole.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = whole.env("TMPDIR", scratch.path()).output().unwrap();
    assert!(is_empty(scratch.path()), "left behind: {:?}", fs::read_dir(scratch.path()).unwrap().collect::<Vec<_>>());
    let report = fs::read(&json).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Told { status: output.status.code(), output: text(&output.stdout), errors: text(&output.stderr), report }
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).unwrap().next().is_none()
}

/// The words that start a small server, with `$W` for the world, and its variables.
fn words(small: &Small) -> (Vec<String>, Vec<(String, String)>) {
    let Target::Stdio { command, env, .. } = &small.target else { panic!("{:?}", small.target) };
    ([command.as_slice(), &["sh".into(), "{world}".into()]].concat(), env.clone())
}

fn small(differences: &str) -> Small {
    Small::new(&format!("W=$1\n{differences}"))
}

/// The same for a small server that differs so. It leaves no process either.
fn verify_small(differences: &str, options: &[&str]) -> Told {
    let small = small(differences);
    let (server, env) = words(&small);
    let mut command = candor();
    command.args(["verify", "--unboxed"]).args(options).arg("--").args(server).envs(env);
    let told = run(&mut command);
    small.is_gone();
    told
}

/// A directory with a file.
fn world() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "one\n").unwrap();
    dir
}

/// A list of tools, each a name, hints as JSON without braces, and a schema.
fn list(tools: &[(&str, &str, &str)]) -> String {
    let tool = |(name, hints, schema): &(&str, &str, &str)| {
        format!(r#"{{"name":"{name}","annotations":{{{hints}}},"inputSchema":{schema}}}"#)
    };
    let tools: Vec<_> = tools.iter().map(tool).collect();
    format!("list() {{ result '{{\"tools\":[{}]}}'; }}\n", tools.join(","))
}
