//! The server asks the user. What the user did not say is never told as a yes.

use std::time::Duration;

use super::check;
use crate::conform::{
    judge::Rule,
    scenario::{Act, Elicitation, Plan, Scenario, Tool},
};

pub(super) const ALL: &[Scenario] = &[
    Scenario { name: "elicitation-accept", suite: "elicitation", plan: |_| plan(Elicitation::Accept) },
    Scenario { name: "elicitation-decline", suite: "elicitation", plan: |_| plan(Elicitation::Decline) },
    Scenario { name: "elicitation-cancel", suite: "elicitation", plan: |_| plan(Elicitation::Cancel) },
    Scenario { name: "elicitation-silence", suite: "elicitation", plan: |_| plan(Elicitation::Silence) },
    Scenario { name: "elicitation-unsupported", suite: "elicitation", plan: |_| plan(Elicitation::Unsupported) },
];

fn plan(elicitation: Elicitation) -> Plan {
    let drop = r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}"#;
    let says = "The server is told what the user said, and nothing else.";
    let never = "A question that the user did not answer is never accepted.";
    let named = check("names-the-server", "The user is told which server asks.", Rule::NamesServer);
    let effect = |count| {
        let description = "What the server asks about happens if the user accepts, and not otherwise.";
        check("effect", description, Rule::Rows("drop_notes".into(), count))
    };
    let called = || check("calls", "The tool is called.", Rule::Called("drop_notes".into(), 1));
    let checks = match elicitation {
        Elicitation::Accept => vec![check("says-accept", says, Rule::Hears("accept")), named, effect(1)],
        Elicitation::Decline => vec![check("says-decline", says, Rule::Hears("decline")), named, effect(0)],
        Elicitation::Cancel => vec![check("says-cancel", says, Rule::Hears("cancel")), named, effect(0)],
        Elicitation::Silence => vec![called(), check("never-accepts", never, Rule::NeverAccepts), effect(0)],
        Elicitation::Unsupported => vec![
            called(),
            check("never-accepts", never, Rule::NeverAccepts),
            effect(0),
            check("offers-nothing", "What the client can't do it does not offer.", Rule::OffersNothing),
        ],
    };
    let patience = if elicitation == Elicitation::Silence { 2 } else { 5 };
    let tools = vec![Tool::new("drop_notes", drop).act(Act::Elicit)];
    Plan { elicitation, patience: Duration::from_secs(patience), ..Plan::trusted(tools).checks(checks) }
}
