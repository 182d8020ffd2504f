//! Tools and trials to judge, in a few words each.

use candor::{
    hints::{DeclaredTool, read_list},
    verify::{Definition, Effect, Grade, Observation, Phase, Reply, Sight, Step, Verdict, case::Expect, judge},
};

/// A tool with these annotations, which are JSON without the braces.
pub(crate) fn tool(name: &str, annotations: &str) -> DeclaredTool {
    raw(&format!(r#""name":"{name}","title":"Do it","description":"Does it.","annotations":{{{annotations}}}"#))
}

/// A tool of these members.
pub(crate) fn raw(members: &str) -> DeclaredTool {
    let list = format!(r#"{{"tools":[{{{members}}}]}}"#);
    read_list(list.as_bytes()).unwrap().0.remove(0)
}

/// R, D, I, O as `t`, `f`, `-` (absent) or `x` (null): `"tf-x"`.
pub(crate) fn hints(name: &str, letters: &str) -> DeclaredTool {
    let names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let members = letters.chars().zip(names).filter_map(|(letter, name)| match letter {
        't' => Some(format!("\"{name}\":true")),
        'f' => Some(format!("\"{name}\":false")),
        'x' => Some(format!("\"{name}\":null")),
        _ => None,
    });
    tool(name, &members.collect::<Vec<_>>().join(","))
}

pub(crate) fn additive(place: &str) -> Effect {
    Effect::new(Grade::Additive, "files", place, "created")
}

pub(crate) fn recoverable() -> Effect {
    Effect::new(Grade::Recoverable, "git", "HEAD", "moved to another branch")
}

pub(crate) fn lossy(place: &str) -> Effect {
    Effect::new(Grade::Lossy, "files", place, "deleted")
}

pub(crate) fn contact() -> Effect {
    Effect::new(Grade::None, "network", "127.0.0.1:4000", "GET /page")
}

pub(crate) fn excused(lens: &'static str) -> Effect {
    Effect::excused(lens, "cache/x", "created", "a cache that nobody reads back")
}

/// A step, answered with success if it is a call that goes through.
pub(crate) fn step(phase: Phase, effects: &[Effect]) -> Step {
    let reply = match phase {
        Phase::First | Phase::Second | Phase::Concurrent => Some(Reply::Success),
        Phase::Declined | Phase::Cancelled => Some(Reply::Refused { text: "declined; nothing was changed".into() }),
        _ => None,
    };
    Step { phase, reply, effects: effects.to_vec() }
}

pub(crate) fn refused(phase: Phase, effects: &[Effect]) -> Step {
    Step { reply: Some(Reply::Refused { text: "no such branch".into() }), ..step(phase, effects) }
}

pub(crate) fn failed(phase: Phase, effects: &[Effect]) -> Step {
    Step { reply: Some(Reply::Error { code: -32603, message: "internal error".into() }), ..step(phase, effects) }
}

/// A trial of the tool `t`, case `c`, in which connections are seen.
pub(crate) fn trial(world: &str, steps: &[Step]) -> Observation {
    Observation {
        tool: "t".into(),
        case: "c".into(),
        world: world.into(),
        expect: Expect::Any,
        sees_connections: true,
        transport: "stdio",
        era: "2026-07-28",
        steps: steps.to_vec(),
        problem: None,
    }
}

/// A trial of one call and its repeat.
pub(crate) fn twice(world: &str, first: &[Effect], second: &[Effect]) -> Observation {
    trial(world, &[step(Phase::Start, &[]), step(Phase::First, first), step(Phase::Second, second)])
}

pub(crate) const BLIND: Sight =
    Sight { changes: true, connections: false, rung: "worlds", blind_to: Vec::new(), why: None };
pub(crate) const SEEING: Sight =
    Sight { changes: true, connections: true, rung: "box", blind_to: Vec::new(), why: None };

/// The four verdicts on a tool `t`, where connections are seen.
pub(crate) fn judged(letters: &str, trials: &[Observation]) -> [Verdict; 4] {
    let verdicts = judge(&[hints("t", letters)], trials, &SEEING, Definition::Mcp);
    verdicts.try_into().unwrap()
}

/// Their outcomes in one word: `holds refuted …`.
pub(crate) fn outcomes(letters: &str, trials: &[Observation]) -> String {
    judged(letters, trials).map(|verdict| verdict.outcome.name()).join(" ")
}
