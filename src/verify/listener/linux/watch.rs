//! The loop that looks at waiting calls and lets them go on.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Instant,
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::{Errno, retry_on_intr},
};

use super::{
    Doing, Event, Rings,
    decode::decode,
    family::Family,
    sys::{self, Answer},
    task::Task,
};

/// What is kept between two times that the log is taken.
const MOST_EVENTS: usize = 10_000;

/// Sees the calls of a server that can have an effect, in a thread of its own, and lets each go on.
///
/// When it is dropped, or the process that it belongs to ends, no call waits for ever: each then
/// fails with `ENOSYS`. It is for observing, and forbids nothing: a call's arguments can change
/// after they were looked at.
#[derive(Debug)]
pub struct Listener {
    log: Arc<Mutex<Log>>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Log {
    events: Vec<Event>,
    /// How many there was no room for.
    dropped: usize,
    last: Option<Instant>,
    family: Family,
    is_over: bool,
}

impl Listener {
    /// Look at the calls that wait at this handle, which [`super::install`] made in the server.
    ///
    /// # Errors
    ///
    /// If the kernel speaks of calls in a shape that is not known here, or no thread is to be had.
    pub fn new(waiting: OwnedFd, rings: Rings) -> io::Result<Self> {
        if !sys::is_known() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this kernel's notifications have another shape"));
        }
        let log = Arc::new(Mutex::new(Log::default()));
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let thread = {
            let (log, stop) = (Arc::clone(&log), Arc::clone(&stop));
            thread::Builder::new().name("syscalls".into()).spawn(move || {
                let end = listen(&waiting, &stop, rings, &log);
                let mut log = lock(&log);
                log.is_over = true;
                if let Err(error) = end {
                    log.add(0, Doing::Unseen { why: format!("the listener failed: {error}") });
                }
            })?
        };
        Ok(Self { log, stop, thread: Some(thread) })
    }

    /// What happened since the last time, in order. If there was more than 10,000, the last of it
    /// says how many more.
    #[must_use]
    pub fn take(&self) -> Vec<Event> {
        let mut log = lock(&self.log);
        let mut events = std::mem::take(&mut log.events);
        let dropped = std::mem::take(&mut log.dropped);
        if dropped > 0 {
            let why = format!("{dropped} more calls than there was room for");
            events.push(Event { at: Instant::now(), process: 0, doing: Doing::Unseen { why } });
        }
        events
    }

    /// When the last event was.
    #[must_use]
    pub fn last(&self) -> Option<Instant> {
        lock(&self.log).last
    }

    /// The server's processes that are alive: those that made a call which can have an effect, as
    /// every program does when it starts, and those that they started.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        // Looking through all processes takes a while, in which no call should wait.
        let family = lock(&self.log).family.clone();
        family.living()
    }

    /// Whether no process is left whose calls could be seen.
    #[must_use]
    pub fn is_over(&self) -> bool {
        lock(&self.log).is_over
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Log {
    fn add(&mut self, process: u32, doing: Doing) {
        let at = Instant::now();
        self.last = Some(at);
        if self.events.len() < MOST_EVENTS {
            self.events.push(Event { at, process, doing });
        } else {
            self.dropped += 1;
        }
    }
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Until nobody is left to listen to, or it is told to stop.
fn listen(waiting: &OwnedFd, stop: &OwnedFd, rings: Rings, log: &Mutex<Log>) -> io::Result<()> {
    loop {
        let mut ready = [PollFd::new(waiting, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        retry_on_intr(|| poll(&mut ready, None))?;
        let [call, end] = ready.map(|ready| ready.revents());
        if !end.is_empty() || (call.contains(PollFlags::HUP) && !call.contains(PollFlags::IN)) {
            return Ok(());
        }
        let call = match sys::receive(waiting.as_fd()) {
            // Its thread was killed before it could be looked at.
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::INTR)) => continue,
            received => received?,
        };
        let task = Task::find(call.thread);
        let doings = match &task {
            Some(task) => {
                let mut log = lock(log);
                if !log.family.knows(task.process) {
                    log.family.saw(task.process);
                }
                decode(&call, task, &log.family)
            }
            None => vec![Doing::Unseen { why: "a call of a process that the system does not show".into() }],
        };
        let refused = rings == Rings::Refused && doings.contains(&Doing::SetsUpRing);
        // What was read belongs to that call only if it still waits.
        if sys::still_waits(waiting.as_fd(), call.id) {
            let mut log = lock(log);
            let process = task.map_or(0, |task| task.process);
            for doing in doings {
                log.add(process, doing);
            }
        }
        let answer = if refused { Answer::Fail(libc::ENOSYS) } else { Answer::GoOn };
        sys::answer(waiting.as_fd(), call.id, &answer);
    }
}
