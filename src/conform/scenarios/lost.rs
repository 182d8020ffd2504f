//! A reply is lost. Only what a trusted server calls read-only or idempotent may be sent again
//! without a question; the database counts what ran twice.

use std::time::Duration;

use super::{check, trust::READS};
use crate::{
    conform::{
        judge::Rule,
        scenario::{Act, Loss, Plan, Scenario, Tool},
    },
    wire::Era,
};

const ADDS: &str = r#"{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}"#;
const SAVES: &str = r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}"#;

pub(super) const ALL: &[Scenario] = &[
    Scenario { name: "reply-lost-after-effect", suite: "lost", plan: |_| lose(Loss::After) },
    Scenario { name: "reply-lost-before-effect", suite: "lost", plan: |_| lose(Loss::Before) },
    Scenario { name: "reply-lost-midway", suite: "lost", plan: |_| lose(Loss::Middle) },
    Scenario {
        name: "reply-lost-in-silence",
        suite: "lost",
        plan: |_| Plan { patience: Duration::from_secs(2), ..lose(Loss::Silence) },
    },
    Scenario { name: "reply-lost-in-restart", suite: "lost", plan: |_| lose(Loss::Restart) },
    Scenario {
        name: "reply-lost-untrusted",
        suite: "lost",
        plan: |_: Era| {
            let tools = vec![Tool::new("save_note", SAVES).act(Act::Lose(Loss::After)), Tool::bare("after")];
            let why = "What an untrusted server calls idempotent is not sent again unasked.";
            Plan::untrusted(tools).checks(vec![
                check("no-unasked-repeat-save_note", why, Rule::NotRepeated("save_note".into())),
                goes_on("after"),
            ])
        },
    },
];

fn lose(loss: Loss) -> Plan {
    let unanswered = |name, annotations| Tool::new(name, annotations).act(Act::Lose(loss));
    let tools = vec![
        unanswered("add_note", ADDS),
        unanswered("save_note", SAVES),
        unanswered("read_note", READS),
        Tool::new("after", READS),
    ];
    let once = "What is not idempotent is not sent again unasked after a lost reply.";
    let few = "A call that may be sent again is sent a few times at most.";
    Plan::trusted(tools).checks(vec![
        check("no-unasked-repeat-add_note", once, Rule::NotRepeated("add_note".into())),
        check("few-repeats-save_note", few, Rule::Called("save_note".into(), 4)),
        check("few-repeats-read_note", few, Rule::Called("read_note".into(), 4)),
        goes_on("after"),
    ])
}

/// A lost reply is no end of the world.
fn goes_on(tool: &str) -> crate::conform::judge::Check {
    check("goes-on", "After lost replies the client goes on with what the user wants.", Rule::Called(tool.into(), 1))
}
