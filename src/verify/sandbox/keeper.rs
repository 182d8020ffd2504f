//! The owner's end of the line to a box: one thread that hears what the box tells and kills it when
//! it uses too much.

use std::{
    collections::HashSet,
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{SocketFlags, accept_with},
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

use super::{
    changes::Changes,
    control::{self, Message, Standing},
    sink::Sink,
    spec::Spec,
    watchdog::Watchdog,
};

/// How often the watchdog looks.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What is known of a box.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The first process, as this system numbers it, and a handle that no other process can get.
    pub(super) first: Option<(i32, Arc<OwnedFd>)>,
    /// When the box connected.
    began: Option<Instant>,
    /// From then until it stood.
    pub(super) took: Option<Duration>,
    pub(super) problems: Vec<String>,
    pub(super) changes: Option<Changes>,
    pub(super) listener: Option<OwnedFd>,
    /// Why there is no box.
    pub(super) refused: Option<String>,
    /// What it used too much of.
    pub(super) exceeded: Option<String>,
    /// Ports that were asked for and answered.
    ports: HashSet<u16>,
    /// The answer to a question for a connection: one, or none.
    connection: Option<Vec<OwnedFd>>,
    pub(super) line: Option<Arc<OwnedFd>>,
    pub(super) over: bool,
}

#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) base: PathBuf,
    pub(super) spec: Spec,
    pub(super) sink: Sink,
    known: Mutex<Known>,
    news: Condvar,
    /// Held by who waits for a connection.
    connecting: Mutex<()>,
    stop: AtomicBool,
}

impl Keeper {
    pub(super) fn new(base: PathBuf, spec: Spec, sink: Sink) -> Self {
        Self {
            base,
            spec,
            sink,
            known: Mutex::default(),
            news: Condvar::new(),
            connecting: Mutex::default(),
            stop: AtomicBool::new(false),
        }
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wait until something is known, or until the time is up.
    pub(super) fn wait(&self, most: Duration, is_known: impl Fn(&Known) -> bool) -> MutexGuard<'_, Known> {
        let until = |known: &mut Known| !is_known(known);
        let waited = self.news.wait_timeout_while(self.known(), most, until);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn learn(&self, learn: impl FnOnce(&mut Known)) {
        learn(&mut self.known());
        self.news.notify_all();
    }

    /// Have the sink wait at a port. Returns whether it does.
    pub(super) fn open_port(&self, port: u16) -> bool {
        if self.sink.is_open(port) {
            return true;
        }
        let Some(line) = self.known().line.clone() else { return false };
        if control::send(&line, b'p', &port.to_be_bytes(), &[]).is_err() {
            return false;
        }
        drop(self.wait(Duration::from_millis(500), |known| known.over || known.ports.contains(&port)));
        self.known().ports.remove(&port);
        self.sink.is_open(port)
    }

    /// Have the box connect to a port of its own loopback.
    pub(super) fn connect(&self, port: u16) -> Option<OwnedFd> {
        let _one_at_a_time = self.connecting.lock().unwrap_or_else(PoisonError::into_inner);
        let line = self.known().line.clone()?;
        control::send(&line, b'c', &port.to_be_bytes(), &[]).ok()?;
        self.wait(Duration::from_secs(2), |known| known.over || known.connection.is_some()).connection.take()?.pop()
    }

    /// Kill everything in the box, and wait until nothing of it is left.
    pub(super) fn kill(&self) {
        let Some((_, first)) = self.known().first.clone() else { return };
        let _ = pidfd_send_signal(&first, Signal::KILL);
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        let _ = poll(&mut [PollFd::new(&first, PollFlags::IN)], Some(&patience));
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Until the box or its owner ends.
    pub(super) fn run(&self, door: &OwnedFd) {
        let ended = self.keep(door);
        self.learn(|known| {
            if let (Err(error), None) = (ended, &known.refused) {
                known.refused = Some(error.to_string());
            }
            known.over = true;
            known.line = None;
        });
    }

    fn keep(&self, door: &OwnedFd) -> io::Result<()> {
        if !self.ready(door, || Ok(()))? {
            return Ok(());
        }
        let line = Arc::new(accept_with(door, SocketFlags::CLOEXEC)?);
        self.learn(|known| {
            known.began = Some(Instant::now());
            known.line = Some(Arc::clone(&line));
        });
        let mut watchdog = None;
        loop {
            let told = self.ready(&line, || {
                let first = self.known().first.clone();
                if let (Some(watchdog), Some((id, _))) = (&mut watchdog, first) {
                    let watchdog: &mut Watchdog = watchdog;
                    if let Some(what) = watchdog.look(id) {
                        self.learn(|known| known.exceeded = Some(what));
                        self.kill();
                    }
                }
                Ok(())
            })?;
            let Some(message) = control::receive(&line)?.filter(|_| told) else { return Ok(()) };
            if let Some(begun) = self.hear(message, &line)? {
                watchdog = Some(begun);
            }
        }
    }

    /// Wait for a line to have something, with something to do meanwhile. Returns false if the owner
    /// ends first.
    fn ready(&self, line: &OwnedFd, mut meanwhile: impl FnMut() -> io::Result<()>) -> io::Result<bool> {
        let mut last = Instant::now();
        while !self.stop.load(Ordering::Acquire) {
            let mut ready = [PollFd::new(line, PollFlags::IN)];
            match poll(&mut ready, Some(&TICK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // However much is said, there is time for the rest.
                Ok(_) if last.elapsed() < Duration::from_millis(40) => return Ok(true),
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            meanwhile()?;
            last = Instant::now();
        }
        Ok(false)
    }

    fn hear(&self, message: Message, line: &OwnedFd) -> io::Result<Option<Watchdog>> {
        let Message { tag, bytes, fds } = message;
        match tag {
            b'C' => {
                let first = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
                let first = first.and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no process number"))?;
                let handle = Arc::new(pidfd_open(first, PidfdFlags::empty())?);
                self.learn(|known| known.first = Some((first.as_raw_nonzero().get(), handle)));
            }
            b'S' => return self.stands(&bytes, fds, line).map(Some),
            b'L' => self.learn(|known| known.listener = fds.into_iter().next()),
            b'T' => self.learn(|known| known.connection = Some(fds)),
            b'P' => {
                for socket in fds {
                    self.sink.add(socket)?;
                }
                if let Ok(port) = <[u8; 2]>::try_from(bytes) {
                    self.learn(|known| {
                        known.ports.insert(u16::from_be_bytes(port));
                    });
                }
            }
            _ => {
                let why = String::from_utf8_lossy(&bytes).into_owned();
                self.learn(|known| known.refused = Some(why));
            }
        }
        Ok(None)
    }

    fn stands(&self, bytes: &[u8], sockets: Vec<OwnedFd>, line: &OwnedFd) -> io::Result<Watchdog> {
        let Standing { layers, problems } = serde_json::from_slice(bytes)?;
        for socket in sockets {
            self.sink.add(socket)?;
        }
        let written = ["root", "upper", "tmp", "shm"].map(|dir| self.base.join(dir));
        let worlds = self.spec.worlds.iter().map(|world| world.from.clone());
        let watchdog = Watchdog::new(self.spec.limits, written.into_iter().chain(worlds).collect());
        let home = self.spec.env.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home.into());
        let changes = Changes::start(&self.base, home, layers)?;
        control::send(line.as_fd(), b'g', &[], &[])?;
        self.learn(|known| {
            known.took = known.began.map(|began| began.elapsed());
            known.problems = problems;
            known.changes = Some(changes);
        });
        Ok(watchdog)
    }
}
