//! Small servers: a shell script that does as it should but for the functions that a test writes
//! anew.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use candor::wire::{Limits, Target};

/// Answers requests in order, so that ids can be counted. `$line` is the message.
const HONEST: &str = r#"
id=0
say() { printf '%s\n' "$1"; }
result() { say '{"jsonrpc":"2.0","id":'$id',"result":'"$1"'}'; }
discover() { result '{"resultType":"complete","supportedVersions":["2026-07-28"]}'; }
initialize() { result '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}}'; }
list() { result '{"resultType":"complete","tools":[{"name":"act","inputSchema":{"type":"object"}}]}'; }
call() { result '{"resultType":"complete","content":[]}'; }
answered() { :; }
started() { :; }
ended() { :; }
"#;

const LOOP: &str = r#"
started
while read -r line; do
  case "$line" in
    *'"method":"notifications/'*) ;;
    *'"method":"server/discover"'*) id=$((id+1)); discover ;;
    *'"method":"initialize"'*) id=$((id+1)); initialize ;;
    *'"method":"tools/list"'*) id=$((id+1)); list ;;
    *'"method":"tools/call"'*) id=$((id+1)); call ;;
    *) answered ;;
  esac
done
ended
"#;

/// A small server, found again by a value of its own in its environment.
pub(crate) struct Small {
    pub(crate) target: Target,
    mark: String,
}

impl Small {
    pub(crate) fn new(differences: &str) -> Self {
        let mark = tempfile::Builder::new().prefix("").rand_bytes(16).tempdir().unwrap();
        let mark = mark.path().file_name().unwrap().to_str().unwrap().to_owned();
        let script = format!("{HONEST}\n{differences}\n{LOOP}");
        let command = ["sh", "-c", &script].map(str::to_owned).to_vec();
        let env = vec![("SMALL_SERVER".to_owned(), mark.clone())];
        Self { target: Target::Stdio { command, env, dir: None }, mark }
    }

    /// No process of this server is left, however it went away.
    #[track_caller]
    pub(crate) fn is_gone(&self) {
        // A killed process takes a moment to go.
        let from = Instant::now();
        while !self.processes().is_empty() {
            assert!(from.elapsed() < Duration::from_secs(2), "left: {:?}", self.processes());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn processes(&self) -> Vec<String> {
        let entry = format!("SMALL_SERVER={}", self.mark);
        let has_mark = |pid: &String| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
        pids.filter(|name| name.parse::<u32>().is_ok()).filter(has_mark).collect()
    }
}

/// Short enough to wait for.
pub(crate) fn short() -> Limits {
    Limits { start: Duration::from_secs(5), call: Duration::from_millis(1500), ..Limits::default() }
}
