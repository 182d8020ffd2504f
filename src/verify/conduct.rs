//! How a tool behaves, whatever its hints claim: it must not act before it asks, nor after a no, and
//! its calls must end as their cases say.

use std::cmp::Reverse;

use candor_tools::shown;

use super::{
    Effect, Finding, Grade, Level, Observation, Phase, Reply, Rule,
    act::{Act, acts, controls, same_kind},
};

/// What the trials show beside the verdicts: one finding a tool and rule, and what the server
/// changes without being called.
#[must_use]
pub fn conduct(observations: &[Observation]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for trial in observations {
        for act in acts(trial, observations) {
            if let Some((rule, level)) = breach(&act) {
                let count = |effect: &&&Effect| effect.grade > Grade::None;
                let effects: Vec<&Effect> = act.effects.iter().filter(count).copied().collect();
                add(&mut findings, trial, rule, level, act.step.phase, &effects);
            }
        }
        without_a_call(&mut findings, trial, observations);
    }
    findings.extend(endings(observations));
    findings.sort_by_key(|finding| Reverse(finding.level));
    findings
}

/// What ended otherwise than it should: one finding a tool, case and way of ending.
fn endings(observations: &[Observation]) -> Vec<Finding> {
    let mut found: Vec<(Finding, Vec<&str>)> = Vec::new();
    for trial in observations {
        let (tool, case) = (shown(&trial.tool, 60), shown(&trial.case, 60));
        let unexpected = unexpected(trial).map(|text| (Rule::UnexpectedReply, Level::Fault, text));
        let problem = trial.problem.as_ref().map(|why| (Rule::Unfinished, Level::Warning, shown(why, 300)));
        for (rule, level, text) in unexpected.into_iter().chain(problem) {
            let text = format!("case `{case}`: {text}");
            match found
                .iter_mut()
                .find(|(known, _)| (known.rule, known.tool.as_ref(), &known.text) == (rule, Some(&trial.tool), &text))
            {
                Some((_, worlds)) if worlds.contains(&trial.world.as_str()) => {}
                Some((_, worlds)) => worlds.push(&trial.world),
                None => {
                    let id = format!("{tool}/{}/{case}", rule.name());
                    found.push((Finding { id, tool: Some(trial.tool.clone()), rule, level, text }, vec![&trial.world]));
                }
            }
        }
    }
    let named = found.into_iter().map(|(finding, worlds)| {
        let worlds: Vec<String> = worlds.iter().map(|world| format!("`{}`", shown(world, 60))).collect();
        let text = format!("{}; in {}", finding.text, worlds.join(", "));
        Finding { text, ..finding }
    });
    named.collect()
}

/// How the accepted call ended, if its case says otherwise.
fn unexpected(trial: &Observation) -> Option<String> {
    let first = trial.steps.iter().find(|step| step.phase == Phase::First)?;
    let reply = first.reply.as_ref().filter(|reply| !trial.expect.is_met(reply))?;
    Some(match reply {
        Reply::Success => "it was to be refused, and succeeded".to_owned(),
        Reply::Refused { text } => format!("it was to succeed, and was refused: {}", shown(text, 200)),
        Reply::Error { code, message } => {
            format!("it was to succeed, and was answered with error {code}: {}", shown(message, 200))
        }
    })
}

/// Which rule the effects of a call break, if it has any.
fn breach(act: &Act<'_>) -> Option<(Rule, Level)> {
    if act.effects.iter().all(|effect| effect.grade == Grade::None) {
        return None;
    }
    match (act.step.phase, &act.step.reply) {
        (Phase::Asking, _) => Some((Rule::ActsBeforeItAsks, Level::Fault)),
        (Phase::Declined, _) => Some((Rule::ActsThoughDeclined, Level::Fault)),
        (Phase::Cancelled, _) => Some((Rule::ActsThoughCancelled, Level::Fault)),
        (_, Some(Reply::Refused { .. } | Reply::Error { .. })) => Some((Rule::ActsThoughItFails, Level::Warning)),
        _ => None,
    }
}

/// What changes in the other phases. After a call, what no control shows is the call's late doing.
fn without_a_call(findings: &mut Vec<Finding>, trial: &Observation, all: &[Observation]) {
    let mut called = false;
    for step in &trial.steps {
        called |= step.phase.is_call();
        if step.phase.is_call() {
            continue;
        }
        let known = |effect: &Effect| {
            let mut controls = controls(trial, all).flat_map(|control| &control.steps);
            controls.any(|step| step.effects.iter().any(|known| same_kind(known, effect)))
        };
        let controlled = controls(trial, all).next().is_some();
        let effects = step.effects.iter().filter(|effect| effect.grade > Grade::None);
        let (late, alone): (Vec<&Effect>, Vec<&Effect>) =
            effects.partition(|effect| called && controlled && !known(effect));
        add(findings, trial, Rule::ActsAfterItAnswers, Level::Warning, step.phase, &late);
        add(findings, trial, Rule::Background, Level::Note, step.phase, &alone);
    }
}

fn add(findings: &mut Vec<Finding>, trial: &Observation, rule: Rule, level: Level, phase: Phase, effects: &[&Effect]) {
    let Some(worst) = effects.iter().max_by_key(|effect| effect.grade) else { return };
    let tool = (rule != Rule::Background).then(|| trial.tool.clone());
    let id = match &tool {
        Some(tool) => format!("{tool}/{}", rule.name()),
        None => format!("server/{}/{}", rule.name(), phase.name()),
    };
    if findings.iter().any(|known| known.id == id) {
        return;
    }
    let when = match (rule, phase) {
        (Rule::ActsBeforeItAsks, _) => "while its question is open",
        (Rule::ActsThoughDeclined, _) => "although the user declined",
        (Rule::ActsThoughCancelled, _) => "although the user cancelled",
        (Rule::ActsThoughItFails, _) => "although it answers with an error",
        (Rule::ActsAfterItAnswers, _) => "after its answer",
        (_, Phase::Start) => "when it starts",
        (_, Phase::Shutdown) => "when it ends",
        _ => "while it is left alone",
    };
    let who = if tool.is_some() { "the tool" } else { "the server" };
    let more = match effects.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let Effect { grade, lens, place, what, .. } = worst;
    let (place, what, grade) = (shown(place, 120), shown(what, 120), grade.name());
    let (world, case) = (shown(&trial.world, 60), shown(&trial.case, 60));
    let case = if tool.is_some() { format!(", case `{case}`") } else { String::new() };
    let text =
        format!("{who} changes something {when}: {lens} `{place}` {what} ({grade}){more}; world `{world}`{case}");
    findings.push(Finding { id, tool, rule, level, text });
}
