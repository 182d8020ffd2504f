use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    time::{Duration, Instant},
};

use candor::verify::listener::{Doing, Door, Rings};

use super::{Ground, Heard, shell};
use crate::support::HANG;

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let from = Instant::now();
    while !done() {
        assert!(from.elapsed() < HANG, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn when_the_listener_goes_calls_fail_and_nobody_waits() {
    let ground = Ground::new();
    let script = "read -r line; : > made || echo refused; read -r line; echo over";
    let Heard { mut child, listener, _door } = Heard::start(&ground.path, Rings::Allowed, &["sh", "-c", script]);
    until("sh has started", || listener.last().is_some());
    drop(listener);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("not implemented"), "{output:?}");
    assert!(!ground.at("made").exists());
}

#[test]
fn a_call_that_waits_when_the_listener_goes_fails() {
    let ground = Ground::new();
    let door = Door::open().unwrap();
    let words = ["sh", "-c", ": > made"].map(str::to_owned);
    let command = door.command(Path::new(env!("CARGO_BIN_EXE_candor")), &words);
    let mut child = std::process::Command::new(&command[0]);
    let mut child = child.args(&command[1..]).current_dir(&ground.path).spawn().unwrap();
    // Nobody opens: the handle is lost with the door.
    std::thread::sleep(Duration::from_millis(100));
    drop(door);
    until("it ends", || child.try_wait().unwrap().is_some());
    assert!(!ground.at("made").exists());
}

#[test]
fn the_log_is_bounded_and_says_what_was_dropped() {
    let ground = Ground::new();
    let heard = Heard::start(
        &ground.path,
        Rings::Allowed,
        &["sh", "-c", "i=0; while [ $i -lt 10100 ]; do : > f; i=$((i+1)); done"],
    );
    let (events, _) = heard.ends();
    assert_eq!(events.len(), 10_001);
    let Some(Doing::Unseen { why }) = events.last().map(|event| &event.doing) else { panic!("{:?}", events.last()) };
    assert!(why.contains("more calls"), "{why}");
}

#[test]
fn what_is_taken_is_taken_once_and_the_clock_of_events_moves() {
    let ground = Ground::new();
    let script = "while read -r name; do : > $name; echo done; done";
    let Heard { mut child, listener, _door } = Heard::start(&ground.path, Rings::Allowed, &["sh", "-c", script]);
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut last = None;
    for name in ["one", "two"] {
        writeln!(input, "{name}").unwrap();
        output.read_line(&mut String::new()).unwrap();
        let events = listener.take();
        let made = events.iter().filter(|event| matches!(&event.doing, Doing::Creates { .. })).count();
        assert_eq!(made, 1, "{events:?}");
        assert!(listener.last() > last);
        last = listener.last();
    }
    assert_eq!(listener.take(), []);
    drop(input);
    child.wait().unwrap();
    until("nobody is left", || listener.is_over());
}

#[test]
fn the_processes_of_a_server_are_known_however_far_they_went_away() {
    let ground = Ground::new();
    let script = "(exec env -i setsid sleep 60 > /dev/null 2>&1 & echo $! > pid); read -r line; kill $(cat pid)";
    let Heard { mut child, listener, _door } = Heard::start(&ground.path, Rings::Allowed, &["sh", "-c", script]);
    let pid = || fs::read_to_string(ground.at("pid")).ok()?.trim().parse::<u32>().ok();
    until("it went away", || pid().is_some_and(|pid| listener.processes().contains(&pid)));
    assert!(listener.processes().contains(&child.id()));
    assert!(!listener.processes().contains(&std::process::id()));
    writeln!(child.stdin.take().unwrap(), "end").unwrap();
    child.wait().unwrap();
    until("all are gone", || listener.processes().is_empty());
}

#[test]
fn a_command_that_is_missing_is_told_and_none_listens() {
    let ground = Ground::new();
    let Heard { child, listener, _door } = Heard::start(&ground.path, Rings::Allowed, &["/no/such/program"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("No such file"), "{output:?}");
    until("nobody is left", || listener.is_over());
}

#[test]
fn a_door_to_which_nobody_comes_is_not_waited_at_for_ever() {
    let door = Door::open().unwrap();
    let error = door.wait(Duration::from_millis(20), Rings::Refused).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}

#[test]
fn many_at_once_are_all_seen() {
    let ground = Ground::new();
    let seen = shell(&ground, "for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5; do : > $i.$j; done) & done; wait");
    let made = seen.iter().filter(|doing| matches!(doing, Doing::Creates { .. })).count();
    assert_eq!(made, 40, "{seen:?}");
}
