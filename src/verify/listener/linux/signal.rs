//! Who is about to get a signal.

use std::fs;

use super::{
    Doing,
    family::{self, Family},
    task::{Task, number},
};

/// Who it goes to.
pub(super) enum To {
    /// As `kill` numbers them: a process; its own group for zero, all for -1, else a group.
    Kill(i32),
    /// A process or one of its threads.
    Thread(u32),
    /// What an open handle leads to.
    Open(i32),
}

/// Who gets it, and whether that is one of the server's own; none if it is the sender itself, whom
/// only it can wish to end.
pub(super) fn receiver(task: &Task, family: &Family, to: &To) -> Option<(Option<String>, bool)> {
    let target = match *to {
        To::Kill(0) => return None,
        To::Kill(-1) => return Some((None, false)),
        To::Kill(group) if group < 0 => return group_of(task, family, group.unsigned_abs()),
        To::Kill(process) => process.unsigned_abs(),
        To::Thread(thread) => thread,
        To::Open(handle) => match opened(task, handle) {
            Some(process) => return one(task, family, process),
            None => return Some((None, false)),
        },
    };
    match task.neighbour(target) {
        Some(process) => one(task, family, process),
        // Nobody is there now. One of its own may have been until just before.
        None => Some((None, family.knows_by_name(target))),
    }
}

/// Number zero asks whether somebody is there, and is never delivered.
pub(super) fn signal(task: &Task, family: &Family, to: &To, signal: i32) -> Option<Doing> {
    if signal == 0 {
        return None;
    }
    let (program, own) = receiver(task, family, to)?;
    Some(Doing::Signals { program, own, signal })
}

fn one(task: &Task, family: &Family, process: u32) -> Option<(Option<String>, bool)> {
    // The number may be that of a thread.
    let process = number(process, "Tgid:").unwrap_or(process);
    (process != task.process).then(|| (family::program(process), family.has(process)))
}

fn group_of(task: &Task, family: &Family, group: u32) -> Option<(Option<String>, bool)> {
    let leader = task.neighbour(group);
    let is_ours = leader.is_some() && leader == family::group(task.process);
    match leader {
        _ if is_ours => None,
        Some(leader) => Some((family::program(leader), family.has(leader))),
        None => Some((None, family.knows_by_name(group))),
    }
}

/// The process that a handle stands for.
fn opened(task: &Task, handle: i32) -> Option<u32> {
    let told = fs::read_to_string(format!("/proc/{}/fdinfo/{handle}", task.thread)).ok()?;
    told.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()
}
