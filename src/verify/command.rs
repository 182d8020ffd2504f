//! `candor verify`: from options to a report.

mod boxed;
mod cases;
mod explore;
mod options;
mod progress;
mod remote;
mod roads;
mod rung;
mod served;
mod trials;
mod worlds;

use std::{
    fs,
    io::{IsTerminal, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

pub use options::Options;
pub use rung::sight;

use super::{
    Finding, Observation, Sight, World,
    report::{self, Report, Server},
    synthesis::Inventory,
};
use crate::{hints::DeclaredTool, serve::Signals};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Where nobody listens.
const NOBODY: &str = "http://127.0.0.1:9";

/// How long a server is left alone as a control, and after each call.
const IDLE: Duration = Duration::from_millis(150);
const QUIET: Duration = Duration::from_millis(60);

/// Run the trials and report. Returns the exit status.
///
/// # Errors
///
/// Whatever keeps the run from starting, or every call from being made, naming the option, file or
/// server.
pub fn verify(options: &Options) -> Result<u8, Failure> {
    crate::serve::isolate_git(IDLE)?; // worlds are read with libgit2, by nobody's own settings
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let mut signals = Signals::listen()?;
        tokio::select! {
            outcome = options.run() => outcome,
            () = signals.next() => Err("stopped before its end; every server was ended and every copy removed".into()),
        }
    })
}

/// What was seen of a server.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it calls itself.
    pub server: Server,
    /// What was seen, and what could not be.
    pub sight: Sight,
    /// Its tools.
    pub tools: Vec<DeclaredTool>,
    /// The trials.
    pub observations: Vec<Observation>,
    /// Tools that nothing was called with, and why.
    pub uncalled: Vec<(String, String)>,
    /// What was found beside the trials: worlds that can't be used, what the server asks of callers.
    pub beside: Vec<Finding>,
}

fn plain(worlds: &[World]) -> Result<&World, Failure> {
    worlds.first().ok_or_else(|| "no world: name a directory with --world".into())
}

impl Options {
    async fn run(&self) -> Result<u8, Failure> {
        let began = Instant::now();
        if self.suggest {
            let (_, tools) = self.list().await?;
            let worlds = self.worlds()?;
            let copy = plain(&worlds)?.fresh()?;
            print(&super::case::suggest(&tools, &Inventory::of(copy.path())?))?;
            return Ok(0);
        }
        let Run { server, sight, tools, observations, uncalled, beside } = self.observe().await?;
        let seconds = began.elapsed().as_secs_f64();
        let mut report = Report::new(server, sight, self.definition, tools, observations, uncalled, seconds);
        report.findings.extend(beside);
        self.deliver(&report)?;
        if self.lint || self.url.is_some() || report.calls() > 0 {
            return Ok(report::exit_status(&report, self.strict));
        }
        Err(no_call(&report).into())
    }

    /// The server's name and its tools, without a call.
    ///
    /// # Errors
    ///
    /// If the server can't be started or listed.
    pub async fn list(&self) -> Result<(Server, Vec<DeclaredTool>), Failure> {
        let tokens = tempfile::tempdir()?;
        let roads = self.roads(&tokens, self.climb()?.rung)?;
        let (server, tools, _) = self.introduce(roads, plain(&self.worlds()?)?).await?;
        Ok((server, tools))
    }

    /// All trials, and no judgement.
    ///
    /// # Errors
    ///
    /// Whatever keeps the trials from starting.
    pub async fn observe(&self) -> Result<Run, Failure> {
        let tokens = tempfile::tempdir()?;
        let standing = self.climb()?;
        let roads = self.roads(&tokens, standing.rung)?;
        let worlds = self.worlds()?;
        let (worlds, mut beside) = if self.lint { (worlds, Vec::new()) } else { self.usable(worlds).await? };
        let (server, tools, roads) = self.introduce(roads, plain(&worlds)?).await?;
        if let (Some(_), Some(road)) = (&self.url, roads.first()) {
            beside.extend(self.authentication(road).await);
        }
        let (cases, uncalled) = self.cases(&tools, &worlds, &roads).await?;
        let observations = self.trials(&cases, &worlds, &roads).await;
        Ok(Run { server, sight: standing.sight(), tools, observations, uncalled, beside })
    }

    fn deliver(&self, report: &Report) -> Result<(), Failure> {
        let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
            Some(path) => fs::write(path, text()).map_err(|error| format!("`{}`: {error}", path.display())),
            None => Ok(()),
        };
        write(&self.json, &|| report::safe_text(&report::json(report)))?;
        write(&self.sarif, &|| report::safe_text(&report::sarif(report)))?;
        write(&self.junit, &|| report::junit(report))?;
        write(&self.html, &|| report::html(report))?;
        let terminal = std::io::stdout().is_terminal();
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        print(&report::terminal(report, 80, colour))
    }
}

/// Why nothing was seen.
fn no_call(report: &Report) -> String {
    let problem = report.observations.iter().find_map(|trial| Some((&trial.tool, trial.problem.as_ref()?)));
    let uncalled = report.uncalled.iter().map(|(tool, why)| (tool, why)).next();
    match problem.or(uncalled) {
        Some((tool, why)) => {
            let (tool, why) = (candor_tools::shown(tool, 60), candor_tools::shown(why, 400));
            format!("no call was answered, so nothing was verified; the first tool is `{tool}`: {why}")
        }
        None => "the server has no tools, so nothing was verified".to_owned(),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
