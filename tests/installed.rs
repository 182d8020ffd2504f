//! Being found and installed: registry metadata, completions, the manual, the action.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::support::candor;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The rules of the registry's schema 2025-12-11 for the fields that are there. A package, its
/// address and its digest wait for a first release, and the namespace for its owner.
#[test]
fn the_registry_metadata_keeps_the_rules_of_its_schema_and_the_version_of_the_package() {
    let server: Value = serde_json::from_str(&file("server.json")).unwrap();
    assert_eq!(server["$schema"], "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json");
    let text = |key: &str| server[key].as_str().unwrap_or_else(|| panic!("`{key}` is no text"));
    let (namespace, name) = text("name").split_once('/').unwrap();
    let plain = |part: &str, more: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    assert!(plain(namespace, ".-") && plain(name, "._-") && !namespace.is_empty() && !name.is_empty());
    assert!((3..=200).contains(&text("name").len()));
    for key in ["title", "description"] {
        assert!((1..=100).contains(&text(key).chars().count()), "{key}");
    }
    assert_eq!(text("version"), env!("CARGO_PKG_VERSION"));
    let keys: BTreeSet<_> = server.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, BTreeSet::from(["$schema", "name", "title", "description", "version"]));
}

#[test]
fn every_shell_gets_completions_that_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = candor().args(["completions", shell]).output().unwrap();
        assert!(output.status.success(), "{shell}: {output:?}");
        let script = String::from_utf8(output.stdout).unwrap();
        for word in ["serve", "verify", "mislabel", "completions"] {
            assert!(script.contains(word), "{shell}: no `{word}`");
        }
    }
    let output = candor().args(["completions", "no-shell"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_manual_has_a_page_for_candor_and_one_for_each_command() {
    let output = candor().arg("man").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let roff = String::from_utf8(output.stdout).unwrap();
    let pages: Vec<_> = roff.lines().filter_map(|line| line.strip_prefix(".TH ")).collect();
    for command in ["candor", "candor-serve", "candor-verify", "candor-tools", "candor-demo", "candor-token"] {
        assert!(pages.iter().any(|page| page.starts_with(&format!("{command} "))), "no {command} in {pages:?}");
    }
    assert!(roff.contains(r"\-\-mislabel"), "options are described");
    assert!(!roff.contains("hold"), "what is hidden stays hidden");
}

/// Each option that the action passes is one that `candor verify` has.
#[test]
fn the_action_uses_options_that_exist() {
    let output = candor().args(["verify", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let action = file("action.yml");
    for option in ["--sarif", "--world", "--unboxed", "--strict"] {
        assert!(action.contains(option) && help.contains(option), "{option}");
    }
}
