//! Package runners: what they fetch is there before the box is.
#![cfg(target_os = "linux")]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use candor::wire::Target;

use super::{Told, list, run, small};
use crate::support::candor;

/// Verify a server that a runner of this name starts; the runner is a script, and so is the server.
fn verify_with(name: &str, fetch: &str, words: &[&str]) -> (Told, String) {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("fetched");
    let hints = r#""readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false"#;
    let Target::Stdio { command, .. } = small(&list(&[("act", hints, r#"{"type":"object"}"#)])).target else {
        panic!()
    };
    fs::write(dir.path().join("server"), &command[2]).unwrap();
    // Whoever fetches is outside and may write; in the box the runner is told that it is offline.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*'python -c'* | *'--call true'*) echo \"$*\" >> {}; {fetch} ;;\n*)\n\
         [ \"$UV_OFFLINE$npm_config_offline\" ] && exec sh {} ;;\nesac\n",
        log.display(),
        dir.path().join("server").display()
    );
    let runner = dir.path().join(name);
    fs::write(&runner, script).unwrap();
    fs::set_permissions(&runner, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let mut command = candor();
    command.arg("verify").env("PATH", path).args(["--rung", "box", "--", name]).args(words);
    let told = run(&mut command);
    (told, fs::read_to_string(&log).unwrap_or_default())
}

#[test]
fn a_package_is_fetched_once_before_the_box_and_runs_offline_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().to_str().unwrap();
    for (name, words, fetched) in [
        ("npx", vec!["-y", "server@1.2", place], "-y --yes --ignore-scripts --package=server@1.2 --call true\n"),
        ("npx", vec!["-p", "pack", "server"], "-p pack --yes --ignore-scripts --call true\n"),
        ("npm", vec!["exec", "--", "server"], "exec --yes --ignore-scripts --package=server --call true\n"),
        ("uvx", vec!["--python", "3.12", "server", "-p"], "--python 3.12 --no-build --from server python -c \n"),
        ("uvx", vec!["--from=pack", "server"], "--from=pack --no-build python -c \n"),
        ("uv", vec!["tool", "run", "server"], "tool run --no-build --from server python -c \n"),
        ("pipx", vec!["run", "server", place], "run --spec server python -c \n"),
    ] {
        let (told, log) = verify_with(name, "exit 0", &words);
        assert_eq!(log, fetched, "{name} {words:?}: {told:?}");
        assert_eq!((told.status, told.outcome("act/openWorldHint")), (Some(0), "holds"), "{name} {words:?}: {told:?}");
    }
}

#[test]
fn a_package_that_cannot_be_fetched_is_named_with_the_next_step() {
    let (told, _) = verify_with("npx", "echo 'no such host' >&2; exit 1", &["-y", "server@9"]);
    assert_eq!(told.status, Some(2), "{told:?}");
    for words in ["`npx` can't fetch `server@9` (no such host)", "check the name and the network"] {
        assert!(told.errors.contains(words), "{told:?}");
    }
}

#[test]
fn the_words_of_the_runner_are_no_world() {
    let (package, world) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let name = |dir: &Path| dir.file_name().unwrap().to_str().unwrap().to_owned();
    let words = ["-y", package.path().to_str().unwrap(), world.path().to_str().unwrap()];
    let (told, _) = verify_with("npx", "exit 0", &words);
    assert_eq!(told.report["trials"][0]["world"], name(world.path()), "{told:?}");
}
