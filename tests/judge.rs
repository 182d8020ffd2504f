//! The judge: which effects of which steps bear on which hint, and which word is said first.

mod endings;
pub(crate) mod samples;

use candor::verify::{Definition, Effect, Grade, Level, Observation, Outcome, Phase, Rule, Sight, conduct, judge};
use samples::{
    BLIND, SEEING, additive, contact, excused, failed, hints, judged, lossy, outcomes, raw, recoverable, refused, step,
    trial, twice,
};

#[test]
fn each_grade_refutes_the_claims_that_deny_it() {
    let seen = |effect: &[Effect]| outcomes("tftf", &[twice("plain", effect, &[])]);
    assert_eq!(seen(&[]), "holds holds holds holds");
    assert_eq!(seen(&[excused("git")]), "holds holds holds holds");
    assert_eq!(seen(&[additive("a")]), "refuted holds holds holds");
    assert_eq!(seen(&[recoverable()]), "refuted refuted holds holds");
    assert_eq!(seen(&[lossy("a")]), "refuted refuted holds holds");
    assert_eq!(seen(&[contact()]), "holds holds holds refuted");
    assert_eq!(seen(&[excused("git"), additive("a"), lossy("b")]), "refuted refuted holds holds");
    let grades = judged("tftf", &[twice("plain", &[recoverable()], &[])]).map(|verdict| verdict.grade);
    assert_eq!(grades, [Some(Grade::Recoverable), Some(Grade::Recoverable), Some(Grade::None), None]);
}

#[test]
fn only_a_repeat_bears_on_idempotence() {
    assert_eq!(outcomes("fftf", &[twice("plain", &[additive("a")], &[additive("b")])]), "holds holds refuted holds");
    assert_eq!(outcomes("fftf", &[twice("plain", &[additive("a")], &[excused("git")])]), "holds holds holds holds");
    // A second call that is refused and has no effect is a good repeat.
    let again = trial("plain", &[step(Phase::First, &[additive("a")]), refused(Phase::Second, &[])]);
    assert_eq!(outcomes("fftf", &[again]), "holds holds holds holds");
    let again = trial("plain", &[step(Phase::First, &[additive("a")]), failed(Phase::Second, &[additive("b")])]);
    assert_eq!(outcomes("fftf", &[again]), "holds holds refuted holds");
    // Two calls at once are no repeat, but what they do is done.
    let trials = [
        twice("plain", &[additive("a")], &[]),
        trial("plain", &[step(Phase::Concurrent, &[additive("a"), lossy("b")])]),
    ];
    assert_eq!(outcomes("fftf", &trials), "holds refuted holds holds");
    // The question of the first call is no repeat, that of the second is.
    let asks = |first: &[Effect], second: &[Effect]| {
        let steps = [step(Phase::Asking, first), step(Phase::First, &[]), step(Phase::Asking, second)];
        outcomes("fftf", &[trial("plain", &[&steps[..], &[step(Phase::Second, &[])]].concat())])
    };
    assert_eq!(asks(&[additive("a")], &[]), "holds holds holds holds");
    assert_eq!(asks(&[], &[additive("a")]), "holds holds refuted holds");
}

#[test]
fn effects_of_every_kind_of_call_refute_what_the_call_itself_would() {
    let succeeds = twice("plain", &[], &[]);
    for phase in [Phase::Asking, Phase::Declined, Phase::Cancelled, Phase::First, Phase::Second, Phase::Concurrent] {
        for make in [step, refused, failed] {
            let strange = trial("plain", &[make(phase, &[lossy("a"), contact()])]);
            let found = outcomes("tftf", &[succeeds.clone(), strange.clone()]);
            let repeated = if phase == Phase::Second { "refuted" } else { "holds" };
            assert_eq!(found, format!("refuted refuted {repeated} refuted"), "{phase:?}");
            // Without any success, too.
            let found = judged("tf-f", &[strange]);
            assert_eq!(found[0].outcome, Outcome::Refuted, "{phase:?}");
        }
    }
    let declined_twice = [step(Phase::Declined, &[]), step(Phase::Declined, &[additive("a")])];
    assert_eq!(outcomes("fftf", &[succeeds, trial("plain", &declined_twice)]), "holds holds refuted holds");
}

#[test]
fn what_the_server_does_alone_is_not_blamed_on_a_call() {
    for phase in [Phase::Start, Phase::Idle, Phase::Shutdown] {
        let noisy =
            trial("plain", &[step(phase, &[lossy("a"), contact()]), step(Phase::First, &[]), step(Phase::Second, &[])]);
        assert_eq!(outcomes("tftf", std::slice::from_ref(&noisy)), "holds holds holds holds", "{phase:?}");
        let found = conduct(&[noisy]);
        assert_eq!((found[0].rule, found[0].level, &found[0].tool), (Rule::Background, Level::Note, &None));
    }
}

#[test]
fn background_that_goes_on_during_a_call_hides_only_its_own_kind_in_its_own_place() {
    let heartbeat = additive("hb.log");
    let during = |effect: &Effect| {
        let steps =
            [step(Phase::Idle, std::slice::from_ref(&heartbeat)), step(Phase::First, std::slice::from_ref(effect))];
        judged("t---", &[trial("plain", &steps)])[0].outcome
    };
    assert_eq!(during(&heartbeat), Outcome::Holds);
    assert_eq!(during(&additive("other.log")), Outcome::Refuted);
    assert_eq!(during(&lossy("hb.log")), Outcome::Refuted);
    // Known from the control of the same world, and from no other.
    let control = |world: &str| {
        let control = trial(world, &[step(Phase::Idle, std::slice::from_ref(&heartbeat))]);
        Observation { tool: String::new(), ..control }
    };
    let call = trial("plain", &[step(Phase::First, std::slice::from_ref(&heartbeat))]);
    assert_eq!(judged("t---", &[control("plain"), call.clone()])[0].outcome, Outcome::Holds);
    assert_eq!(judged("t---", &[control("other"), call])[0].outcome, Outcome::Refuted);
    // A late effect doesn't excuse the call that had it.
    let late = trial("plain", &[step(Phase::First, &[additive("a")]), step(Phase::Idle, &[additive("a")])]);
    assert_eq!(judged("t---", &[late])[0].outcome, Outcome::Refuted);
}

#[test]
fn without_a_success_a_hint_is_untested_with_the_reason() {
    let reason = |letters: &str, trials: &[Observation], hint: usize| {
        let verdict = judged(letters, trials)[hint].clone();
        assert_eq!(verdict.outcome, Outcome::Untested);
        assert_eq!((verdict.calls, verdict.worlds.len()), (0, 0));
        verdict.note.unwrap()
    };
    assert_eq!(reason("tftf", &[], 0), "never called");
    let only_refused = [trial("plain", &[refused(Phase::First, &[]), refused(Phase::Second, &[])])];
    for letters in ["tftf", "ftft"] {
        for hint in 0..4 {
            assert_eq!(reason(letters, &only_refused, hint), "no call succeeded; refused: no such branch");
        }
    }
    let only_failed = [trial("plain", &[failed(Phase::First, &[])])];
    assert_eq!(reason("tftf", &only_failed, 1), "no call succeeded; error -32603: internal error");
    let ended = Observation { problem: Some("the server ended: status 1".into()), ..trial("plain", &[]) };
    assert_eq!(reason("tftf", &[ended], 2), "no call succeeded; the server ended: status 1");
    let declined = [trial("plain", &[step(Phase::Asking, &[]), step(Phase::Declined, &[])])];
    assert!(reason("tftf", &declined, 0).contains("declined"));
    let never_repeated = [trial("plain", &[step(Phase::First, &[])])];
    assert_eq!(reason("tftf", &never_repeated, 2), "no successful call was repeated");
    assert_eq!(outcomes("tftf", &never_repeated), "holds holds untested holds");
    let after_a_refusal = [trial("plain", &[refused(Phase::First, &[]), step(Phase::Second, &[])])];
    assert_eq!(outcomes("tftf", &after_a_refusal), "holds holds untested holds");
    let hostile = [trial("plain", &[step(Phase::Start, &[])])];
    assert_eq!(reason("tftf", &hostile, 0), "no call succeeded");
}

#[test]
fn alarms_without_anything_to_be_alarmed_about_are_overstated() {
    let quiet = [twice("plain", &[], &[])];
    // Not both alarms on writing at once with read-only: that is a contradiction.
    assert_eq!(outcomes("ftft", &quiet), "overstated overstated overstated overstated");
    assert_eq!(outcomes("ftft", &[twice("plain", &[additive("a")], &[])]), "holds overstated overstated overstated");
    assert_eq!(outcomes("ftft", &[twice("plain", &[lossy("a")], &[])]), "holds holds overstated overstated");
    assert_eq!(outcomes("ftft", &[twice("plain", &[lossy("a")], &[additive("b")])]), "holds holds holds overstated");
    assert_eq!(outcomes("ftft", &[twice("plain", &[contact()], &[])]), "overstated overstated overstated holds");
    // Seen once in any world is enough.
    let trials = [twice("plain", &[], &[]), twice("other", &[lossy("a")], &[lossy("b")])];
    assert_eq!(outcomes("ftff", &trials), "holds holds holds holds");
    assert_eq!(judged("ftft", &quiet)[1].note.as_deref(), Some("no call changed or removed what existed"));
}

#[test]
fn where_connections_are_not_seen_only_a_contact_tells_about_the_open_world() {
    let open_world = |letters: &str, effects: &[Effect], sight: &Sight| {
        let trial = Observation { sees_connections: sight.connections, ..twice("plain", effects, &[]) };
        let verdicts = judge(&[hints("t", letters)], &[trial], sight, Definition::Mcp);
        let tested = verdicts[3].worlds.len() + verdicts[3].calls > 0;
        assert_eq!(tested, verdicts[3].outcome != Outcome::Untested, "what nobody saw was not tested");
        (verdicts[3].outcome, verdicts[3].note.clone().unwrap_or_default())
    };
    for letters in ["---f", "---t"] {
        let (outcome, note) = open_world(letters, &[], &BLIND);
        assert_eq!((outcome, note.as_str()), (Outcome::Untested, "the rung `worlds` doesn't see connections"));
    }
    assert_eq!(open_world("---f", &[], &SEEING).0, Outcome::Holds);
    assert_eq!(open_world("---t", &[], &SEEING).0, Outcome::Overstated);
    for sight in [&BLIND, &SEEING] {
        assert_eq!(open_world("---f", &[contact()], sight).0, Outcome::Refuted);
        assert_eq!(open_world("---t", &[contact()], sight).0, Outcome::Holds);
    }
}

#[test]
fn the_first_word_that_applies_is_said() {
    let lossy_twice = [twice("plain", &[lossy("a")], &[lossy("b")])];
    let quiet = [twice("plain", &[], &[])];
    // Malformed before all others.
    assert_eq!(outcomes("xxxx", &lossy_twice), "malformed malformed malformed malformed");
    assert_eq!(outcomes("xxxx", &[]), "malformed malformed malformed malformed");
    // Refuted before contradictory; the alarm can't be refuted.
    assert_eq!(outcomes("tttf", &lossy_twice), "refuted contradictory refuted holds");
    assert_eq!(outcomes("tttf", &quiet), "contradictory contradictory holds holds");
    assert_eq!(outcomes("tttf", &[]), "contradictory contradictory untested untested");
    // Undeclared before untested, with the default beside it.
    let beside = |trials: &[Observation]| {
        judged("----", trials).map(|verdict| {
            assert_eq!(verdict.outcome, Outcome::Undeclared);
            verdict.default.unwrap().name()
        })
    };
    assert_eq!(beside(&[]), ["untested"; 4]);
    assert_eq!(beside(&quiet), ["overstated"; 4]);
    assert_eq!(beside(&lossy_twice), ["holds", "holds", "holds", "overstated"]);
    let note = judged("t---", &quiet)[1].note.clone().unwrap();
    assert!(note.starts_with("default true (which the specification ignores in a read-only tool) is overstated"));
    // Annotations that are no object are nonsense from one end to the other.
    let broken = raw(r#""name":"t","annotations":null"#);
    let verdicts = judge(&[broken], &quiet, &SEEING, Definition::Mcp);
    assert!(verdicts.iter().all(|verdict| verdict.outcome == Outcome::Malformed), "{verdicts:?}");
}

#[test]
fn the_smallest_world_that_refutes_is_named_with_the_others() {
    // `triggers` stands third among all trials, though this tool met it first.
    let other = |world: &str| Observation { tool: "other".into(), ..twice(world, &[], &[]) };
    let trials = [
        other("plain"),
        other("wal"),
        other("triggers"),
        other("hooks"),
        twice("hooks", &[lossy("h")], &[]),
        twice("triggers", &[lossy("a"), additive("b")], &[]),
        twice("wal", &[additive("b")], &[]),
        twice("plain", &[], &[]),
    ];
    let [read_only, destructive, ..] = judged("tf--", &trials);
    assert_eq!(read_only.world.as_deref(), Some("wal"));
    assert_eq!(read_only.note.as_deref(), Some("also in `triggers`, `hooks`; not in `plain`"));
    assert_eq!(destructive.world.as_deref(), Some("triggers"));
    assert_eq!(destructive.note.as_deref(), Some("also in `hooks`; not in `wal`, `plain`"));
    // The evidence is what refutes, from that world alone.
    assert_eq!(destructive.evidence.len(), 1);
    assert_eq!(destructive.evidence[0].effects, [lossy("a")]);
    assert_eq!(
        (read_only.calls, read_only.worlds.as_slice()),
        (8, &["hooks", "triggers", "wal", "plain"].map(String::from)[..])
    );
}

#[test]
fn equal_evidence_over_other_transports_and_eras_is_counted() {
    let one = twice("plain", &[additive("b"), lossy("a")], &[]);
    let trials = [
        one.clone(),
        Observation { transport: "http", ..one.clone() },
        Observation { era: "2025-11-25", ..one.clone() },
        Observation { case: "d".into(), ..one },
    ];
    let evidence = &judged("t---", &trials)[0].evidence;
    assert_eq!(evidence.len(), 2);
    assert_eq!((evidence[0].trials, evidence[0].transport, evidence[0].era), (3, "stdio", "2026-07-28"));
    assert_eq!(evidence[0].effects[0].grade, Grade::Lossy, "the worst first");
}

#[test]
fn verdicts_have_one_id_each_in_the_order_of_the_list() {
    let tools = [hints("b", "tftf"), hints("a", "----")];
    let ids: Vec<String> = judge(&tools, &[], &BLIND, Definition::Mcp).into_iter().map(|verdict| verdict.id).collect();
    let expected = ["b", "a"].map(|tool| {
        ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(|hint| format!("{tool}/{hint}"))
    });
    assert_eq!(ids, expected.concat());
}

#[test]
fn a_directory_may_count_what_the_specification_excuses() {
    let judged = |definition, effects: &[Effect], hint: usize| {
        judge(&[hints("t", "tftf")], &[twice("plain", effects, &[])], &SEEING, definition)[hint].clone()
    };
    for definition in Definition::ALL {
        let counts = definition == Definition::OpenaiDirectory;
        let outcome = judged(definition, &[excused("files")], 0).outcome;
        assert_eq!(outcome == Outcome::Refuted, counts, "a cache file under {definition}");
        assert_eq!(judged(definition, &[excused("git")], 0).outcome, Outcome::Holds, "a stat cache under {definition}");
        assert_eq!(judged(definition, &[recoverable()], 1).outcome, Outcome::Refuted, "{definition}");
    }
    let note = |definition, effects: &[Effect], hint| judged(definition, effects, hint).note.unwrap_or_default();
    assert!(note(Definition::OpenaiDirectory, &[recoverable()], 1).contains("no excuse"));
    assert!(note(Definition::OpenaiDirectory, &[contact()], 3).contains("private account"));
    assert!(note(Definition::AnthropicDirectory, &[additive("a")], 1).contains("additive"));
    assert!(note(Definition::AnthropicDirectory, &[contact()], 3).contains("doesn't ask"));
}

#[test]
fn acting_before_asking_or_after_a_no_is_a_fault_whatever_the_hints_say() {
    let rules = [
        (Phase::Asking, "t/acts-before-it-asks"),
        (Phase::Declined, "t/acts-though-declined"),
        (Phase::Cancelled, "t/acts-though-cancelled"),
    ];
    for (phase, id) in rules {
        let acts = trial("plain", &[step(phase, &[excused("git"), additive("a")]), step(Phase::First, &[])]);
        let found = conduct(&[acts.clone(), acts]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].id.as_str(), found[0].level), (id, Level::Fault));
        assert!(found[0].text.contains("files `a` created (additive); world `plain`, case `c`"), "{}", found[0].text);
        assert_eq!(conduct(&[trial("plain", &[step(phase, &[excused("git")])])]), []);
    }
    for make in [refused, failed] {
        let found = conduct(&[trial("plain", &[make(Phase::First, &[lossy("a"), additive("b")])])]);
        assert_eq!((found[0].id.as_str(), found[0].level), ("t/acts-though-it-fails", Level::Warning));
        assert!(found[0].text.contains("(lossy), and 1 more"), "{}", found[0].text);
    }
    assert_eq!(conduct(&[twice("plain", &[lossy("a")], &[lossy("b")])]), []);
}

#[test]
fn what_changes_only_after_calls_is_told_apart_from_what_the_server_does_alone() {
    let control = Observation { tool: String::new(), ..trial("plain", &[step(Phase::Shutdown, &[additive("log")])]) };
    let call = trial("plain", &[step(Phase::First, &[]), step(Phase::Shutdown, &[additive("log"), lossy("a")])]);
    let found = conduct(&[control, call]);
    let ids: Vec<_> = found.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, ["t/acts-after-it-answers", "server/background/shutdown"]);
    assert!(found[0].text.contains("`a`") && found[1].text.contains("`log`"));
}
