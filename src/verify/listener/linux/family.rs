//! Which processes are the server's own.

use std::{
    collections::{HashMap, HashSet},
    fs,
};

use super::task::{everybody, number};

/// The server's processes, as far as they were seen in a call, and what they started.
///
/// A process is known by its number and the time of its start: numbers come back.
#[derive(Debug, Default)]
pub(super) struct Family {
    seen: HashMap<u32, u64>,
    /// Numbers that they have among themselves; another than that in a namespace of their own.
    names: HashSet<u32>,
}

/// What the system says about a process.
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
        let mut at = process;
        // No chain of parents is longer.
        for _ in 0..1000 {
            let Some(line) = line(at) else { return false };
            if self.seen.get(&at) == Some(&line.start) {
                return true;
            }
            at = line.parent;
        }
        false
    }

    /// Those that are alive.
    pub(super) fn living(&self) -> Vec<u32> {
        let is_alive = |process: &u32| line(*process).is_some_and(|line| !line.is_dead);
        everybody().filter(|process| is_alive(process) && self.has(*process)).collect()
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
