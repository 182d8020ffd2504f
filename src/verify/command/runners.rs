//! Package runners: what `npx`, `uvx` and `pipx run` would fetch is fetched before a box is made,
//! because no box reaches a registry. Nothing of a package runs on the way: no install script, no
//! build; only the runner itself.

use std::{process::Stdio, time::Duration};

use candor_tools::shown;
use tokio::process::Command;

use super::Failure;

/// How long a runner may fetch.
const PATIENCE: Duration = Duration::from_secs(300);

/// Options with a value in a word of its own, of each runner.
const NPX: [&str; 8] = ["-p", "--package", "-w", "--workspace", "--registry", "--cache", "--userconfig", "--prefix"];
const UVX: [&str; 40] = [
    "--from",
    "-w",
    "--with",
    "--with-editable",
    "--with-requirements",
    "-p",
    "--python",
    "--python-platform",
    "--index",
    "-i",
    "--index-url",
    "--default-index",
    "--extra-index-url",
    "-f",
    "--find-links",
    "--cache-dir",
    "--directory",
    "--project",
    "--env-file",
    "-c",
    "--constraints",
    "--overrides",
    "-b",
    "--build-constraints",
    "--refresh-package",
    "-P",
    "--upgrade-package",
    "--reinstall-package",
    "--no-build-package",
    "--no-binary-package",
    "--no-build-isolation-package",
    "--index-strategy",
    "--keyring-provider",
    "--resolution",
    "--prerelease",
    "--fork-strategy",
    "--exclude-newer",
    "--link-mode",
    "--config-file",
    "--allow-insecure-host",
];
const PIPX: [&str; 6] = ["--spec", "--python", "--pip-args", "--index-url", "-i", "--with"];

/// Where runners keep what they fetched, if not in the home directory; a box is told, too.
const KEPT: [&str; 7] = [
    "npm_config_cache",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "PIPX_HOME",
    "PIPX_DEFAULT_PYTHON",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Npx,
    Uvx,
    Pipx,
}

/// A command that begins with a package runner.
#[derive(Debug)]
pub(super) struct Runner<'a> {
    kind: Kind,
    /// The runner: `npx`, `npm exec`, `uv tool run`.
    program: &'a [String],
    options: &'a [String],
    /// The program or package that it is to run.
    server: &'a str,
    /// The words after that.
    pub(super) arguments: &'a [String],
}

impl<'a> Runner<'a> {
    /// Nothing if the command is no runner's, or names no package.
    pub(super) fn of(command: &'a [String]) -> Option<Self> {
        let name = |word: &'a String| word.rsplit(['/', '\\']).next().unwrap_or_default();
        let words: Vec<&str> =
            command.iter().take(3).enumerate().map(|(at, word)| if at == 0 { name(word) } else { word }).collect();
        let (kind, length, valued) = match *words {
            ["npx", ..] => (Kind::Npx, 1, NPX.as_slice()),
            ["npm", "exec" | "x", ..] => (Kind::Npx, 2, NPX.as_slice()),
            ["uvx", ..] => (Kind::Uvx, 1, UVX.as_slice()),
            ["uv", "tool", "run"] => (Kind::Uvx, 3, UVX.as_slice()),
            ["pipx", "run", ..] => (Kind::Pipx, 2, PIPX.as_slice()),
            _ => return None,
        };
        let (program, rest) = command.split_at_checked(length)?;
        let mut at = 0;
        while let Some(word) = rest.get(at).filter(|word| word.starts_with('-')) {
            at += if valued.contains(&word.as_str()) { 2 } else { 1 };
            if word == "--" {
                break;
            }
        }
        let (options, rest) = rest.split_at_checked(at)?;
        let (server, arguments) = rest.split_first()?;
        Some(Self { kind, program, options, server, arguments })
    }

    /// The value of an option, whichever way it is written.
    fn value(&self, names: &[&str]) -> Option<&'a str> {
        let spelled = |word: &'a String| word.split_once('=').filter(|(name, _)| names.contains(name));
        self.options.iter().enumerate().find_map(|(at, word)| match spelled(word) {
            Some((_, value)) => Some(value),
            None if names.contains(&word.as_str()) => self.options.get(at + 1).map(String::as_str),
            None => None,
        })
    }

    /// What is fetched.
    fn package(&self) -> &'a str {
        let names: &[&str] = match self.kind {
            Kind::Npx => &["-p", "--package"],
            Kind::Uvx => &["--from"],
            Kind::Pipx => &["--spec"],
        };
        self.value(names).unwrap_or(self.server)
    }

    /// Its command to fetch the package and run nothing of it.
    fn fetch(&self) -> Command {
        let mut command = Command::new(self.program.first().map_or("", String::as_str));
        command.args(self.program.iter().skip(1));
        let options = self.options.iter().filter(|word| *word != "--");
        match self.kind {
            Kind::Npx => {
                command.args(options).args(["--yes", "--ignore-scripts"]);
                if self.value(&["-p", "--package"]).is_none() {
                    command.arg(format!("--package={}", self.server));
                }
                command.args(["--call", "true"]);
            }
            Kind::Uvx => {
                command.args(options).arg("--no-build");
                if self.value(&["--from"]).is_none() {
                    command.args(["--from", self.server]);
                }
                command.args(["python", "-c", ""]);
            }
            Kind::Pipx => {
                // By variable, as its options choose the place in its cache.
                command.args(options).env("PIP_ONLY_BINARY", ":all:").env("UV_NO_BUILD", "1");
                if self.value(&["--spec"]).is_none() {
                    command.args(["--spec", self.server]);
                }
                command.args(["python", "-c", ""]);
            }
        }
        command
    }

    /// Fetch the package. Returns the variables with which the runner needs no network.
    ///
    /// # Errors
    ///
    /// If the runner isn't there or can't fetch it, naming the package and the next step.
    pub(super) async fn prepare(&self) -> Result<Vec<(String, String)>, Failure> {
        let (package, program) = (shown(self.package(), 100), shown(&self.program.join(" "), 100));
        let mut command = self.fetch();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let done = match tokio::time::timeout(PATIENCE, command.output()).await {
            Ok(done) => done.map_err(|error| format!("`{program}` can't be started: {error}; install it"))?,
            Err(_) => return Err(format!("`{program}` did not fetch `{package}` within {PATIENCE:?}").into()),
        };
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let said = shown(&lines.iter().take(3).copied().collect::<Vec<_>>().join("; "), 400);
            return Err(format!(
                "`{program}` can't fetch `{package}` ({said}). The box has no network and install scripts are not \
                 run, so it must be fetched first: check the name and the network, or install the server and name \
                 its program after --"
            )
            .into());
        }
        let offline: &[(&str, &str)] = match self.kind {
            Kind::Npx => &[("npm_config_offline", "true")],
            Kind::Uvx => &[("UV_OFFLINE", "1")],
            Kind::Pipx => &[("UV_OFFLINE", "1"), ("PIP_NO_INDEX", "1")], // it works with either
        };
        let kept = KEPT.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
        Ok(kept.chain(offline.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()))).collect())
    }
}
