//! What the README tells people to write is right.

use std::process::{Command, Stdio};

use serde_json::Value;

/// The README's code blocks in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let readme = include_str!("../README.md");
    let fence = format!("```{language}\n");
    let blocks: Vec<_> = readme.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    blocks
}

/// Every command line is one that candor takes. The other programs stand aside; what `claude` is
/// given after `--` is run.
#[test]
fn the_shell_blocks_name_commands_and_options_that_exist() {
    let programs = r#"
        set -eu
        candor() {
            local own=0 word
            for word; do [ "$word" != -- ] || break; own=$((own + 1)); done
            "$CANDOR" "${@:1:own}" --help > help.txt; test -s help.txt; echo ran >> ran.txt
        }
        cargo() { echo ran >> ran.txt; }
        npm() { test "$1" = --prefix; test -f "$ROOT/$2/package-lock.json"; echo ran >> ran.txt; }
        claude() { while [ "$1" != -- ]; do shift; done; shift; "$@"; }
    "#;
    for block in blocks("sh") {
        let dir = tempfile::tempdir().unwrap();
        let output = Command::new("bash")
            .arg("-c")
            .arg(format!("{programs}\n{block}"))
            .current_dir(dir.path())
            .env("CANDOR", env!("CARGO_BIN_EXE_candor"))
            .env("ROOT", env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{block}: {}", String::from_utf8_lossy(&output.stderr));
        let ran = std::fs::read_to_string(dir.path().join("ran.txt")).unwrap_or_default();
        let commands = block.replace("\\\n", "").lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(ran.lines().count(), commands, "{block}");
    }
}

/// Every client's configuration starts a server that serves.
#[test]
fn the_configuration_blocks_start_a_server() {
    for block in blocks("json") {
        let config: Value = serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}"));
        let servers = config.get("mcpServers").or(config.get("servers")).and_then(Value::as_object).unwrap();
        for server in servers.values() {
            assert_eq!(server["command"], "candor");
            let arguments: Vec<_> =
                server["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
            let output = crate::support::candor().args(&arguments).stdin(Stdio::null()).output().unwrap();
            assert!(output.status.success(), "{block}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
