//! The scenarios, in the order in which they are best read.

mod cancellation;
mod change;
mod defaults;
mod elicitation;
mod lost;
mod open_world;
mod presentation;
mod scale;
mod trust;

use super::{
    judge::{Check, Rule},
    scenario::Scenario,
};

/// All of them; names are unique.
#[must_use]
pub fn all() -> Vec<Scenario> {
    [
        defaults::ALL,
        trust::ALL,
        change::ALL,
        lost::ALL,
        elicitation::ALL,
        open_world::ALL,
        presentation::ALL,
        scale::ALL,
        cancellation::ALL,
    ]
    .concat()
}

fn check(id: impl Into<String>, description: &'static str, rule: Rule) -> Check {
    Check { id: id.into(), description, rule }
}

fn asked(tool: &str) -> Check {
    check(format!("asks-before-{tool}"), "The user is asked before the call is sent.", Rule::Asked(tool.into()))
}

fn unasked(tool: &str) -> Check {
    check(format!("runs-{tool}"), "What nobody needs to be asked about runs unasked.", Rule::Unasked(tool.into()))
}

fn warned(tool: &str) -> Check {
    check(format!("warns-about-{tool}"), "The question carries a warning.", Rule::Warned(tool.into()))
}
