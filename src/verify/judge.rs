//! The judge: from hints and observations to verdicts. Pure: no IO, no clock, no chance.
//!
//! | hint | what bears on it |
//! |---|---|
//! | `readOnlyHint` | any effect above none, of any call |
//! | `destructiveHint` | any effect above additive, of any call, in a tool that calls itself read-only too: one that changes something isn't |
//! | `idempotentHint` | any effect above none of a repeat: the second call, or its question; the answers may differ |
//! | `openWorldHint` | any contact over the network, whatever its grade |
//!
//! A call is one conversation: what changes while the server asks, and after the user declined or
//! cancelled, counts like what changes when the call goes through. So does what changes although
//! the answer is an error. Two calls at once show what a tool can do, not what a repeat does. What
//! changes at the start, while the server is left alone, and at its end is never blamed on a call.
//!
//! A claim is refuted by one such effect. The opposite value is an alarm, overstated if there was
//! none. Either needs a call that succeeded; else the hint is untested.

use candor_tools::shown;

use super::{
    Definition, Effect, Evidence, Grade, Observation, Outcome, Reply, Sight, Verdict,
    act::{self, Act},
};
use crate::hints::{Annotations, DeclaredTool, Hint, HintName};

/// Judge every hint of every tool, in the order of the list. Worlds rank by their first appearance
/// among the observations, the plainest first.
#[must_use]
pub fn judge(
    tools: &[DeclaredTool],
    observations: &[Observation],
    sight: &Sight,
    definition: Definition,
) -> Vec<Verdict> {
    let mut verdicts = Vec::with_capacity(4 * tools.len());
    for tool in tools {
        let trials: Vec<&Observation> = observations.iter().filter(|trial| trial.tool == tool.name).collect();
        let acts: Vec<Act<'_>> = trials.iter().flat_map(|trial| act::acts(trial, observations)).collect();
        let worlds = distinct(observations.iter().map(|trial| trial.world.as_str()));
        let bench = Bench { tool, trials, acts, worlds, sight, definition };
        verdicts.extend(HintName::ALL.map(|hint| bench.verdict(hint)));
    }
    verdicts
}

/// All there is to know about one tool.
struct Bench<'a> {
    tool: &'a DeclaredTool,
    trials: Vec<&'a Observation>,
    acts: Vec<Act<'a>>,
    worlds: Vec<&'a str>,
    sight: &'a Sight,
    definition: Definition,
}

impl Bench<'_> {
    fn verdict(&self, hint: HintName) -> Verdict {
        let Self { tool, acts, .. } = self;
        let declared = tool.hint(hint).clone();
        let with_bearing = |act: &&Act<'_>| act.effects.iter().any(|effect| self.bears(hint, act, effect));
        let bearing: Vec<&Act<'_>> = acts.iter().filter(with_bearing).collect();
        let seen = self.worlds.iter().copied().filter(|world| bearing.iter().any(|act| act.trial.world == *world));
        let seen: Vec<&str> = seen.collect();
        let mut testing: Vec<&Act<'_>> = acts.iter().filter(|act| tests(hint, act)).collect();
        if hint == HintName::OpenWorld && bearing.is_empty() {
            testing.retain(|act| act.trial.sees_connections);
        }
        let reason = self.untested(hint, testing.is_empty());
        if reason.is_some() {
            testing.clear();
        }

        let judge = |value: bool| match &reason {
            Some(reason) => (Outcome::Untested, Some(reason.clone())),
            None if value != hint.claim() && bearing.is_empty() => (Outcome::Overstated, Some(nothing_seen(hint))),
            None => (Outcome::Holds, None),
        };
        let pair = matches!(hint, HintName::ReadOnly | HintName::Destructive);
        let mut default = None;
        let (outcome, note) = match (&tool.annotations, &declared) {
            (Annotations::Malformed(found), _) => {
                (Outcome::Malformed, Some(format!("`annotations` is no object: {found}")))
            }
            (_, Hint::Malformed(found)) => (Outcome::Malformed, Some(format!("not a boolean: {found}"))),
            _ if tool.claims(hint) && !bearing.is_empty() => (Outcome::Refuted, self.elsewhere(&seen)),
            _ if pair && tool.contradicts_itself() => {
                (Outcome::Contradictory, Some("read-only and destructive at once; one of them is false".into()))
            }
            (_, Hint::Absent) => {
                let (beside, reason) = judge(hint.default());
                default = Some(beside);
                let aside = if hint == HintName::Destructive && tool.claims(HintName::ReadOnly) {
                    " (which the specification ignores in a read-only tool)"
                } else {
                    ""
                };
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                (Outcome::Undeclared, Some(format!("default {}{aside} {}{reason}", hint.default(), says(beside))))
            }
            (_, Hint::Is(value)) => judge(*value),
        };
        Verdict {
            id: format!("{}/{hint}", tool.name),
            tool: tool.name.clone(),
            hint,
            outcome,
            default,
            grade: self.grade(hint),
            evidence: seen.first().map(|world| self.evidence(hint, &bearing, world)).unwrap_or_default(),
            world: seen.first().filter(|_| outcome == Outcome::Refuted).map(|world| (*world).to_owned()),
            calls: testing.len(),
            worlds: distinct(testing.iter().map(|act| act.trial.world.as_str())).into_iter().map(Into::into).collect(),
            note: self.by_definition(hint, &declared, outcome, note),
            declared,
        }
    }

    /// Whether an effect of a call is one that the claim denies.
    fn bears(&self, hint: HintName, act: &Act<'_>, effect: &Effect) -> bool {
        match hint {
            HintName::ReadOnly => self.definition.changes(effect),
            HintName::Destructive => effect.grade > Grade::Additive,
            HintName::Idempotent => act.repeats && effect.grade > Grade::None,
            HintName::OpenWorld => effect.lens == "network",
        }
    }

    fn grade(&self, hint: HintName) -> Option<Grade> {
        let bearing = self.acts.iter().filter(|act| hint != HintName::Idempotent || act.repeats);
        let worst = bearing.map(|act| act.effects.iter().map(|effect| effect.grade).max().unwrap_or(Grade::None)).max();
        worst.filter(|_| hint != HintName::OpenWorld)
    }

    /// Why nothing can be said, if nothing can.
    fn untested(&self, hint: HintName, no_test: bool) -> Option<String> {
        if !self.sight.changes {
            return Some(format!("the rung `{}` sees no changes", self.sight.rung));
        }
        if !no_test {
            return None;
        }
        let unseen = hint == HintName::OpenWorld && self.acts.iter().any(Act::succeeded);
        Some(if unseen {
            format!("the rung `{}` doesn't see connections", self.sight.rung)
        } else {
            self.why_no_test()
        })
    }

    fn why_no_test(&self) -> String {
        if self.acts.iter().any(Act::succeeded) {
            return "no successful call was repeated".into();
        }
        let answer = self.acts.iter().find_map(|act| match &act.step.reply {
            Some(Reply::Refused { text }) => Some(format!("refused: {}", shown(text, 120))),
            Some(Reply::Error { code, message }) => Some(format!("error {code}: {}", shown(message, 120))),
            _ => None,
        });
        let problem = self.trials.iter().find_map(|trial| trial.problem.as_deref());
        match (answer, problem) {
            (Some(answer), _) => format!("no call succeeded; {answer}"),
            (None, Some(problem)) => format!("no call succeeded; {}", shown(problem, 200)),
            (None, None) if self.trials.is_empty() => "never called".into(),
            (None, None) => "no call succeeded".into(),
        }
    }

    /// In which other worlds a refuted claim is refuted too, and in which it isn't.
    fn elsewhere(&self, seen: &[&str]) -> Option<String> {
        let called = distinct(self.acts.iter().map(|act| act.trial.world.as_str()));
        let unseen: Vec<&str> = called.into_iter().filter(|world| !seen.contains(world)).collect();
        let also = seen.get(1..).filter(|also| !also.is_empty()).map(|also| format!("also in {}", list(also)));
        let not = (!unseen.is_empty()).then(|| format!("not in {}", list(&unseen)));
        match (also, not) {
            (Some(also), Some(not)) => Some(format!("{also}; {not}")),
            (also, not) => also.or(not),
        }
    }

    fn evidence(&self, hint: HintName, bearing: &[&Act<'_>], world: &str) -> Vec<Evidence> {
        let mut evidence: Vec<Evidence> = Vec::new();
        for act in bearing.iter().filter(|act| act.trial.world == world) {
            let phase = act.step.phase;
            let effects = act.effects.iter().filter(|effect| self.bears(hint, act, effect));
            let mut effects: Vec<Effect> = effects.map(|effect| (*effect).clone()).collect();
            effects.sort_by_key(|effect| std::cmp::Reverse(effect.grade));
            let trial = act.trial;
            let known = evidence
                .iter_mut()
                .find(|known| known.case == trial.case && known.phase == phase && known.effects == effects);
            match known {
                Some(known) => known.trials += 1,
                None => evidence.push(Evidence {
                    world: world.to_owned(),
                    case: trial.case.clone(),
                    transport: trial.transport,
                    era: trial.era,
                    phase,
                    effects,
                    trials: 1,
                }),
            }
        }
        evidence
    }

    /// What the chosen definition adds to a note.
    fn by_definition(&self, hint: HintName, declared: &Hint, outcome: Outcome, note: Option<String>) -> Option<String> {
        let worst = self.grade(hint).unwrap_or(Grade::None);
        let aside = match (self.definition, hint) {
            (Definition::OpenaiDirectory, HintName::OpenWorld) if outcome == Outcome::Refuted => {
                "this directory calls a bounded private account closed even if hosted elsewhere"
            }
            (Definition::OpenaiDirectory, HintName::ReadOnly)
                if outcome == Outcome::Refuted && worst == Grade::None =>
            {
                "by the specification this is bookkeeping; this directory counts logs and artefacts"
            }
            (Definition::OpenaiDirectory, HintName::Destructive)
                if outcome == Outcome::Refuted && worst == Grade::Recoverable =>
            {
                "that it can be undone is no excuse in this directory"
            }
            (Definition::AnthropicDirectory, HintName::Destructive)
                if *declared == Hint::Is(false) && outcome == Outcome::Holds && worst == Grade::Additive =>
            {
                "this directory doesn't say how it counts additive changes"
            }
            (Definition::AnthropicDirectory, HintName::Idempotent | HintName::OpenWorld)
                if outcome != Outcome::Holds =>
            {
                "this directory doesn't ask for it"
            }
            _ => return note,
        };
        Some(note.map_or_else(|| aside.to_owned(), |note| format!("{note}; {aside}")))
    }
}

/// Whether a call tests a hint. Refusals and errors don't, though their effects count.
fn tests(hint: HintName, act: &Act<'_>) -> bool {
    if hint == HintName::Idempotent { act.shows_a_repeat() } else { act.succeeded() }
}

fn nothing_seen(hint: HintName) -> String {
    match hint {
        HintName::ReadOnly => "no call changed anything",
        HintName::Destructive => "no call changed or removed what existed",
        HintName::Idempotent => "no repeat had an effect of its own",
        HintName::OpenWorld => "no call made contact with anything outside",
    }
    .to_owned()
}

const fn says(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Overstated => "is overstated",
        _ => "is untested",
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn list(worlds: &[&str]) -> String {
    worlds.iter().map(|world| format!("`{}`", shown(world, 60))).collect::<Vec<_>>().join(", ")
}
