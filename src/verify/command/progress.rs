//! A line on a terminal while the trials run.

use std::{
    io::{IsTerminal, Write},
    sync::atomic::{AtomicUsize, Ordering},
};

const WIDTH: usize = 30;

pub(super) struct Progress {
    all: usize,
    done: AtomicUsize,
    shown: bool,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        Self { all, done: AtomicUsize::new(0), shown: std::io::stderr().is_terminal() }
    }

    pub(super) fn one(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shown {
            let bar = "#".repeat(WIDTH * done / self.all.max(1));
            let _ = write!(std::io::stderr(), "\r[{bar:.<WIDTH$}] {done} of {} trials", self.all);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r{:70}\r", "");
        }
    }
}
