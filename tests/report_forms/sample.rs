//! Reports to print.

use candor::verify::{
    Definition, Effect, Observation, Phase, Sight,
    report::{Report, Server},
};

use crate::judge::samples::{additive, hints, lossy, step, trial, twice};

const SIGHT: Sight = Sight { changes: true, connections: false, rung: "worlds", blind_to: Vec::new(), why: None };

fn server() -> Server {
    Server { name: Some("shop".into()), version: Some("1.2.0".into()), command: "shop-server --stdio".into() }
}

/// One tool that is judged by these trials.
pub(crate) fn report(tool: &str, letters: &str, trials: Vec<Observation>) -> Report {
    let trials = trials.into_iter().map(|trial| Observation { sees_connections: false, ..trial }).collect();
    Report::new(server(), SIGHT, Definition::Mcp, vec![hints(tool, letters)], trials, Vec::new(), 1.5)
}

/// Three tools with one verdict of each kind: one honest, one that lies in one of two worlds, one
/// that says nonsense, exaggerates, and acts before it asks.
pub(crate) fn shop() -> Report {
    let tools = vec![hints("list_items", "tftf"), hints("drop_item", "tt-f"), hints("save_item", "xtft")];
    let of = |tool: &str, trial: Observation| Observation {
        tool: tool.into(),
        case: "one".into(),
        sees_connections: false,
        ..trial
    };
    let stat = Effect::excused("git", "repo/.git/index", "stat data", "a refreshed stat cache");
    let asks = [step(Phase::Asking, &[additive("draft")]), step(Phase::First, &[additive("items/c.json")])];
    let trials = vec![
        of("list_items", twice("plain", std::slice::from_ref(&stat), &[])),
        of("list_items", twice("triggers", &[stat], &[])),
        of("drop_item", twice("plain", &[], &[])),
        of("drop_item", twice("triggers", &[additive("log"), lossy("items/a.json")], &[])),
        of("save_item", trial("plain", &[&asks[..], &[step(Phase::Second, &[])]].concat())),
    ];
    let sight = Sight { blind_to: vec!["connections".into(), "processes".into()], ..SIGHT };
    Report::new(server(), sight, Definition::Mcp, tools, trials, Vec::new(), 12.34)
}
