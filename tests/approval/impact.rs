//! What a false hint makes of known clients.

use candor::{
    approval::{
        Hints,
        impact::{
            Consequence::{self, Admitted, Asked, Parallel, Refused, Replayed, Unasked, Unreviewed},
            Impact,
            Servers::{self, Any, Trusted, Untrusted},
            impact,
        },
    },
    hints::{Hint, HintName},
};

fn hints(said: &[(HintName, bool)]) -> Hints {
    said.iter().fold(Hints::empty_object(), |hints, (name, value)| hints.with(*name, Hint::Is(*value)))
}

fn of<'a>(impacts: &'a [Impact], client: &'a str) -> Vec<(Consequence, Servers)> {
    impacts.iter().filter(|impact| impact.client == client).map(|impact| (impact.consequence, impact.servers)).collect()
}

#[test]
fn a_writer_called_read_only_is_run_unasked_in_parallel_and_again() {
    let impacts = impact(&hints(&[(HintName::ReadOnly, true)]), HintName::ReadOnly, false);
    assert_eq!(of(&impacts, "codex-auto"), [(Unasked, Any), (Parallel, Any)]);
    assert_eq!(of(&impacts, "codex-prompt"), [(Parallel, Any)]);
    assert_eq!(of(&impacts, "codex-approve"), [(Parallel, Any)]);
    assert_eq!(of(&impacts, "vscode"), [(Unasked, Any)]);
    assert_eq!(of(&impacts, "gemini-plan"), [(Admitted, Any)]);
    assert_eq!(of(&impacts, "gemini"), []);
    assert_eq!(of(&impacts, "qwen"), [(Parallel, Any), (Replayed, Trusted)]);
    assert_eq!(of(&impacts, "hermes"), [(Unasked, Untrusted)]);
    assert_eq!(of(&impacts, "smg"), [(Replayed, Any)]);
    // A client that follows the recommendation is deceived by a liar that its user trusts.
    assert_eq!(of(&impacts, "recommended"), [(Unasked, Trusted), (Parallel, Trusted), (Replayed, Trusted)]);
}

#[test]
fn a_duplicate_called_idempotent_is_sent_again_by_those_that_replay() {
    let impacts = impact(&hints(&[(HintName::Idempotent, true)]), HintName::Idempotent, false);
    let told: Vec<String> = impacts.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "recommended sends it again when a reply is lost, if it trusts the server",
            "qwen sends it again when a reply is lost, if it trusts the server",
            "smg sends it again when a reply is lost",
        ]
    );
}

#[test]
fn an_open_tool_called_closed_is_unreviewed_and_unasked() {
    let declared = hints(&[(HintName::Destructive, false), (HintName::OpenWorld, false)]);
    let impacts = impact(&declared, HintName::OpenWorld, true);
    assert_eq!(of(&impacts, "vscode"), [(Unreviewed, Any)]);
    assert_eq!(of(&impacts, "codex-auto"), [(Unasked, Any)]);
    assert_eq!(of(&impacts, "toolhive-safe"), [(Unasked, Any)]);
    assert!(impacts.iter().all(|impact| impact.consequence.is_harmful()));
}

#[test]
fn an_overstated_hint_is_a_nuisance_and_no_harm() {
    let impacts = impact(&hints(&[(HintName::ReadOnly, false)]), HintName::ReadOnly, true);
    assert!(impacts.iter().all(|impact| !impact.consequence.is_harmful()), "{impacts:?}");
    assert_eq!(of(&impacts, "vscode"), [(Asked, Any)]);
    assert_eq!(of(&impacts, "copilot-review"), [(Refused, Any)]);
}

#[test]
fn a_true_hint_has_no_impact_and_one_that_is_no_boolean_no_known_one() {
    for name in HintName::ALL {
        for value in [true, false] {
            assert_eq!(impact(&hints(&[(name, value)]), name, value), []);
        }
        let malformed = Hints::default().with(name, Hint::Malformed("\"true\"".into()));
        assert_eq!(impact(&malformed, name, name.default()), []);
    }
}
