//! Calls of real tools: asked about, broken off, and turned against the server itself.

use serde_json::{Value, json};

use super::{messages::open, *};
use crate::confirm::Demo;

const UNMERGED: &str = "feature/search";

fn serve(demo: &Demo, tokens: &Tokens, more: &[&str]) -> Server {
    let (repo, database) = (demo.path("repo"), demo.path("shop.db"));
    let own = ["--repo", repo.to_str().unwrap(), "--database", database.to_str().unwrap()];
    Server::with(tokens, &[&own, more].concat())
}

/// A call by a client that can ask its user.
fn delete(more: &Value) -> Request {
    let mut params = json!({"name": "delete_branch", "arguments": {"branch": UNMERGED}});
    for (key, value) in more.as_object().into_iter().flatten() {
        params[key] = value.clone();
    }
    let mut request = Request::modern("tools/call", params);
    let mut message: Value = serde_json::from_str(&request.body).unwrap();
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    request.body = message.to_string();
    request
}

#[test]
fn an_answer_counts_for_the_caller_who_was_asked_and_once() {
    let demo = Demo::new();
    let tokens = Tokens::new();
    let (ann, bob) = (tokens.issue("ann", "all"), tokens.issue("bob", "all"));
    let server = serve(&demo, &tokens, &[]);
    let asked = server.send(&delete(&json!({})).token(&ann)).json();
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    let answer = json!({"requestState": state, "inputResponses": {"confirm": {"action": "accept", "content": {"confirm": true}}}});
    let before = demo.refs();
    let reply = server.send(&delete(&answer).token(&bob)).json();
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert_eq!(demo.refs(), before);
    // Nor does the attempt spend it.
    let reply = server.send(&delete(&answer).token(&ann)).json();
    assert_eq!(reply["result"]["structuredContent"]["outcome"], "deleted", "{reply}");
    let reply = server.send(&delete(&answer).token(&ann)).json();
    assert_eq!(reply["result"]["isError"], true, "{reply}");
}

#[test]
fn a_client_that_cannot_ask_gets_400_and_what_it_lacks() {
    let demo = Demo::new();
    let tokens = Tokens::new();
    let ann = tokens.issue("ann", "all");
    let server = serve(&demo, &tokens, &[]);
    let params = json!({"name": "delete_branch", "arguments": {"branch": UNMERGED}});
    let reply = server.send(&Request::modern("tools/call", params.clone()).token(&ann));
    assert_eq!((reply.status, reply.code()), (400, -32021));
    // A session whose client declared nothing, and a single request that names the older version.
    let session = open(&server, Some(&ann));
    for request in [
        Request::legacy(&session, "tools/call", &params),
        Request::modern("tools/call", params.clone()).with("mcp-protocol-version", "2025-11-25"),
        Request::modern("tools/call", params)
            .with("mcp-protocol-version", "2025-11-25")
            .header("mcp-session-id", &session),
    ] {
        let mut request = request;
        request.body = request.body.replace("2026-07-28", "2025-11-25");
        let reply = server.send(&request.token(&ann));
        assert!(reply.body.contains("confirmation unavailable") || reply.status == 400, "{reply:?}");
    }
    assert!(demo.refs().contains(UNMERGED));
}

#[test]
fn a_client_that_leaves_ends_its_call() {
    let demo = Demo::new();
    let tokens = Tokens::new();
    let ann = tokens.issue("ann", "database:read");
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit.jsonl");
    let server =
        serve(&demo, &tokens, &["--audit", audit.to_str().unwrap(), "--query-seconds", "60", "--call-seconds", "60"]);
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let call =
        |sql: &str| Request::modern("tools/call", json!({"name": "query", "arguments": {"sql": sql}})).token(&ann);
    let mut connection = server.connect();
    connection.send(&call(endless).bytes(&server));
    std::thread::sleep(std::time::Duration::from_millis(300));
    drop(connection);
    let began = std::time::Instant::now();
    while !std::fs::read_to_string(&audit).unwrap_or_default().contains("\"cancelled\"") {
        assert!(began.elapsed() < server::GUARD, "{:?}", std::fs::read_to_string(&audit));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(server.send(&call("SELECT 1")).json()["result"]["structuredContent"]["rows"], json!([[1]]));
}

#[test]
fn fetch_url_stays_away_from_the_server_that_runs_it() {
    let tokens = Tokens::new();
    let ann = tokens.issue("ann", "all");
    // Whatever the operator allows: the port is only known once the server has it.
    let server = Server::with(&tokens, &["--allow-host", "tools.example.com"]);
    for url in [
        format!("http://127.0.0.1:{}/mcp", server.port()),
        format!("http://localhost:{}/mcp", server.port()),
        "http://tools.example.com/mcp".to_owned(),
    ] {
        let call = Request::modern("tools/call", json!({"name": "fetch_url", "arguments": {"url": url}}));
        let reply = server.send(&call.token(&ann)).json();
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("blocked address"), "{url}: {reply}");
    }
}

#[test]
fn a_call_that_outlives_the_server_is_on_record() {
    let demo = Demo::new();
    let tokens = Tokens::new();
    let ann = tokens.issue("ann", "database:read");
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit.jsonl");
    let long = ["--query-seconds", "60", "--call-seconds", "60", "--drain-seconds", "0.2"];
    let mut server = serve(&demo, &tokens, &[&["--audit", audit.to_str().unwrap()][..], &long].concat());
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let call = Request::modern("tools/call", json!({"name": "query", "arguments": {"sql": endless}})).token(&ann);
    let mut connection = server.connect();
    connection.send(&call.bytes(&server));
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.signal("-TERM");
    assert_eq!(server.wait().code(), Some(0));
    let lines = std::fs::read_to_string(&audit).unwrap();
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert!(lines.contains("\"aborted\"") || lines.contains("\"cancelled\""), "{lines}");
}
