//! What a client should do, over every combination of what can be said and known.
//!
//! 5 values of each of 4 hints, 3 kinds of trust, 4 rules of the user's, 4 histories, with and
//! without somebody to ask: 60,000 decisions, all of them made.

mod clients;
mod impact;
mod reasons;
mod table;

use candor::{
    approval::{Approval, Context, Decision, Hints, History, Output, Reason, Rule, Trust, UserRule, decide},
    hints::{Hint, HintName, read_list},
};

/// What a hint can be, more alarming from one to the next; absent and null are as alarming as each
/// other.
fn ladder(name: HintName) -> [Hint; 5] {
    [
        Hint::Is(name.claim()),
        Hint::Absent,
        Hint::Malformed("null".into()),
        Hint::Is(!name.claim()),
        Hint::Malformed("\"true\"".into()),
    ]
}

const TRUST: [Trust; 3] = [Trust::Trusted, Trust::Untrusted, Trust::Changed];
const RULES: [Option<UserRule>; 4] = [Some(UserRule::Allow), None, Some(UserRule::Ask), Some(UserRule::Deny)];
const HISTORIES: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

fn all_hints() -> Vec<Hints> {
    HintName::ALL.into_iter().fold(vec![Hints::empty_object()], |all, name| {
        all.iter().flat_map(|hints| ladder(name).map(|value| hints.with(name, value))).collect()
    })
}

fn all_contexts() -> Vec<Context> {
    let mut all = Vec::new();
    for trust in TRUST {
        for user in RULES {
            for (untrusted_content, private_data) in HISTORIES {
                for unattended in [false, true] {
                    let history = History { untrusted_content, private_data };
                    all.push(Context { trust, user, history, unattended });
                }
            }
        }
    }
    all
}

fn each(mut check: impl FnMut(&Hints, Context, &Approval)) {
    let (hints, contexts) = (all_hints(), all_contexts());
    assert_eq!(hints.len() * contexts.len(), 60_000);
    for hints in &hints {
        for context in &contexts {
            check(hints, *context, &decide(hints, *context));
        }
    }
}

/// Whether the one lets pass nothing that the other does not.
fn no_laxer(one: &Approval, than: &Approval) -> bool {
    one.decision >= than.decision
        && one.retry <= than.retry
        && one.parallel <= than.parallel
        && one.output >= than.output
}

fn without_reasons(approval: &Approval) -> (Decision, bool, bool, Output) {
    (approval.decision, approval.retry, approval.parallel, approval.output)
}

fn has(approval: &Approval, rule: Rule) -> bool {
    approval.reasons.iter().any(|reason| reason.rule == rule)
}

const FRESH: Context = Context {
    trust: Trust::Trusted,
    user: None,
    history: History { untrusted_content: false, private_data: false },
    unattended: false,
};

fn tool(annotations: &str) -> Hints {
    let list = format!(r#"{{"tools":[{{"name":"t","inputSchema":{{}}{annotations}}}]}}"#);
    Hints::from(&read_list(list.as_bytes()).unwrap().0[0])
}

#[test]
fn a_more_alarming_hint_never_makes_anything_laxer() {
    each(|hints, context, before| {
        for name in HintName::ALL {
            let ladder = ladder(name);
            let at = ladder.iter().position(|value| value == hints.get(name)).unwrap();
            for value in &ladder[at..] {
                let after = decide(&hints.with(name, value.clone()), context);
                assert!(no_laxer(&after, before), "{name} to {value:?}: {hints:?} {context:?} {before:?} {after:?}");
            }
        }
    });
}

#[test]
fn less_trust_a_stricter_rule_a_worse_history_and_an_absent_user_never_make_anything_laxer() {
    each(|hints, context, before| {
        let later = |list: &[Trust]| list.iter().position(|trust| *trust == context.trust).unwrap();
        let mut worse: Vec<Context> =
            TRUST[later(&TRUST)..].iter().map(|trust| Context { trust: *trust, ..context }).collect();
        let at = RULES.iter().position(|rule| *rule == context.user).unwrap();
        worse.extend(RULES[at..].iter().map(|user| Context { user: *user, ..context }));
        worse.push(Context { history: History { untrusted_content: true, ..context.history }, ..context });
        worse.push(Context { history: History { private_data: true, ..context.history }, ..context });
        worse.push(Context { unattended: true, ..context });
        for context in worse {
            assert!(no_laxer(&decide(hints, context), before), "{hints:?} {context:?} {before:?}");
        }
    });
}

#[test]
fn a_reassurance_from_a_server_that_is_not_trusted_changes_nothing() {
    each(|hints, context, approval| {
        for name in HintName::ALL {
            if context.trust != Trust::Trusted && *hints.get(name) == Hint::Is(name.claim()) {
                let silent = decide(&hints.with(name, Hint::Absent), context);
                assert_eq!(without_reasons(&silent), without_reasons(approval), "{name}: {hints:?} {context:?}");
            }
        }
    });
}

#[test]
fn an_alarm_is_worth_the_same_from_anyone() {
    each(|hints, context, approval| {
        let alarmed = *hints.get(HintName::Destructive) == Hint::Is(true);
        let allowed = context.user == Some(UserRule::Allow) && has(approval, Rule::UserAllows);
        if alarmed && !allowed {
            assert!(approval.decision >= Decision::Warn, "{hints:?} {context:?} {approval:?}");
            assert!(!approval.parallel);
        }
        if *hints.get(HintName::Idempotent) == Hint::Is(false) {
            assert!(!approval.retry, "{hints:?} {context:?}");
        }
        if *hints.get(HintName::OpenWorld) == Hint::Is(true) {
            assert_eq!(approval.output, Output::Untrusted);
        }
    });
}

#[test]
fn silence_reassures_nobody_and_null_is_silence() {
    each(|hints, context, approval| {
        let said = |name: HintName| matches!(hints.get(name), Hint::Is(_));
        if HintName::ALL.iter().all(|name| !said(*name)) && context.user != Some(UserRule::Allow) {
            assert!(approval.decision >= Decision::Ask, "{hints:?} {context:?}");
            assert!(!approval.retry && !approval.parallel);
            assert_eq!(approval.output, Output::Untrusted);
        }
        for name in HintName::ALL {
            if *hints.get(name) == Hint::Malformed("null".into()) {
                assert_eq!(decide(&hints.with(name, Hint::Absent), context), *approval);
            }
        }
    });
    for nothing in ["", r#","annotations":{}"#, r#","annotations":null"#, r#","annotations":{"readOnlyHint":null}"#] {
        assert_eq!(decide(&tool(nothing), FRESH), decide(&Hints::default(), FRESH), "{nothing}");
    }
}

#[test]
fn nonsense_in_one_hint_takes_the_reassurance_from_all() {
    each(|hints, context, approval| {
        if hints.nonsense().next().is_some() {
            let allowed = context.user == Some(UserRule::Allow) && has(approval, Rule::UserAllows);
            assert!(approval.decision >= Decision::Warn || allowed, "{hints:?} {context:?}");
            assert!(!approval.retry && !approval.parallel);
            assert_eq!(approval.output, Output::Untrusted);
        }
    });
    for nonsense in [
        r#","annotations":{"readOnlyHint":"true"}"#,
        r#","annotations":{"readOnlyHint":true,"openWorldHint":0}"#,
        r#","annotations":{"readOnlyHint":true,"readOnlyHint":true}"#,
        r#","annotations":["readOnlyHint"]"#,
        r#","annotations":{"readOnlyHint":true},"annotations":{"readOnlyHint":true}"#,
    ] {
        let approval = decide(&tool(nonsense), FRESH);
        assert_eq!(approval.decision, Decision::Warn, "{nonsense}");
        assert!(has(&approval, Rule::Nonsense));
    }
}

#[test]
fn a_deny_beats_everything() {
    each(|_, context, approval| {
        if context.user == Some(UserRule::Deny) {
            assert_eq!(approval.reasons, [Reason { rule: Rule::UserDenies, hint: None }]);
            assert_eq!(without_reasons(approval), (Decision::Refuse, false, false, Output::Untrusted));
        }
    });
}

#[test]
fn only_a_deny_or_an_absent_user_refuses_and_what_is_refused_is_not_sent_again() {
    each(|_, context, approval| {
        let refused = approval.decision == Decision::Refuse;
        let why = context.user == Some(UserRule::Deny) || context.unattended;
        assert!(why || !refused, "{context:?}");
        assert!(!refused || !approval.retry && !approval.parallel);
        if context.unattended {
            assert!(matches!(approval.decision, Decision::Run | Decision::Refuse));
        }
    });
}

#[test]
fn an_allowed_tool_runs_unless_it_changed_or_the_conversation_may_steer_it() {
    each(|_, context, approval| {
        if context.user == Some(UserRule::Allow) {
            let unforeseen = has(approval, Rule::Changed) || has(approval, Rule::Steered);
            assert_eq!(approval.decision == Decision::Run, !unforeseen, "{context:?} {approval:?}");
            assert_eq!(has(approval, Rule::Changed), context.trust == Trust::Changed);
            assert_eq!(has(approval, Rule::UserAllows), !unforeseen);
        }
    });
}

/// Three things run unasked, and no fourth.
#[test]
fn what_runs_unasked_is_allowed_or_read_only_or_additive_in_a_closed_world() {
    each(|hints, context, approval| {
        if approval.decision == Decision::Run && context.user != Some(UserRule::Allow) {
            let reads = *hints.get(HintName::ReadOnly) == Hint::Is(true);
            let adds = *hints.get(HintName::Destructive) == Hint::Is(false);
            let closed = *hints.get(HintName::OpenWorld) == Hint::Is(false);
            assert!(reads || adds && closed, "{hints:?} {context:?}");
            assert_eq!((context.trust, context.user), (Trust::Trusted, None));
        }
    });
}

#[test]
fn after_untrusted_content_nothing_that_may_change_something_runs_unasked() {
    each(|hints, context, approval| {
        if context.history.untrusted_content && approval.decision == Decision::Run {
            assert_eq!(*hints.get(HintName::ReadOnly), Hint::Is(true), "{hints:?} {context:?}");
            assert_eq!(context.trust, Trust::Trusted);
            assert_ne!(*hints.get(HintName::Destructive), Hint::Is(true));
            // Nor does private data leave.
            assert!(!context.history.private_data || *hints.get(HintName::OpenWorld) == Hint::Is(false));
        }
    });
}

#[test]
fn after_private_data_nothing_open_runs_unless_the_user_allows_it() {
    each(|hints, context, approval| {
        let open = context.trust != Trust::Trusted || *hints.get(HintName::OpenWorld) != Hint::Is(false);
        if context.history.private_data && open && context.user != Some(UserRule::Allow) {
            assert!(approval.decision >= Decision::Ask, "{hints:?} {context:?}");
        }
    });
}

/// The inventory of the server beside us, as a reader would expect it.
#[test]
fn our_own_tools_are_decided_as_their_files_teach() {
    let trusted = |name: &str| {
        let (_, tools) = candor_tools::inventory();
        let list = serde_json::to_vec(&serde_json::json!({ "tools": tools })).unwrap();
        let (tools, _) = read_list(&list).unwrap();
        decide(&Hints::from(tools.iter().find(|tool| tool.name == name).unwrap()), FRESH)
    };
    assert_eq!(without_reasons(&trusted("query")), (Decision::Run, true, true, Output::Own));
    assert_eq!(without_reasons(&trusted("fetch_url")), (Decision::Run, true, true, Output::Untrusted));
    assert_eq!(without_reasons(&trusted("create_branch")), (Decision::Run, true, false, Output::Own));
    assert_eq!(without_reasons(&trusted("append_note")), (Decision::Run, false, false, Output::Own));
    assert_eq!(without_reasons(&trusted("write_note")), (Decision::Warn, true, false, Output::Own));
    assert_eq!(without_reasons(&trusted("execute")), (Decision::Warn, false, false, Output::Own));
}

proptest::proptest! {
    /// Whatever stands where a boolean should, in whatever number, nothing in it reassures.
    #[test]
    fn no_text_in_place_of_a_boolean_reassures(text in "\\PC{0,60}", at in 0_usize..4) {
        let hints = HintName::ALL.into_iter().fold(Hints::default(), |hints, name| {
            hints.with(name, Hint::Is(name.claim()))
        });
        let broken = hints.with(HintName::ALL[at], Hint::Malformed(text.clone()));
        let approval = decide(&broken, FRESH);
        proptest::prop_assert!(approval.decision == Decision::Warn || text == "null");
        proptest::prop_assert!(no_laxer(&approval, &decide(&hints, FRESH)));
    }
}
