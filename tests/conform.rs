//! `candor conform`: a client that is right, clients that are wrong in one way each, and clients that
//! misbehave as programs.

mod broken;
mod matrix;
mod results;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

/// A client of the tests, built beside them.
fn client(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join("examples").join(name)
}

/// What came of a run.
struct Told {
    status: Option<i32>,
    output: String,
    errors: String,
    /// `checks.json` and the like.
    dir: TempDir,
}

fn conform(options: &[&str], client: &[&str]) -> Told {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.arg("conform").arg("--output").arg(dir.path()).args(options).arg("--").args(client);
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Told { status: status.code(), output: text(stdout), errors: text(stderr), dir }
}

impl Told {
    /// `SCENARIO/CHECK` of all checks with this status, sorted, each once.
    fn checks(&self, status: &str) -> Vec<String> {
        let folders = |dir: PathBuf| fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let runs = folders(self.dir.path().into()).flat_map(folders);
        let checks = runs.flat_map(|run| {
            let text = fs::read_to_string(run.join("checks.json")).unwrap();
            serde_json::from_str::<Vec<Value>>(&text).unwrap()
        });
        let with = checks.filter(|check| check["status"] == status);
        let mut names: Vec<String> = with.map(|check| check["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names.dedup();
        names
    }
}
