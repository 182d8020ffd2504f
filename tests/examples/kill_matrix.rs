//! Would the verifier notice a lie? Every hint of every tool is set to every other value, and each
//! planted value has one right verdict. The trials are the same whatever the hints say, so they are
//! run once; each lie is listed by a server of its own. Then every guard is removed once: see
//! `breaks.rs`.
//!
//! `cargo kill-matrix WORD` plants only the breaks with this word in their name.
#![expect(clippy::print_stdout, reason = "it prints a table")]

mod breaks;

use std::{error::Error, fmt::Write, process::ExitCode};

use candor::{
    hints::{DeclaredTool, Hint, HintName},
    verify::{Definition, Options, Outcome, Run, Sight, judge, listener, sandbox},
};
use clap::Parser;
use futures::{StreamExt, TryStreamExt, stream};

/// This program is also the server under test.
#[derive(Parser)]
enum Cli {
    Serve(Box<candor::serve::Options>),
    Verify(Box<Options>),
}

const VALUES: [&str; 5] = ["true", "false", "absent", "null", "\"yes\""];
const WORLDS: [&str; 4] = ["demo", "packed", "odd-notes", "triggers"];

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<ExitCode, Failure> {
    if sandbox::is_wanted() {
        return Ok(sandbox::enter(listener::install));
    }
    let word = std::env::args().nth(1);
    if word.as_deref() == Some("serve") {
        let Cli::Serve(options) = Cli::parse() else { return Err("not `serve`".into()) };
        return match candor::serve::run(*options) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(error.to_string().into()),
        };
    }
    let (mut killed, mut planted, mut survivors, mut told) = (0, 0, String::new(), String::new());
    if word.is_none() {
        let lies = tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(lies())?;
        (killed, planted, survivors) = (lies.killed, lies.planted, lies.survivors);
        let _ = writeln!(
            told,
            "{killed} of {planted} planted values got their verdict; {} need sight of connections",
            lies.unseen
        );
    }
    let breaks = breaks::plant(word.as_deref().unwrap_or_default())?;
    let _ = writeln!(told, "{} of {} removed guards were noticed", breaks.killed, breaks.planted);
    killed += breaks.killed;
    planted += breaks.planted;
    survivors += &breaks.survivors;
    print!("{survivors}{told}");
    let kept = word.is_some() || include_str!("../../README.md").contains(&told);
    if !kept {
        println!("README.md does not say so; write these lines there");
    }
    Ok(ExitCode::from(u8::from(killed < planted || planted == 0 || !kept)))
}

/// What came of the planted values.
struct Lies {
    killed: usize,
    planted: usize,
    unseen: usize,
    survivors: String,
}

fn options(lie: Option<&str>) -> Result<Options, Failure> {
    let worlds = WORLDS.iter().flat_map(|world| ["--world", world]);
    let lie = lie.iter().flat_map(|lie| ["--mislabel", lie]);
    match Cli::try_parse_from(["kill_matrix", "verify"].into_iter().chain(worlds).chain(lie))? {
        Cli::Verify(options) => Ok(*options),
        Cli::Serve(_) => Err("not `verify`".into()),
    }
}

async fn lies() -> Result<Lies, Failure> {
    let Run { tools, observations, sight, .. } = options(None)?.observe().await?;
    let mut plants = Vec::new();
    for tool in &tools {
        for hint in HintName::ALL {
            plants.extend(VALUES.map(|value| (tool, hint, value)));
        }
    }
    let (observations, sight) = (&observations, &sight);
    let verdicts = plants.iter().map(|(tool, hint, value)| async move {
        let lie = format!("{}.{hint}={value}", tool.name);
        let (_, listed) = options(Some(&lie))?.list().await?;
        let verdicts = judge(&listed, observations, sight, Definition::Mcp);
        let id = format!("{}/{hint}", tool.name);
        let found = verdicts.iter().find(|verdict| verdict.id == id).map(|verdict| verdict.outcome);
        Ok::<_, Failure>(found)
    });
    let found: Vec<Option<Outcome>> = stream::iter(verdicts).buffered(8).try_collect().await?;

    let (mut killed, mut planted, mut unseen, mut survivors) = (0, 0, 0, String::new());
    for ((tool, hint, value), found) in plants.into_iter().zip(found) {
        match expected(tool, hint, value, sight) {
            None => unseen += 1,
            Some(right) => {
                planted += 1;
                if found.is_some_and(|found| right.contains(&found)) {
                    killed += 1;
                } else {
                    let _ = writeln!(survivors, "{}.{hint}={value}: {found:?}, and not {right:?}", tool.name);
                }
            }
        }
    }
    Ok(Lies { killed, planted, unseen, survivors })
}

/// The right verdicts; none where this rung can't tell.
fn expected(tool: &DeclaredTool, hint: HintName, value: &str, sight: &Sight) -> Option<&'static [Outcome]> {
    let honest = *tool.hint(hint) == Hint::Is(true);
    let planted = match value {
        "absent" => return Some(&[Outcome::Undeclared]),
        "true" => true,
        "false" => false,
        _ => return Some(&[Outcome::Malformed]),
    };
    // Who only stays at home can't be told from who was not seen leaving.
    let blind = hint == HintName::OpenWorld && !honest && !sight.connections;
    match (planted == honest, planted == hint.claim()) {
        _ if blind => None,
        (true, _) => Some(&[Outcome::Holds]),
        (false, true) => Some(&[Outcome::Refuted]),
        (false, false) => Some(&[Outcome::Overstated, Outcome::Contradictory]),
    }
}
