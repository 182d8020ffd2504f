//! Known clients do what the facts say: one line for each rule, and the table of vectors.

use candor::approval::clients::Prompt::{Ask, Guess, Refuse, Run};
use candor::{
    approval::{
        Hints,
        clients::{Client, Conduct, IGNORING, Prompt, known},
    },
    hints::{Hint, HintName},
};

/// `"T - F T"`, or `none` for a tool without an object of annotations.
fn vector(text: &str) -> Hints {
    if text == "none" {
        return Hints::default();
    }
    let letters = text.split(' ').zip(HintName::ALL);
    letters.fold(Hints::empty_object(), |hints, (letter, name)| match letter {
        "T" => hints.with(name, Hint::Is(true)),
        "F" => hints.with(name, Hint::Is(false)),
        _ => hints,
    })
}

fn client(id: &str) -> &'static Client {
    known().find(|client| client.id == id).unwrap_or_else(|| panic!("no client `{id}`"))
}

fn conduct(id: &str, hints: &str, trusted: bool) -> Conduct {
    client(id).conduct(&vector(hints), trusted).unwrap()
}

fn prompt(id: &str, hints: &str) -> Option<Prompt> {
    conduct(id, hints, true).prompt
}

#[test]
fn the_vectors_come_out_as_observed() {
    for (hints, codex, writes, vscode, review, gemini, qwen, goose, docker, toolhive) in [
        ("none", Ask, Ask, Ask, false, Refuse, false, Guess, Ask, false),
        ("- - - -", Ask, Ask, Ask, false, Refuse, false, Guess, Ask, false),
        ("T - - -", Run, Run, Run, false, Ask, true, Run, Run, true),
        ("T T - -", Ask, Run, Run, false, Ask, false, Run, Ask, true),
        ("T - F T", Run, Run, Run, true, Ask, false, Run, Run, true),
        ("F F - F", Run, Ask, Ask, false, Refuse, false, Ask, Ask, true),
        ("F F - -", Ask, Ask, Ask, false, Refuse, false, Ask, Ask, false),
        ("- - T -", Ask, Ask, Ask, false, Refuse, true, Guess, Ask, false),
        ("F T T T", Ask, Ask, Ask, true, Refuse, true, Ask, Ask, false),
    ] {
        assert_eq!(prompt("codex-auto", hints), Some(codex), "codex-auto {hints}");
        assert_eq!(prompt("codex-writes", hints), Some(writes), "codex-writes {hints}");
        assert_eq!(prompt("vscode", hints), Some(vscode), "vscode {hints}");
        assert_eq!(conduct("vscode", hints, true).review, Some(review), "vscode review {hints}");
        assert_eq!(prompt("gemini-plan", hints), Some(gemini), "gemini-plan {hints}");
        assert_eq!(conduct("qwen", hints, true).replay, Some(qwen), "qwen replay {hints}");
        assert_eq!(prompt("goose-smart", hints), Some(goose), "goose-smart {hints}");
        assert_eq!(prompt("docker-balanced", hints), Some(docker), "docker-balanced {hints}");
        let permitted = if toolhive { Run } else { Refuse };
        assert_eq!(prompt("toolhive-safe", hints), Some(permitted), "toolhive-safe {hints}");
    }
}

/// One line a rule: client, hints, what it does.
#[test]
fn the_other_rules_come_out_as_written() {
    for (id, hints, expected) in [
        ("codex-prompt", "T F T F", Ask),
        ("codex-approve", "F T F T", Run),
        ("codex-apps", "- - - -", Refuse),
        ("codex-apps", "T - - F", Refuse),
        ("codex-apps", "- F - F", Run),
        ("chatgpt-developer", "T T - -", Run),
        ("chatgpt-developer", "- F - F", Ask),
        ("responses-read-only", "T - - -", Run),
        ("responses-read-only", "- - - -", Ask),
        ("copilot-cli", "T T F T", Run),
        ("copilot-cli", "- - - -", Ask),
        ("m365-copilot", "T - - -", Run),
        ("m365-copilot", "F F - F", Ask),
        ("copilot-review", "T - - -", Run),
        ("copilot-review", "- F - F", Refuse),
        ("gemini", "F T F T", Run),
        ("qwen", "F T F T", Run),
        ("goose-approve", "T F T F", Ask),
        ("goose-auto", "F T F T", Run),
        ("n8n", "T T - -", Ask),
        ("n8n", "F - - -", Ask),
        ("n8n", "T - - -", Run),
        ("n8n", "- F T F", Guess),
        ("docker-strict", "T F T F", Ask),
        ("docker-restricted", "T - - -", Run),
        ("docker-restricted", "T T - -", Refuse),
        ("docker-restricted", "- - - -", Refuse),
        ("docker-autonomous", "F T F T", Run),
        ("docker-read-only", "T T - -", Run),
        ("docker-read-only", "- - - -", Refuse),
        ("claude-code-plan", "T T - -", Run),
        ("claude-code-plan", "- - - -", Ask),
        ("claude-cowork", "T - - -", Run),
        ("claude-cowork", "F - - -", Guess),
        ("cursor-reads", "T - - -", Run),
        ("cursor-reads", "T T - -", Refuse),
        ("cursor-reads", "- - - -", Refuse),
        ("hermes", "F T F T", Run),
        ("aws-proxy-read-only", "T - - -", Run),
        ("aws-proxy-read-only", "F F T F", Refuse),
        ("pydantic-ai-read-only", "T - - -", Run),
        ("pydantic-ai-read-only", "- - - -", Refuse),
    ] {
        assert_eq!(prompt(id, hints), Some(expected), "{id} {hints}");
    }
}

/// All others do the same with every server.
#[test]
fn trust_counts_for_four_clients_alone() {
    let mut gated: Vec<&str> = Vec::new();
    for client in known() {
        for hints in ["- - - -", "T - - -", "T T T T", "F F F F", "F T T -"] {
            let [trusted, untrusted] = [true, false].map(|trusted| client.conduct(&vector(hints), trusted));
            if trusted != untrusted && !gated.contains(&client.id) {
                gated.push(client.id);
            }
        }
    }
    assert_eq!(gated, ["responses-read-only", "gemini", "qwen", "hermes"]);
    assert_eq!(conduct("responses-read-only", "T - - -", false).prompt, Some(Ask));
    assert_eq!(conduct("gemini", "T F T F", false).prompt, Some(Ask));
    assert_eq!(conduct("qwen", "T F T F", false).prompt, Some(Ask));
    assert_eq!(conduct("qwen", "T F T F", false).replay, Some(false));
    assert_eq!(conduct("hermes", "T - - -", false).prompt, Some(Run));
    assert_eq!(conduct("hermes", "F F T F", false).prompt, Some(Ask));
}

#[test]
fn schedulers_run_beside_others_what_is_read_only_and_two_clients_replay() {
    let schedulers: Vec<&str> = known()
        .filter(|client| client.conduct(&vector("T - - -"), true).unwrap().parallel == Some(true))
        .map(|client| client.id)
        .collect();
    assert_eq!(
        schedulers,
        [
            "codex-auto",
            "codex-writes",
            "codex-prompt",
            "codex-approve",
            "qwen",
            "claude-code-plan",
            "claude-code",
            "claude-agent-sdk"
        ]
    );
    for id in schedulers {
        assert_eq!(conduct(id, "- F T F", true).parallel, Some(false), "{id}");
    }
    let replaying: Vec<&str> = known()
        .filter(|client| client.conduct(&vector("F T T T"), true).unwrap().replay == Some(true))
        .map(|client| client.id)
        .collect();
    assert_eq!(replaying, ["qwen", "smg"]);
    assert_eq!(conduct("smg", "F T F T", false).replay, Some(false));
    assert_eq!(conduct("smg", "T T F T", false).replay, Some(true));
    assert_eq!(conduct("qwen", "T T T -", true).replay, Some(false));
}

/// What becomes of it depends on the library below the client, and is not known.
#[test]
fn of_a_hint_that_is_no_boolean_nothing_is_claimed() {
    for found in ["null", "\\\"true\\\"", "1"] {
        let hints = vector("T F T F").with(HintName::Idempotent, Hint::Malformed(found.into()));
        assert!(known().all(|client| client.conduct(&hints, true).is_none()), "{found}");
    }
}

#[test]
fn every_rule_has_its_own_id_a_source_and_a_date() {
    let mut ids: Vec<&str> = known().map(|client| client.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for client in known() {
        assert!(client.rule.ends_with('.'), "{}", client.id);
        assert!(!client.source.is_empty() && !client.version.is_empty(), "{}", client.id);
        assert!(["2026-10", "2026-11"].contains(&client.date), "{}", client.id);
        // Nothing at all known belongs among those that ignore hints.
        assert_ne!(client.conduct(&vector("T F T F"), true), Some(Conduct::default()), "{}", client.id);
    }
    assert!(IGNORING.iter().any(|product| product.name == "Cline"));
}
