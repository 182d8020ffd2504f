//! What was measured, and how it compares with what is aimed at.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

/// One round of load.
pub(crate) struct Run {
    /// Answers in a second.
    pub(crate) rate: f64,
    times: Vec<Duration>,
}

impl Run {
    pub(crate) fn new(mut times: Vec<Duration>, took: Duration) -> Self {
        times.sort_unstable();
        Self { rate: times.len() as f64 / took.as_secs_f64(), times }
    }

    /// Milliseconds within which this share of the answers came.
    pub(crate) fn ms(&self, share: f64) -> f64 {
        let at = (self.times.len() as f64 * share) as usize;
        self.times.get(at.min(self.times.len().saturating_sub(1))).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }
}

/// Everything measured so far: a few rounds of each figure.
#[derive(Default)]
pub(crate) struct Figures {
    rounds: BTreeMap<(String, String), Vec<f64>>,
}

impl Figures {
    pub(crate) fn add(&mut self, what: &str, who: &str, value: f64) {
        self.rounds.entry((what.to_owned(), who.to_owned())).or_default().push(value);
    }

    /// The median of the rounds.
    pub(crate) fn median(&self, what: &str, who: &str) -> Option<f64> {
        let mut rounds = self.rounds.get(&(what.to_owned(), who.to_owned()))?.clone();
        rounds.sort_by(f64::total_cmp);
        rounds.get(rounds.len() / 2).copied()
    }

    /// The smallest median of these.
    pub(crate) fn least(&self, what: &str, whose: &[&str]) -> Option<f64> {
        whose.iter().filter_map(|who| self.median(what, who)).min_by(f64::total_cmp)
    }

    /// One line a server, one column a figure; after each median how far the rounds lay apart.
    pub(crate) fn table(&self, title: &str, columns: &[(&str, &str)], rows: &[&str]) -> String {
        let mut text = format!("| {title} |");
        for (_, name) in columns {
            let _ = write!(text, " {name} |");
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(columns.len()));
        text.push('\n');
        for who in rows {
            let cells: Vec<String> = columns.iter().map(|(what, _)| self.cell(what, who)).collect();
            if cells.iter().any(|cell| cell != "–") {
                let _ = writeln!(text, "| {who} | {} |", cells.join(" | "));
            }
        }
        text
    }

    fn cell(&self, what: &str, who: &str) -> String {
        let Some(median) = self.median(what, who) else { return "–".to_owned() };
        let rounds = self.rounds.get(&(what.to_owned(), who.to_owned())).map_or(&[][..], Vec::as_slice);
        let most = rounds.iter().copied().fold(f64::MIN, f64::max);
        let least = rounds.iter().copied().fold(f64::MAX, f64::min);
        let spread = if rounds.len() > 1 && median > 0.0 { (most - least) / median * 50.0 } else { 0.0 };
        if rounds.len() > 1 { format!("{} ±{spread:.0}%", short(median)) } else { short(median) }
    }
}

/// Three digits are all that such a measurement is worth.
pub(crate) fn short(value: f64) -> String {
    match value {
        v if v >= 10_000.0 => format!("{:.1}k", v / 1000.0),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.4}"),
    }
}

/// What is aimed at.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    AtLeast(f64),
    AtMost(f64),
}

/// One line of the comparison.
pub(crate) struct Target {
    pub(crate) what: String,
    pub(crate) aim: Aim,
    /// None if a part of it was not measured.
    pub(crate) reached: Option<f64>,
}

impl Target {
    pub(crate) fn is_missed(&self) -> bool {
        match (self.aim, self.reached) {
            (Aim::AtLeast(aim), Some(value)) => value < aim,
            (Aim::AtMost(aim), Some(value)) => value > aim,
            (_, None) => false,
        }
    }
}

/// The comparison as a table.
pub(crate) fn comparison(targets: &[Target]) -> String {
    let mut text = "| target | aim | reached | |\n|---|---|---|---|\n".to_owned();
    for target in targets {
        let aim = match target.aim {
            Aim::AtLeast(aim) => format!("≥ {aim}"),
            Aim::AtMost(aim) => format!("≤ {aim}"),
        };
        let (reached, mark) = match target.reached {
            Some(value) => (short(value), if target.is_missed() { "**MISSED**" } else { "met" }),
            None => ("–".to_owned(), "not measured"),
        };
        let _ = writeln!(text, "| {} | {aim} | {reached} | {mark} |", target.what);
    }
    text
}
