use serde_json::{Value, json};

use super::*;

#[test]
fn both_eras_are_served_at_one_endpoint() {
    let server = Server::start(&[]);
    let modern = server.send(&Request::list());
    assert_eq!(modern.header("content-type"), Some("application/json"));
    assert!(modern.tools().contains(&"list_branches".into()));
    assert_eq!(modern.json()["result"]["cacheScope"], "private");
    let call = server.send(&Request::call("list_notes"));
    assert_eq!(call.json()["result"]["isError"], false, "{call:?}");

    let session = open(&server, None);
    let legacy = server.send(&Request::legacy(&session, "tools/list", &json!({})));
    assert_eq!(legacy.tools(), modern.tools());
    let call =
        server.send(&Request::legacy(&session, "tools/call", &json!({"name": "list_branches", "arguments": {}})));
    assert!(call.json()["result"]["structuredContent"].is_object(), "{call:?}");
    assert_eq!(call.header("x-accel-buffering"), Some("no"));
}

#[test]
fn discovery_names_the_versions() {
    for (options, versions) in [(&[][..], 5), (&["--modern-only"], 1)] {
        let server = Server::start(options);
        let found = server.send(&Request::modern("server/discover", json!({})));
        assert_eq!(found.json()["result"]["supportedVersions"].as_array().unwrap().len(), versions, "{found:?}");
    }
}

#[test]
fn the_strict_server_serves_the_modern_era_alone() {
    let server = Server::start(&["--modern-only"]);
    assert!(!server.send(&Request::list()).tools().is_empty());
    let initialize = server.send(&Request::initialize());
    assert_eq!((initialize.status, initialize.code()), (400, -32022));
    assert_eq!(initialize.header("mcp-session-id"), None);
    for method in ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"] {
        assert_eq!(server.send(&Request::bare(method, "x")).status, 405, "{method}");
    }
    let missing = server.send(&Request::list().without("mcp-protocol-version"));
    assert_eq!((missing.status, missing.code()), (400, -32020));
    let old = Request::post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
        .header("mcp-protocol-version", "2025-11-25");
    let old = server.send(&old);
    assert_eq!((old.status, old.code()), (400, -32602));
}

#[test]
fn headers_and_body_must_agree() {
    let server = Server::start(&[]);
    let call = || Request::call("list_branches");
    for (request, status, code) in [
        (call().without("mcp-method"), 400, -32020),
        (call().with("mcp-method", "tools/list"), 400, -32020),
        (call().header("mcp-method", "tools/list"), 400, -32020),
        (call().header("mcp-method", "tools/call"), 400, -32020),
        (call().without("mcp-name"), 400, -32020),
        (call().with("mcp-name", "list_notes"), 400, -32020),
        (call().header("mcp-name", "list_notes"), 400, -32020),
        (call().with("mcp-name", "=?base64?bGlzdF9ub3Rlcw==?="), 400, -32020),
        (call().with("mcp-name", "=?base64?!?="), 400, -32020),
        (call().without("mcp-protocol-version"), 400, -32020),
        (call().with("mcp-protocol-version", "2025-11-25"), 400, -32020),
        (call().header("mcp-protocol-version", "2025-11-25"), 400, -32020),
        (Request::modern("ping", json!({})), 404, -32601),
        (Request::modern("tools/nothing", json!({})), 404, -32601),
        (Request::call("nothing"), 200, -32602),
    ] {
        let reply = server.send(&request);
        assert_eq!(
            (reply.status, reply.code()),
            (status, code),
            "{}{}: {reply:?}",
            request.head(&server),
            request.body
        );
    }
    let encoded = server.send(&call().with("mcp-name", "=?base64?bGlzdF9icmFuY2hlcw==?="));
    assert_eq!(encoded.status, 200, "{encoded:?}");
}

#[test]
fn a_version_that_is_not_known_is_refused_with_the_ones_that_are() {
    let server = Server::start(&[]);
    let mut request = Request::list().with("mcp-protocol-version", "2031-01-01");
    request.body = request.body.replace("2026-07-28", "2031-01-01");
    let reply = server.send(&request);
    assert_eq!((reply.status, reply.code()), (400, -32022));
    assert_eq!(reply.json()["error"]["data"]["supported"].as_array().unwrap().len(), 5);
}

#[test]
fn missing_metadata_is_named() {
    let server = Server::start(&[]);
    let mut request = Request::list();
    let mut body: Value = serde_json::from_str(&request.body).unwrap();
    body["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    request.body = body.to_string();
    let reply = server.send(&request);
    assert_eq!((reply.status, reply.code()), (400, -32602));
    assert!(reply.body.contains("clientCapabilities"));
}

#[test]
fn what_is_no_message_gets_a_clear_error() {
    let server = Server::start(&[]);
    let deep = "[".repeat(100_000);
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("{bad}", -32700),
        (deep.as_str(), -32700),
        ("\u{feff}{}", -32700),
        ("[]", -32600),
        ("null", -32600),
        (r#"["2.0",1,"tools/list",{}]"#, -32600),
        (
            r#"["2.0",1,"initialize",{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}]"#,
            -32600,
        ),
        ("\"text\"", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, -32600),
        (r#"{"id":1,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"initialize"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_notes","name":"delete_branch"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_notes","arguments":"x"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}"#, -32602),
    ] {
        let mut request = Request::initialize();
        request.body = body.into();
        let reply = server.send(&request);
        let shown: String = body.chars().take(80).collect();
        assert_eq!((reply.status, reply.code()), (400, code), "{shown}: {reply:?}");
    }
    let mut bytes = Request::list().bytes(&server);
    *bytes.last_mut().unwrap() = 0xff;
    let mut connection = server.connect();
    connection.send(&bytes);
    assert_eq!(connection.reply().code(), -32700);
    assert_eq!(server.send(&Request::list()).status, 200);
}

#[test]
fn notifications_are_accepted_without_a_body() {
    let server = Server::start(&[]);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    let modern = Request::post(&cancel)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "notifications/cancelled");
    let reply = server.send(&modern);
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
    let session = open(&server, None);
    let legacy = Request::post(&cancel).header("mcp-session-id", &session);
    assert_eq!(server.send(&legacy).status, 202);
}

#[test]
fn many_requests_share_a_connection() {
    let server = Server::start(&[]);
    let mut connection = server.connect();
    for _ in 0..20 {
        connection.send(&Request::call("list_branches").bytes(&server));
        assert_eq!(connection.reply().status, 200);
    }
    // Sent at once, answered in order.
    let mut burst = Vec::new();
    for id in 0..20 {
        let mut request = Request::list();
        request.body = request.body.replace("\"id\":1", &format!("\"id\":{id}"));
        burst.extend(request.bytes(&server));
    }
    connection.send(&burst);
    for id in 0..20 {
        assert_eq!(connection.reply().json()["id"], id);
    }
}

#[test]
fn a_caller_over_its_rate_is_told_to_wait() {
    let server = Server::start(&["--calls-per-second", "1"]);
    let mut connection = server.connect();
    let mut burst = |request: &Request| {
        for _ in 0..10 {
            connection.send(&request.bytes(&server));
        }
        (0..10).map(|_| connection.reply()).collect::<Vec<_>>()
    };
    let calls = burst(&Request::call("list_branches"));
    assert!(calls.iter().any(|reply| reply.body.contains("calls a second")), "{calls:?}");
    for request in [Request::list(), Request::call("delete_branch"), Request::bare("GET", "x")] {
        let replies = burst(&request);
        let limited = replies.iter().find(|reply| reply.status == 429).unwrap();
        assert_eq!(limited.header("retry-after"), Some("1"));
    }
}

/// A session, after its handshake.
pub(super) fn open(server: &Server, token: Option<&str>) -> String {
    let with = |request: Request| token.map_or(request.clone(), |token| request.token(token));
    let reply = server.send(&with(Request::initialize()));
    assert_eq!(reply.json()["result"]["protocolVersion"], "2025-11-25", "{reply:?}");
    let session = reply.header("mcp-session-id").unwrap().to_owned();
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.send(&with(Request::post(&done).header("mcp-session-id", &session))).status, 202);
    session
}
