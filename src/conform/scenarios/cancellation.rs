//! The user stops a call that runs, or the client gives one up: it is cancelled, and not sent again.

use std::time::Duration;

use super::{check, trust::READS, unasked};
use crate::conform::{
    judge::Rule,
    scenario::{Act, Plan, Scenario, Tool, Wanted},
};

const ADDS: &str = r#"{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}"#;

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        name: "user-stops",
        suite: "cancellation",
        plan: |_| {
            let mut stopped = Wanted::new("slow_read");
            stopped.stop_after = Some(Duration::from_millis(400));
            let stops = "A call that the user stops is cancelled at the server and not sent again.";
            let checks =
                vec![check("cancels-slow_read", stops, Rule::Cancelled("slow_read".into())), unasked("read_note")];
            let tools = vec![Tool::new("slow_read", READS).act(Act::Wait), Tool::new("read_note", READS)];
            Plan { calls: vec![stopped, Wanted::new("read_note")], ..Plan::trusted(tools).checks(checks) }
        },
    },
    Scenario {
        name: "client-gives-up",
        suite: "cancellation",
        plan: |_| {
            let gives_up = "A call that takes too long is cancelled at the server and not sent again.";
            let cancelled = check("cancels-slow_add", gives_up, Rule::Cancelled("slow_add".into()));
            let tools = vec![Tool::new("slow_add", ADDS).act(Act::Wait), Tool::new("read_note", READS)];
            let plan = Plan::trusted(tools).checks(vec![cancelled, unasked("read_note")]);
            Plan { patience: Duration::from_secs(1), ..plan }
        },
    },
];
