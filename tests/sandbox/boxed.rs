//! A program in a box, and what came of it.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use candor::verify::{
    Effect,
    sandbox::{Contact, Sandbox, Spec},
};
use tempfile::TempDir;

use crate::support::HANG;

/// The program that becomes a box.
pub(super) fn candor() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_candor"))
}

/// A directory of the host that a boxed program may think it changes: its home.
pub(super) struct Host {
    dir: TempDir,
}

impl Host {
    pub(super) fn new() -> Self {
        Self { dir: tempfile::Builder::new().prefix("candor-host-").tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(super) fn file(self, name: &str, text: &str) -> Self {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(super) fn spec(&self, script: &str) -> Spec {
        Spec {
            command: ["sh", "-c", script].map(String::from).into(),
            env: vec![
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into()),
                ("HOME".into(), self.path().to_str().unwrap().into()),
            ],
            dir: self.path(),
            ..Spec::default()
        }
    }

    /// Run a script in a box to its end.
    pub(super) fn run(&self, script: &str) -> Outcome {
        Boxed::start(self.spec(script)).end()
    }

    /// Everything below with its kind, size, mode and time.
    pub(super) fn listing(&self) -> Vec<String> {
        listing(&self.path())
    }
}

pub(super) fn listing(dir: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        let (path, mode, time) = (entry.path(), metadata.mode(), metadata.mtime_nsec());
        lines.push(format!("{} {mode:o} {} {time}", path.display(), metadata.len()));
        if metadata.is_dir() {
            lines.extend(listing(&path));
        }
    }
    lines.sort();
    lines
}

/// What came of a program.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: Option<i32>,
    pub(super) said: String,
    pub(super) effects: Vec<Effect>,
    pub(super) contacts: Vec<Contact>,
    pub(super) exceeded: Option<String>,
}

impl Outcome {
    /// What counts, as `PLACE: WHAT (GRADE)`, with the home directory as `~`.
    pub(super) fn counting(&self, host: &Host) -> Vec<String> {
        let counts = |effect: &&Effect| effect.excuse.is_none();
        self.effects.iter().filter(counts).map(|effect| line(effect, host)).collect()
    }

    /// What is excused, in the same form.
    pub(super) fn excused(&self, host: &Host) -> Vec<String> {
        self.effects.iter().filter(|effect| effect.excuse.is_some()).map(|effect| line(effect, host)).collect()
    }
}

pub(super) fn line(effect: &Effect, host: &Host) -> String {
    let home = host.path().to_str().unwrap().to_owned();
    format!("{}: {} ({})", effect.place, effect.what, effect.grade.name()).replace(&home, "~")
}

/// A program in a box, running.
pub(super) struct Boxed {
    // First: ended before the process is waited for.
    pub(super) sandbox: Sandbox,
    pub(super) child: Child,
}

impl Boxed {
    pub(super) fn start(spec: Spec) -> Self {
        let sandbox = Sandbox::prepare(candor(), spec).unwrap();
        let words = sandbox.command();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { child: command.spawn().unwrap(), sandbox }
    }

    /// Wait until the program has said a line that ends so. For programs that go on.
    pub(super) fn hear(&mut self) -> String {
        use std::io::{BufRead as _, BufReader};
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line.trim_end().into()
    }

    pub(super) fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// What the program was made to change till now, as `PLACE: WHAT (GRADE)`.
    pub(super) fn changes(&self, host: &Host) -> Vec<String> {
        let counts = |effect: &Effect| effect.excuse.is_none();
        self.sandbox
            .changes()
            .unwrap()
            .iter()
            .filter(|effect| counts(effect))
            .map(|effect| line(effect, host))
            .collect()
    }

    pub(super) fn end(mut self) -> Outcome {
        drop(self.child.stdin.take());
        let pipes = (self.child.stdout.take().unwrap(), self.child.stderr.take().unwrap());
        let read = |mut pipe: Box<dyn std::io::Read + Send>| {
            std::thread::spawn(move || {
                let mut text = String::new();
                let _ = pipe.read_to_string(&mut text);
                text
            })
        };
        let (output, errors) = (read(Box::new(pipes.0)), read(Box::new(pipes.1)));
        let status = wait(&mut self.child, HANG).and_then(|status| status.code());
        let said = output.join().unwrap() + &errors.join().unwrap();
        if let Err(error) = self.sandbox.wait(Duration::ZERO) {
            panic!("{error}: {said}");
        }
        Outcome {
            status,
            said,
            effects: self.sandbox.changes().unwrap(),
            contacts: self.sandbox.contacts(),
            exceeded: self.sandbox.exceeded(),
        }
    }
}

impl Drop for Boxed {
    fn drop(&mut self) {
        self.sandbox.kill();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Wait for the end of a process; none if it doesn't come.
pub(super) fn wait(child: &mut Child, most: Duration) -> Option<std::process::ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < most {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
