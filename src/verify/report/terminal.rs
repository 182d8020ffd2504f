//! The report for a terminal or a log.

use std::fmt::Write as _;

use candor_tools::shown;
use unicode_width::UnicodeWidthStr as _;

use super::{Report, declared, plural};
use crate::verify::{Effect, Evidence, Finding, Level, Outcome, Verdict};

/// The heads of the four columns, and how wide each of them is.
const HEADS: [&str; 4] = ["READ-ONLY", "DESTRUCTIVE", "IDEMPOTENT", "OPEN-WORLD"];
const CELL: usize = 13;
/// Narrower terminals wrap.
const MIN_WIDTH: usize = 72;
/// More than this of a kind is only counted; JSON has all of it.
const SHOWN: usize = 6;

/// The report as plain text, no line wider than `width` columns (at least 72); with ANSI colours if
/// asked.
#[must_use]
pub fn terminal(report: &Report, width: usize, colour: bool) -> String {
    let mut page = Page { text: String::new(), width: width.max(MIN_WIDTH), colour };
    page.head(report);
    page.matrix(report);
    page.verdicts(report);
    page.findings(&report.findings);
    page.excuses(report);
    page.foot(report);
    page.text
}

struct Page {
    text: String,
    width: usize,
    colour: bool,
}

impl Page {
    fn head(&mut self, report: &Report) {
        // A name that wraps must not begin a line: it could pass for one of ours.
        self.wrap("", "  ", &format!("{}: {}", report.server_name(), report.scope()));
        let blind = report.sight.blind_to.iter().map(|what| shown(what, 100)).collect::<Vec<_>>().join(", ");
        let blind = if blind.is_empty() { String::new() } else { format!("; blind to {blind}") };
        let why = report.sight.why.as_ref().map(|why| format!("; none higher: {}", shown(why, 300)));
        self.wrap("", "  ", &format!("Rung `{}`{blind}{}.", report.sight.rung, why.unwrap_or_default()));
        self.wrap("", "", &format!("Hints as defined by `{}`.", report.definition));
    }

    /// One line a tool: its name and four marks.
    fn matrix(&mut self, report: &Report) {
        let names = self.width - 4 * CELL;
        let line = format!("{}{}", pad("TOOL", names), HEADS.map(|head| pad(head, CELL)).concat());
        let _ = writeln!(self.text, "\n{}", line.trim_end());
        for tool in &report.tools {
            self.text += &pad(&fit(&shown(&tool.name, 200), names - 1), names);
            let mut verdicts = report.verdicts.iter().filter(|verdict| verdict.tool == tool.name).peekable();
            while let Some(verdict) = verdicts.next() {
                let cell = format!("{} {}", verdict.outcome.mark(), declared(verdict));
                let painted = self.paint(verdict.outcome, &cell);
                let space = CELL.saturating_sub(cell.width());
                let space = if verdicts.peek().is_some() { space } else { 0 };
                let _ = write!(self.text, "{painted}{:space$}", "");
            }
            self.text.push('\n');
        }
        let met = Outcome::ALL.into_iter().rev().filter(|outcome| report.count(*outcome) > 0);
        let key = met.map(|outcome| format!("{} {outcome}", outcome.mark())).collect::<Vec<_>>();
        let (first, rest) = key.split_at(key.len().min(5));
        let _ = writeln!(self.text, "\n{}", first.join("   "));
        if !rest.is_empty() {
            let _ = writeln!(self.text, "{}", rest.join("   "));
        }
    }

    /// Everything that doesn't hold: what is wrong one by one, the rest by reason.
    fn verdicts(&mut self, report: &Report) {
        for verdict in report.verdicts.iter().filter(|verdict| verdict.outcome.is_wrong()) {
            self.wrong(verdict);
        }
        let mut groups: Vec<(&Verdict, Vec<String>)> = Vec::new();
        for verdict in report.verdicts.iter().filter(|verdict| verdict.outcome.is_open()) {
            let key = |verdict: &Verdict| (verdict.outcome, verdict.hint, verdict.note.clone());
            let name = shown(&verdict.tool, 60);
            match groups.iter_mut().find(|(known, _)| key(known) == key(verdict)) {
                Some((_, tools)) => tools.push(name),
                None => groups.push((verdict, vec![name])),
            }
        }
        groups.sort_by_key(|(verdict, _)| verdict.outcome);
        for (verdict, tools) in groups {
            let Verdict { outcome, hint, note, .. } = verdict;
            self.text.push('\n');
            let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
            self.marked(*outcome, outcome.mark(), &format!("{outcome} {hint}{note}"));
            self.wrap("  ", "  ", &tools.join(", "));
        }
    }

    fn wrong(&mut self, verdict: &Verdict) {
        let Verdict { outcome, note, world, grade, .. } = verdict;
        let grade = match (grade, outcome) {
            (Some(grade), Outcome::Refuted) => format!(" ({})", grade.name()),
            _ => String::new(),
        };
        self.text.push('\n');
        let text = format!("{}: {} {outcome}{grade}", shown(&verdict.id, 200), declared(verdict));
        self.marked(*outcome, outcome.mark(), &text);
        if let Some(world) = world {
            self.wrap("  ", "  ", &format!("smallest world `{}`", shown(world, 60)));
        }
        if let Some(note) = note {
            self.wrap("  ", "  ", note);
        }
        for evidence in verdict.evidence.iter().take(SHOWN) {
            self.evidence(evidence);
        }
        if let Some(more) = verdict.evidence.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            self.wrap("  ", "  ", &format!("and {more} more, in the JSON report"));
        }
    }

    fn evidence(&mut self, evidence: &Evidence) {
        let Evidence { world, case, transport, era, phase, effects, trials } = evidence;
        let (world, case, phase) = (shown(world, 60), shown(case, 60), phase.name());
        let trials = if *trials > 1 { format!(", {trials} trials") } else { String::new() };
        let head = format!("world `{world}`, case `{case}`, {phase} ({transport}, {era}{trials}):");
        self.wrap("  ", "    ", &head);
        for effect in effects.iter().take(SHOWN) {
            self.wrap("    ", "      ", &line(effect));
        }
        if let Some(more) = effects.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            self.wrap("    ", "    ", &format!("and {more} more"));
        }
    }

    /// The worst first, one entry a rule and text.
    fn findings(&mut self, findings: &[Finding]) {
        let mut groups: Vec<(&Finding, Vec<String>)> = Vec::new();
        for finding in findings {
            let name = shown(finding.tool.as_deref().unwrap_or("the server"), 60);
            let same = |known: &Finding| {
                (known.rule, known.level, &known.text) == (finding.rule, finding.level, &finding.text)
            };
            match groups.iter_mut().find(|(known, _)| same(known)) {
                Some((_, tools)) => tools.push(name),
                None => groups.push((finding, vec![name])),
            }
        }
        groups.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.level));
        for (finding, tools) in groups {
            self.text.push('\n');
            let colour = match finding.level {
                Level::Fault => Outcome::Refuted,
                Level::Warning => Outcome::Overstated,
                Level::Note => Outcome::Untested,
            };
            self.marked(colour, finding.level.name(), &format!("{}: {}", finding.rule.name(), finding.text));
            self.wrap("  ", "  ", &tools.join(", "));
        }
    }

    fn excuses(&mut self, report: &Report) {
        if report.excuses.is_empty() {
            return;
        }
        self.text += "\nNot counted, being bookkeeping:\n";
        for excuse in &report.excuses {
            let (place, what) = (shown(&excuse.place, 80), shown(&excuse.what, 80));
            let (times, tools) = (plural(excuse.times, "time"), plural(excuse.tools.len(), "tool"));
            self.wrap(
                "  ",
                "    ",
                &format!("{}: {} ({times}, {tools}; first {place}: {what})", excuse.lens, excuse.rule),
            );
        }
    }

    fn foot(&mut self, report: &Report) {
        let counts = report.counted(|_| true).join(", ");
        let levels = [Level::Fault, Level::Warning, Level::Note].map(|level| {
            let count = report.findings.iter().filter(|finding| finding.level == level).count();
            (count > 0).then(|| plural(count, level.name()))
        });
        let levels: Vec<String> = levels.into_iter().flatten().collect();
        self.text.push('\n');
        self.wrap("", "  ", &format!("{}: {counts}", plural(report.verdicts.len(), "verdict")));
        if !levels.is_empty() {
            self.wrap("", "", &format!("Beside them: {}", levels.join(", ")));
        }
        self.wrap("", "  ", &report.summary());
    }

    fn paint(&self, outcome: Outcome, text: &str) -> String {
        let code = match outcome {
            Outcome::Holds => 32,
            Outcome::Malformed | Outcome::Refuted | Outcome::Contradictory => 31,
            Outcome::Overstated | Outcome::Undeclared => 33,
            Outcome::Untested => 36,
        };
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A painted word, then text that is wrapped under it.
    fn marked(&mut self, outcome: Outcome, mark: &str, text: &str) {
        let start = self.text.len();
        self.wrap("", "  ", &format!("{mark} {text}"));
        let painted = self.paint(outcome, mark);
        self.text.replace_range(start..start + mark.len(), &painted);
    }

    /// Text in lines that fit: `first` before the first of them, `rest` before the others.
    fn wrap(&mut self, first: &str, rest: &str, text: &str) {
        let mut line = first.to_owned();
        let mut empty = true;
        for word in text.split(' ').flat_map(|word| pieces(word, self.width - rest.len().max(first.len()))) {
            if !empty && line.width() + 1 + word.width() > self.width {
                self.text += line.trim_end();
                self.text.push('\n');
                rest.clone_into(&mut line);
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line += word;
            empty = false;
        }
        self.text += line.trim_end();
        self.text.push('\n');
    }
}

fn line(Effect { grade, lens, place, what, .. }: &Effect) -> String {
    format!("{lens} {}: {} ({})", shown(place, 120), shown(what, 120), grade.name())
}

/// A word that is too wide, in pieces that fit.
fn pieces(word: &str, width: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while rest.width() > width {
        let ends = rest.char_indices().map(|(at, char)| at + char.len_utf8());
        let end = ends.take_while(|end| rest.get(..*end).is_some_and(|piece| piece.width() <= width)).last();
        let Some((piece, after)) = end.and_then(|end| rest.split_at_checked(end)) else { break };
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Text cut to a width.
fn fit(text: &str, width: usize) -> String {
    match pieces(text, width).as_slice() {
        [_] => text.to_owned(),
        _ => format!("{}…", pieces(text, width - 1).first().copied().unwrap_or_default()),
    }
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{:space$}", "", space = width.saturating_sub(text.width()))
}
