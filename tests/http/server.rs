use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{Connection, Reply, Request};

/// Nothing here takes this long unless it hangs.
pub(super) const GUARD: Duration = Duration::from_secs(30);

/// A running `candor serve --http`.
pub(super) struct Server {
    child: Child,
    /// Where it lays out its demo workspace: gone with the test, however the process ends.
    _scratch: TempDir,
    pub(super) address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Server {
    /// On a free port of 127.0.0.1.
    pub(super) fn start(options: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", options)
    }

    pub(super) fn start_at(address: &str, options: &[&str]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command
            .args(["serve", "--http", address])
            .args(options)
            .env("CANDOR_LOG", "trace,rmcp=trace")
            .env("TMPDIR", scratch.path());
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (listening, told) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let into = log.clone();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                writeln!(into.lock().unwrap(), "{line}").unwrap();
                if let Some(url) = line.strip_prefix("candor: listening on http://") {
                    let _ = listening.send(url.strip_suffix("/mcp").unwrap().parse().unwrap());
                }
            }
        });
        let Ok(address) = told.recv_timeout(GUARD) else {
            panic!("no server: {:?}, {}", child.try_wait(), log.lock().unwrap());
        };
        Self { child, _scratch: scratch, address, log }
    }

    /// With these tokens.
    pub(super) fn with(tokens: &Tokens, options: &[&str]) -> Self {
        let file = ["--tokens", tokens.path.to_str().unwrap()];
        Self::start(&[&file, options].concat())
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn connect(&self) -> Connection {
        Connection::new(TcpStream::connect(self.address).unwrap())
    }

    /// On a connection of its own.
    pub(super) fn send(&self, request: &Request) -> Reply {
        let mut connection = self.connect();
        connection.send(&request.bytes(self));
        if request.method == "HEAD" { connection.reply_head() } else { connection.reply() }
    }

    /// Everything on standard error so far.
    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub(super) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    pub(super) fn wait(&mut self) -> ExitStatus {
        let from = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(from.elapsed() < GUARD, "the server does not end: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A tokens file, filled by `candor token new`.
pub(super) struct Tokens {
    pub(super) path: PathBuf,
    _dir: tempfile::TempDir,
}

impl Tokens {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { path: dir.path().join("tokens.toml"), _dir: dir }
    }

    pub(super) fn issue(&self, name: &str, scopes: &str) -> String {
        self.append(&Self::entry(&[name, scopes]))
    }

    pub(super) fn append(&self, entry: &str) -> String {
        let old = fs::read_to_string(&self.path).unwrap_or_default();
        replace(&self.path, &format!("{old}{entry}"));
        token_in(entry).to_owned()
    }

    /// What `candor token new` prints.
    pub(super) fn entry(arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        let output = command.args(["token", "new"]).args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(super) fn token_in(entry: &str) -> &str {
    entry
        .lines()
        .find_map(|line| line.strip_prefix("# candor_"))
        .map(|rest| &entry[entry.find(rest).unwrap() - 7..][..71])
        .unwrap()
}

/// As careful editors do it.
pub(super) fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}
