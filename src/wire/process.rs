//! The server's process: started, listened to, and ended with everything that it started.

use std::{
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::WireError;

/// Set for the server to a value of its own, by which its processes are found again.
const MARK: &str = "CANDOR_SERVER";
/// What is kept of the end of standard error.
const TAIL: usize = 64 * 1024;
/// How long a server may take to end after its input was closed, and again after a signal.
const PATIENCE: Duration = Duration::from_secs(3);

/// How a connection ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// The server's exit status, if it was our process.
    pub status: Option<ExitStatus>,
    /// The last 64 KiB that it wrote to standard error.
    pub stderr: String,
}

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Until it was killed: later the number may be somebody else's.
    #[cfg(unix)]
    group: Option<Pid>,
    mark: String,
    written: Tail,
    listeners: JoinSet<()>,
}

impl Process {
    /// Start a server. Its standard input and output are left to the caller.
    pub(crate) fn start(
        words: &[String],
        env: &[(String, String)],
        dir: Option<&Path>,
    ) -> Result<(Self, Option<ChildStdin>, Option<ChildStdout>), WireError> {
        let (program, arguments) = words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let failed = |cause| WireError::Start { command: program.to_owned(), cause };
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| failed(error.into()))?;
        let mark = hex::encode(random);
        let mut command = Command::new(program);
        command.args(arguments).envs(env.iter().map(|(name, value)| (name, value))).env(MARK, &mark);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        if let Some(dir) = dir {
            command.current_dir(dir);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut process = Self {
            #[cfg(unix)]
            group: child.id().and_then(|id| Pid::from_raw(id.cast_signed())),
            child,
            mark,
            written: Tail::default(),
            listeners: JoinSet::new(),
        };
        if let Some(errors) = errors {
            process.listen(errors);
        }
        Ok((process, input, output))
    }

    /// Keep the end of what comes out here.
    pub(super) fn listen(&mut self, output: impl AsyncRead + Send + Unpin + 'static) {
        self.listeners.spawn(self.written.clone().fill(output));
    }

    /// The end of what the server wrote to standard error.
    pub(super) fn stderr(&self) -> String {
        self.written.text()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What became of a server that closed its output, and its last words.
    pub(super) async fn how_it_ended(&mut self) -> (String, String) {
        let how = match timeout(Duration::from_secs(1), self.child.wait()).await {
            Ok(Ok(status)) => format!("ended with {status}"),
            _ => "closed its output".to_owned(),
        };
        self.hear_out().await;
        (how, self.stderr())
    }

    /// The output of an ended process is complete once its pipe is; a process that it left behind
    /// may hold that open.
    async fn hear_out(&mut self) {
        let _ =
            timeout(Duration::from_millis(300), async { while self.listeners.join_next().await.is_some() {} }).await;
    }

    /// Wait for the end of a server that was told, ask it to end if it does not, and leave nothing
    /// of it behind.
    pub(crate) async fn end(mut self, told: bool) -> Closed {
        let mut status = None;
        if told {
            status = self.wait().await;
        }
        if status.is_none() {
            self.ask_to_end();
            status = self.wait().await;
        }
        self.kill();
        if status.is_none() {
            status = self.wait().await;
        }
        self.hear_out().await;
        Closed { status, stderr: self.stderr() }
    }

    async fn wait(&mut self) -> Option<ExitStatus> {
        timeout(PATIENCE, self.child.wait()).await.ok().and_then(Result::ok)
    }

    /// Wait until no process of the server is left but these, for `most` at the longest. Returns
    /// whether that came true.
    pub(super) async fn settles(&self, to: &[u32], most: Duration) -> bool {
        let wait = async {
            while self.family().iter().any(|process| !to.contains(process)) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(most, wait).await.is_ok()
    }

    /// Every living process that the server started, itself included, however far it went away.
    /// Only Linux shows that.
    pub(super) fn family(&self) -> Vec<u32> {
        let entry = format!("{MARK}={}", self.mark);
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok())
            .filter(|process| {
                let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
            })
            .collect()
    }

    #[cfg(unix)]
    fn ask_to_end(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::TERM);
        }
    }

    #[cfg(not(unix))]
    fn ask_to_end(&self) {}

    /// End what is left, at once. A process may be about to start another, hence more than once.
    #[cfg(unix)]
    fn kill(&mut self) {
        let Some(group) = self.group.take() else { return };
        let _ = kill_process_group(group, Signal::KILL);
        for _ in 0..100 {
            let left = self.family();
            if left.is_empty() {
                return;
            }
            for pid in left.into_iter().filter_map(|id| Pid::from_raw(id.cast_signed())) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        let _ = self.child.start_kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The end of what a process wrote.
#[derive(Clone, Debug, Default)]
struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    async fn fill(self, mut output: impl AsyncRead + Unpin) {
        let mut bytes = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = output.read(&mut bytes).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(bytes.iter().take(count));
            let surplus = kept.len().saturating_sub(TAIL);
            kept.drain(..surplus);
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}
