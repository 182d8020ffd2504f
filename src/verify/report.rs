//! What a run found, and the forms in which it can be read.
//!
//! | form | who reads it |
//! |---|---|
//! | [`terminal`] | people, at once |
//! | [`html`] | people, later: one page without anything from elsewhere |
//! | [`json()`] | programs: `candor-verify/1`, described by [`SCHEMA`] |
//! | [`sarif`] | code scanning: SARIF 2.1.0 |
//! | [`junit`] | build servers |
//!
//! Names and texts come from servers, and each form makes them harmless in its own way: control,
//! bidirectional and invisible characters are escaped, and what has a meaning in the form.

mod html;
mod json;
mod junit;
mod sarif;
mod terminal;

use std::collections::BTreeMap;

use candor_tools::shown;
pub use html::html;
pub use json::{SCHEMA, json, safe_text};
pub use junit::junit;
pub use sarif::sarif;
use serde::Serialize;
pub use terminal::terminal;

use super::{Definition, Finding, Level, Observation, Outcome, Rule, Sight, Verdict, conduct, judge, lint};
use crate::hints::DeclaredTool;

/// The server that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Server {
    /// `serverInfo.name`.
    pub name: Option<String>,
    /// `serverInfo.version`.
    pub version: Option<String>,
    /// The command that started it, or its URL without anything secret.
    pub command: String,
}

/// What one run found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The server.
    pub server: Server,
    /// The rung, and what it can't see.
    pub sight: Sight,
    /// Whose definition of the hints counts.
    pub definition: Definition,
    /// The tools as the server lists them.
    pub tools: Vec<DeclaredTool>,
    /// Four for each tool.
    pub verdicts: Vec<Verdict>,
    /// What was found beside them.
    pub findings: Vec<Finding>,
    /// What was seen, trial by trial.
    pub observations: Vec<Observation>,
    /// Tools that nothing could be called with, and why.
    pub uncalled: Vec<(String, String)>,
    /// The rules that made a change bookkeeping.
    pub excuses: Vec<Excuse>,
    /// How long it took.
    pub seconds: f64,
}

/// One rule that made changes bookkeeping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excuse {
    /// The rule.
    pub rule: &'static str,
    /// The lens that applied it.
    pub lens: &'static str,
    /// How often.
    pub times: usize,
    /// The first place.
    pub place: String,
    /// What happened there.
    pub what: String,
    /// The tools in whose trials it happened.
    pub tools: Vec<String>,
}

impl Report {
    /// Judge what was seen, and read the tools. `uncalled` names tools that nothing could be called
    /// with, and why.
    #[must_use]
    pub fn new(
        server: Server,
        sight: Sight,
        definition: Definition,
        tools: Vec<DeclaredTool>,
        observations: Vec<Observation>,
        uncalled: Vec<(String, String)>,
        seconds: f64,
    ) -> Self {
        let mut verdicts = judge(&tools, &observations, &sight, definition);
        for verdict in verdicts.iter_mut().filter(|verdict| verdict.outcome == Outcome::Untested) {
            let seen = observations.iter().any(|trial| trial.tool == verdict.tool);
            if let Some((_, why)) = uncalled.iter().find(|(tool, _)| *tool == verdict.tool && !seen) {
                verdict.note = Some(format!("never called; {}", shown(why, 200)));
            }
        }
        let mut findings = conduct(&observations);
        findings.extend(lint(&tools, definition));
        let excuses = excuses(&observations);
        Self { server, sight, definition, tools, verdicts, findings, observations, uncalled, excuses, seconds }
    }

    /// How many verdicts there are of a kind.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.outcome == outcome).count()
    }

    /// How many rules of the protocol and of the cases were broken.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level == Level::Fault).count()
    }

    /// The names of the worlds, in the order of the trials.
    #[must_use]
    pub fn worlds(&self) -> Vec<&str> {
        let mut worlds: Vec<&str> = Vec::new();
        for trial in &self.observations {
            if !worlds.contains(&trial.world.as_str()) {
                worlds.push(&trial.world);
            }
        }
        worlds
    }

    /// How many calls were made; one conversation is one call.
    #[must_use]
    pub fn calls(&self) -> usize {
        let steps = self.observations.iter().flat_map(|trial| &trial.steps);
        steps.filter(|step| step.phase.is_call() && step.reply.is_some()).count()
    }

    /// `15 tools, 3 worlds, 240 calls in 21.3 s`.
    fn scope(&self) -> String {
        let [tools, worlds, calls] =
            [(self.tools.len(), "tool"), (self.worlds().len(), "world"), (self.calls(), "call")]
                .map(|(count, noun)| plural(count, noun));
        format!("{tools}, {worlds}, {calls} in {:.1} s", self.seconds)
    }

    /// `shop 1.2.0`, or the command.
    fn server_name(&self) -> String {
        let Server { name, version, command } = &self.server;
        match (name, version) {
            (Some(name), Some(version)) => format!("{} {}", shown(name, 60), shown(version, 40)),
            (Some(name), None) => shown(name, 60),
            _ => shown(command, 100),
        }
    }

    /// What is wrong and what is open, in one line.
    fn summary(&self) -> String {
        let wrong: Vec<String> = self.counted(Outcome::is_wrong);
        let open: Vec<String> = self.counted(Outcome::is_open);
        let faults = self.faults();
        let faults = (faults > 0).then(|| plural(faults, "fault"));
        let wrong: Vec<String> = wrong.into_iter().chain(faults).collect();
        let wrong = if wrong.is_empty() { "Nothing wrong".to_owned() } else { format!("Wrong: {}", wrong.join(", ")) };
        if open.is_empty() { format!("{wrong}.") } else { format!("{wrong}; open: {}.", open.join(", ")) }
    }

    fn counted(&self, of: impl Fn(Outcome) -> bool) -> Vec<String> {
        let outcomes = Outcome::ALL.into_iter().filter(|outcome| of(*outcome));
        let counts = outcomes.map(|outcome| (self.count(outcome), outcome)).filter(|(count, _)| *count > 0);
        counts.map(|(count, outcome)| format!("{count} {outcome}")).collect()
    }
}

/// 0 if nothing is wrong; 1 if a hint is refuted, malformed or contradictory, a tool acts before it
/// asks or after a no, or a call ends otherwise than its case says; under `strict` also if a hint is
/// untested, undeclared or overstated, a trial broke off, or a world can't be used.
#[must_use]
pub fn exit_status(report: &Report, strict: bool) -> u8 {
    let counts = |verdict: &Verdict| verdict.outcome.is_wrong() || (strict && verdict.outcome.is_open());
    let left_out = |finding: &Finding| strict && matches!(finding.rule, Rule::Unfinished | Rule::World);
    let wrong = report.faults() > 0 || report.verdicts.iter().any(counts);
    u8::from(wrong || report.findings.iter().any(left_out))
}

fn excuses(observations: &[Observation]) -> Vec<Excuse> {
    let mut excuses: BTreeMap<(&str, &str), Excuse> = BTreeMap::new();
    for trial in observations {
        for effect in trial.steps.iter().flat_map(|step| &step.effects) {
            let Some(rule) = effect.excuse else { continue };
            let excuse = excuses.entry((rule, effect.lens)).or_insert_with(|| Excuse {
                rule,
                lens: effect.lens,
                times: 0,
                place: effect.place.clone(),
                what: effect.what.clone(),
                tools: Vec::new(),
            });
            excuse.times += 1;
            if !excuse.tools.contains(&trial.tool) {
                excuse.tools.push(trial.tool.clone());
            }
        }
    }
    excuses.into_values().collect()
}

/// How many effects of one step a page or a log shows; JSON has all of them.
const SHOWN: usize = 100;

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The value of a hint in a table.
fn declared(verdict: &Verdict) -> &'static str {
    use crate::hints::Hint;
    match verdict.declared {
        Hint::Absent => "absent",
        Hint::Is(true) => "true",
        Hint::Is(false) => "false",
        Hint::Malformed(_) => "nonsense",
    }
}
