//! The targets, and the page that says how far they are reached.

use std::{fmt::Write as _, fs, process::Command};

use super::{
    Bench,
    figures::{Aim, Figures, Target, comparison},
    servers::{
        CANDOR, CANDOR_SOCKETS, FASTMCP, FOR_EACH_REF, GIT, HELLO, PYTHON, SQLITE, TS_SDK, TS_SERVER, TS_SESSION,
        TS_STATELESS,
    },
};

const MODERN: &str = "candor, 2026-07-28";
const LEGACY: &str = "candor, 2025-11-25";
const PEERS: [&str; 5] = [SQLITE, PYTHON, FASTMCP, TS_SDK, TS_SERVER];
const HTTP_PEERS: [&str; 4] = [PYTHON, FASTMCP, TS_STATELESS, TS_SESSION];

/// What is aimed at, beside what was reached.
pub(crate) fn targets(figures: &Figures) -> Vec<Target> {
    let ratio = |what: &str, ours: &str, other: Option<f64>| Some(figures.median(what, ours)? / other?);
    let against = |what: &str, theirs: &str| ratio(what, CANDOR, figures.median(what, theirs));
    let mut all = Vec::new();
    let mut add = |what: &str, aim: Aim, reached: Option<f64>| all.push(Target { what: what.to_owned(), aim, reached });

    add("stdio, 1 in flight: rate against mcp-server-sqlite", Aim::AtLeast(12.0), against("stdio 1", SQLITE));
    add("stdio, 16 in flight: rate against mcp-server-sqlite", Aim::AtLeast(60.0), against("stdio 16", SQLITE));
    add("stdio, 1 in flight: rate against the TypeScript SDK", Aim::AtLeast(1.2), against("stdio 1", TS_SDK));
    add("stdio, 16 in flight: rate against the TypeScript SDK", Aim::AtLeast(1.8), against("stdio 16", TS_SDK));
    let sockets = |what: &str| ratio(what, CANDOR_SOCKETS, figures.median(what, CANDOR));
    add("socket pair, 1 in flight: rate against our pipes", Aim::AtLeast(0.7), sockets("stdio 1"));
    add("socket pair, 16 in flight: rate against our pipes", Aim::AtLeast(0.7), sockets("stdio 16"));
    add("scan of 1,000 rows: rate against mcp-server-sqlite", Aim::AtLeast(5.0), against("stdio scan", SQLITE));
    add("scan of 1,000 rows: rate against the TypeScript SDK", Aim::AtLeast(2.5), against("stdio scan", TS_SDK));
    for (connections, least) in [(64, 0.40), (8, 0.25), (1, 0.33)] {
        let what = format!("http {connections}");
        let text = format!("HTTP, {connections} connections: rate against axum hello");
        add(&text, Aim::AtLeast(least), ratio(&what, MODERN, figures.median(&what, HELLO)));
    }
    for (theirs, least) in [(PYTHON, 20.0), (FASTMCP, 35.0), (TS_STATELESS, 18.0), (TS_SESSION, 10.0)] {
        let reached = ratio("http 64", MODERN, figures.median("http 64", theirs));
        add(&format!("HTTP, 64 connections: rate against {theirs}"), Aim::AtLeast(least), reached);
    }
    let slowest = ratio("http p99", MODERN, figures.least("http p99", &HTTP_PEERS));
    add("HTTP, 64 connections: p99 against the best peer", Aim::AtMost(0.2), slowest);
    add("four slow queries: p99 of another tool, ms", Aim::AtMost(20.0), figures.median("slow: other p99", CANDOR));
    add("four slow queries: p99 of a point query, ms", Aim::AtMost(20.0), figures.median("slow: point p99", CANDOR));
    add("list_branches, 10,000 packed: time against mcp-server-git", Aim::AtMost(0.2), against("10000 packed", GIT));
    let bare = against("10000 packed", FOR_EACH_REF);
    add("list_branches, 10,000 packed: time against git for-each-ref", Aim::AtMost(0.05), bare);
    add("list_branches, 10,000 loose: time against mcp-server-git", Aim::AtMost(1.1), against("10000 loose", GIT));
    let start = ratio("start", CANDOR, figures.least("start", &PEERS));
    add("start to the first tools/list, against the fastest peer", Aim::AtMost(1.0 / 50.0), start);
    let idle = ratio("idle", CANDOR, figures.least("idle", &PEERS));
    add("memory idle, against the smallest peer", Aim::AtMost(0.333), idle);
    let grown = ratio("after 10k", CANDOR, figures.median("idle", CANDOR));
    add("memory after 10,000 calls, against idle", Aim::AtMost(1.25), grown);
    let abandoned = ratio("http abandoned", CANDOR, figures.median("http idle", CANDOR));
    add("memory after 5,000 abandoned initialisations, against idle", Aim::AtMost(2.0), abandoned);
    all
}

/// The whole page.
pub(crate) fn page(bench: &Bench, growth: &str, targets: &[Target]) -> String {
    let figures = &bench.figures;
    let all = [CANDOR, CANDOR_SOCKETS, SQLITE, PYTHON, FASTMCP, TS_SDK, TS_SERVER];
    let mut text = "# How fast candor is, beside its peers\n\n".to_owned();
    let _ = writeln!(
        text,
        "Written by `cargo bench-peers -- --write`; do not edit. Medians of {} interleaved rounds of {} ms, and how \
         far the rounds lay apart. candor runs with grants, gate, audit file, safe connections and limits, of which \
         only the rate limits are raised; its peers have equal data and an equal tool, without authorization or \
         audit. Absolute figures depend on the machine and on what else it did: what counts is the ratio.\n",
        bench.rounds,
        bench.slice.as_millis()
    );
    let _ = writeln!(text, "candor {}; {}.", env!("CARGO_PKG_VERSION"), machine());
    if let Some(peers) = &bench.peers {
        let _ = writeln!(text, "Peers: {}.", peers.versions().join(", "));
    }
    let _ = writeln!(text, "\n## Targets\n\n{}", comparison(targets));
    let columns = [("stdio 1", "1 in flight"), ("stdio 16", "16 in flight"), ("stdio scan", "scan of 1,000 rows")];
    let _ = writeln!(text, "## Point query on stdio, answers a second\n\n{}", figures.table("stdio", &columns, &all));
    let columns = [("start", "start to tools/list, ms"), ("idle", "idle, MB"), ("after 10k", "after 10,000 calls, MB")];
    let _ = writeln!(text, "## Start and memory\n\n{}", figures.table("stdio", &columns, &all));
    let columns = [("http idle", "idle, MB"), ("http abandoned", "after 5,000 abandoned initialisations, MB")];
    let _ = writeln!(text, "{}", figures.table("HTTP", &columns, &[CANDOR]));
    let columns = [("http 1", "1"), ("http 8", "8"), ("http 64", "64"), ("http p99", "p99 at 64, ms")];
    let rows = [MODERN, LEGACY, HELLO, PYTHON, FASTMCP, TS_STATELESS, TS_SESSION];
    let _ = writeln!(
        text,
        "## Point query over HTTP, answers a second by connections\n\n{}",
        figures.table("HTTP", &columns, &rows)
    );
    let sizes = ["10 packed", "1000 packed", "10000 packed", "10 loose", "1000 loose", "10000 loose"];
    let columns = sizes.map(|size| (size, size));
    let _ = writeln!(
        text,
        "## The 20 newest branches, ms\n\n{}",
        figures.table("branches", &columns, &[CANDOR, GIT, FOR_EACH_REF])
    );
    let columns = ["slow: other p50", "slow: other p99", "slow: point p50", "slow: point p99"].map(|what| (what, what));
    let _ = writeln!(text, "## While four slow queries run, ms\n\n{}", figures.table("stdio", &columns, &[CANDOR]));
    let _ = write!(text, "## How cost grows, ms a call\n\n{growth}");
    text
}

/// What kind of machine it is; nothing that names it.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").ok();
    let gigabytes =
        memory.as_ref().and_then(|text| text.lines().next()?.split_whitespace().nth(1)?.parse::<f64>().ok());
    let git = Command::new("git")
        .arg("--version")
        .output()
        .map(|done| String::from_utf8_lossy(&done.stdout).trim().to_owned());
    format!(
        "{} {}, {cores} cores, {:.0} GB of memory, {}",
        std::env::consts::OS,
        std::env::consts::ARCH,
        gigabytes.unwrap_or_default() / 1e6,
        git.unwrap_or_default()
    )
}
