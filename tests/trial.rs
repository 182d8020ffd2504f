//! A trial sees what each step of a case changed, and tidies up whatever happens.
#![cfg(unix)]

mod folder;
mod real;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use candor::{
    verify::{Case, Grade, Observation, Phase, Plan, Reply, Watch, run},
    wire::{Answer, Era, Limits, Target},
};
use serde_json::{Value, json};

use crate::wire::small::Small;
use folder::{Folder, Leftover};

fn case(tool: &str, arguments: Value) -> Case {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let answers = vec![Answer::Accept, Answer::Decline, Answer::Cancel];
    Case { answers, ..Case::new(tool, "one", arguments) }
}

/// Marks a script that asks: one question at a time is all that it can keep apart.
const ASKS: &str = "# asks";

/// The small server at work in the folder `$W`.
async fn observe(era: Era, differences: &str) -> Observation {
    observe_within(era, differences, &Limits::default()).await
}

async fn observe_within(era: Era, differences: &str, limits: &Limits) -> Observation {
    observe_case(era, differences, &case("act", json!({"path": "{world}/a.txt"})), limits).await
}

async fn observe_case(era: Era, differences: &str, case: &Case, limits: &Limits) -> Observation {
    let small = Small::new(differences);
    let leftover = Leftover::default();
    let concurrent = !differences.contains(ASKS);
    let fresh = || Ok(leftover.folder());
    let observation =
        run(&Plan { concurrent, ..plan(case, &fresh, &|world| in_folder(&small, world), era, limits) }).await;
    small.is_gone();
    leftover.is_gone();
    observation
}

fn plan<'a>(
    case: &'a Case,
    fresh: &'a (dyn Fn() -> Result<Box<dyn Watch>, String> + Sync),
    target: &'a (dyn Fn(&Path) -> Target + Sync),
    era: Era,
    limits: &'a Limits,
) -> Plan<'a> {
    let [idle, quiet] = [400, 30].map(Duration::from_millis);
    let (world, listener, transport) = ("small", "", "stdio");
    Plan { case, world, listener, fresh, target, concurrent: true, era, transport, limits, idle, quiet }
}

fn in_folder(small: &Small, world: &Path) -> Target {
    let Target::Stdio { command, mut env, .. } = small.target.clone() else { panic!("{:?}", small.target) };
    env.push(("W".into(), world.to_str().unwrap().into()));
    Target::Stdio { command, env, dir: None }
}

/// Each step with its effects, as `phase: place what`.
fn told(observation: &Observation) -> Vec<String> {
    let steps = observation.steps.iter().map(|step| {
        let effects: Vec<_> = step.effects.iter().map(|effect| format!("{} {}", effect.place, effect.what)).collect();
        format!("{:?}: {}", step.phase, effects.join(", ")).trim_end().to_owned()
    });
    steps.collect()
}

const QUIET: [&str; 6] = ["Start:", "Idle:", "First:", "Second:", "Shutdown:", "Concurrent:"];

/// The quiet steps, some of them with an effect.
fn quiet_but(effects: &[(&str, &str)]) -> Vec<String> {
    let with = |step: &str| effects.iter().find(|(phase, _)| format!("{phase}:") == step);
    QUIET.map(|step| with(step).map_or(step.to_owned(), |(_, effect)| format!("{step} {effect}"))).to_vec()
}

#[tokio::test]
async fn a_server_that_does_nothing_has_no_effects() {
    for era in Era::ALL {
        let observation = observe(era, "").await;
        assert_eq!(told(&observation), QUIET);
        assert_eq!((observation.problem, observation.era, observation.world.as_str()), (None, era.name(), "small"));
        let replies: Vec<_> = observation.steps.iter().filter_map(|step| step.reply.clone()).collect();
        assert_eq!(replies, [Reply::Success, Reply::Success, Reply::Success]);
    }
}

#[tokio::test]
async fn an_effect_belongs_to_the_step_that_has_it() {
    let once = "n=0; first() { n=$((n+1)); [ $n = 1 ]; }";
    let again = "n=0; second() { n=$((n+1)); [ $n = 2 ]; }";
    let cases = [
        ("started() { echo x > $W/new; }", vec![("Start", "new created"), ("Concurrent", "")]),
        ("ended() { echo x > $W/new; }", vec![("Shutdown", "new created"), ("Concurrent", "new created")]),
        (
            "call() { echo more >> $W/a.txt; result '{\"content\":[]}'; }",
            vec![
                ("First", "a.txt appended 5 bytes"),
                ("Second", "a.txt appended 5 bytes"),
                ("Concurrent", "a.txt appended 10 bytes"),
            ],
        ),
        (
            &format!("{once}; call() {{ first && rm $W/a.txt; result '{{\"content\":[]}}'; }}"),
            vec![("First", "a.txt removed"), ("Concurrent", "a.txt removed")],
        ),
        (
            &format!("{again}; call() {{ second && echo y > $W/a.txt; result '{{\"content\":[]}}'; }}"),
            vec![("Second", "a.txt overwritten"), ("Concurrent", "a.txt overwritten")],
        ),
        (
            "call() { mkdir $W/d 2>/dev/null; echo x > $W/d/e; result '{\"isError\":true,\"content\":[{\"text\":\"no\"}]}'; }",
            vec![("First", "d/e created"), ("Concurrent", "d/e created")],
        ),
        (
            "call() { case \"$line\" in *\"\\\"path\\\":\\\"$W/a.txt\\\"\"*) echo x > $W/placed ;; esac; result '{}'; }",
            vec![("First", "placed created"), ("Concurrent", "placed created")],
        ),
    ];
    for era in Era::ALL {
        for (differences, effects) in &cases {
            let effects: Vec<_> = effects.iter().copied().filter(|(_, effect)| !effect.is_empty()).collect();
            assert_eq!(told(&observe(era, differences).await), quiet_but(&effects), "{differences}");
        }
    }
}

/// A call that asks; `$asking`, `$declined`, `$cancelled` and `$accepted` are what it does then.
fn asks(era: Era, what_it_does: &str) -> String {
    let react = r#"
        react() { case "$line" in *decline*) declined ;; *cancel*) cancelled ;; *) accepted ;; esac; result '{"content":[]}'; }
        asking() { :; }; declined() { :; }; cancelled() { :; }; accepted() { :; }
    "#;
    let question = r#"{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}"#;
    let call = match era {
        Era::Modern => format!(
            r#"call() {{ case "$line" in *inputResponses*) react ;; *) asking
                result '{{"resultType":"input_required","inputRequests":{{"q":{{"method":"elicitation/create","params":{question}}}}}}}' ;;
            esac; }}"#
        ),
        Era::Legacy => format!(
            r#"call() {{ asking; say '{{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{question}}}'; read -r line; react; }}"#
        ),
    };
    format!("{react}\n{call}\n{what_it_does}")
}

const ASKED: [&str; 11] = [
    "Start:",
    "Idle:",
    "Asking:",
    "Declined:",
    "Asking:",
    "Cancelled:",
    "Asking:",
    "First:",
    "Asking:",
    "Second:",
    "Shutdown:",
];

#[tokio::test]
async fn the_rounds_of_a_question_are_steps_of_their_own() {
    let cases = [
        ("", None),
        ("asking() { echo x > $W/asked; }", Some(("Asking:", "asked created"))),
        ("declined() { rm $W/a.txt; }", Some(("Declined:", "a.txt removed"))),
        ("cancelled() { rm $W/a.txt; }", Some(("Cancelled:", "a.txt removed"))),
        ("accepted() { rm -f $W/a.txt; }", Some(("First:", "a.txt removed"))),
    ];
    for (what_it_does, effect) in cases {
        let mut expected = ASKED.map(str::to_owned);
        if let Some((step, effect)) = effect {
            let first = expected.iter_mut().find(|known| *known == step).unwrap();
            *first = format!("{step} {effect}");
        }
        for era in Era::ALL {
            let case = case("act", json!({}));
            let differences = format!("{ASKS}\n{}", asks(era, what_it_does));
            let observation = observe_case(era, &differences, &case, &Limits::default()).await;
            assert_eq!(told(&observation), expected, "{what_it_does}: {:?}", observation.problem);
        }
    }
}

#[tokio::test]
async fn what_happens_without_a_call_is_excused_in_calls_only_at_the_same_place_and_of_the_same_kind() {
    let ticking = "started() { (while :; do echo tick >> $W/log; sleep 0.1; done) & }";
    let observation = observe(Era::Modern, &format!("{ticking}\ncall() {{ echo x > $W/new; result '{{}}'; }}")).await;
    let first = observation.steps.iter().find(|step| step.phase == Phase::First).unwrap();
    assert_eq!(first.grade(), Grade::Additive);
    for step in observation.steps.iter().filter(|step| !matches!(step.phase, Phase::Start | Phase::Idle)) {
        let log = step.effects.iter().find(|effect| effect.place == "log");
        assert!(log.is_none_or(|effect| effect.excuse.is_some() && effect.grade == Grade::None), "{step:?}");
    }
    assert_eq!(observation.steps[1].grade(), Grade::Additive, "the control itself is told as it was");

    let observation = observe(Era::Modern, &format!("{ticking}\ncall() {{ echo x > $W/log; result '{{}}'; }}")).await;
    let first = observation.steps.iter().find(|step| step.phase == Phase::First).unwrap();
    assert_eq!((first.grade(), first.effects[0].what.as_str()), (Grade::Lossy, "overwritten"));

    // Once at the start is not all the time: the call's own line counts.
    let differences = "started() { echo up >> $W/log; }\ncall() { echo called >> $W/log; result '{}'; }";
    let observation = observe(Era::Modern, differences).await;
    assert_eq!(observation.steps[2].grade(), Grade::Additive);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_call_does_after_its_answer_is_still_its_own() {
    let daemon = "call() { setsid sh -c 'sleep 0.5; echo x >> $W/late' & result '{}'; }";
    let observation = observe(Era::Modern, daemon).await;
    let late = told(&observation);
    assert_eq!(late[2..4], ["First: late created", "Second: late appended 2 bytes"]);
}

#[tokio::test]
async fn a_call_that_is_never_answered_still_has_its_effects() {
    let cases = [
        ("call() { rm $W/a.txt; }", "First: the server did not answer `tools/call`"),
        ("call() { rm $W/a.txt; exit 1; }", "First: the server ended with exit status: 1"),
        ("call() { rm $W/a.txt; say oops; }", "First: the server sent `oops`"),
    ];
    let limits = Limits { call: Duration::from_millis(1500), ..Limits::default() };
    for era in Era::ALL {
        for (differences, expected) in cases {
            let observation = observe_within(era, differences, &limits).await;
            assert_eq!(told(&observation), ["Start:", "Idle:", "First: a.txt removed", "Shutdown:"], "{differences}");
            assert_eq!(observation.steps[2].reply, None);
            let problem = observation.problem.unwrap();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}

#[tokio::test]
async fn a_trial_that_cannot_begin_says_why() {
    let observation = observe(Era::Modern, "started() { echo x > $W/new; exit 4; }").await;
    assert_eq!(told(&observation), ["Start: new created"]);
    assert!(observation.problem.unwrap().contains("exit status: 4"));
    let observation = observe(Era::Modern, "list() { result '{\"tools\":[{\"name\":\"other\"}]}'; }").await;
    assert_eq!(observation.problem.unwrap(), "the server lists no tool `act`");

    let case = case("act", json!({}));
    let small = Small::new("");
    let limits = Limits::default();
    let target = |world: &Path| in_folder(&small, world);
    let observation = run(&plan(&case, &|| Err("no space".into()), &target, Era::Modern, &limits)).await;
    assert_eq!(observation.problem.unwrap(), "no space");
    let leftover = Leftover::default();
    let blind = || Ok(leftover.blind_after(2));
    let observation = run(&plan(&case, &blind, &target, Era::Modern, &limits)).await;
    assert_eq!(observation.problem.unwrap(), "Idle: the world can't be read: too dark");
    small.is_gone();
    leftover.is_gone();
}

#[tokio::test]
async fn a_trial_that_is_dropped_leaves_no_process_and_no_directory() {
    let small = Small::new("call() { setsid sleep 1000 & sleep 1000; }");
    let leftover = Leftover::default();
    let case = case("act", json!({}));
    let (limits, fresh) = (Limits::default(), || Ok(leftover.folder()));
    let target = |world: &Path| in_folder(&small, world);
    let plan = plan(&case, &fresh, &target, Era::Legacy, &limits);
    let from = Instant::now();
    assert!(tokio::time::timeout(Duration::from_secs(2), run(&plan)).await.is_err());
    assert!(from.elapsed() < Duration::from_secs(20));
    small.is_gone();
    leftover.is_gone();
}

#[test]
fn trials_may_run_on_any_thread() {
    fn is_send(_: &impl Send) {}
    let case = case("act", json!({}));
    let limits = Limits::default();
    let (fresh, target) = (|| Err(String::new()), |_: &Path| panic!("no world, no server"));
    is_send(&run(&plan(&case, &fresh, &target, Era::Modern, &limits)));
}
