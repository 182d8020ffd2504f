//! What of the hints is believed: the asymmetry, in one place.

use super::{Hints, Trust};
use crate::hints::HintName;

/// The hints, and whether their reassurances count.
pub(super) struct Believed<'a> {
    hints: &'a Hints,
    trusted: bool,
    sound: bool,
}

impl<'a> Believed<'a> {
    pub(super) fn new(hints: &'a Hints, trust: Trust) -> Self {
        Self { hints, trusted: trust == Trust::Trusted, sound: hints.nonsense().next().is_none() }
    }

    /// From anyone.
    pub(super) fn alarms(&self, hint: HintName) -> bool {
        self.hints.is(hint, !hint.claim())
    }

    /// From a trusted server alone, and from none whose annotations hold nonsense.
    fn reassures(&self, hint: HintName) -> bool {
        self.trusted && self.sound && self.hints.is(hint, hint.claim())
    }

    /// It changes nothing. A tool that also says it is destructive is not believed.
    pub(super) fn reads_only(&self) -> bool {
        self.reassures(HintName::ReadOnly) && !self.alarms(HintName::Destructive)
    }

    /// What is there stays as it is.
    pub(super) fn adds_only(&self) -> bool {
        self.reassures(HintName::Destructive)
    }

    /// Nothing goes out to strangers, and nothing of theirs comes in.
    pub(super) fn closed(&self) -> bool {
        self.reassures(HintName::OpenWorld)
    }

    /// A second call has no further effect.
    pub(super) fn repeatable(&self) -> bool {
        (self.reads_only() || self.reassures(HintName::Idempotent)) && !self.alarms(HintName::Idempotent)
    }

    /// The hint that settles whether it is repeatable; none if nothing is believed.
    pub(super) fn repeat_hint(&self) -> Option<HintName> {
        match self {
            _ if self.alarms(HintName::Idempotent) || self.reassures(HintName::Idempotent) => {
                Some(HintName::Idempotent)
            }
            _ if self.reads_only() => Some(HintName::ReadOnly),
            _ => None,
        }
    }

    /// The first hint that would reassure, if the server were trusted.
    pub(super) fn unvouched(&self) -> Option<HintName> {
        let claims = |hint: &HintName| self.hints.is(*hint, hint.claim());
        [HintName::ReadOnly, HintName::Destructive].into_iter().filter(|_| !self.trusted).find(claims)
    }
}
