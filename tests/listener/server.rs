//! The server with one tool for each way to have an effect, under the listener alone: what its
//! table says is to be seen is seen, and nothing else.

use std::{
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use candor::{
    verify::{
        Effect, Grade, Snapshot, World, WorldError,
        listener::{self, Door, Listener, MARK, Rings},
    },
    wire::{Answer, Connection, Era, Limits, Question, Target},
};
use serde_json::Map;

use crate::{
    fixture::{program, table},
    support::{HANG, host::processes_with},
};

fn world() -> World {
    World::builder("fixture", |dir| {
        let status = Command::new(program()).arg("lay-out").arg(dir).status().map_err(WorldError::from)?;
        assert!(status.success());
        Ok(())
    })
}

/// The world is compared; elsewhere only names are known.
struct Places<'a>(&'a Path);

impl listener::Ground for Places<'_> {
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.0).unwrap_or(path).display().to_string()
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn is_compared(&self, path: &Path) -> bool {
        path.starts_with(self.0)
    }

    fn excuse(&self, _: &Path) -> Option<&'static str> {
        None
    }

    fn is_declared(&self, _: SocketAddr) -> bool {
        false
    }
}

/// The word of the table for what was seen.
fn word(effects: &[Effect]) -> &'static str {
    let suspected =
        |effect: &Effect| effect.lens == "local" && effect.excuse.is_some_and(|rule| rule.starts_with("susp"));
    match effects.iter().map(|effect| effect.grade).max() {
        Some(Grade::Lossy) => "lossy",
        Some(Grade::Recoverable) => "recoverable",
        Some(Grade::Additive) => "additive",
        _ if effects.iter().any(|effect| effect.lens == "network") => "contact",
        _ if effects.iter().any(suspected) => "suspected",
        _ => "none",
    }
}

/// Until nothing has happened for a while and nobody is left who was not there before, or who means
/// to stay.
async fn settle(listener: &Listener, before: &[u32]) {
    let from = Instant::now();
    let quiet = Duration::from_millis(60);
    loop {
        let is_quiet = listener.last().is_none_or(|last| last.elapsed() >= quiet) && from.elapsed() >= quiet;
        let stays = from.elapsed() >= Duration::from_secs(3);
        if is_quiet && (stays || listener.processes().iter().all(|process| before.contains(process))) {
            return;
        }
        assert!(from.elapsed() < HANG, "left: {:?}", listener.processes());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_the_table_says_is_seen_of_every_behaviour_and_nothing_else() {
    let mut victim = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let places = tempfile::tempdir().unwrap();
    let socket = places.path().join("socket");
    let _served = std::os::unix::net::UnixListener::bind(&socket).unwrap();

    let copy = world().fresh().unwrap();
    let mut last = Snapshot::take(&copy, None).unwrap();
    let door = Door::open().unwrap();
    let [program, world, socket] = [program(), copy.path(), &socket].map(|path| path.to_str().unwrap().to_owned());
    let pid = victim.id().to_string();
    let words = [program, "serve".into(), "--pid".into(), pid, "--socket".into(), socket];
    let more = ["--abstract-socket".to_owned(), "candor-fixture-nobody".into(), world];
    let command = door.command(Path::new(env!("CARGO_BIN_EXE_candor")), &[&words[..], &more].concat());
    // The server waits for its listener before it can answer anything.
    let listener = tokio::task::spawn_blocking(move || door.wait(HANG, Rings::Refused));
    // Nobody may answer questions for names here.
    let env = vec![("RES_OPTIONS".to_owned(), "timeout:1 attempts:1".to_owned())];
    let target = Target::Stdio { command, env, dir: None };
    let mut connection = Connection::open(&target, Era::Modern, &Limits::default()).await.unwrap();
    let listener = listener.await.unwrap().unwrap();
    settle(&listener, &listener.processes()).await;
    let _ = listener.take();
    let now = Snapshot::take(&copy, Some(&last)).unwrap();
    last = now;

    let (mut wrong, stays) = (Vec::new(), format!("sleep 60.{}", victim.id()));
    for row in table() {
        let [name, expected] = ["name", "listener"].map(|key| row[key].as_str().unwrap().to_owned());
        let before = listener.processes();
        let quiet = |_: &Question| std::future::ready(());
        let called = connection.call(&name, &Map::new(), Answer::Accept, quiet).await.unwrap();
        settle(&listener, &before).await;
        assert!(name != "child_stays" || !processes_with(&[&stays]).is_empty(), "it didn't stay");
        let now = Snapshot::take(&copy, Some(&last)).unwrap();
        let mut effects = Snapshot::effects(&last, &now);
        last = now;
        effects.extend(listener::effects(&listener.take(), &Places(copy.path())));
        let succeeded = called.reply == candor::verify::Reply::Success;
        let seen = if succeeded { word(&effects) } else { "not run" };
        if seen != expected {
            wrong.push(format!("{name}: {seen}, and not {expected}: {:?} {effects:?}", called.reply));
        }
    }
    connection.close().await;
    // The child that means to stay goes with the server.
    let left = processes_with(&[&stays]);
    assert!(left.is_empty(), "{left:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn it_does_no_harm_where_it_was_not_meant_to() {
    let dir = tempfile::tempdir().unwrap();
    let refusal = |rung: Option<&str>| {
        let mut command = Command::new(program());
        command.arg("serve").arg(dir.path()).stdin(Stdio::null()).env_remove(MARK);
        let output = command.envs(rung.map(|rung| (MARK, rung))).output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refusal(None).contains("by `candor verify`"));
    assert!(refusal(Some("nowhere")).contains("by `candor verify`"));
    assert!(refusal(Some("listener")).contains("lay-out"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
