//! Long lists, slow lists, and how long a list is good for.

use std::time::Duration;

use super::{asked, check, trust::READS};
use crate::{
    conform::{
        judge::Rule,
        scenario::{Plan, Scenario, Tool, Wanted},
    },
    wire::Era,
};

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "many-tools",
        suite: "scale",
        plan: |_| {
            let mut tools: Vec<Tool> = (0..499).map(|number| Tool::new(format!("tool_{number}"), READS)).collect();
            tools.push(Tool::bare("last_tool"));
            let pages = check("reads-all-pages", "The list is read to its end.", Rule::AllPages(10));
            let calls = vec![Wanted::new("last_tool")];
            Plan { calls, ..Plan::trusted(tools).checks(vec![pages, asked("last_tool")]) }
        },
    },
    Scenario {
        name: "slow-list",
        suite: "scale",
        plan: |_| {
            let waits = "A list that takes a second is waited for.";
            let called = check("waits", waits, Rule::Called("read_note".into(), 1));
            let plan = Plan::trusted(vec![Tool::new("read_note", READS)]).checks(vec![called]);
            Plan { list_delay: Duration::from_secs(1), ..plan }
        },
    },
    Scenario {
        name: "list-lifetime",
        suite: "scale",
        plan: |era| {
            let keeps = "A list is not read again while it is fresh.";
            let calls = vec![Wanted::new("read_note"); 4];
            let called = check("calls", "The calls are made.", Rule::Called("read_note".into(), 4));
            let mut plan = Plan::trusted(vec![Tool::new("read_note", READS)]).checks(vec![called]);
            if era == Era::Modern {
                plan.checks.push(check("respects-ttl", keeps, Rule::ListedAtMost(1)));
            }
            Plan { ttl: 600_000, calls, ..plan }
        },
    },
];
