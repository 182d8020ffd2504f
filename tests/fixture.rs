//! `candor verify` on the server with one tool for each way to have an effect, in the box: what its
//! table says is to be seen of a behaviour is the verdict on its tool, and on no other.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

use crate::support::candor;

/// The program, built if it isn't yet.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = Path::new(env!("CARGO_BIN_EXE_candor")).parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        cargo.args(["build", "--quiet", "--example", "fixture", "--manifest-path", manifest, "--target-dir"]);
        cargo.arg(built.parent().unwrap());
        if built.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "the fixture was not built");
        built.join("examples/fixture")
    })
}

/// As the command prints it, and as its report has it.
fn verify(dir: &Path, victim: &str) -> (String, Value) {
    let [world, socket, report] = ["world", "socket", "report.json"].map(|name| dir.join(name));
    assert!(Command::new(program()).arg("lay-out").arg(&world).status().unwrap().success());
    let mut command = candor();
    command.arg("verify").arg("--world").arg(&world).arg("--json").arg(&report).arg("--").arg(program());
    command.args(["serve", "{world}", "--pid", victim, "--abstract-socket", "candor-fixture-nobody", "--socket"]);
    let output = command.arg(socket).stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    (told, serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap())
}

#[test]
fn in_the_box_every_behaviour_gets_the_verdict_of_the_table_and_no_other() {
    let mut victim = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let _served = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    let (told, report) = verify(dir.path(), &victim.id().to_string());
    let lives = victim.try_wait().unwrap().is_none();
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(lives, "a signal left the box");

    let told: Vec<&str> = told.split_whitespace().collect();
    for unseen in report["sight"]["blind_to"].as_array().unwrap() {
        assert!(told.join(" ").contains(unseen.as_str().unwrap()), "{unseen} isn't told: {told:?}");
    }
    let verdicts = report["verdicts"].as_array().unwrap();
    let verdict = |id: String| verdicts.iter().find(|verdict| verdict["id"] == id.as_str()).unwrap();
    let table = Command::new(program()).arg("table").output().unwrap();
    let table: Vec<BTreeMap<String, Value>> = serde_json::from_slice(&table.stdout).unwrap();
    let mut wrong = Vec::new();
    for row in &table {
        let name = row["name"].as_str().unwrap();
        let expected = row["box-and-listener"].as_str().unwrap();
        if expected == "not run" {
            continue;
        }
        let [read_only, open_world] = ["readOnlyHint", "openWorldHint"].map(|hint| verdict(format!("{name}/{hint}")));
        let changes = ["additive", "recoverable", "lossy"].contains(&expected);
        let grade = if changes { expected } else { "none" };
        let outcome = |refuted| if refuted { "refuted" } else { "holds" };
        let is_right = read_only["outcome"] == outcome(changes)
            && read_only["grade"] == grade
            && open_world["outcome"] == outcome(expected == "contact");
        if !is_right {
            wrong.push(format!("{name} is to be {expected}: {read_only} {open_world}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(table.len() >= 57, "{}", table.len());
}
