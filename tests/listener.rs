//! The listener on real processes: every kind of event is seen as it happens, whoever makes the
//! call, and nobody waits for ever.

mod contacts;
mod counted;
mod files;
mod limits;
mod namespaces;
mod others;
mod server;
#[path = "examples/fixture/tiny.rs"]
mod tiny;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use candor::verify::listener::{Doing, Door, Event, Listener, Rings};
use tempfile::TempDir;

use crate::support::HANG;

/// A directory to do things in, under the name that the system gives it.
struct Ground {
    _dir: TempDir,
    path: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { path: dir.path().canonicalize().unwrap(), _dir: dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// With these files, each of which holds its own name.
    fn with(names: &[&str]) -> Self {
        let ground = Self::new();
        for name in names {
            std::fs::write(ground.at(name), name).unwrap();
        }
        ground
    }
}

/// A program that runs under a listener, in a directory.
struct Heard {
    child: std::process::Child,
    listener: Listener,
    _door: Door,
}

impl Heard {
    fn start(dir: &Path, rings: Rings, words: &[&str]) -> Self {
        let door = Door::open().unwrap();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let command = door.command(Path::new(env!("CARGO_BIN_EXE_candor")), &words);
        let (program, arguments) = command.split_first().unwrap();
        let mut command = Command::new(program);
        command.args(arguments).current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let listener = door.wait(HANG, rings).unwrap();
        Self { child, listener, _door: door }
    }

    /// Until it ends by itself, well.
    fn ends(self) -> (Vec<Event>, String) {
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        // What it leaves behind may go on.
        let mut patience = 500;
        while !self.listener.is_over() && patience > 0 {
            std::thread::sleep(Duration::from_millis(20));
            patience -= 1;
        }
        (self.listener.take(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// What a script in Python is about to do, without the start of Python itself.
fn python(ground: &Ground, script: &str) -> Vec<Doing> {
    doings(ground, &["python3", "-S", "-B", "-c", &format!("import os, socket, sys\n{script}")])
}

fn shell(ground: &Ground, script: &str) -> Vec<Doing> {
    doings(ground, &["sh", "-c", script])
}

/// Programs that are started are left out unless the script starts more than itself.
fn doings(ground: &Ground, words: &[&str]) -> Vec<Doing> {
    let (events, _) = Heard::start(&ground.path, Rings::Allowed, words).ends();
    let doings = events.into_iter().map(|event| event.doing);
    doings.skip_while(|doing| matches!(doing, Doing::Executes { .. })).collect()
}
