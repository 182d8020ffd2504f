//! `JUnit` XML: a suite a scenario and era, a case a check. What is untested is skipped.

use std::fmt::Write as _;

use candor_tools::shown;

use super::Run;
use crate::{conform::judge::Outcome, verify::report::html::escaped};

pub(in crate::conform) fn junit(runs: &[Run]) -> String {
    let mut suites = String::new();
    let (mut all, mut all_failed, mut all_skipped) = (0, 0, 0);
    for run in runs {
        let (tests, failed, skipped) = (run.checks.len(), run.failures().count(), run.skipped());
        (all, all_failed, all_skipped) = (all + tests, all_failed + failed, all_skipped + skipped);
        let name = format!("{} [{}]", run.scenario, run.era.name());
        let counts = counts(tests, failed, skipped);
        let _ = writeln!(suites, "  <testsuite name=\"{name}\" {counts} time=\"{:.3}\">", run.seconds);
        for (check, outcome) in &run.checks {
            let start = format!("    <testcase classname=\"{name}\" name=\"{}\"", escaped(&check.id));
            let _ = match outcome {
                Outcome::Success => writeln!(suites, "{start}/>"),
                Outcome::Failure(fault) => {
                    let fault = escaped(&shown(fault, 300));
                    writeln!(suites, "{start}><failure message=\"{fault}\">{}</failure></testcase>", check.description)
                }
                Outcome::Skipped => {
                    writeln!(suites, "{start}><skipped message=\"the client reports no questions\"/></testcase>")
                }
            };
        }
        suites += "  </testsuite>\n";
    }
    let counts = counts(all, all_failed, all_skipped);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"candor conform\" {counts}>\n{suites}</testsuites>\n"
    )
}

fn counts(tests: usize, failures: usize, skipped: usize) -> String {
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"")
}
