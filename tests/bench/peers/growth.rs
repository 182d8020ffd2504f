//! What a call costs as what it works on grows, over three decades.

use std::{fmt::Write as _, time::Duration};

use rusqlite::Connection as Database;
use serde_json::json;
use tokio::runtime::Runtime;

use super::{
    Bench, Failure,
    figures::short,
    http::{Connection, Era},
    load::{self, candor_on_http},
    stdio::{End, Means, Server},
    worlds::{self, Kept},
};

const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

/// Milliseconds a call at each size, and how that grows.
pub(crate) fn table(bench: &Bench, runtime: &Runtime) -> Result<String, Failure> {
    bench.tell("growth");
    let mut text =
        "| a call of | as it grows | 10 | 100 | 1,000 | 10,000 | why |\n|---|---|---|---|---|---|---|\n".to_owned();
    let mut row = |call: &str, size: &str, cost: [f64; 4], why: &str| {
        let cells = cost.map(short).join(" | ");
        writeln!(text, "| `{call}` | {size} | {cells} | {why} |")
    };
    row("tools/list", "earlier calls", over(|size| listing(bench, size))?, "the tools are described once")?;
    row("query", "rows in the table", over(|size| in_table(bench, size))?, "one row by its key")?;
    row("query", "rows returned, at most 1,000", over(|size| returned(bench, size))?, "each row is read and written")?;
    row(
        "list_branches",
        "branches, packed",
        over(|size| branches(bench, size))?,
        "every ref is read; times are remembered",
    )?;
    row("query", "audit lines so far", over(|size| audited(bench, size))?, "lines are only appended")?;
    let sessions = over(|size| runtime.block_on(sessions(bench, size)))?;
    row("query", "other HTTP sessions, at most 1,000", sessions, "a session is found by its hash")?;
    Ok(text)
}

fn over(mut cost: impl FnMut(usize) -> Result<f64, Failure>) -> Result<[f64; 4], Failure> {
    let mut costs = [0.0; 4];
    for (slot, size) in costs.iter_mut().zip(SIZES) {
        *slot = cost(size)?;
    }
    Ok(costs)
}

fn typical(server: &mut Server, call: &serde_json::Value, calls: u64) -> Result<f64, Failure> {
    Ok(server.load(call, 1, End::Calls(calls))?.ms(0.5))
}

fn listing(bench: &Bench, calls: usize) -> Result<f64, Failure> {
    let database = bench.path("shop.db");
    let mut server = Server::start(&bench.candor(&["--database", &database]), Means::Pipes)?;
    server.load(&load::point(), 16, End::Calls(calls as u64))?;
    let mut times = Vec::new();
    for _ in 0..51 {
        let began = std::time::Instant::now();
        server.ask("tools/list", &json!({}))?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2].as_secs_f64() * 1e3)
}

fn in_table(bench: &Bench, rows: usize) -> Result<f64, Failure> {
    let file = bench.path(&format!("rows-{rows}.db"));
    let database = Database::open(&file)?;
    database
        .execute_batch("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, stock INTEGER)")?;
    let insert = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                  INSERT INTO items SELECT i, 'item ' || i, 1.5, 2 FROM n";
    database.execute(insert, [i64::try_from(rows)?])?;
    drop(database);
    let mut server = Server::start(&bench.candor(&["--database", &file]), Means::Pipes)?;
    let sql = "SELECT id, name, price, stock FROM items WHERE id = ?";
    typical(&mut server, &json!({"name": "query", "arguments": {"sql": sql, "params": [7]}}), 501)
}

fn returned(bench: &Bench, rows: usize) -> Result<f64, Failure> {
    let database = bench.path("shop.db");
    let mut server = Server::start(&bench.candor(&["--database", &database]), Means::Pipes)?;
    let mut call = load::scan();
    call["arguments"]["limit"] = json!(rows.min(1_000));
    typical(&mut server, &call, 101)
}

fn branches(bench: &Bench, count: usize) -> Result<f64, Failure> {
    let repository = bench.path(&format!("growth-{count}.git"));
    worlds::branches(repository.as_ref(), count, Kept::Packed)?;
    let mut server = Server::start(&bench.candor(&["--repo", &repository]), Means::Pipes)?;
    typical(&mut server, &json!({"name": "list_branches", "arguments": {}}), 21)
}

fn audited(bench: &Bench, lines: usize) -> Result<f64, Failure> {
    let database = bench.path("shop.db");
    let mut server = Server::start(&bench.candor(&["--database", &database]), Means::Pipes)?;
    server.load(&load::point(), 16, End::Calls(lines as u64))?;
    typical(&mut server, &load::point(), 501)
}

async fn sessions(bench: &Bench, count: usize) -> Result<f64, Failure> {
    let server = candor_on_http(bench, &["--sessions-per-caller", "1000", "--sessions-in-total", "1000"])?;
    let mut connection = Connection::open(server.address).await?;
    for _ in 1..count.min(1_000) {
        connection.exchange(&server.initialize()).await?;
    }
    let request = server.prepare(Era::Legacy, &load::point()).await?;
    Ok(server.load(&request, 1, Duration::from_millis(200)).await?.ms(0.5))
}
