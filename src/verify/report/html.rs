//! The report as one page: nothing is loaded from elsewhere, and nothing needs a script.

use std::fmt::Write as _;

use candor_tools::shown;

use super::{Excuse, Report, SHOWN, declared, plural};
use crate::{
    hints::DeclaredTool,
    verify::{Effect, Evidence, Finding, Outcome, Verdict},
};

const STYLE: &str = include_str!("page.css");

/// The matrix of tools and hints, each row of which opens to show the evidence; then what was found
/// beside it, and what was not counted.
#[must_use]
pub fn html(report: &Report) -> String {
    let mut page = Page(String::new());
    page.head(report);
    page.matrix(report);
    page.server_findings(report);
    page.excuses(&report.excuses);
    page.limits(report);
    page.0 + "</main>\n</body>\n</html>\n"
}

/// Text with what means something in HTML and XML escaped, inside of quotes too.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            _ => escaped.push(char),
        }
    }
    escaped
}

/// Text of a server: its own directions and invisible characters do nothing here.
fn foreign(text: &str, max: usize) -> String {
    format!("<bdi>{}</bdi>", escaped(&shown(text, max)))
}

/// A sentence, with what stands in backticks as code.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    parts.collect()
}

struct Page(String);

impl Page {
    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        // A string takes all that is written to it.
        let _ = self.0.write_fmt(text);
    }

    fn head(&mut self, report: &Report) {
        let (server, scope) = (escaped(&report.server_name()), report.scope());
        let (rung, definition, summary) = (report.sight.rung, report.definition, report.summary());
        self.add(format_args!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>candor verify: {server}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header>\n<p class=\"kind\">candor verify</p>\n<h1><bdi>{server}</bdi></h1>\n\
             <p>{scope}. Rung <code>{rung}</code>, hints as defined by <code>{definition}</code>.</p>\n"
        ));
        let wrong = report.faults() > 0 || report.verdicts.iter().any(|verdict| verdict.outcome.is_wrong());
        let class = if wrong { "wrong" } else { "fine" };
        self.add(format_args!("<p class=\"summary {class}\">{summary}</p>\n<ul class=\"counts\">\n"));
        for outcome in Outcome::ALL.into_iter().rev().filter(|outcome| report.count(*outcome) > 0) {
            let (count, mark) = (report.count(outcome), outcome.mark());
            self.add(format_args!("<li class=\"{outcome}\"><b>{mark}</b> {count} {outcome}</li>\n"));
        }
        self.add(format_args!("</ul>\n</header>\n"));
    }

    fn matrix(&mut self, report: &Report) {
        self.0 += "<section class=\"matrix\">\n<div class=\"row heads\" aria-hidden=\"true\"><span>tool</span>\
                   <span>read-only</span><span>destructive</span><span>idempotent</span><span>open-world</span></div>\n";
        for tool in &report.tools {
            let verdicts: Vec<&Verdict> = report.verdicts.iter().filter(|verdict| verdict.tool == tool.name).collect();
            let of_tool = |finding: &&Finding| finding.tool.as_ref() == Some(&tool.name);
            let findings: Vec<&Finding> = report.findings.iter().filter(of_tool).collect();
            self.row(tool, &verdicts, &findings);
            self.0 += "<div class=\"more\">\n";
            if let Some(title) = tool.title.as_ref().or(tool.annotations_title.as_ref()) {
                self.add(format_args!("<p class=\"title\">{}</p>\n", foreign(title, 200)));
            }
            for verdict in verdicts {
                self.verdict(verdict);
            }
            self.findings(&findings);
            self.0 += "</div>\n</details>\n";
        }
        self.0 += "</section>\n";
    }

    fn row(&mut self, tool: &DeclaredTool, verdicts: &[&Verdict], findings: &[&Finding]) {
        self.add(format_args!("<details>\n<summary class=\"row\"><span class=\"tool\">{}", foreign(&tool.name, 100)));
        if !findings.is_empty() {
            self.add(format_args!(" <small>{}</small>", plural(findings.len(), "finding")));
        }
        self.0 += "</span>";
        for verdict in verdicts {
            let Verdict { outcome, hint, .. } = verdict;
            let (mark, value) = (outcome.mark(), declared(verdict));
            self.add(format_args!(
                "<span class=\"cell {outcome}\" title=\"{hint}: {outcome}\"><span class=\"unseen\">{hint} </span>\
                 <b aria-hidden=\"true\">{mark}</b> {value}<span class=\"unseen\"> {outcome}</span></span>"
            ));
        }
        self.0 += "</summary>\n";
    }

    fn verdict(&mut self, verdict: &Verdict) {
        let Verdict { hint, outcome, grade, world, calls, worlds, note, .. } = verdict;
        let value = declared(verdict);
        self.add(format_args!(
            "<section class=\"verdict\">\n<h2><code>{hint}</code> {value} <b class=\"{outcome}\">{outcome}</b></h2>\n<p>"
        ));
        match worlds.len() {
            0 => self.0 += "No call tested it.",
            count => {
                let (calls, in_worlds) = (plural(*calls, "call"), plural(count, "world"));
                let worlds = worlds.iter().map(|world| foreign(world, 60)).collect::<Vec<_>>().join(", ");
                self.add(format_args!("Tested by {calls} in {in_worlds}: {worlds}."));
            }
        }
        if let Some(grade) = grade.filter(|_| !worlds.is_empty() || !verdict.evidence.is_empty()) {
            self.add(format_args!(" Worst effect: {}.", grade.name()));
        }
        self.0 += "</p>\n";
        if let Some(world) = world {
            self.add(format_args!("<p>Smallest world that refutes it: {}.</p>\n", foreign(world, 60)));
        }
        if let Some(note) = note {
            self.add(format_args!("<p class=\"remark\">{}</p>\n", prose(note)));
        }
        for evidence in &verdict.evidence {
            self.evidence(evidence);
        }
        self.0 += "</section>\n";
    }

    fn evidence(&mut self, evidence: &Evidence) {
        let Evidence { world, case, transport, era, phase, effects, trials } = evidence;
        let (world, case, phase) = (foreign(world, 60), foreign(case, 60), phase.name());
        let trials = if *trials > 1 { format!(", {trials} trials") } else { String::new() };
        self.add(format_args!(
            "<table class=\"effects\">\n<caption>World {world}, case {case}, {phase} <small>{transport}, {era}{trials}</small></caption>\n"
        ));
        for Effect { grade, lens, place, what, .. } in effects.iter().take(SHOWN) {
            let (place, what, grade) = (foreign(place, 200), foreign(what, 200), grade.name());
            self.add(format_args!(
                "<tr><td>{lens}</td><td><code>{place}</code></td><td>{what}</td><td class=\"{grade}\">{grade}</td></tr>\n"
            ));
        }
        if let Some(more) = effects.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            self.add(format_args!("<tr><td colspan=\"4\">and {more} more, in the JSON report</td></tr>\n"));
        }
        self.0 += "</table>\n";
    }

    fn findings(&mut self, findings: &[&Finding]) {
        if findings.is_empty() {
            return;
        }
        self.0 += "<ul class=\"findings\">\n";
        for Finding { rule, level, text, .. } in findings {
            let (rule, question, level) = (rule.name(), escaped(rule.text()), level.name());
            let text = prose(text);
            self.add(format_args!(
                "<li><b class=\"{level}\">{level}</b> <span title=\"{question}\">{rule}</span>: {text}</li>\n"
            ));
        }
        self.0 += "</ul>\n";
    }

    fn server_findings(&mut self, report: &Report) {
        let findings: Vec<&Finding> = report.findings.iter().filter(|finding| finding.tool.is_none()).collect();
        if !findings.is_empty() {
            self.0 += "<section>\n<h2>The server without a call</h2>\n";
            self.findings(&findings);
            self.0 += "</section>\n";
        }
    }

    fn excuses(&mut self, excuses: &[Excuse]) {
        if excuses.is_empty() {
            return;
        }
        self.0 += "<section>\n<h2>Not counted, being bookkeeping</h2>\n<table class=\"excuses\">\n\
                   <tr><th>lens</th><th>rule</th><th>times</th><th>first</th></tr>\n";
        for Excuse { rule, lens, times, place, what, .. } in excuses {
            let (rule, place, what) = (escaped(rule), foreign(place, 120), foreign(what, 120));
            self.add(format_args!(
                "<tr><td>{lens}</td><td>{rule}</td><td>{times}</td><td><code>{place}</code> {what}</td></tr>\n"
            ));
        }
        self.0 += "</table>\n</section>\n";
    }

    fn limits(&mut self, report: &Report) {
        let blind = &report.sight.blind_to;
        if !blind.is_empty() {
            let blind = escaped(&blind.iter().map(|what| shown(what, 100)).collect::<Vec<_>>().join(", "));
            let why = report.sight.why.as_ref();
            let why = why.map_or_else(String::new, |why| format!("<p>No higher one: {}.</p>\n", foreign(why, 300)));
            self.add(format_args!("<section>\n<h2>What this rung can't see</h2>\n<p>{blind}.</p>\n{why}</section>\n"));
        }
        let (version, command) = (env!("CARGO_PKG_VERSION"), foreign(&report.server.command, 300));
        self.add(format_args!(
            "<footer>\n<p>A hint that holds survived every trial; nothing proves one. <code>{command}</code>, \
             judged by candor {version}.</p>\n</footer>\n"
        ));
    }
}
