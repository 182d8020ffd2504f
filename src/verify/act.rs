//! What of a trial is the doing of its calls.

use super::{Effect, Grade, Observation, Phase, Reply, Step};

impl Phase {
    /// Whether something was called. What changes in the other phases is background.
    #[must_use]
    pub const fn is_call(self) -> bool {
        !matches!(self, Self::Start | Self::Idle | Self::Shutdown)
    }

    /// The name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Idle => "idle",
            Self::Asking => "asking",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::First => "first",
            Self::Second => "second",
            Self::Concurrent => "concurrent",
            Self::Shutdown => "shutdown",
        }
    }
}

impl Grade {
    /// The name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Additive => "additive",
            Self::Recoverable => "recoverable",
            Self::Lossy => "lossy",
        }
    }
}

/// One step with a call in it.
pub(super) struct Act<'a> {
    pub(super) trial: &'a Observation,
    pub(super) step: &'a Step,
    /// Whether the same call had come to the same point before in this trial, so that an effect
    /// is one that a repeat has of its own.
    pub(super) repeats: bool,
    /// Without background.
    pub(super) effects: Vec<&'a Effect>,
}

impl Act<'_> {
    /// Whether the tool did what it is for. A declined or cancelled call never does.
    pub(super) fn succeeded(&self) -> bool {
        matches!(self.step.phase, Phase::First | Phase::Second | Phase::Concurrent)
            && self.step.reply == Some(Reply::Success)
    }

    /// Whether it shows what a repeat does: a second call after a first that succeeded.
    pub(super) fn shows_a_repeat(&self) -> bool {
        let first = |step: &Step| step.phase == Phase::First && step.reply == Some(Reply::Success);
        self.step.phase == Phase::Second && self.trial.steps.iter().any(first)
    }
}

/// The calls of one trial. `all` are the trials of the run, of which those without any call are the
/// control.
pub(super) fn acts<'a>(trial: &'a Observation, all: &'a [Observation]) -> Vec<Act<'a>> {
    let background = background(trial, all);
    let mut acts: Vec<Act<'a>> = Vec::new();
    for step in trial.steps.iter().filter(|step| step.phase.is_call()) {
        let came_before = |phase| acts.iter().any(|act| act.step.phase == phase);
        let repeats = match step.phase {
            Phase::Second => true,
            // A question before the first call belongs to it; one after it, to the second.
            Phase::Asking => came_before(Phase::First),
            Phase::Declined | Phase::Cancelled => came_before(step.phase),
            _ => false,
        };
        let effects = step.effects.iter().filter(|effect| !background.iter().any(|known| same_kind(known, effect)));
        acts.push(Act { trial, step, repeats, effects: effects.collect() });
    }
    acts
}

/// What changed while the server was left alone, before this trial called anything and in the
/// control of its world. A change of the same kind in the same place is not blamed on a call.
fn background<'a>(trial: &'a Observation, all: &'a [Observation]) -> Vec<&'a Effect> {
    let before = trial.steps.iter().take_while(|step| !step.phase.is_call());
    let control = controls(trial, all).flat_map(|control| &control.steps);
    let idle = before.chain(control).filter(|step| step.phase == Phase::Idle);
    idle.flat_map(|step| &step.effects).filter(|effect| effect.grade > Grade::None).collect()
}

/// The trials without a call in the same world.
pub(super) fn controls<'a>(trial: &'a Observation, all: &'a [Observation]) -> impl Iterator<Item = &'a Observation> {
    all.iter().filter(|other| other.world == trial.world && !other.steps.iter().any(|step| step.phase.is_call()))
}

/// Growth stays growth and loss stays loss, however much of it.
pub(super) fn same_kind(one: &Effect, other: &Effect) -> bool {
    (one.lens, &one.place, one.grade) == (other.lens, &other.place, other.grade)
}
