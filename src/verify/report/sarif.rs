//! The report for code scanning: SARIF 2.1.0 (OASIS Standard, 27 March 2020).

use std::fmt::Write as _;

use candor_tools::shown;
use serde_json::{Value, json};

use super::{Report, declared};
use crate::{
    hints::HintName,
    verify::{Effect, Finding, Level, Outcome, Rule, Verdict},
};

/// One run. A result for each verdict that is wrong, undeclared or overstated, and for each finding;
/// what is untested or holds has no result. The rules are `OUTCOME/HINT` and the rules of the
/// findings. A tool isn't a place in a file, so what locates a result is its logical location; the
/// physical one, `tools/list/TOOL`, is there because code scanning on GitHub takes no file without.
#[must_use]
pub fn sarif(report: &Report) -> Value {
    let rules = rules();
    let verdicts = report.verdicts.iter().filter_map(|verdict| {
        let level = level_of(verdict.outcome)?;
        Some(result(
            &rule_id(verdict.outcome, verdict.hint),
            level,
            &message(verdict),
            &verdict.id,
            Some(&verdict.tool),
        ))
    });
    let findings = report.findings.iter().map(|Finding { id, tool, rule, level, text }| {
        let level = match level {
            Level::Fault => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        };
        result(rule.name(), level, text, id, tool.as_deref())
    });
    let mut results: Vec<Value> = verdicts.chain(findings).collect();
    for result in &mut results {
        let index = rules.iter().position(|rule| rule.get("id") == result.get("ruleId"));
        if let (Some(result), Some(index)) = (result.as_object_mut(), index) {
            result.insert("ruleIndex".into(), json!(index));
        }
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "candor",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
            "invocations": [{"executionSuccessful": true}],
            "properties": {
                "server": report.server_name(),
                "rung": report.sight.rung,
                "blindTo": report.sight.blind_to,
                "definition": report.definition,
                "untested": report.count(Outcome::Untested),
                "holds": report.count(Outcome::Holds),
            },
        }],
    })
}

fn level_of(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Malformed | Outcome::Refuted | Outcome::Contradictory => Some("error"),
        Outcome::Undeclared => Some("warning"),
        Outcome::Overstated => Some("note"),
        Outcome::Untested | Outcome::Holds => None,
    }
}

fn rule_id(outcome: Outcome, hint: HintName) -> String {
    format!("{outcome}/{hint}")
}

fn rules() -> Vec<Value> {
    let outcomes = Outcome::ALL.into_iter().filter_map(|outcome| Some((outcome, level_of(outcome)?)));
    let mut rules: Vec<Value> = outcomes
        .flat_map(|(outcome, level)| {
            HintName::ALL.map(|hint| {
                let text = match outcome {
                    Outcome::Malformed => format!("{hint} is neither a boolean nor absent."),
                    Outcome::Refuted => format!("{hint} is {}, and a call had an effect that denies it.", hint.claim()),
                    Outcome::Contradictory => format!("{hint} contradicts another hint of the tool."),
                    Outcome::Undeclared => format!("{hint} is absent, which means {}.", hint.default()),
                    _ => format!("{hint} is more alarming than anything that was seen."),
                };
                rule(&rule_id(outcome, hint), level, &text)
            })
        })
        .collect();
    rules.extend(Rule::ALL.map(|found| rule(found.name(), "warning", found.text())));
    rules
}

fn rule(id: &str, level: &str, text: &str) -> Value {
    json!({"id": id, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}})
}

fn result(rule: &str, level: &str, text: &str, id: &str, tool: Option<&str>) -> Value {
    let name = shown(tool.unwrap_or("server"), 200);
    let uri: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
    json!({
        "ruleId": rule,
        "level": level,
        "message": {"text": format!("{name}: {text}")},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": format!("tools/list/{uri}")},
                "region": {"startLine": 1},
            },
            "logicalLocations": [{
                "name": name,
                "fullyQualifiedName": shown(id, 300),
                "kind": if tool.is_some() { "function" } else { "module" },
            }],
        }],
        "partialFingerprints": {"candor/v1": shown(id, 300)},
    })
}

/// What a verdict says, in a sentence, with the first effect.
pub(super) fn message(verdict: &Verdict) -> String {
    let mut text = format!("{} {} {}", verdict.hint, declared(verdict), verdict.outcome);
    if let (Some(evidence), Outcome::Refuted) = (verdict.evidence.first(), verdict.outcome) {
        let [world, case] = [&evidence.world, &evidence.case].map(|name| shown(name, 60));
        let _ = write!(text, " in world `{world}`, case `{case}`, {}", evidence.phase.name());
        if let Some(Effect { grade, lens, place, what, .. }) = evidence.effects.first() {
            let _ = write!(text, ": {lens} {} {} ({})", shown(place, 120), shown(what, 120), grade.name());
        }
    }
    match &verdict.note {
        Some(note) => format!("{text}; {note}"),
        None => text,
    }
}
