//! Servers over HTTP that break the rules, and one that streams.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use candor::{
    verify::Reply,
    wire::{Limits, Target},
};

use super::*;
use small::short;

/// Answers each request with what the function makes of its head and body, as raw bytes.
fn serve(answer: impl Fn(&str, &Value) -> String + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = std::sync::Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            thread::spawn(move || one(stream, &*answer));
        }
    });
    address
}

fn one(mut stream: TcpStream, answer: &dyn Fn(&str, &Value) -> String) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let Ok(count @ 1..) = stream.read(&mut buffer) else { return };
        bytes.extend(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            let body = String::from_utf8_lossy(&bytes[head.len() + 4..]).into_owned();
            let reply = answer(head, &serde_json::from_str(&body).unwrap_or_default());
            let _ = stream.write_all(reply.as_bytes());
            return;
        }
    }
}

fn reply(status: &str, kind: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}")
}

fn json(id: &Value, result: &Value) -> String {
    reply("200 OK", "application/json", &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

/// Right in everything but what a test says about calls.
fn server(call: impl Fn(&str, &Value) -> String + Send + Sync + 'static) -> Target {
    let address = serve(move |head, body| match body["method"].as_str().unwrap_or_default() {
        "server/discover" => json(&body["id"], &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"]})),
        "initialize" => json(&body["id"], &json!({"protocolVersion": "2025-06-18"})).replacen(
            "\r\n",
            "\r\nMcp-Session-Id: s1\r\n",
            1,
        ),
        "tools/call" => call(head, body),
        _ if head.starts_with("get") => reply("405 Method Not Allowed", "text/plain", ""),
        _ => reply("202 Accepted", "text/plain", ""),
    });
    Target::Http { url: format!("http://{address}/mcp"), headers: vec![("x-key".into(), "k1".into())] }
}

async fn outcome(target: &Target, era: Era) -> Result<Called, WireError> {
    outcome_within(target, era, &Limits::default()).await
}

async fn outcome_within(target: &Target, era: Era, limits: &Limits) -> Result<Called, WireError> {
    let mut connection = Connection::open(target, era, limits).await?;
    let outcome = call(&mut connection, "act", json!({}), Answer::Accept).await;
    connection.close().await;
    outcome.map(|(called, _)| called)
}

#[tokio::test]
async fn each_request_carries_the_headers_of_its_era() {
    let target = server(|head, body| json(&body["id"], &json!({"resultType": "complete", "head": head})));
    let head = outcome(&target, Era::Modern).await.unwrap().result["head"].to_string();
    for header in ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "mcp-name: act", "x-key: k1"] {
        assert!(head.contains(header), "{head}");
    }
    assert!(!head.contains("mcp-session-id"), "{head}");
    let head = outcome(&target, Era::Legacy).await.unwrap().result["head"].to_string();
    for header in ["mcp-protocol-version: 2025-06-18", "mcp-session-id: s1", "x-key: k1"] {
        assert!(head.contains(header), "{head}");
    }
}

#[tokio::test]
async fn a_stream_of_events_is_read_whatever_its_line_ends() {
    for end in ["\n", "\r\n", "\r"] {
        let target = server(move |_, body| {
            let first = json!({"jsonrpc": "2.0", "method": "notifications/message"});
            let second = format!("{{\"jsonrpc\":\"2.0\",{end}data: \"id\":{},\"result\":{{}}}}", body["id"]);
            let stream = format!(
                ": hello{end}id: 0{end}data:{end}{end}event: message{end}data:{first}{end}{end}data: {second}{end}{end}"
            );
            reply("200 OK", "text/event-stream; charset=utf-8", &stream)
        });
        for era in Era::ALL {
            assert_eq!(outcome(&target, era).await.unwrap().reply, Reply::Success, "{end:?}");
        }
    }
}

#[tokio::test]
async fn a_question_in_a_stream_of_the_legacy_era_is_answered() {
    let (told, heard) = std::sync::mpsc::channel();
    let heard = std::sync::Mutex::new(heard);
    let address = serve(move |head, body| match body["method"].as_str() {
        Some("initialize") => json(&body["id"], &json!({"protocolVersion": "2025-11-25"})),
        Some("tools/call") => {
            let question =
                json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "Sure?"}});
            let result = json!({"jsonrpc": "2.0", "id": body["id"], "result": {"content": []}});
            reply("200 OK", "text/event-stream", &format!("data: {question}\n\ndata: {result}\n\n"))
        }
        None if head.starts_with("post") => {
            told.send(body.clone()).unwrap();
            reply("202 Accepted", "text/plain", "")
        }
        _ => reply("202 Accepted", "text/plain", ""),
    });
    let target = Target::Http { url: format!("http://{address}/"), headers: Vec::new() };
    let called = outcome(&target, Era::Legacy).await.unwrap();
    assert_eq!(called.questions[0].message, "Sure?");
    let answer = heard.lock().unwrap().recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "q", "result": {"action": "accept", "content": {}}}));
}

#[tokio::test]
async fn an_error_with_the_id_of_its_request_is_an_answer_and_any_other_is_not() {
    type Answers = fn(&Value) -> String;
    let error = |body: &Value| {
        json!({"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32020, "message": "no"}}).to_string()
    };
    let target = server(move |_, body| reply("400 Bad Request", "application/json", &error(body)));
    let called = outcome(&target, Era::Modern).await.unwrap();
    assert_eq!(called.reply, Reply::Error { code: -32020, message: "no".into() });

    let cases: [(Answers, &str); 9] = [
        (
            |_| reply("503 Busy", "text/plain", "come back later"),
            "answered `tools/call` with HTTP status 503: come back later",
        ),
        (|_| reply("401 Unauthorized", "application/json", ""), "HTTP status 401"),
        (|_| reply("302 Found", "text/plain", ""), "HTTP status 302"),
        (|_| reply("202 Accepted", "text/plain", ""), "HTTP status 202"),
        (|_| reply("200 OK", "text/html", "<html>"), "sent `<html>`, which is no JSON-RPC message"),
        (|_| reply("200 OK", "text/event-stream", "data: x\n\n"), "sent `x`, which is no JSON-RPC message"),
        (|_| reply("200 OK", "text/event-stream", ": nothing\n\n"), "closed the stream of events before it answered"),
        (|_| String::new(), "cannot reach `http://127.0.0.1:"),
        (|_| json(&json!(99), &json!({})), "answered a request `99`, which was never made"),
    ];
    for (answer, expected) in cases {
        let target = server(move |_, body| answer(body));
        let error = outcome(&target, Era::Modern).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_silent_endless_or_not_there_is_given_up_in_time() {
    let silent = server(|_, _| {
        thread::sleep(Duration::from_secs(5));
        String::new()
    });
    let error = outcome_within(&silent, Era::Modern, &short()).await.unwrap_err().to_string();
    assert!(error.contains("did not answer `tools/call` within 1.5 s"), "{error}");

    for kind in ["application/json", "text/event-stream"] {
        let huge = server(move |_, _| reply("200 OK", kind, &"data: x".repeat(100_000)));
        let limits = Limits { line_bytes: 100_000, ..short() };
        let error = outcome_within(&huge, Era::Modern, &limits).await.unwrap_err().to_string();
        assert!(error.contains("a message of more than 100000 bytes"), "{error}");
    }

    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = Target::Http { url: format!("http://{nobody}/mcp"), headers: Vec::new() };
    let error = outcome(&target, Era::Modern).await.unwrap_err().to_string();
    assert!(error.contains(&nobody.to_string()) && error.contains("refused"), "{error}");
    let target = Target::Http { url: "no address".into(), headers: Vec::new() };
    let error = outcome(&target, Era::Modern).await.unwrap_err().to_string();
    assert!(error.contains("cannot reach `no address`"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_never_says_where_it_listens_is_given_up_and_ended() {
    for (script, expected) in [
        ("echo starting >&2; sleep 1000", "did not answer where it listens within 0.5 s; its last words: starting"),
        (
            "echo port taken >&2; exit 1",
            "ended with exit status: 1 before it answered where it listens; its last words: port taken",
        ),
    ] {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let target = Target::Serving { command, env: Vec::new(), dir: None, headers: Vec::new(), socket: None };
        let limits = Limits { start: Duration::from_millis(500), ..short() };
        let error = Connection::open(&target, Era::Modern, &limits).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
