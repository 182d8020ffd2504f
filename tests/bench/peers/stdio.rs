//! A client of a server on standard input and output that costs as little as it can: requests are
//! written before the clock starts to matter, and of answers only line ends are looked for.

use std::{
    fs::File,
    io::{Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Failure, figures::Run};

/// What the server is given as its standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// As shells and most languages do.
    Pipes,
    /// As Node does.
    Sockets,
}

/// A server process, ended with this value.
pub(crate) struct Server {
    child: Child,
    input: File,
    output: File,
    /// Read already, not used yet.
    left: Vec<u8>,
    /// From the start of the process until the first `tools/list` was answered.
    pub(crate) start: Duration,
}

impl Server {
    /// Start it, shake hands as clients of 2025-11-25 do, and list its tools.
    pub(crate) fn start(command: &[String], means: Means) -> Result<Self, Failure> {
        let [program, arguments @ ..] = command else { return Err("no command".into()) };
        let mut process = Command::new(program);
        process.args(arguments).stderr(Stdio::null()).env("NO_COLOR", "1").env("CANDOR_LOG", "warn");
        let began = Instant::now();
        let (child, input, output) = match means {
            Means::Pipes => {
                let mut child = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
                let input = child.stdin.take().ok_or("no input")?;
                let output = child.stdout.take().ok_or("no output")?;
                (child, OwnedFd::from(input), OwnedFd::from(output))
            }
            Means::Sockets => {
                let ((input, theirs_in), (output, theirs_out)) = (UnixStream::pair()?, UnixStream::pair()?);
                process.stdin(OwnedFd::from(theirs_in)).stdout(OwnedFd::from(theirs_out));
                (process.spawn()?, input.into(), output.into())
            }
        };
        let mut server =
            Self { child, input: input.into(), output: output.into(), left: Vec::new(), start: Duration::ZERO };
        let client = json!({"name": "bench", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        server.ask("initialize", &hello)?;
        server.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        server.ask("tools/list", &json!({}))?;
        server.start = began.elapsed();
        Ok(server)
    }

    /// The identifier of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn write(&mut self, message: &Value) -> Result<(), Failure> {
        Ok(self.input.write_all(format!("{message}\n").as_bytes())?)
    }

    /// One request and its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        self.write(&json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": params}))?;
        loop {
            let line = self.line()?;
            let answer: Value = serde_json::from_slice(&line).map_err(|error| format!("{error}: {line:?}"))?;
            if answer.get("id") == Some(&json!(0)) {
                return match answer.get("error") {
                    Some(error) => Err(format!("`{method}`: {error}").into()),
                    None => Ok(answer),
                };
            }
        }
    }

    /// Calls whose answers nobody waits for.
    pub(crate) fn leave_open(&mut self, call: &Value, count: usize) -> Result<(), Failure> {
        for number in 0..count {
            let id = format!("open {number}");
            self.write(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}))?;
        }
        Ok(())
    }

    /// A call that must succeed.
    pub(crate) fn call(&mut self, call: &Value) -> Result<Value, Failure> {
        let answer = self.ask("tools/call", call)?;
        if answer.pointer("/result/isError") == Some(&json!(true)) {
            return Err(format!("{call}: {answer}").into());
        }
        Ok(answer)
    }

    fn line(&mut self) -> Result<Vec<u8>, Failure> {
        let mut chunk = vec![0; 64 << 10];
        loop {
            if let Some(end) = self.left.iter().position(|byte| *byte == b'\n') {
                let rest = self.left.split_off(end + 1);
                return Ok(std::mem::replace(&mut self.left, rest));
            }
            let count = self.output.read(&mut chunk)?;
            if count == 0 {
                return Err("the server ended".into());
            }
            self.left.extend_from_slice(&chunk[..count]);
        }
    }

    /// The same call again and again, `flight` of them unanswered at any time.
    pub(crate) fn load(&mut self, call: &Value, flight: usize, end: End) -> Result<Run, Failure> {
        self.call(call)?; // warms, and proves that it works
        let tail = format!(",\"method\":\"tools/call\",\"params\":{call}}}\n");
        let mut chunk = vec![0; 1 << 20];
        let mut times = Vec::new();
        let mut sent = std::collections::VecDeque::new();
        let (mut number, mut answered) = (1_u64, 0_u64);
        let began = Instant::now();
        let mut due = flight;
        loop {
            let mut out = Vec::new();
            let now = Instant::now();
            for _ in 0..due {
                out.extend_from_slice(format!("{{\"jsonrpc\":\"2.0\",\"id\":{number}{tail}").as_bytes());
                sent.push_back(now);
                number += 1;
            }
            self.input.write_all(&out)?;
            let count = self.output.read(&mut chunk)?;
            if count == 0 {
                return Err("the server ended".into());
            }
            let lines = line_ends(&chunk[..count]);
            let now = Instant::now();
            for _ in 0..lines {
                // Answers may overtake each other: with one in flight this is exact, else by rank.
                times.extend(sent.pop_front().map(|sent| now - sent));
            }
            answered += lines as u64;
            due = lines;
            if end.is_reached(answered, began) {
                break;
            }
        }
        let run = Run::new(times, began.elapsed());
        let mut open = sent.len();
        while open > 0 {
            let count = self.output.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            open = open.saturating_sub(line_ends(&chunk[..count]));
        }
        Ok(run)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

/// When a load ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// After this time.
    After(Duration),
    /// After this many answers.
    Calls(u64),
}

impl End {
    fn is_reached(self, answered: u64, began: Instant) -> bool {
        match self {
            Self::After(time) => began.elapsed() >= time,
            Self::Calls(most) => answered >= most,
        }
    }
}
