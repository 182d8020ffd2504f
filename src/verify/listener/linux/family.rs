//! Which processes are the server's own.

use std::{
    collections::{HashMap, HashSet},
    fs,
};

use super::task::{everybody, number};

/// The server's processes, as far as they were seen in a call, and what they started.
///
/// A process is known by its number and the time of its start: numbers come back.
#[derive(Clone, Debug, Default)]
pub(super) struct Family {
    seen: HashMap<u32, u64>,
    /// Numbers that they have among themselves; another than that in a namespace of their own.
    names: HashSet<u32>,
}

/// What the system says about a process.
#[derive(Clone, Copy)]
struct Line {
    is_dead: bool,
    parent: u32,
    group: u32,
    start: u64,
}

impl Family {
    /// This process made a call.
    pub(super) fn saw(&mut self, process: u32) {
        if let Some(line) = line(process) {
            self.seen.insert(process, line.start);
            self.names.extend(number(process, "NSpid:"));
        }
    }

    /// Whether it did before.
    pub(super) fn knows(&self, process: u32) -> bool {
        self.seen.contains_key(&process)
    }

    /// Whether one of them, maybe dead, had this number among themselves.
    pub(super) fn knows_by_name(&self, number: u32) -> bool {
        self.names.contains(&number)
    }

    /// Whether a living process is one of them.
    pub(super) fn has(&self, process: u32) -> bool {
        self.descends(process, line)
    }

    /// Those that are alive.
    pub(super) fn living(&self) -> Vec<u32> {
        let lines: HashMap<u32, Line> = everybody().filter_map(|process| Some((process, line(process)?))).collect();
        let is_own = |process| self.descends(process, |process| lines.get(&process).copied());
        let alive = lines.iter().filter(|(process, line)| !line.is_dead && is_own(**process));
        alive.map(|(process, _)| *process).collect()
    }

    /// Whether a process or one of those that it descends from was seen.
    fn descends(&self, mut process: u32, line: impl Fn(u32) -> Option<Line>) -> bool {
        // No chain of parents is longer.
        for _ in 0..1000 {
            let Some(line) = line(process) else { return false };
            if self.seen.get(&process) == Some(&line.start) {
                return true;
            }
            process = line.parent;
        }
        false
    }
}

/// The name of the program that a process runs.
pub(super) fn program(process: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{process}/comm")).ok().map(|name| name.trim_end().to_owned())
}

/// Its process group.
pub(super) fn group(process: u32) -> Option<u32> {
    line(process).map(|line| line.group)
}

/// The name before the fields may hold anything, so they are counted from the last bracket.
fn line(process: u32) -> Option<Line> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some(Line {
        is_dead: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}
