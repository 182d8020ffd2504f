//! The limits of a box. They are not limits of the system (`setrlimit`), because those don't bind
//! root.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use super::{Limits, processes};

/// How often the disk is looked at although nothing seems to be written.
const SLOWLY: Duration = Duration::from_secs(2);
/// A walk over all that was written may take one part in so many of the time.
const SHARE: u32 = 20;

pub(super) struct Watchdog {
    limits: Limits,
    /// Where the server can write.
    places: Vec<PathBuf>,
    /// What the places held before the server started, in bytes.
    before: u64,
    /// What was free on their disk at the last walk.
    free: u64,
    next: Instant,
    earliest: Instant,
}

impl Watchdog {
    pub(super) fn new(limits: Limits, places: Vec<PathBuf>) -> Self {
        let now = Instant::now();
        let before = places.iter().map(|place| processes::size(place)).sum();
        let mut watchdog = Self { limits, places, before, free: 0, next: now + SLOWLY, earliest: now };
        watchdog.free = watchdog.free();
        watchdog
    }

    /// What the box uses too much of.
    pub(super) fn look(&mut self, first: i32) -> Option<String> {
        let tree = processes::tree(first);
        // The first is ours.
        let count = tree.len() - 1;
        if count > self.limits.processes {
            return Some(format!("it had {count} processes at once; {} are allowed", self.limits.processes));
        }
        let memory: u64 = tree.into_iter().map(processes::memory).sum();
        if memory > self.limits.memory {
            return Some(format!("it used {memory} bytes of memory; {} are allowed", self.limits.memory));
        }
        self.disk()
    }

    fn disk(&mut self) -> Option<String> {
        let now = Instant::now();
        let filling = self.free.saturating_sub(self.free()) > self.limits.disk / 4;
        if now < self.earliest || !(filling || now >= self.next) {
            return None;
        }
        let written = self.places.iter().map(|place| processes::size(place)).sum::<u64>().saturating_sub(self.before);
        self.free = self.free();
        self.next = now + SLOWLY;
        self.earliest = now + now.elapsed() * SHARE;
        (written > self.limits.disk)
            .then(|| format!("it wrote {written} bytes to disk; {} are allowed", self.limits.disk))
    }

    /// The least that is free on any of the disks.
    fn free(&self) -> u64 {
        let free = |place: &PathBuf| rustix::fs::statvfs(place).ok().map(|disk| disk.f_bavail * disk.f_frsize);
        self.places.iter().filter_map(free).min().unwrap_or_default()
    }
}
