//! What ends otherwise than it should, and what can't be seen at all.

use candor::verify::{Definition, Level, Observation, Outcome, Phase, Rule, Sight, case::Expect, conduct, judge};

use super::samples::{BLIND, additive, failed, hints, refused, step, trial, twice};

fn expecting(expect: Expect, trial: Observation) -> Observation {
    Observation { expect, ..trial }
}

#[test]
fn an_accepted_call_ends_as_its_case_says_or_is_told_with_its_worlds() {
    let no = |world| trial(world, &[refused(Phase::First, &[])]);
    let found = conduct(&["plain", "other", "plain"].map(|world| expecting(Expect::Success, no(world))));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((finding.rule, finding.level), (Rule::UnexpectedReply, Level::Fault));
    assert_eq!(finding.id, "t/unexpected-reply/c");
    assert_eq!(finding.text, "case `c`: it was to succeed, and was refused: no such branch; in `plain`, `other`");
    for (expect, steps, expected) in [
        (Expect::Any, vec![refused(Phase::First, &[])], 0),
        (Expect::Refused, vec![refused(Phase::First, &[])], 0),
        (Expect::Refused, vec![failed(Phase::First, &[])], 0),
        (Expect::Refused, vec![step(Phase::First, &[])], 1),
        (Expect::Success, vec![failed(Phase::First, &[])], 1),
        // Only the accepted call is meant, and only the first of them.
        (Expect::Success, vec![refused(Phase::Declined, &[]), step(Phase::First, &[]), refused(Phase::Second, &[])], 0),
        (Expect::Success, vec![step(Phase::First, &[]), refused(Phase::Concurrent, &[])], 0),
        (Expect::Success, vec![], 0),
    ] {
        let found = conduct(&[expecting(expect, trial("plain", &steps))]);
        assert_eq!(found.len(), expected, "{expect:?} {steps:?}: {found:?}");
    }
}

#[test]
fn a_trial_that_broke_off_is_told_once_a_case() {
    let broke = |case: &str| Observation {
        case: case.into(),
        problem: Some("First: the server ended".into()),
        ..trial("plain", &[])
    };
    let found = conduct(&[broke("a"), broke("a"), broke("b")]);
    let told: Vec<_> = found.iter().map(|finding| (finding.id.as_str(), finding.level)).collect();
    assert_eq!(told, [("t/unfinished/a", Level::Warning), ("t/unfinished/b", Level::Warning)]);
    assert_eq!(found[0].text, "case `a`: First: the server ended; in `plain`");
}

#[test]
fn where_no_change_is_seen_no_hint_is_tested() {
    let sight = Sight { changes: false, rung: "remote", ..BLIND };
    let trials = [twice("elsewhere", &[additive("a")], &[])];
    for letters in ["ffft", "ftft"] {
        for verdict in judge(&[hints("t", letters)], &[twice("elsewhere", &[], &[])], &sight, Definition::Mcp) {
            assert_eq!(verdict.outcome, Outcome::Untested, "{verdict:?}");
            assert_eq!(verdict.note.as_deref(), Some("the rung `remote` sees no changes"));
        }
    }
    // What was seen all the same counts.
    let verdicts = judge(&[hints("t", "tftf")], &trials, &sight, Definition::Mcp);
    assert_eq!(verdicts[0].outcome, Outcome::Refuted);
}
