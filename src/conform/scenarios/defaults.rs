//! What is absent or nonsense reassures nobody, not even from a trusted server.

use super::{asked, check, unasked, warned};
use crate::conform::{
    judge::Rule,
    scenario::{Plan, Scenario, Tool},
};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "no-annotations",
        suite: "defaults",
        plan: |_| {
            let tools = vec![Tool::bare("bare"), Tool::new("empty", "{}")];
            Plan::trusted(tools).checks(vec![asked("bare"), asked("empty")])
        },
    },
    Scenario {
        name: "one-hint-absent",
        suite: "defaults",
        plan: |_| {
            let tools = vec![
                // Without readOnlyHint it may write, and beyond what it adds nothing is said.
                Tool::new("no_read_only", r#"{"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}"#),
                // A tool that writes and does not say how is destructive.
                Tool::new("no_destructive", r#"{"readOnlyHint":false,"idempotentHint":true,"openWorldHint":false}"#),
                // A tool that adds and does not say where may add anywhere.
                Tool::new("no_open_world", r#"{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true}"#),
                // What idempotentHint is not about.
                Tool::new("no_idempotent", r#"{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}"#),
            ];
            let asked = ["no_read_only", "no_destructive", "no_open_world"].map(asked);
            Plan::trusted(tools).checks(asked.into_iter().chain([unasked("no_idempotent")]).collect())
        },
    },
    Scenario {
        name: "null-hint",
        suite: "defaults",
        plan: |_| {
            let nulls = r#"{"readOnlyHint":null,"destructiveHint":null,"idempotentHint":null,"openWorldHint":null}"#;
            let tools = vec![
                Tool::new("nulls", nulls),
                // Beside it, nothing alarms.
                Tool::new("null_read_only", r#"{"readOnlyHint":null,"openWorldHint":false}"#),
                Tool::new("null_destructive", r#"{"readOnlyHint":false,"destructiveHint":null,"openWorldHint":false}"#),
            ];
            Plan::trusted(tools).checks(["nulls", "null_read_only", "null_destructive"].map(asked).into())
        },
    },
    Scenario {
        name: "text-hint",
        suite: "defaults",
        plan: |_| nonsense(r#"{"readOnlyHint":"true","openWorldHint":false}"#),
    },
    Scenario {
        name: "number-hint",
        suite: "defaults",
        plan: |_| nonsense(r#"{"readOnlyHint":1,"openWorldHint":false}"#),
    },
    Scenario {
        name: "duplicate-keys",
        suite: "defaults",
        plan: |_| nonsense(r#"{"readOnlyHint":false,"readOnlyHint":true,"openWorldHint":false}"#),
    },
    Scenario {
        name: "unknown-keys",
        suite: "defaults",
        plan: |_| {
            let tools = vec![
                Tool::new("misspelt", r#"{"readonlyHint":true,"read_only_hint":true,"safe":true}"#),
                Tool::new("novel", r#"{"readOnlyHint":true,"openWorldHint":false,"acme/colour":"red"}"#),
            ];
            Plan::trusted(tools).checks(vec![asked("misspelt"), unasked("novel")])
        },
    },
    Scenario {
        name: "contradiction",
        suite: "defaults",
        plan: |_| {
            let annotations = r#"{"readOnlyHint":true,"destructiveHint":true,"openWorldHint":false}"#;
            Plan::trusted(vec![Tool::new("both", annotations)]).checks(vec![asked("both"), warned("both")])
        },
    },
];

/// A good tool beside a bad one: the bad one must not take the list with it.
fn nonsense(annotations: &str) -> Plan {
    let tools =
        vec![Tool::new("odd", annotations), Tool::new("plain", r#"{"readOnlyHint":true,"openWorldHint":false}"#)];
    let survives = check(
        "list-survives",
        "One tool with nonsense in its annotations does not take the others with it.",
        Rule::Called("plain".into(), 1),
    );
    Plan::trusted(tools).checks(vec![asked("odd"), warned("odd"), survives])
}
