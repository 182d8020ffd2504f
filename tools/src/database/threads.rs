//! Blocking SQLite work, off the async threads: a few threads, one bounded queue, and a call that
//! can be stopped from outside until the moment it commits.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::{sync::oneshot, time::sleep_until};

use super::refusal::{Fault, Task};
use crate::ToolError;

/// SQLite expands nested views and subqueries by recursion.
const STACK_BYTES: usize = 8 << 20;

/// How long the thread that was told to stop may take to say so itself. A single SQLite operation
/// cannot be interrupted; the caller does not wait for it.
const GRACE: Duration = Duration::from_millis(250);

/// Gets what its thread keeps from one job to the next: a connection, or nothing yet.
type Job<K> = Box<dyn FnOnce(&mut Option<K>) + Send>;

/// Threads that take jobs from one queue. They end when this value is dropped.
#[derive(Debug)]
pub(crate) struct Threads<K> {
    queue: SyncSender<Job<K>>,
}

impl<K: 'static> Threads<K> {
    pub(crate) fn start(name: &str, count: usize, queue: usize) -> io::Result<Self> {
        let (sender, receiver) = sync_channel::<Job<K>>(queue.max(1));
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..count.max(1) {
            let receiver = Arc::clone(&receiver);
            let serve = move || {
                let mut kept = None;
                while let Some(job) = next(&receiver) {
                    job(&mut kept);
                }
            };
            thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(serve)?;
        }
        Ok(Self { queue: sender })
    }

    /// Do this work on a thread. Dropping the future, or the end of the task's time, stops it; the
    /// thread stays taken until the work has really ended. After anything but success the thread
    /// throws away what it kept.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        task: Task,
        work: impl FnOnce(&mut Option<K>, &Arc<Call>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, ToolError> {
        let call = Arc::new(Call::lasting(task.time));
        let (reply, mut answer) = oneshot::channel();
        let working = Arc::clone(&call);
        let job: Job<K> = Box::new(move |kept| {
            if working.stopped() {
                return;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| work(kept, &working)));
            if !matches!(outcome, Ok(Ok(_))) {
                *kept = None;
            }
            // Nobody listens after a cancellation.
            let _ = reply.send(outcome.map_err(|_| ()));
        });
        match self.queue.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(task.busy()),
            Err(TrySendError::Disconnected(_)) => return Err(ToolError::internal("no threads")),
        }

        let _stop = StopOnDrop(&call);
        let outcome = tokio::select! {
            outcome = &mut answer => outcome,
            () = sleep_until((call.deadline + GRACE).into()) => {
                if call.stop() {
                    return Err(task.out_of_time());
                }
                answer.await
            }
        };
        match outcome {
            Ok(Ok(done)) => done.map_err(|fault| fault.told(&task)),
            Ok(Err(())) => Err(ToolError::internal("database work panicked")),
            // Its time was over before a thread was free.
            Err(_) => Err(task.busy()),
        }
    }
}

fn next<K>(receiver: &Mutex<Receiver<Job<K>>>) -> Option<Job<K>> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// One call's life: running, then either stopped or committing. Never both, so that "nothing was
/// changed" stays true once it was said.
#[derive(Debug)]
pub(crate) struct Call {
    deadline: Instant,
    state: AtomicU8,
}

const RUNNING: u8 = 0;
const STOPPED: u8 = 1;
const COMMITTING: u8 = 2;

impl Call {
    fn lasting(time: Duration) -> Self {
        Self { deadline: Instant::now() + time, state: AtomicU8::new(RUNNING) }
    }

    /// Whether the work should end here.
    pub(crate) fn stopped(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            RUNNING => Instant::now() >= self.deadline,
            state => state == STOPPED,
        }
    }

    /// The point of no return: false if the call was stopped or its time is over.
    pub(crate) fn commits(&self) -> bool {
        Instant::now() < self.deadline && self.turn(COMMITTING)
    }

    /// False if it is too late, because the work is being committed.
    fn stop(&self) -> bool {
        self.turn(STOPPED) || self.state.load(Ordering::Acquire) == STOPPED
    }

    fn turn(&self, to: u8) -> bool {
        self.state.compare_exchange(RUNNING, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

struct StopOnDrop<'a>(&'a Call);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
