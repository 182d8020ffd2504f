//! The reasons of a decision name its rules.

use std::collections::BTreeSet;

use candor::{
    approval::{Decision, Rule},
    hints::{Hint, HintName},
};

use super::{each, has};

#[test]
fn every_decision_names_rules_that_account_for_it() {
    each(|hints, context, approval| {
        let rules: Vec<Rule> = approval.reasons.iter().map(|reason| reason.rule).collect();
        assert!(!rules.is_empty());
        assert!(rules.is_sorted(), "not in the order of asking: {rules:?}");
        let floor = |rule: &Rule| match rule {
            Rule::UserDenies | Rule::NobodyToAsk => Decision::Refuse,
            Rule::Changed | Rule::Steered | Rule::Nonsense | Rule::Alarm => Decision::Warn,
            Rule::UserAsks | Rule::MayLeak | Rule::Unvouched | Rule::MayChange => Decision::Ask,
            _ => Decision::Run,
        };
        assert_eq!(rules.iter().map(floor).max(), Some(approval.decision), "{hints:?} {context:?} {rules:?}");
    });
}

#[test]
fn every_rule_is_the_reason_for_something_and_has_one_id_one_sentence_and_a_source() {
    let mut seen = BTreeSet::new();
    each(|_, _, approval| seen.extend(approval.reasons.iter().map(|reason| reason.rule)));
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), Rule::ALL);
    let ids: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(ids.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        assert!(rule.id().chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'));
        assert!(rule.text().ends_with('.') && rule.text().matches(". ").count() == 0, "{}", rule.text());
        assert!(rule.source().starts_with("MCP 2026-07-28") || rule.source().contains("candor") || rule == Rule::Alarm);
    }
}

/// The reasons are the text of the warning: an alarm is in it even where another rule warns already.
#[test]
fn a_question_leaves_out_no_alarm() {
    each(|hints, _, approval| {
        if matches!(approval.decision, Decision::Ask | Decision::Warn) {
            assert_eq!(has(approval, Rule::Alarm), *hints.get(HintName::Destructive) == Hint::Is(true));
            assert_eq!(has(approval, Rule::Nonsense), hints.nonsense().next().is_some());
        }
    });
}
