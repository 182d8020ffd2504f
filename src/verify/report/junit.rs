//! The report for build servers: `JUnit` XML, as they all read it.

use std::fmt::Write as _;

use candor_tools::shown;

use super::{Report, SHOWN, html::escaped, sarif::message};
use crate::verify::{Finding, Level, Verdict};

/// A suite a tool and a case a hint. What holds passes; what is wrong fails; what is untested,
/// undeclared or overstated is skipped with its reason, never passed. A tool that acts before it
/// asks or after a no fails one more case. What the lint finds is not in here.
#[must_use]
pub fn junit(report: &Report) -> String {
    let faults = |tool: Option<&str>| -> Vec<&Finding> {
        let of_tool = |finding: &&Finding| finding.level == Level::Fault && finding.tool.as_deref() == tool;
        report.findings.iter().filter(of_tool).collect()
    };
    let mut suites = String::new();
    let (mut all, mut all_failed, mut all_skipped) = (0, 0, 0);
    for tool in &report.tools {
        let verdicts: Vec<&Verdict> = report.verdicts.iter().filter(|verdict| verdict.tool == tool.name).collect();
        let faults = faults(Some(&tool.name));
        let failed = verdicts.iter().filter(|verdict| verdict.outcome.is_wrong()).count() + faults.len();
        let skipped = verdicts.iter().filter(|verdict| verdict.outcome.is_open()).count();
        let tests = verdicts.len() + faults.len();
        (all, all_failed, all_skipped) = (all + tests, all_failed + failed, all_skipped + skipped);
        let name = attribute(&tool.name);
        let counts = counts(tests, failed, skipped);
        let _ = writeln!(suites, "  <testsuite name=\"{name}\" {counts}>");
        for verdict in verdicts {
            let start = format!("    <testcase classname=\"{name}\" name=\"{}\"", verdict.hint);
            let text = escaped(&message(verdict));
            let _ = match verdict.outcome {
                outcome if outcome.is_wrong() => {
                    let lines = evidence(verdict);
                    writeln!(
                        suites,
                        "{start}><failure type=\"{outcome}\" message=\"{text}\">{lines}</failure></testcase>"
                    )
                }
                outcome if outcome.is_open() => {
                    writeln!(suites, "{start}><skipped message=\"{text}\"/></testcase>")
                }
                _ => writeln!(suites, "{start}/>"),
            };
        }
        for Finding { rule, text, .. } in faults {
            let (rule, text) = (rule.name(), escaped(text));
            let start = format!("    <testcase classname=\"{name}\" name=\"{rule}\">");
            let _ = writeln!(suites, "{start}<failure type=\"fault\" message=\"{text}\"/></testcase>");
        }
        suites += "  </testsuite>\n";
    }
    let (server, counts, seconds) =
        (escaped(&report.server_name()), counts(all, all_failed, all_skipped), report.seconds);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"candor verify {server}\" {counts} time=\"{seconds:.3}\">\n{suites}</testsuites>\n"
    )
}

fn counts(tests: usize, failures: usize, skipped: usize) -> String {
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"")
}

fn evidence(verdict: &Verdict) -> String {
    let mut lines = String::new();
    for evidence in &verdict.evidence {
        let [world, case] = [&evidence.world, &evidence.case].map(|name| shown(name, 60));
        for effect in evidence.effects.iter().take(SHOWN) {
            let (place, what) = (shown(&effect.place, 120), shown(&effect.what, 120));
            let (phase, grade, lens) = (evidence.phase.name(), effect.grade.name(), effect.lens);
            let _ = writeln!(lines, "{world}, {case}, {phase}: {lens} {place}: {what} ({grade})");
        }
    }
    escaped(&lines)
}

fn attribute(text: &str) -> String {
    escaped(&shown(text, 200))
}
