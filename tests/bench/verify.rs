//! Does a verified call cost what it changes, or what the world holds? `cargo bench-verify`.
//!
//! One unit is a real call to our own server on stdio, then a look at its world and the comparison
//! with the look before: all that a step of a trial does but its fixed waits. The build is that of
//! a release. Exit status 1 if a target is missed.
#![expect(clippy::print_stdout, reason = "it prints a table")]
#![expect(clippy::indexing_slicing, reason = "rounds are counted")]

use std::{
    error::Error,
    fs,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use candor::{
    verify::{Grade, Held, Reply, Snapshot, World, WorldError, in_world},
    wire::{Answer, Connection, Era, Limits, Target},
};
use git2::{Oid, Repository, RepositoryInitOptions, Signature};
use rusqlite::Connection as Database;
use serde_json::{Map, Value, json};

type Failure = Box<dyn Error + Send + Sync>;

/// How often each call is made; the first is not counted, the median of the rest is.
const ROUNDS: usize = 16;
/// How much more a call may cost in a world that is a thousand times as large.
const TARGET: f64 = 20.0;

/// A kind of world, the call that is made in it, and the two sizes.
struct Kind {
    name: &'static str,
    sizes: [usize; 2],
    build: fn(&Path, usize) -> Result<(), WorldError>,
    serve: [&'static str; 2],
    tool: &'static str,
    arguments: fn(usize) -> Value,
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "files",
        sizes: [100, 50_000],
        build: notes,
        serve: ["--notes", "{world}/notes"],
        tool: "append_note",
        arguments: |round| json!({ "name": format!("note-{round}.md"), "text": "more\n" }),
    },
    Kind {
        name: "loose branches",
        sizes: [10, 10_000],
        build: loose,
        serve: ["--repo", "{world}/repo"],
        tool: "create_branch",
        arguments: |round| json!({ "branch": format!("new-{round}") }),
    },
    Kind {
        name: "packed branches",
        sizes: [10, 10_000],
        build: packed,
        serve: ["--repo", "{world}/repo"],
        tool: "create_branch",
        arguments: |round| json!({ "branch": format!("new-{round}") }),
    },
    Kind {
        name: "rows",
        sizes: [1_000, 1_000_000],
        build: rows,
        serve: ["--database", "{world}/shop.db"],
        tool: "insert_rows",
        arguments: |round| json!({ "table": "items", "rows": [{ "name": format!("new {round}") }] }),
    },
];

fn main() -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("{:15} {:>9} {:>11} {:>11} {:>11}", "world", "size", "call", "look", "together");
    let mut missed = false;
    for kind in &KINDS {
        let mut medians = Vec::new();
        for size in kind.sizes {
            let (call, look) = runtime.block_on(measure(kind, size))?;
            println!("{:15} {size:>9} {:>11.2?} {:>11.2?} {:>11.2?}", kind.name, call, look, call + look);
            medians.push((call + look).as_secs_f64());
        }
        let ratio = medians[1] / medians[0];
        let is_missed = ratio > TARGET;
        missed |= is_missed;
        let mark = if is_missed { "MISSED" } else { "met" };
        println!("{:15} {:>9} ratio {ratio:.1}, target at most {TARGET}: {mark}", kind.name, "");
    }
    Ok(ExitCode::from(u8::from(missed)))
}

/// The medians of the calls and of the looks after them.
async fn measure(kind: &Kind, size: usize) -> Result<(Duration, Duration), Failure> {
    let build = kind.build;
    let world = World::builder(kind.name, move |dir| build(dir, size));
    let copy = world.fresh()?.watched();
    let mut last = Snapshot::take(&copy, None)?;
    let [option, place] = kind.serve;
    let command = [env!("CARGO_BIN_EXE_candor"), "serve", option, place, "--grant", "all"].map(str::to_owned).to_vec();
    let env = vec![("CANDOR_LOG".to_owned(), "warn".to_owned())];
    let target = in_world(&Target::Stdio { command, env, dir: None }, copy.path());
    let mut server = Connection::open(&target, Era::Modern, &Limits::default()).await?;
    let processes = server.processes();
    let (mut calls, mut looks) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let arguments: Map<String, Value> = serde_json::from_value((kind.arguments)(round))?;
        let began = Instant::now();
        let called = server.call(kind.tool, &arguments, Answer::Accept, |_| async {}).await?;
        calls.push(began.elapsed());
        if called.reply != Reply::Success {
            return Err(format!("{}: {:?}", kind.tool, called.reply).into());
        }
        let began = Instant::now();
        let held = Held::by(processes.iter().copied()).within(copy.path());
        let now = Snapshot::take_held(&copy, Some(&last), &held)?;
        let effects = Snapshot::effects(&last, &now);
        looks.push(began.elapsed());
        if !effects.iter().any(|effect| effect.grade == Grade::Additive) {
            return Err(format!("{} was not seen: {effects:?}", kind.tool).into());
        }
        last = now;
    }
    server.close().await;
    let median = |mut times: Vec<Duration>| {
        times.remove(0);
        times.sort();
        times[times.len() / 2]
    };
    Ok((median(calls), median(looks)))
}

fn notes(dir: &Path, count: usize) -> Result<(), WorldError> {
    fs::create_dir(dir.join("notes"))?;
    for number in 0..count {
        fs::write(dir.join("notes").join(format!("note-{number}.md")), format!("text {number}\n"))?;
    }
    Ok(())
}

/// A file for each: the costlier way of keeping them.
fn loose(dir: &Path, count: usize) -> Result<(), WorldError> {
    let commit = repository(dir)?;
    for number in 1..count {
        fs::write(dir.join(format!("repo/refs/heads/b{number}")), format!("{commit}\n"))?;
    }
    Ok(())
}

/// All in one file.
fn packed(dir: &Path, count: usize) -> Result<(), WorldError> {
    let commit = repository(dir)?;
    let mut names: Vec<String> = (1..count).map(|number| format!("refs/heads/b{number}")).collect();
    names.sort();
    let lines: Vec<String> = names.iter().map(|name| format!("{commit} {name}\n")).collect();
    Ok(fs::write(
        dir.join("repo/packed-refs"),
        format!("# pack-refs with: peeled fully-peeled sorted \n{}", lines.concat()),
    )?)
}

/// A bare repository with one commit on `main`.
fn repository(dir: &Path) -> Result<Oid, WorldError> {
    let commit = || -> Result<Oid, git2::Error> {
        let mut options = RepositoryInitOptions::new();
        let repository = Repository::init_opts(dir.join("repo"), options.bare(true).initial_head("main"))?;
        let tree = repository.find_tree(repository.treebuilder(None)?.write()?)?;
        let who = Signature::now("Ada", "ada@example.org")?;
        repository.commit(Some("refs/heads/main"), &who, &who, "begin", &tree, &[])
    };
    Ok(commit().map_err(std::io::Error::other)?)
}

fn rows(dir: &Path, count: usize) -> Result<(), WorldError> {
    let fill = || -> rusqlite::Result<()> {
        let database = Database::open(dir.join("shop.db"))?;
        database.execute_batch("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")?;
        let insert = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                      INSERT INTO items (name) SELECT 'item ' || i FROM n";
        database.execute(insert, [i64::try_from(count).unwrap_or(i64::MAX)]).map(drop)
    };
    Ok(fill().map_err(std::io::Error::other)?)
}
