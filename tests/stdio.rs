//! Whatever comes in over stdio, the server answers or refuses, goes on, and keeps stdout clean.

use std::{os::unix::net::UnixStream, process::Stdio, time::Duration};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{ERAS, Era, Reply, Server, User, candor, wait};

const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

/// The next request is still served.
fn assert_alive(server: &mut Server) {
    let reply = server.call("list_notes", json!({}));
    reply.output();
}

#[test]
fn what_is_no_message_is_answered_and_the_next_request_served() {
    let mut server = Server::start(&[]);
    for (line, code) in [
        (&b"{bad\n"[..], -32700),
        (b"\xff\xfe\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/li\n", -32700),
        (b"nul\n", -32700),
        (b"5\n", -32600),
        (b"\"tools/list\"\n", -32600),
        (b"[]\n", -32600),
        (b"[\"2.0\",7,\"tools/call\",{\"name\":\"list_notes\"}]\n", -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", -32600),
        (b"{}\n", -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":5}}\n", -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":[]}\n", -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"query\",\"arguments\":[]}}\n", -32602),
    ] {
        server.send_bytes(line);
        let reply = server.next().unwrap();
        assert_eq!(reply["error"]["code"], code, "{}: {reply}", String::from_utf8_lossy(line));
        let with_id = String::from_utf8_lossy(line).contains("\"id\":7,");
        assert_eq!(reply["id"], if with_id { json!(7) } else { Value::Null }, "{reply}");
        assert_alive(&mut server);
    }
}

#[test]
fn blank_lines_byte_order_marks_and_carriage_returns_do_no_harm() {
    let mut server = Server::start(&[]);
    server.send_bytes(b"\n  \n\r\n\xef\xbb\xbf");
    assert_alive(&mut server);
    let line = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}});
    server.send_bytes(format!("\u{feff}{line}\r\n").as_bytes());
    assert_eq!(server.reply_to(5)["id"], 5);
}

#[test]
fn a_line_that_is_too_long_or_too_deep_is_refused_and_the_next_served() {
    let mut server = Server::start(&["--message-bytes", "20000"]);
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}\n", "x".repeat(300_000));
    server.send_bytes(long.as_bytes());
    let reply = server.next().unwrap();
    assert!(reply["error"]["message"].as_str().unwrap().contains("20000"), "{reply}");
    // One line, one answer: what follows is the answer to the next request.
    let id = server.begin("tools/list", json!({}));
    assert_eq!(server.next().unwrap()["id"], id);
    assert_alive(&mut server);

    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(1500), close.repeat(1500));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{{\"name\":\"query\",\"arguments\":{{\"sql\":{deep}}}}}}}\n"
        );
        server.send_bytes(line.as_bytes());
        assert!(server.next().unwrap()["error"]["code"].is_i64());
        assert_alive(&mut server);
    }
}

#[test]
fn the_input_may_end_at_any_time() {
    // at once
    let (status, _) = Server::silent(Era::Modern, User::Accepts, &[]).finish();
    assert_eq!(status.code(), Some(0));
    // after a request, which is answered
    let mut server = Server::start(&[]);
    let id = server.begin("tools/list", json!({}));
    server.close_input();
    assert_eq!(server.reply_to(id)["id"], id);
    assert!(server.next().is_none());
    assert_eq!(server.finish().0.code(), Some(0));
    // in the middle of a line, which is dropped
    let mut server = Server::start(&[]);
    server.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"");
    server.close_input();
    assert!(server.next().is_none());
    assert_eq!(server.finish().0.code(), Some(0));
}

#[test]
fn a_client_that_stops_reading_ends_the_server() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut child = candor()
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(ours);
    let mut input = child.stdin.take().unwrap();
    let _ = std::io::Write::write_all(&mut input, b"{\n");
    // Our input stays open: the server ends because nobody reads.
    assert_eq!(wait(&mut child).code(), Some(0));
}

#[test]
fn socket_pairs_serve_as_well_as_pipes_and_keep_their_flags() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let shared = theirs.try_clone().unwrap();
    let mut child = candor()
        .arg("serve")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs.try_clone().unwrap())))
        .stdout(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    std::io::Write::write_all(&mut &ours, format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(&ours), &mut line).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 1);
    let flags =
        std::fs::read_to_string(format!("/proc/self/fdinfo/{}", std::os::fd::AsRawFd::as_raw_fd(&shared))).unwrap();
    let flags = flags.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
    assert_eq!(i32::from_str_radix(flags, 8).unwrap() & 0o4000, 0, "O_NONBLOCK leaked: {flags}");
    drop(shared);
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(wait(&mut child).code(), Some(0));
}

#[test]
fn a_burst_of_ten_thousand_is_answered_to_the_last() {
    let mut server = Server::start(&["--calls-per-second", "1000000"]);
    let count = 10_000;
    let (send, done) = std::sync::mpsc::channel();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let lines: Vec<String> = (1..=count)
        .map(|id| {
            let params = json!({"name": "list_notes", "arguments": {}, "_meta": meta});
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
        })
        .collect();
    std::thread::scope(|scope| {
        let input = server.take_input();
        scope.spawn(move || {
            let mut input = input;
            std::io::Write::write_all(&mut input, lines.concat().as_bytes()).unwrap();
            let _ = done.recv_timeout(Duration::from_secs(60)); // keep it open
        });
        let mut seen = std::collections::BTreeSet::new();
        while seen.len() < count {
            let reply = Reply(server.next().unwrap());
            reply.output();
            seen.insert(reply.0["id"].as_u64().unwrap());
        }
        send.send(()).unwrap();
    });
}

#[test]
fn a_client_that_opens_wrongly_may_try_again() {
    let mut server = Server::silent(Era::Legacy, User::Accepts, &[]);
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    server.send(&json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    let reply = server.request("tools/call", json!({"name": "list_notes", "arguments": {}}));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    server.initialize();
    assert_alive(&mut server);
}

#[test]
fn a_modern_only_server_names_its_version_to_a_legacy_client_and_goes_on() {
    let mut server = Server::silent(Era::Modern, User::Accepts, &["--modern-only"]);
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    server.send(&json!({"jsonrpc": "2.0", "id": 90, "method": "initialize", "params": params}));
    let reply = server.next().unwrap();
    assert_eq!(reply["error"]["code"], -32022, "{reply}");
    assert_eq!(reply["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_alive(&mut server);
}

#[test]
fn one_id_twice_in_flight_leaves_the_server_serving() {
    let mut server = Server::start(&[]);
    for _ in 0..2 {
        let params = json!({"name": "list_notes", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}});
        server.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
    }
    assert_eq!(server.reply_to(77)["id"], 77);
    assert_alive(&mut server);
}

#[test]
fn a_cancelled_call_is_never_answered_and_an_unknown_cancellation_ignored() {
    let mut server = Server::start(&["--grant", "all"]);
    let id = server.begin("tools/call", json!({"name": "query", "arguments": {"sql": ENDLESS}}));
    std::thread::sleep(Duration::from_millis(200));
    for cancelled in [json!(id), json!("nobody"), json!(1_000_000)] {
        server
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}));
    }
    assert_alive(&mut server);
    server.close_input();
    while let Some(message) = server.next() {
        assert_ne!(message["id"], id, "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever bytes come, in whatever pieces, a good request behind them is answered.
    #[test]
    fn no_bytes_stop_the_framing(pieces in prop::collection::vec(prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        Just(b"\n".to_vec()),
        Just(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}\n".to_vec()),
        Just(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":null}}\n".to_vec()),
        "\\{\"jsonrpc\":\"2.0\",\"id\":[0-9]{1,25},\"method\":\"[a-z/]{0,12}\"\\}\n".prop_map(String::into_bytes),
    ], 0..20)) {
        let mut server = Server::start(&["--message-bytes", "2000"]);
        for piece in &pieces {
            server.send_bytes(piece);
        }
        server.send_bytes(b"\n");
        server.begin("tools/list", json!({}));
        loop {
            let message = server.next().expect("the server is there");
            if message["result"]["tools"].is_array() && message["result"]["resultType"] == "complete" {
                break;
            }
        }
        let (status, _) = server.finish();
        prop_assert_eq!(status.code(), Some(0));
    }
}

/// Told to stop, the server takes no more messages, lets running calls end, answers them, and
/// removes its demo workspace.
#[test]
fn told_to_stop_it_answers_what_runs_and_leaves_nothing_behind() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        for era in ERAS {
            let mut server = Server::start_in(era, User::Accepts, &["--grant", "all", "--call-seconds", "1"]);
            assert_alive(&mut server);
            assert!(server.scratch().read_dir().unwrap().next().is_some());
            let id = server.begin("tools/call", json!({"name": "query", "arguments": {"sql": ENDLESS}}));
            std::thread::sleep(Duration::from_millis(200));
            server.signal(signal);
            let reply = Reply(server.reply_to(id));
            assert!(reply.refusal().contains("longer than 1 s"), "{signal} {era:?}: {reply:?}");
            assert_eq!(server.wait().code(), Some(0), "{signal}");
            assert!(server.next().is_none());
            assert!(server.scratch().read_dir().unwrap().next().is_none(), "{signal} leaves the demo workspace");
        }
    }
}

#[test]
fn told_to_stop_before_the_first_message_it_leaves_nothing_behind() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let mut server = Server::silent(Era::Modern, User::Accepts, &[]);
        // It is laying out the demo workspace.
        while server.scratch().read_dir().unwrap().next().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0), "{signal}");
        assert!(server.scratch().read_dir().unwrap().next().is_none(), "{signal} leaves the demo workspace");
    }
}

#[test]
fn told_twice_to_stop_it_ends_at_once() {
    let mut options = vec!["--grant", "all"];
    for limit in ["--call-seconds", "--query-seconds", "--drain-seconds"] {
        options.extend([limit, "3600"]);
    }
    let mut serve = candor();
    serve.arg("serve").args(options).env("CANDOR_LOG", "rmcp=warn");
    let mut server = Server::spawn(&mut serve, Era::Modern, User::Accepts);
    assert_alive(&mut server);
    server.begin("tools/call", json!({"name": "query", "arguments": {"sql": ENDLESS}}));
    std::thread::sleep(Duration::from_millis(200));
    server.signal("-TERM");
    std::thread::sleep(Duration::from_millis(200));
    server.signal("-TERM");
    assert_eq!(server.wait().code(), Some(0));
    let (_, log) = server.finish();
    assert!(!log.contains("timed out draining"), "it waited for the call: {log}");
}
