//! The rounds.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    Bench, Failure,
    http::{self, Connection, Era},
    servers::{CANDOR, CANDOR_SOCKETS, FOR_EACH_REF, GIT, HELLO, SQLITE},
    stdio::{End, Means, Server},
    worlds::{self, Kept},
};

/// One row by its key.
pub(crate) fn point() -> Value {
    json!({"name": "query", "arguments": {"sql": "SELECT id, name, price, stock FROM items WHERE id = ?", "params": [500]}})
}

/// A thousand rows.
pub(crate) fn scan() -> Value {
    json!({"name": "query", "arguments": {"sql": "SELECT id, name, price, stock FROM items", "limit": 1000}})
}

/// The same calls in the words of `mcp-server-sqlite`.
fn in_their_words(who: &str, [point, scan]: [Value; 2]) -> [Value; 2] {
    if who != SQLITE {
        return [point, scan];
    }
    ["SELECT id, name, price, stock FROM items WHERE id = 500", "SELECT id, name, price, stock FROM items"]
        .map(|sql| json!({"name": "read_query", "arguments": {"query": sql}}))
}

/// Start-up, memory, point queries and scans on standard input and output.
pub(crate) fn stdio(bench: &mut Bench) -> Result<(), Failure> {
    let database = bench.path("shop.db");
    let ours = bench.candor(&["--database", &database]);
    let mut all = vec![(CANDOR, ours.clone(), Means::Pipes), (CANDOR_SOCKETS, ours, Means::Sockets)];
    if let Some(peers) = &bench.peers {
        all.extend(peers.on_stdio(&database).into_iter().map(|(who, command)| (who, command, Means::Pipes)));
    }
    bench.tell("stdio: start");
    let mut running = Vec::new();
    for round in 0..bench.rounds.min(3) {
        for (who, command, means) in &all {
            let server = Server::start(command, *means).map_err(|error| format!("{who}: {error}"))?;
            bench.figures.add("start", who, server.start.as_secs_f64() * 1e3);
            if round == 0 {
                bench.figures.add("idle", who, resident(server.id())?);
                running.push((*who, server));
            }
        }
    }
    for round in 1..=bench.rounds {
        bench.tell(&format!("stdio: round {round} of {}", bench.rounds));
        for (who, server) in &mut running {
            let [point, scan] = in_their_words(who, [point(), scan()]);
            for (what, call, flight) in [("stdio 1", &point, 1), ("stdio 16", &point, 16), ("stdio scan", &scan, 1)] {
                let run =
                    server.load(call, flight, End::After(bench.slice)).map_err(|error| format!("{who}: {error}"))?;
                bench.figures.add(what, who, run.rate);
            }
        }
    }
    bench.tell("memory: 10,000 calls");
    running.clear();
    let (who, command, means) = &all[0];
    let mut server = Server::start(command, *means)?;
    server.load(&point(), 16, End::Calls(10_000))?;
    bench.figures.add("after 10k", who, resident(server.id())?);
    Ok(())
}

/// Other calls while four statements run that do not end by themselves.
pub(crate) fn isolation(bench: &mut Bench) -> Result<(), Failure> {
    let (database, repository) = (bench.path("shop.db"), bench.path("few.git"));
    worlds::branches(repository.as_ref(), 10, Kept::Packed)?;
    let command = bench.candor(&["--database", &database, "--repo", &repository]);
    let slow = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let slow = json!({"name": "query", "arguments": {"sql": slow}});
    let other = json!({"name": "list_branches", "arguments": {}});
    for (what, call) in [("slow: other", other), ("slow: point", point())] {
        bench.tell("isolation under four slow queries");
        for _ in 0..bench.rounds.min(3) {
            let mut server = Server::start(&command, Means::Pipes)?;
            server.call(&call)?;
            server.leave_open(&slow, 4)?;
            let run = server.load(&call, 1, End::After(bench.slice * 2))?;
            bench.figures.add(&format!("{what} p50"), CANDOR, run.ms(0.5));
            bench.figures.add(&format!("{what} p99"), CANDOR, run.ms(0.99));
        }
    }
    Ok(())
}

/// The newest branches of small and of large repositories.
pub(crate) fn branches(bench: &mut Bench) -> Result<(), Failure> {
    for (name, kept) in [("packed", Kept::Packed), ("loose", Kept::Loose)] {
        for count in [10, 1_000, 10_000] {
            let what = format!("{count} {name}");
            bench.tell(&format!("list_branches: {what}"));
            let repository = bench.path(&format!("{count}-{name}.git"));
            worlds::branches(repository.as_ref(), count, kept)?;
            let mut ours = Server::start(&bench.candor(&["--repo", &repository]), Means::Pipes)?;
            let call = json!({"name": "list_branches", "arguments": {"limit": 20}});
            let theirs = json!({"name": "git_branch", "arguments": {"repo_path": repository, "branch_type": "local"}});
            let command = bench.peers.as_ref().map(|peers| peers.git(&repository));
            let mut peer = command.map(|command| Server::start(&command, Means::Pipes)).transpose()?;
            for _ in 0..bench.rounds.min(3) {
                let run = ours.load(&call, 1, End::Calls(9))?;
                bench.figures.add(&what, CANDOR, run.ms(0.5));
                if let Some(peer) = &mut peer {
                    let run = peer.load(&theirs, 1, End::Calls(5))?;
                    bench.figures.add(&what, GIT, run.ms(0.5));
                    bench.figures.add(&what, FOR_EACH_REF, for_each_ref(&repository)?);
                }
            }
        }
    }
    Ok(())
}

/// What git itself takes for the same question, its start included.
fn for_each_ref(repository: &str) -> Result<f64, Failure> {
    let format = "--format=%(refname:short) %(objectname) %(committerdate:iso-strict) %(subject)";
    let began = Instant::now();
    let arguments = ["-C", repository, "for-each-ref", "--sort=-committerdate", "--count=20", format, "refs/heads"];
    let done = Command::new("git").args(arguments).stdout(Stdio::null()).status()?;
    if !done.success() {
        return Err("git for-each-ref failed".into());
    }
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// A port that is free now.
pub(crate) fn port() -> Result<u16, Failure> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// `candor serve` over HTTP with the token.
pub(crate) fn candor_on_http(bench: &Bench, options: &[&str]) -> Result<http::Server, Failure> {
    let (port, tokens, database) = (port()?, bench.path("tokens.toml"), bench.path("shop.db"));
    let address = format!("127.0.0.1:{port}");
    let mut all = vec!["--database", &database, "--http", &address, "--tokens", &tokens];
    all.extend(options);
    http::Server::start(&bench.candor(&all), port, &bench.token)
}

/// Point queries over HTTP, on 1, 8 and 64 connections.
pub(crate) async fn http(bench: &mut Bench) -> Result<(), Failure> {
    bench.tell("http: start");
    let ours = candor_on_http(bench, &[])?;
    let hello = port()?;
    let command = [std::env::current_exe()?.display().to_string(), "--hello".to_owned(), hello.to_string()];
    let floor = http::Server::start(
        &[&["env".to_owned(), format!("BENCH_TOKEN={}", bench.token)], &command[..]].concat(),
        hello,
        &bench.token,
    )?;
    let mut requests = vec![
        ("candor, 2026-07-28", ours.prepare(Era::Modern, &point()).await?, &ours),
        ("candor, 2025-11-25", ours.prepare(Era::Legacy, &point()).await?, &ours),
        (HELLO, floor.prepare(Era::Hello, &point()).await?, &floor),
    ];
    let mut servers = Vec::new();
    if let Some(peers) = &bench.peers {
        let ports = [port()?, port()?, port()?, port()?];
        for (who, command, port) in peers.on_http(&bench.path("shop.db"), ports) {
            let server =
                http::Server::start(&command, port, &bench.token).map_err(|error| format!("{who}: {error}"))?;
            servers.push((who, server));
        }
    }
    for (who, server) in &servers {
        let request = server.prepare(Era::Legacy, &point()).await.map_err(|error| format!("{who}: {error}"))?;
        requests.push((who, request, server));
    }
    for round in 1..=bench.rounds {
        bench.tell(&format!("http: round {round} of {}", bench.rounds));
        for connections in [1, 8, 64] {
            for (who, request, server) in &requests {
                let patience = bench.slice + Duration::from_secs(10);
                let run = tokio::time::timeout(patience, server.load(request, connections, bench.slice)).await;
                let run = run.map_err(|_| format!("{who}: an answer on {connections} connections does not end"))?;
                let run = run.map_err(|error| format!("{who}: {error}"))?;
                bench.figures.add(&format!("http {connections}"), who, run.rate);
                if connections == 64 {
                    bench.figures.add("http p99", who, run.ms(0.99));
                }
            }
        }
    }
    Ok(())
}

/// Memory after 5,000 handshakes that nobody goes on with.
pub(crate) async fn abandoned(bench: &mut Bench) -> Result<(), Failure> {
    bench.tell("memory: 5,000 abandoned initialisations");
    let server = candor_on_http(bench, &[])?;
    bench.figures.add("http idle", CANDOR, resident(server.id())?);
    let request = server.initialize();
    let mut connection = Connection::open(server.address).await?;
    for _ in 0..5_000 {
        connection.exchange(&request).await?;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    bench.figures.add("http abandoned", CANDOR, resident(server.id())?);
    Ok(())
}

/// Megabytes of memory that a process holds.
fn resident(process: u32) -> Result<f64, Failure> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next());
    Ok(kilobytes.ok_or("no VmRSS")?.parse::<f64>()? / 1024.0)
}
