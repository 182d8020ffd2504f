//! Bad clients: the reference client with one deviation each, named by the first argument.
//!
//!     candor conform -- target/debug/examples/bad-client trusts-by-name
//!
//! Without arguments, their names. Each is caught by the checks that are about it and by no other:
//! `tests/conform/matrix.rs` says which, and runs them all.
#![expect(clippy::indexing_slicing, reason = "members of JSON objects that this client makes itself")]
#![expect(clippy::print_stdout, reason = "an example talks to who started it")]

#[path = "reference/approval.rs"]
mod approval;
#[path = "reference/conversation.rs"]
mod conversation;
#[path = "reference/link.rs"]
mod link;
#[path = "reference/policy.rs"]
mod policy;
#[path = "reference/task.rs"]
mod task;
#[path = "reference/tools.rs"]
mod tools;

use candor::{
    approval::{Approval, Context, Decision, Hints, Trust, decide},
    hints::{Hint, HintName, read_list},
};
use policy::Policy;
use serde_json::{Value, json};
use task::{Fault, Task};

type Deviation = (&'static str, fn(&mut Policy));

/// What is wrong with each, in the words of its author.
const DEVIATIONS: &[Deviation] = &[
    ("believes-anyone", |policy| policy.trusts = |_, _, _| true),
    ("trusts-by-name", |policy| policy.trusts = |known, _, name| known.iter().any(|server| server.name == name)),
    ("trusts-nobody", |policy| policy.trusts = |_, _, _| false),
    ("takes-absent-for-safe", |policy| policy.decide = |hints, context| decide(&absent(hints), context)),
    ("takes-null-for-true", |policy| policy.decide = |hints, context| decide(&read_as_true(hints, "null"), context)),
    ("takes-text-for-true", |policy| {
        policy.decide = |hints, context| decide(&read_as_true(hints, r#"\"true\""#), context);
    }),
    ("takes-one-for-true", |policy| policy.decide = |hints, context| decide(&read_as_true(hints, "1"), context)),
    ("takes-the-last-key", |policy| {
        policy.decide = |hints, context| decide(&read_as_true(hints, "the key twice"), context);
    }),
    ("guesses-keys", |policy| {
        policy.read =
            |bytes| read_list(String::from_utf8_lossy(bytes).replace("readonlyHint", "readOnlyHint").as_bytes());
    }),
    ("drops-odd-tools", |policy| {
        policy.read = |bytes| {
            let (mut tools, next) = read_list(bytes)?;
            if tools.iter().any(|tool| is_odd(&Hints::from(tool))) {
                tools.clear();
            }
            Ok((tools, next))
        };
    }),
    ("lets-read-only-win", |policy| {
        policy.decide = |hints, context| match hints.get(HintName::ReadOnly) {
            Hint::Is(true) => decide(&hints.with(HintName::Destructive, Hint::Is(false)), context),
            _ => decide(hints, context),
        };
    }),
    ("warns-of-nothing", |policy| policy.warning = |_| None),
    ("hears-no-as-yes", |policy| policy.agrees = |answer| answer.is_some()),
    ("shows-short-arguments", |policy| policy.arguments = |value| json!({"target": value.get("target")})),
    ("prefers-inner-title", |policy| {
        policy.heading = |tool, all| {
            let mut tool = tool.clone();
            tool.title = tool.annotations_title.clone().or(tool.title);
            (Policy::default().heading)(&tool, all)
        };
    }),
    ("forgets-inner-title", |policy| {
        policy.heading = |tool, all| {
            let mut tool = tool.clone();
            tool.annotations_title = None;
            (Policy::default().heading)(&tool, all)
        };
    }),
    ("shows-titles-raw", |policy| {
        policy.heading = |tool, all| {
            let twin = all.iter().any(|other| other.name != tool.name && policy::titled(other) == policy::titled(tool));
            format!("{}{}", policy::titled(tool), if twin { &tool.name } else { "" })
        }
    }),
    ("shows-twins-alike", |policy| policy.heading = |tool, _| (Policy::default().heading)(tool, &[])),
    ("forgets-what-it-read", |policy| policy.habits.remembers = false),
    ("never-lists-again", |policy| policy.habits.reads_again = false),
    ("never-compares", |policy| policy.habits.compares = false),
    ("reads-one-page", |policy| policy.habits.all_pages = false),
    ("always-lists-again", |policy| policy.habits.keeps_fresh = false),
    ("repeats-everything", |policy| {
        policy.decide = |hints, context| Approval { retry: true, ..decide(hints, context) }
    }),
    ("repeats-what-anyone-calls-idempotent", |policy| {
        policy.decide = |hints, context| {
            let trusted = Context { trust: Trust::Trusted, ..context };
            Approval { retry: decide(hints, trusted).retry, ..decide(hints, context) }
        };
    }),
    ("never-cancels", |policy| policy.habits.cancels = false),
    ("accepts-in-silence", |policy| policy.relay = |said| said.unwrap_or_else(yes)),
    ("accepts-always", |policy| policy.relay = |_| yes()),
    ("cancels-where-declined", |policy| {
        policy.relay = |said| match said {
            Some(said) if said.get("action").is_some_and(|action| action == "accept") => said,
            _ => json!({"action": "cancel"}),
        }
    }),
    ("declines-where-cancelled", |policy| {
        policy.relay = |said| match said {
            Some(said) if said["action"] == "accept" => said,
            _ => json!({"action": "decline"}),
        }
    }),
    ("hides-who-asks", |policy| policy.asker = |_, _| String::new()),
    ("offers-what-it-lacks", |policy| policy.habits.offers = |_| true),
    ("asks-before-everything", |policy| {
        policy.decide = |hints, context| {
            let approval = decide(hints, context);
            Approval { decision: approval.decision.max(Decision::Ask), ..approval }
        }
    }),
    ("never-asks", |policy| {
        policy.decide = |hints, context| Approval { decision: Decision::Run, ..decide(hints, context) }
    }),
];

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let Some(name) = std::env::args().nth(1) else {
        for (name, _) in DEVIATIONS {
            println!("{name}");
        }
        return Ok(());
    };
    match name.as_str() {
        "does-nothing" => return Ok(()),
        "crashes" => std::process::abort(),
        "hangs" => loop {
            std::thread::park();
        },
        "leaves-a-process" => {
            let task = Task::from_environment()?;
            std::process::Command::new("sleep").arg("1000").spawn()?;
            return conversation::hold(&task, &Policy::default()).await;
        }
        "floods" => return flood(&Task::from_environment()?).await,
        "answers-unasked" => {
            let task = Task::from_environment()?;
            let answer = json!({"jsonrpc": "2.0", "id": "q1", "result": yes()});
            link::http()?.post(&task.url).body(answer.to_string()).send().await?;
            return conversation::hold(&task, &Policy::default()).await;
        }
        "speaks-another-version" => {
            let mut task = Task::from_environment()?;
            task.modern = !task.modern;
            return conversation::hold(&task, &Policy::default()).await;
        }
        _ => {}
    }
    let deviation = DEVIATIONS.iter().find(|(known, _)| *known == name);
    let (_, deviate) = deviation.ok_or_else(|| format!("no deviation is called `{name}`"))?;
    let mut policy = Policy::default();
    deviate(&mut policy);
    conversation::hold(&Task::from_environment()?, &policy).await
}

async fn flood(task: &Task) -> Result<(), Fault> {
    let http = link::http()?;
    loop {
        let _ = http.post(&task.approval_url).body(r#"{"tool":"x"}"#).send().await?.bytes().await?;
    }
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirm": true}})
}

fn is_odd(hints: &Hints) -> bool {
    HintName::ALL.iter().any(|name| matches!(hints.get(*name), Hint::Malformed(found) if found != "null"))
}

/// The opposite of the defaults.
fn absent(hints: &Hints) -> Hints {
    let absent = |name: &&HintName| *hints.get(**name) == Hint::Absent;
    let claims = |hints: Hints, name: &HintName| hints.with(*name, Hint::Is(name.claim()));
    HintName::ALL.iter().filter(absent).fold(hints.clone(), claims)
}

fn read_as_true(hints: &Hints, found: &str) -> Hints {
    let is_so = |name: &&HintName| matches!(hints.get(**name), Hint::Malformed(text) if text.starts_with(found));
    HintName::ALL.iter().filter(is_so).fold(hints.clone(), |read, name| read.with(*name, Hint::Is(true)))
}
