//! Who called what, and how it ended: one JSON line each, never an argument's value.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Instant, SystemTime},
};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Calls whose lines may wait for the disk before new calls do.
const WAITING: usize = 1024;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The tool did its work.
    Done,
    /// The tool refused, and told the model why.
    Refused,
    /// No such tool.
    Unknown,
    /// The caller's grant does not cover the tool.
    Denied,
    /// A limit on arguments, rate or result stopped it.
    Limited,
    /// The user is being asked; the answer comes as a call of its own.
    Asked,
    /// The user did not agree, or could not be asked.
    Unconfirmed,
    /// The time limit ended it.
    TimedOut,
    /// The client cancelled it or went away.
    Cancelled,
    /// A fault of the server.
    Failed,
    /// The tool panicked.
    Panicked,
    /// The server let go of the call before it ended.
    Aborted,
}

/// The file, or nowhere.
#[derive(Clone, Debug, Default)]
pub struct Audit(Option<Arc<Log>>);

#[derive(Debug)]
struct Log {
    lines: mpsc::UnboundedSender<Line>,
    /// Bounds the queue: a call has a place from its beginning until its last line is written.
    places: Arc<Semaphore>,
    calls: AtomicU64,
    /// Tells the calls of one run of the server from those of another.
    run: String,
}

#[derive(Debug)]
struct Line {
    text: Vec<u8>,
    /// Set when somebody waits for the line to be on the disk.
    synced: Option<oneshot::Sender<io::Result<()>>>,
    /// Given back when the line is written.
    _place: Option<OwnedSemaphorePermit>,
}

/// One line, as written.
#[derive(Serialize)]
struct Entry<'a> {
    time: String,
    call: &'a str,
    event: &'static str,
    caller: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    tool: &'a str,
    arguments: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u128>,
}

impl Audit {
    /// Append to `path`, creating it for the owner alone.
    ///
    /// # Errors
    ///
    /// If the file can't be opened for appending, naming it.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("audit file `{}`: {error}", path.display()));
        let file = options.open(path).map_err(named)?;
        let (lines, queue) = mpsc::unbounded_channel();
        let path = path.to_owned();
        std::thread::Builder::new().name("audit".into()).spawn(move || write_lines(&path, &file, queue))?;
        let mut run = [0; 4];
        getrandom::fill(&mut run).map_err(io::Error::other)?;
        let places = Arc::new(Semaphore::new(WAITING));
        Ok(Self(Some(Arc::new(Log { lines, places, calls: AtomicU64::new(0), run: hex::encode(run) }))))
    }

    /// Wait until every line so far is on the disk.
    ///
    /// # Errors
    ///
    /// If the last of them could not be written.
    pub async fn flush(&self) -> io::Result<()> {
        match &self.0 {
            Some(log) => log.write_synced(Vec::new(), None).await,
            None => Ok(()),
        }
    }

    /// Begin the record of one call. Waits while the disk is behind, so that the outcome has its
    /// place in the queue whatever happens.
    pub(crate) async fn begin(
        &self,
        who: &super::Principal,
        tool: &str,
        arguments: impl FnOnce() -> [u8; 32],
    ) -> Record {
        let Some(log) = &self.0 else { return Record(None) };
        let Ok(place) = log.places.clone().acquire_owned().await else { return Record(None) }; // never closed
        let number = log.calls.fetch_add(1, Ordering::Relaxed) + 1;
        Record(Some(Open {
            call: format!("{}-{number}", log.run),
            caller: who.name.clone(),
            token: who.token.clone(),
            tool: tool.chars().take(64).collect(),
            arguments: hex::encode(arguments()),
            began: Instant::now(),
            log: log.clone(),
            place,
            intended: false,
        }))
    }
}

impl Log {
    async fn write_synced(&self, text: Vec<u8>, place: Option<OwnedSemaphorePermit>) -> io::Result<()> {
        let (synced, written) = oneshot::channel();
        let gone = || io::Error::other("the audit thread is gone");
        self.lines.send(Line { text, synced: Some(synced), _place: place }).map_err(|_| gone())?;
        written.await.map_err(|_| gone())?
    }
}

/// The record of one call. Ends with exactly one outcome; dropped without one, it says `aborted`.
#[derive(Debug)]
pub(crate) struct Record(Option<Open>);

#[derive(Debug)]
struct Open {
    call: String,
    caller: String,
    token: Option<String>,
    tool: String,
    arguments: String,
    began: Instant,
    log: Arc<Log>,
    place: OwnedSemaphorePermit,
    /// An intent is on the disk, so the outcome must be there too before the caller learns it.
    intended: bool,
}

impl Record {
    /// Put on the disk that a destructive call is about to run.
    ///
    /// # Errors
    ///
    /// If it could not be written: then the call must not run.
    pub(crate) async fn intent(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.0 else { return Ok(()) };
        let text = open.line("intent", None);
        open.log.write_synced(text, None).await?;
        open.intended = true;
        Ok(())
    }

    /// Write how the call ended; after an intent, wait until that is on the disk.
    pub(crate) async fn end(mut self, outcome: Outcome) {
        if self.0.as_ref().is_some_and(|open| !open.intended) {
            self.close(outcome);
        } else if let Some(open) = self.0.take() {
            let text = open.line("outcome", Some(outcome));
            let _ = open.log.write_synced(text, Some(open.place)).await; // a failure is in the log
        }
    }

    fn close(&mut self, outcome: Outcome) {
        if let Some(open) = self.0.take() {
            let text = open.line("outcome", Some(outcome));
            let _ = open.log.lines.send(Line { text, synced: None, _place: Some(open.place) });
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.close(Outcome::Aborted);
    }
}

impl Open {
    fn line(&self, event: &'static str, outcome: Option<Outcome>) -> Vec<u8> {
        let entry = Entry {
            time: DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Millis, true),
            call: &self.call,
            event,
            caller: &self.caller,
            token: self.token.as_deref(),
            tool: &self.tool,
            arguments: &self.arguments,
            outcome,
            ms: outcome.map(|_| self.began.elapsed().as_millis()),
        };
        let mut text = serde_json::to_vec(&entry).unwrap_or_default();
        text.push(b'\n');
        text
    }
}

/// The audit thread: whatever has gathered goes to the disk in one piece.
fn write_lines(path: &Path, mut file: &File, mut queue: mpsc::UnboundedReceiver<Line>) {
    let mut torn = false;
    while let Some(first) = queue.blocking_recv() {
        let mut lines = vec![first];
        while let Ok(line) = queue.try_recv() {
            lines.push(line);
        }
        let mut text = Vec::new();
        if torn {
            text.push(b'\n'); // what came before may have been cut off in mid-line
        }
        for line in &lines {
            text.extend_from_slice(&line.text);
        }
        let mut result = file.write_all(&text);
        if result.is_ok() && lines.iter().any(|line| line.synced.is_some()) {
            result = file.sync_data();
        }
        torn = result.is_err();
        if let Err(error) = &result {
            tracing::error!(%error, file = %path.display(), "audit lines were lost; destructive calls are refused until it can be written");
        }
        for waiting in lines.into_iter().filter_map(|line| line.synced) {
            let answer = result.as_ref().copied().map_err(|error| io::Error::new(error.kind(), error.to_string()));
            let _ = waiting.send(answer);
        }
    }
}
