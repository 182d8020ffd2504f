//! The table for people: a line a scenario, a column an era, then what failed; 80 columns at most.

use std::fmt::Write as _;

use candor_tools::shown;

use super::Run;
use crate::wire::Era;

const WIDTH: usize = 80;
const NAME: usize = 32;
const CELL: usize = 24;

pub(in crate::conform) fn summary(runs: &[Run], channel: bool) -> String {
    let eras: Vec<Era> = Era::ALL.into_iter().filter(|era| runs.iter().any(|run| run.era == *era)).collect();
    let mut text = format!("{:NAME$}", "SCENARIO");
    for era in &eras {
        let _ = write!(text, "{:CELL$}", era.name());
    }
    let mut lines = vec![text.trim_end().to_owned()];
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.scenario) {
            names.push(run.scenario);
        }
    }
    for name in names {
        let mut line = format!("{name:NAME$}");
        for era in &eras {
            let run = runs.iter().find(|run| run.scenario == name && run.era == *era);
            let _ = write!(line, "{:CELL$}", run.map(cell).unwrap_or_default());
        }
        lines.push(line.trim_end().to_owned());
    }
    for run in runs {
        for (check, fault) in run.failures() {
            lines.push(String::new());
            lines.push(format!("FAIL {} [{}] {}", run.scenario, run.era.name(), check.id));
            wrap(&mut lines, check.description);
            wrap(&mut lines, &shown(fault, 400));
        }
    }
    let count = |of: fn(&Run) -> usize| runs.iter().map(of).sum::<usize>();
    let (all, failed, skipped) =
        (count(|run| run.checks.len()), count(|run| run.failures().count()), count(Run::skipped));
    lines.push(String::new());
    lines.push(format!("{} passed, {failed} failed, {skipped} untested", all - failed - skipped));
    if !channel {
        wrap(
            &mut lines,
            "The client reports no questions at the approval address: what is about questions is untested.",
        );
    }
    lines.join("\n") + "\n"
}

fn cell(run: &Run) -> String {
    let (all, failed, skipped) = (run.checks.len(), run.failures().count(), run.skipped());
    match (failed, skipped) {
        (0, 0) => "pass".into(),
        (0, skipped) => format!("{skipped} of {all} untested"),
        (failed, _) => format!("FAIL {failed} of {all}"),
    }
}

fn wrap(lines: &mut Vec<String>, text: &str) {
    let mut line = String::from("    ");
    for word in text.split_whitespace() {
        if line.trim().is_empty() {
            line += word;
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line = line + " " + word;
        } else {
            lines.push(std::mem::replace(&mut line, format!("    {word}")));
        }
    }
    lines.push(line);
}
