//! What a box is asked for.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use super::SandboxError;

/// A server, and what its box is to look like.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// All of its environment; see [`scrubbed`]. The box adds `TMPDIR` and switches off what would
    /// write beside the matter: Python's bytecode, update notices.
    pub env: Vec<(String, String)>,
    /// The directory that it starts in, as the box shows it.
    pub dir: PathBuf,
    /// The copies of worlds. Their changes are told by [`Snapshot`](crate::verify::Snapshot)s and
    /// not by the box.
    pub worlds: Vec<Place>,
    /// Whether its system calls go to a listener.
    pub listener: bool,
    /// Where it may really connect to.
    pub allow: Vec<Allowed>,
    /// The port on its loopback at which it serves, if that is to be reached from outside; see
    /// [`Sandbox::served`](super::Sandbox::served).
    pub serves: Option<u16>,
    /// When it is killed.
    pub limits: Limits,
}

/// A directory that the server may write to, and where the box shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// On the host.
    pub from: PathBuf,
    /// In the box: absolute, and not above the directory for temporary files.
    pub at: PathBuf,
}

/// What a box may use. Kept by a watchdog that looks every 20 ms, so a little more can be used
/// before it bites; a box that does is killed whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes at one time.
    pub processes: usize,
    /// Memory that no other process shares, in bytes.
    pub memory: u64,
    /// What it writes to disk, in bytes: holes don't count.
    pub disk: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { processes: 512, memory: 4 << 30, disk: 2 << 30 }
    }
}

/// A host that the server may reach: `HOST`, `HOST:PORT`, or either with `=ADDRESS:PORT` behind it to
/// be led to a server of one's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// A name or an address, in lower case.
    pub host: String,
    /// A port that is opened for it beside 80 and 443, which always are.
    pub port: Option<u16>,
    /// Where its connections go instead.
    pub to: Option<SocketAddr>,
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (host, to) = match text.split_once('=') {
            Some((host, to)) => (host, Some(to)),
            None => (text, None),
        };
        let to =
            to.map(|to| to.parse().map_err(|_| format!("`{to}` is no address with a port, such as 127.0.0.1:8080")));
        let (host, port) = match host.rsplit_once(':') {
            // An IPv6 address without brackets has more colons than one.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                (name, Some(port.parse().map_err(|_| format!("`{port}` is no port; name one from 1 to 65535"))?))
            }
            _ => (host, None),
        };
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
        if host.is_empty() || host.contains('/') {
            return Err(format!("`{text}` names no host; give a name or an address, without `https://`"));
        }
        Ok(Self { host, port, to: to.transpose()? })
    }
}

/// What a box reads when it starts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    /// Where its changes and its line are.
    pub(super) base: PathBuf,
    pub(super) spec: Spec,
}

/// The names of variables that a server is given; everything else may be a secret.
const NAMES: [&str; 17] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "VIRTUAL_ENV",
    "NODE_PATH",
    "PYTHONPATH",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "RUSTUP_HOME",
    "CARGO_HOME",
];
/// How names of others begin: locales, and managers of versions of interpreters.
const BEGINNINGS: [&str; 5] = ["LC_", "PYENV_", "NVM_", "VOLTA_", "ASDF_"];

/// Of an environment, what a server needs to run and what is no secret.
#[must_use]
pub fn scrubbed(env: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let keep = |name: &str| NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    env.into_iter().filter(|(name, _)| keep(name)).collect()
}

impl Spec {
    /// Whether a box of it can be built with its base here.
    pub(super) fn check(&self, base: &Path) -> Result<(), SandboxError> {
        for Place { at, .. } in &self.worlds {
            if !at.is_absolute() || base.starts_with(at) {
                return Err(SandboxError::World(at.clone()));
            }
        }
        Ok(())
    }
}
