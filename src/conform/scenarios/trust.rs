//! A reassuring hint counts from a trusted server alone, an alarming one from anyone.

use super::{asked, check, unasked, warned};
use crate::conform::{
    judge::Rule,
    scenario::{Plan, Scenario, Tool, Trusted},
};

/// All four fields as reassuring as they get.
pub(super) const READS: &str =
    r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#;
/// The opposite.
const DESTROYS: &str = r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}"#;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "trusted-honest",
        suite: "trust",
        plan: |_| {
            let tools = vec![Tool::new("read_note", READS), Tool::new("delete_note", DESTROYS)];
            let checks = vec![unasked("read_note"), asked("delete_note"), warned("delete_note")];
            Plan::trusted(tools).checks(checks)
        },
    },
    Scenario {
        name: "untrusted-read-only",
        suite: "trust",
        plan: |_| {
            let adds = r#"{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}"#;
            let tools = vec![
                Tool::new("delete_branch", READS),
                Tool::new("add_branch", adds),
                Tool::new("drop_branches", DESTROYS),
            ];
            let checks =
                vec![asked("delete_branch"), asked("add_branch"), asked("drop_branches"), warned("drop_branches")];
            Plan::untrusted(tools).checks(checks)
        },
    },
    Scenario {
        name: "trust-by-name",
        suite: "trust",
        plan: |_| {
            let plan = Plan::untrusted(vec![Tool::new("read_note", READS)]).checks(vec![asked("read_note")]);
            Plan { trust: Trusted::Namesake, ..plan }
        },
    },
    Scenario {
        name: "user-says-no",
        suite: "trust",
        plan: |_| {
            let no = "What the user declines is not sent.";
            let withheld = check("withholds-drop_notes", no, Rule::Withheld("drop_notes".into()));
            let plan = Plan::trusted(vec![Tool::new("drop_notes", DESTROYS), Tool::new("read_note", READS)]);
            Plan { declines: vec!["drop_notes"], ..plan.checks(vec![withheld, unasked("read_note")]) }
        },
    },
];
