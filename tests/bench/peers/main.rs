//! candor beside its peers, under one load driver: `cargo bench-peers [-- --quick] [--alone]
//! [--scratch DIR] [--write] [--candor FILE]
//! [--only stdio|branches|http|growth]`.
//!
//! Rounds are interleaved, so that a machine that is busy for a while is busy for everybody; what
//! holds is the ratio of medians within one run. `--quick` shortens the rounds, `--alone` leaves
//! the peers out, `--write` renews `tests/peers/PERFORMANCE.md`, `--candor` takes another binary. Exit status 1 if a target is missed.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints tables, and how far it is")]
#![expect(clippy::indexing_slicing, reason = "bytes are cut at counts that were just read")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts far below what a float holds"
)]

mod figures;
mod growth;
mod http;
mod judgement;
mod load;
mod servers;
mod stdio;
mod worlds;

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use figures::Figures;
use servers::Peers;

type Failure = Box<dyn Error + Send + Sync>;

/// What is measured on, and how long.
pub(crate) struct Bench {
    candor: String,
    dir: tempfile::TempDir,
    peers: Option<Peers>,
    figures: Figures,
    /// Of each figure.
    rounds: usize,
    /// Of load in one round.
    slice: Duration,
    token: String,
    began: Instant,
}

impl Bench {
    /// A place in the scratch directory.
    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// `candor serve` with everything on, and rate limits that a benchmark does not meet.
    pub(crate) fn candor(&self, options: &[&str]) -> Vec<String> {
        let audit = self.path("audit.jsonl");
        let limits = ["--calls-per-second", "4000000", "--calls-at-once", "64"];
        let mut command = vec![self.candor.clone(), "serve".to_owned()];
        command.extend(limits.iter().chain(&["--audit", &audit]).chain(options).map(ToString::to_string));
        command
    }

    /// Say how far it is.
    pub(crate) fn tell(&self, what: &str) {
        eprintln!("{:4} s  {what}", self.began.elapsed().as_secs());
    }
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let value = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1).cloned();
    if let (Some(port), Ok(token)) = (value("--hello"), std::env::var("BENCH_TOKEN")) {
        http::hello(port.parse()?, &token)?;
        return Ok(ExitCode::SUCCESS);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = value("--scratch").map_or_else(|| root.join("target/bench-peers"), PathBuf::from);
    let quick = has("--quick");
    let mut bench = Bench {
        candor: value("--candor").unwrap_or_else(|| env!("CARGO_BIN_EXE_candor").to_owned()),
        dir: tempfile::tempdir()?,
        peers: if has("--alone") { None } else { Some(Peers::install(&scratch)?) },
        figures: Figures::default(),
        rounds: if quick { 3 } else { 5 },
        slice: Duration::from_millis(if quick { 150 } else { 500 }),
        token: String::new(),
        began: Instant::now(),
    };
    bench.token = make_token(&bench)?;
    worlds::database(&bench.dir.path().join("shop.db"))?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let only = value("--only");
    let wanted = |part: &str| only.as_ref().is_none_or(|only| only == part);
    if wanted("stdio") {
        load::stdio(&mut bench)?;
        load::isolation(&mut bench)?;
    }
    if wanted("branches") {
        load::branches(&mut bench)?;
    }
    if wanted("http") {
        runtime.block_on(load::http(&mut bench))?;
        runtime.block_on(load::abandoned(&mut bench))?;
    }
    let growth = if wanted("growth") { growth::table(&bench, &runtime)? } else { String::new() };

    let targets = judgement::targets(&bench.figures);
    let page = judgement::page(&bench, &growth, &targets);
    println!("{page}");
    if has("--write") {
        fs::write(root.join("tests/peers/PERFORMANCE.md"), &page)?;
    }
    eprintln!("took {} s", bench.began.elapsed().as_secs());
    Ok(ExitCode::from(u8::from(targets.iter().any(figures::Target::is_missed))))
}

/// A token that may read, let in by the tokens file.
fn make_token(bench: &Bench) -> Result<String, Failure> {
    let made = Command::new(&bench.candor).args(["token", "new", "bench", "read"]).output()?;
    let text = String::from_utf8(made.stdout)?;
    fs::write(bench.dir.path().join("tokens.toml"), &text)?;
    let token = text.lines().find_map(|line| line.strip_prefix("# ").filter(|rest| rest.starts_with("candor_")));
    Ok(token.ok_or("no token was made")?.to_owned())
}
