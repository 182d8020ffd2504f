//! `candor conform`: what a client does with hints.
//!
//! A client under test is run against servers that are honest, silent, contradictory or lying. It
//! gets what the user wants done, and reports each question that it puts to its user to an address
//! that answers for the user. Everything that it does is written into a [`Ledger`]; the
//! [`judge`](mod@judge) reads the ledger alone.
//!
//! The conventions are those of the official MCP conformance suite, so that a client written to run
//! there runs here: the server's address is the last argument, `MCP_CONFORMANCE_SCENARIO`,
//! `MCP_CONFORMANCE_PROTOCOL_VERSION` and `MCP_CONFORMANCE_CONTEXT` are set, and the results are
//! `checks.json` files. Unlike there, what was declared and not seen is a failure: a client that does
//! nothing fails.
//!
//! # What the context holds
//!
//! | member | meaning |
//! |---|---|
//! | `toolCalls` | what the model asks for, in order: `name`, `arguments`; `reconnect`: over a new connection; `stopAfterMs`: the user stops it then, or null |
//! | `trustedServers` | the servers that the user trusts: `name` and `url`; only the address identifies one |
//! | `approvalUrl` | where to POST questions (below) |
//! | `elicitation` | whether the user can be asked by servers; if false, don't offer it |
//! | `patienceMs` | how long to wait for a reply, and for an answer |
//! | `stdioCommand` | for clients that speak stdio alone: a command that connects to the server |
//!
//! A question about a call is `{"tool", "title", "arguments", "warning"}`, with `title` the heading
//! and `warning` the warning that the user sees, or null; the answer is `{"answer": "accept"}` or
//! `{"answer": "decline"}`. A question of the server is `{"elicitation": {"server", "message"}}`, with
//! `server` what the user is told about who asks; the answer is the result of `elicitation/create`.

pub mod bridge;
mod client;
mod database;
pub mod judge;
pub mod ledger;
mod report;
pub mod scenario;
pub mod scenarios;
mod server;

use std::{
    error::Error,
    io::Write as _,
    num::NonZero,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use futures::{StreamExt as _, stream};

use crate::wire::Era;
use client::Client;
use judge::{Check, Outcome, Rule};
pub use ledger::Ledger;
use report::Run;
use scenario::Scenario;
use server::Server;

/// The options of `candor conform`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// A scenario by name; without any, all of them
    #[arg(long, value_name = "NAME")]
    scenario: Vec<String>,

    /// All scenarios of one suite, such as `trust`
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,

    /// One protocol version, 2026-07-28 or 2025-11-25; without it, both
    #[arg(long, value_name = "VERSION")]
    spec_version: Option<String>,

    /// How long the client may take for one scenario, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    timeout: u64,

    /// Exit with 1 if a check could not be made, too: of a client that reports no questions
    #[arg(long)]
    strict: bool,

    /// How many runs of the client go on at once; without it, four times the processors
    #[arg(long, value_name = "COUNT")]
    jobs: Option<NonZero<usize>>,

    /// Write a folder a scenario here: `checks.json`, `ledger.json`, what the client wrote
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Write a `JUnit` report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Print the scenarios and their suites
    #[arg(long)]
    list: bool,

    /// The client under test as a line for the shell; the server's address is added
    #[arg(long, value_name = "CLIENT ARG…", conflicts_with = "client")]
    command: Option<String>,

    /// The client under test; the server's address is added as its last argument
    #[arg(last = true, value_name = "CLIENT")]
    client: Vec<String>,
}

/// Run a client through scenarios. Returns the exit status: 1 if a check failed, or was not made under
/// `--strict`.
///
/// # Errors
///
/// If a name is unknown, the client can't be started, or results can't be written.
pub fn conform(options: &Options) -> Result<u8, Box<dyn Error + Send + Sync>> {
    let scenarios = chosen(options)?;
    let mut output = std::io::stdout().lock();
    if options.list {
        for scenario in scenarios {
            writeln!(output, "{:28}{}", scenario.name, scenario.suite)?;
        }
        return Ok(0);
    }
    let eras = match options.spec_version.as_deref() {
        None => Era::ALL.to_vec(),
        Some(version) => {
            let era = Era::ALL.into_iter().find(|era| era.name() == version);
            vec![era.ok_or_else(|| format!("there are no scenarios for `{version}`; take 2026-07-28 or 2025-11-25"))?]
        }
    };
    let client = match (&options.command, options.client.as_slice()) {
        (Some(line), _) => Client::Line(line.clone()),
        (None, []) => return Err("no client to test; name it after `--`, or with `--command`".into()),
        (None, words) => Client::Words(words.to_vec()),
    };
    let limit = Duration::from_millis(options.timeout.max(1));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (mut runs, channel) = runtime.block_on(run_all(&scenarios, &eras, &client, limit, options.jobs))?;
    runtime.shutdown_background();
    for run in &mut runs {
        run.judge(channel);
    }
    if let Some(dir) = &options.output {
        runs.iter().try_for_each(|run| report::write(dir, run))?;
    }
    if let Some(path) = &options.junit {
        std::fs::write(path, report::junit(&runs))?;
    }
    output.write_all(report::summary(&runs, channel).as_bytes())?;
    let is_untested = options.strict && runs.iter().any(|run| run.skipped() > 0);
    Ok(u8::from(is_untested || runs.iter().any(|run| run.failures().next().is_some())))
}

fn chosen(options: &Options) -> Result<Vec<Scenario>, String> {
    let all = scenarios::all();
    if let Some(unknown) = options.scenario.iter().find(|name| !all.iter().any(|known| known.name == **name)) {
        return Err(format!("there is no scenario `{unknown}`; `candor conform --list` prints them"));
    }
    let named =
        |scenario: &Scenario| options.scenario.is_empty() || options.scenario.iter().any(|name| name == scenario.name);
    let in_suite = |scenario: &Scenario| options.suite.as_deref().is_none_or(|suite| suite == scenario.suite);
    let chosen: Vec<Scenario> = all.into_iter().filter(|scenario| named(scenario) && in_suite(scenario)).collect();
    if chosen.is_empty() {
        return Err("no scenario is left by `--scenario` and `--suite`; `candor conform --list` prints them".into());
    }
    Ok(chosen)
}

/// All runs in order, and whether the client reports questions at all: to find that out, it may be
/// run once more.
async fn run_all(
    scenarios: &[Scenario],
    eras: &[Era],
    client: &Client,
    limit: Duration,
    jobs: Option<NonZero<usize>>,
) -> Result<(Vec<Run>, bool), Box<dyn Error + Send + Sync>> {
    let pairs = scenarios.iter().flat_map(|scenario| eras.iter().map(move |era| (*scenario, *era)));
    let at_once = jobs.map_or_else(|| std::thread::available_parallelism().map_or(2, usize::from) * 4, usize::from);
    let runs: Vec<_> =
        stream::iter(pairs).map(|(scenario, era)| run(scenario, era, client, limit)).buffered(at_once).collect().await;
    let runs = runs.into_iter().collect::<Result<Vec<Run>, _>>()?;
    let mut channel = runs.iter().any(|run| run.ledger.has_questions());
    let probe = scenarios::all().into_iter().find(|scenario| scenario.name == "no-annotations");
    if let (false, Some(probe)) = (channel, probe)
        && !runs.iter().any(|run| run.scenario == probe.name)
        && let Some(era) = eras.first()
    {
        channel = run(probe, *era, client, limit).await?.ledger.has_questions();
    }
    Ok((runs, channel))
}

/// What every scenario checks.
fn always() -> [Check; 2] {
    let check = |id: &str, description, rule| Check { id: id.into(), description, rule };
    [
        check(
            "protocol",
            "The client speaks the version that it was asked to, and answers only what it was asked.",
            Rule::Protocol,
        ),
        check("ends", "The client ends by itself, in time, with status 0.", Rule::Ended),
    ]
}

async fn run(
    scenario: Scenario,
    era: Era,
    client: &Client,
    limit: Duration,
) -> Result<Run, Box<dyn Error + Send + Sync>> {
    let began = Instant::now();
    let dir = tempfile::tempdir()?;
    let plan = (scenario.plan)(era);
    let checks = plan.checks.iter().cloned().chain(always()).map(|check| (check, Outcome::Skipped)).collect();
    let server = Server::start(era, plan, dir.path()).await?;
    let bridge = [std::env::current_exe()?.to_string_lossy().into_owned(), "__bridge".into()];
    let context = server.context(&bridge);
    let left = client.run(&scenario, era, &server, &context, limit).await?;
    // What went out last, such as a closed connection, may still be on its way.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let ledger = server.stop(left.fault);
    let (stdout, stderr, seconds) = (left.stdout, left.stderr, began.elapsed().as_secs_f32());
    Ok(Run { scenario: scenario.name, suite: scenario.suite, era, ledger, checks, stdout, stderr, seconds })
}
