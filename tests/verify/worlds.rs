//! Worlds of the user's own.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use super::{verify_small, world};

/// A program that lays out a world.
fn script(dir: &tempfile::TempDir, body: &str) -> PathBuf {
    let path = dir.path().join("world.sh");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Removes the file that the script laid out.
const REMOVES: &str = r#"
    list() { result '{"tools":[{"name":"act","annotations":{"destructiveHint":false},"inputSchema":{"type":"object"}}]}'; }
    call() { rm -f "$W/laid-out"; result '{"content":[]}'; }
"#;

#[test]
fn a_program_lays_out_a_world() {
    let dir = tempfile::tempdir().unwrap();
    let script = script(&dir, "echo here > laid-out");
    let told = verify_small(REMOVES, &["--world", script.to_str().unwrap()]);
    assert_eq!(told.outcome("act/destructiveHint"), "refuted", "{told:?}");
    assert_eq!(told.verdict("act/destructiveHint")["world"], script.to_str().unwrap());
}

/// Goes on writing into the world when it should be done, until that is removed.
const RESTLESS: &str = r#"
    echo here > laid-out; echo 0 > restless
    (cd "$1"; i=0; while [ $i -lt 1000000 ] && [ -e restless ]; do echo $i >> restless; i=$((i+1)); done) >/dev/null 2>&1 &
"#;

#[test]
fn a_world_that_is_not_the_same_twice_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let script = script(&dir, RESTLESS);
    let told = verify_small(REMOVES, &["--world", script.to_str().unwrap()]);
    assert_eq!(told.status, Some(2), "{told:?}");
    assert!(told.errors.contains("world.sh is not used: ") && told.errors.contains("restless"), "{}", told.errors);

    let good = world();
    let (good, bad) = (good.path().to_str().unwrap(), script.to_str().unwrap());
    let told = verify_small(REMOVES, &["--world", bad, "--world", good]);
    assert_eq!(told.status, Some(0), "{told:?}");
    assert_eq!(told.verdict("act/destructiveHint")["worlds"], serde_json::json!([good]));
    assert!(told.finding(&format!("server/world/{bad}")).contains("restless"), "{told:?}");
    assert_eq!(told.report["status"]["strict"], 1);
}

#[test]
fn a_world_that_cannot_be_laid_out_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let failing = script(&dir, "echo no space >&2; exit 3");
    let plain = dir.path().join("plain");
    fs::write(&plain, "text").unwrap();
    let socket = tempfile::tempdir().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(socket.path().join("s")).unwrap();
    for (world, expected) in [
        (failing.to_str().unwrap(), "exit status: 3 and said `no space`"),
        (plain.to_str().unwrap(), "may not be run; make it executable"),
        (socket.path().to_str().unwrap(), "is a socket, which cannot be copied"),
        ("nowhere", "is no directory and no program"),
    ] {
        let told = verify_small("", &["--world", world]);
        assert_eq!(told.status, Some(2), "{world}: {told:?}");
        assert!(told.errors.contains(expected), "{world}: {}", told.errors);
    }
    let good = world();
    let good = good.path().to_str().unwrap();
    let told = verify_small("", &["--world", good, "--world", good]);
    assert!(told.status == Some(2) && told.errors.contains("named twice"), "{told:?}");
}
