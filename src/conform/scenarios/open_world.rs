//! What comes from the open world may be written to steer the model: the next call that changes
//! something is asked about, even one that would have run.

use super::{asked, unasked, warned};
use crate::conform::scenario::{Act, Plan, Scenario, Tool, Wanted};

pub(super) const ALL: &[Scenario] = &[Scenario {
    name: "steered-by-content",
    suite: "open-world",
    plan: |_| {
        let open = r#"{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":true}"#;
        let adds = r#"{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":false}"#;
        let tools = vec![
            Tool::new("add_task", adds),
            Tool::new("fetch_page", open).act(Act::Inject),
            Tool::new("add_note", adds),
            Tool::new("delete_branch", r#"{"readOnlyHint":false,"destructiveHint":true}"#),
        ];
        let calls = ["add_task", "fetch_page", "add_note", "delete_branch"].map(Wanted::new).to_vec();
        let checks = vec![
            unasked("add_task"),
            asked("add_note"),
            warned("add_note"),
            asked("delete_branch"),
            warned("delete_branch"),
        ];
        Plan { calls, ..Plan::trusted(tools).checks(checks) }
    },
}];
