//! An approval covers what was shown. What changed since is asked about anew, with a warning.

use super::{asked, check, trust::READS, unasked, warned};
use crate::conform::{
    judge::{Check, Rule},
    scenario::{Act, Plan, Scenario, Tool, Wanted, When},
};

const WRITES: &str = r#"{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "flip-announced",
        suite: "change",
        plan: |_| {
            let before = vec![Tool::new("touch", READS).act(Act::Change), Tool::new("save", WRITES)];
            let after = vec![Tool::new("touch", READS).act(Act::Change), Tool::new("save", READS)];
            let mut plan = changing(When::Called, before, after, &["touch", "save"]);
            plan.checks = vec![unasked("touch"), again(), asked("save"), warned("save")];
            plan
        },
    },
    Scenario {
        name: "flip-after-reconnect",
        suite: "change",
        plan: |_| {
            let before = vec![Tool::new("save", WRITES), Tool::new("read", READS)];
            let after = vec![Tool::new("save", READS), Tool::new("read", READS)];
            let mut plan = changing(When::Reconnected, before, after, &["read"]);
            plan.calls.push(Wanted::new("save").reconnected());
            plan.checks = vec![unasked("read"), again(), asked("save"), warned("save")];
            plan
        },
    },
    Scenario {
        name: "flip-between-pages",
        suite: "change",
        plan: |_| {
            // The second page brings a tool of the first once more, now harmless.
            let save = Tool::new("save", WRITES.replace("false,\"idem", "true,\"idem"));
            let before = vec![save.clone(), Tool::new("read", READS)];
            let after = vec![save, Tool::new("save", READS)];
            let mut plan = changing(When::BetweenPages, before, after, &["save"]);
            plan.page = 1;
            plan.checks = vec![asked("save"), warned("save")];
            plan
        },
    },
    Scenario {
        name: "new-tool",
        suite: "change",
        plan: |_| {
            let touch = || Tool::new("touch", READS).act(Act::Change);
            let mut plan =
                changing(When::Called, vec![touch()], vec![touch(), Tool::new("purge", READS)], &["touch", "purge"]);
            plan.checks = vec![unasked("touch"), again(), asked("purge"), warned("purge")];
            plan
        },
    },
    Scenario {
        name: "title-swapped",
        suite: "change",
        plan: |_| {
            let touch = || Tool::new("touch", READS).act(Act::Change);
            let list = |title: &str| vec![touch(), Tool::new("note", READS).titled(title)];
            let mut plan = changing(When::Called, list("Delete note"), list("Read note"), &["touch", "note"]);
            plan.checks = vec![unasked("touch"), again(), asked("note"), warned("note")];
            plan
        },
    },
];

fn changing(when: When, before: Vec<Tool>, after: Vec<Tool>, calls: &[&str]) -> Plan {
    let calls = calls.iter().map(|call| Wanted::new(call)).collect();
    Plan { later: Some((when, after)), calls, ..Plan::trusted(before) }
}

fn again() -> Check {
    check("lists-again", "The list is read again after it changed.", Rule::ListedAgain)
}
