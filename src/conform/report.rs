//! Results: `checks.json` as the official conformance suite writes it, a table for people, `JUnit` for
//! build servers.

mod files;
mod junit;
mod summary;

pub(super) use files::write;
pub(super) use junit::junit;
pub(super) use summary::summary;

use super::{
    judge::{Check, Outcome, judge},
    ledger::Ledger,
};
use crate::wire::Era;

/// One scenario in one era, judged.
pub(super) struct Run {
    pub(super) scenario: &'static str,
    pub(super) suite: &'static str,
    pub(super) era: Era,
    pub(super) ledger: Ledger,
    pub(super) checks: Vec<(Check, Outcome)>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) seconds: f32,
}

impl Run {
    /// Judge it, now that it is known whether the client reports questions at all.
    pub(super) fn judge(&mut self, channel: bool) {
        for (check, outcome) in &mut self.checks {
            *outcome = judge(check, &self.ledger, channel);
        }
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = (&Check, &str)> {
        self.checks.iter().filter_map(|(check, outcome)| match outcome {
            Outcome::Failure(fault) => Some((check, fault.as_str())),
            _ => None,
        })
    }

    pub(super) fn skipped(&self) -> usize {
        self.checks.iter().filter(|(_, outcome)| *outcome == Outcome::Skipped).count()
    }
}
