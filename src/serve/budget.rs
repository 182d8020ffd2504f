use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::Limits;

/// How much one caller may ask of the server: so many calls a second, so many at once.
#[derive(Debug)]
pub(crate) struct Budget {
    running: Semaphore,
    rate: u32,
    /// When the bucket would be empty again if no further call came. It is full, and the next
    /// call refused, when this lies a second ahead.
    drained: Mutex<Instant>,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            running: Semaphore::new(limits.calls_at_once as usize),
            rate: limits.calls_per_second,
            drained: Mutex::new(Instant::now()),
        }
    }

    /// Take one call out of this second's budget. `false` if there is none left.
    pub(crate) fn spend(&self) -> bool {
        let now = Instant::now();
        let mut drained = self.drained.lock().unwrap_or_else(PoisonError::into_inner);
        let after = (*drained).max(now) + Duration::from_secs(1) / self.rate;
        if after > now + Duration::from_secs(1) {
            return false;
        }
        *drained = after;
        true
    }

    /// Wait for a turn to run.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.running.acquire().await.ok() // never closed
    }
}
