//! `candor verify` on the server with one tool for each way to have an effect: on each rung of the
//! ladder, what its table says is to be seen of a behaviour is the verdict on its tool, and on no other.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::OnceLock,
};

use candor::verify::listener::{Door, Listener, Rings};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{HANG, candor, host::processes_with};

/// The program, built if it isn't yet.
pub(crate) fn program() -> &'static Path {
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

/// The table of behaviours.
pub(crate) fn table() -> Vec<Value> {
    let output = Command::new(program()).arg("table").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What the server finds on the host: a world, a socket, and a process that isn't its own.
struct Host {
    dir: TempDir,
    victim: Child,
    _served: std::os::unix::net::UnixListener,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let served = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        assert!(Command::new(program()).arg("lay-out").arg(dir.path().join("world")).status().unwrap().success());
        let case = |row: &Value| format!("[[case]]\ntool = {}\nname = \"once\"\nexpect = \"any\"\n", row["name"]);
        let cases: String = table().iter().map(case).collect();
        std::fs::write(dir.path().join("cases.toml"), cases).unwrap();
        let victim = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        Self { dir, victim, _served: served }
    }

    fn at(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    /// The words of `candor verify` for every behaviour.
    fn words(&self, options: &[&str], server: &[&str]) -> Vec<String> {
        let (cases, world, report, socket) =
            (self.at("cases.toml"), self.at("world"), self.at("json"), self.at("socket"));
        let verify = ["verify", "--case", &cases, "--world", &world, "--json", &report];
        let (program, pid) = (program().to_str().unwrap(), self.victim.id().to_string());
        let serve = [program, "serve", "{world}", "--pid", &pid, "--socket", &socket];
        let words =
            [verify.as_slice(), options, &["--"], &serve, &["--abstract-socket", "candor-fixture-nobody"], server];
        words.concat().into_iter().map(str::to_owned).collect()
    }

    fn victim_lives(&mut self) -> bool {
        self.victim.try_wait().unwrap().is_none()
    }

    /// Compare the report with a column of the table, and see that no process is left.
    fn judge(&self, output: &Output, column: &str, rung: &str) {
        let left = processes_with(&[&self.at(""), &format!("60.{}", self.victim.id())]);
        assert!(left.is_empty(), "left: {left:?}");
        let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{told}\n{errors}");
        let report: Value = serde_json::from_slice(&std::fs::read(self.at("json")).unwrap()).unwrap();
        assert_eq!(report["sight"]["rung"], rung);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        for unseen in report["sight"]["blind_to"].as_array().unwrap() {
            assert!(told.contains(unseen.as_str().unwrap()), "{unseen} isn't told: {told}");
        }
        let table = table();
        let wrong: Vec<String> = table.iter().filter_map(|row| differs(row, &report, column)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(table.len() >= 61, "{}", table.len());
    }
}

fn run(command: &mut Command, words: &[String]) -> Output {
    // Nobody may answer questions for names here.
    command.args(words).env("RES_OPTIONS", "timeout:1 attempts:1").stdin(Stdio::null()).output().unwrap()
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// What is wrong with the verdicts on one behaviour: on reading only, with its grade, on repeats, and
/// on the open world.
fn differs(row: &Value, report: &Value, column: &str) -> Option<String> {
    let (name, expected) = (row["name"].as_str().unwrap(), row[column].as_str().unwrap());
    let verdicts = report["verdicts"].as_array().unwrap();
    let verdict = |hint| verdicts.iter().find(|verdict| verdict["id"] == format!("{name}/{hint}")).unwrap();
    let [read_only, idempotent, open_world] = ["readOnlyHint", "idempotentHint", "openWorldHint"].map(verdict);
    let outcome = |is_refuted| if is_refuted { "refuted" } else { "holds" };
    let changes = ["additive", "recoverable", "lossy"].contains(&expected);
    let sees_connections = report["sight"]["connections"] == true;
    let is_repeated = row["again"] == "everywhere";
    let right = match expected {
        "not run" => ["untested", "none", "untested", "untested"],
        _ => [
            outcome(changes),
            if changes { expected } else { "none" },
            outcome(changes && is_repeated),
            if sees_connections { outcome(expected == "contact") } else { "untested" },
        ],
    };
    let seen = [&read_only["outcome"], &read_only["grade"], &idempotent["outcome"], &open_world["outcome"]];
    let mut suspicions = report["excuses"].as_array().unwrap().iter().filter(|excuse| excuse["lens"] == "local");
    let is_suspected = suspicions.any(|excuse| {
        let is_so = excuse["rule"].as_str().unwrap().starts_with("suspected");
        is_so && excuse["tools"].as_array().unwrap().iter().any(|tool| tool == name)
    });
    let is_right = json!(right) == json!(seen) && is_suspected == (expected == "suspected");
    (!is_right).then(|| format!("{name} is to be {expected}, {right:?}, and was {seen:?}, suspected: {is_suspected}"))
}

#[test]
fn in_the_box_every_behaviour_gets_the_verdict_of_the_table_and_no_other() {
    let mut host = Host::new();
    // What it does all the time is none of its calls' doing.
    let output = run(&mut candor(), &host.words(&[], &["--heartbeat"]));
    host.judge(&output, "box-and-listener", "box");
    assert!(host.victim_lives(), "a signal left the box");
}

#[test]
fn in_a_box_whose_filter_is_refused_what_only_a_listener_sees_is_missed() {
    let mut host = Host::new();
    // Below a listener there can't be another.
    let door = Door::open().unwrap();
    let candor = env!("CARGO_BIN_EXE_candor");
    let words = [vec![candor.to_owned()], host.words(&[], &[])].concat();
    let command = door.command(Path::new(candor), &words);
    let outer = std::thread::spawn(move || door.wait(HANG, Rings::Allowed).unwrap());
    let output = run(&mut Command::new(&command[0]), &command[1..]);
    let listener: Listener = outer.join().unwrap();
    drop(listener);
    host.judge(&output, "box", "box without listener");
    assert!(host.victim_lives(), "a signal left the box");
}

#[test]
fn under_the_listener_alone_what_needs_a_box_is_not_run() {
    let mut host = Host::new();
    let output = run(&mut candor(), &host.words(&["--rung", "listener", "--unboxed"], &[]));
    host.judge(&output, "listener", "listener");
    assert!(!host.victim_lives(), "without a box, effects are real");
}

#[test]
fn in_copies_of_a_world_only_what_changes_there_is_seen() {
    let host = Host::new();
    let output = run(&mut candor(), &host.words(&["--rung", "worlds", "--unboxed"], &[]));
    host.judge(&output, "worlds", "worlds");
}
