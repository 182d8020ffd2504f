use std::{
    fs,
    time::{Duration, Instant},
};

use candor::verify::sandbox::Limits;

use super::boxed::{Boxed, Host, Outcome, wait};

const SMALL: Limits = Limits { processes: 40, memory: 200 << 20, disk: 64 << 20 };

fn run(host: &Host, script: &str) -> Outcome {
    let mut spec = host.spec(script);
    spec.limits = SMALL;
    Boxed::start(spec).end()
}

#[test]
fn a_fork_storm_ends_and_is_told() {
    let host = Host::new();
    let outcome = run(&host, "storm() { while :; do sleep 30 & done; }; storm");
    assert!(outcome.exceeded.unwrap().contains("processes at once; 40 are allowed"));
    assert_eq!(outcome.status, Some(128 + 9));
}

#[test]
fn memory_without_end_ends_and_is_told() {
    let host = Host::new();
    let script = "a = []\nwhile True: a.append(bytearray(b'x') * (1 << 20))";
    let outcome = run(&host, &format!("exec /usr/bin/python3 -c \"{script}\""));
    assert!(outcome.exceeded.unwrap().contains("bytes of memory"));
}

#[test]
fn files_without_end_end_and_are_told() {
    let host = Host::new();
    let outcome = run(&host, "while :; do head -c 8000000 /dev/urandom >> ~/big; done");
    assert!(outcome.exceeded.unwrap().contains("bytes to disk"));
}

#[test]
fn a_huge_file_of_holes_is_told_and_takes_neither_disk_nor_time() {
    let host = Host::new();
    let began = Instant::now();
    let outcome = run(&host, "truncate -s 10G ~/holes; echo x >> ~/holes");
    assert_eq!(outcome.exceeded, None);
    assert_eq!(outcome.counting(&host), ["~/holes: file created, 10737418242 bytes (additive)"]);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn holes_are_the_zeros_that_they_stand_for() {
    let size = 80 << 20;
    let host = Host::new();
    fs::write(host.path().join("zeros"), vec![0; size]).unwrap();
    let outcome = host.run("rm ~/zeros; truncate -s 80M ~/zeros");
    assert_eq!(outcome.counting(&host), Vec::<String>::new());
    let outcome = host.run("printf x | dd of=zeros bs=1 seek=70000000 conv=notrunc");
    assert_eq!(outcome.counting(&host).len(), 1, "{:?}", outcome.effects);
}

#[test]
fn removing_everything_in_sight_ends_and_is_told() {
    let mut host = Host::new();
    for number in 0..300 {
        host = host.file(&format!("d{}/f{number}", number % 7), "x");
    }
    let before = host.listing();
    let outcome = host.run("rm -rf ~/* /dev/shm/* $TMPDIR; :");
    let told = outcome.counting(&host);
    assert_eq!(told.len(), 7, "{told:?}");
    assert!(told.iter().all(|line| line.contains("directory deleted, with 4")), "{told:?}");
    assert_eq!(host.listing(), before);
}

#[test]
fn locked_directories_are_looked_into() {
    let host = Host::new().file("d/f", "x");
    let outcome = host.run("mkdir ~/n; echo x > ~/n/x; chmod 0 ~/n; chmod 0 ~/d");
    let expected = ["~/d: mode 755 became 0 (recoverable)", "~/n: directory created, with 1 entry (additive)"];
    assert_eq!(outcome.counting(&host), expected);
}

#[test]
fn a_server_that_ignores_every_signal_is_ended_with_its_box() {
    let host = Host::new();
    let mut boxed = Boxed::start(host.spec("trap '' TERM INT HUP; echo up; while :; do sleep 0.1; done"));
    assert_eq!(boxed.hear(), "up");
    let began = Instant::now();
    boxed.sandbox.kill();
    assert!(wait(&mut boxed.child, Duration::from_secs(20)).is_some());
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_request_to_end_reaches_the_server() {
    let host = Host::new();
    let mut boxed = Boxed::start(host.spec("trap 'exit 9' TERM; echo up; while :; do sleep 0.1; done"));
    assert_eq!(boxed.hear(), "up");
    let outer = rustix::process::Pid::from_raw(boxed.child.id().cast_signed()).unwrap();
    rustix::process::kill_process(outer, rustix::process::Signal::TERM).unwrap();
    assert_eq!(wait(&mut boxed.child, Duration::from_secs(20)).unwrap().code(), Some(9));
}
