use std::thread;

use serde_json::json;

use super::{messages::open, *};

#[test]
fn a_session_is_unknown_to_everybody_but_its_caller() {
    let tokens = Tokens::new();
    let (ann, bob) = (tokens.issue("ann", "all"), tokens.issue("bob", "all"));
    let server = Server::with(&tokens, &[]);
    let session = open(&server, Some(&ann));
    let list = Request::legacy(&session, "tools/list", &json!({}));
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"action": "accept", "content": {"confirm": true}}});
    let foreign = [
        list.clone(),
        Request::legacy(&session, "tools/call", &json!({"name": "delete_branch", "arguments": {}})),
        Request::post(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
            .header("mcp-session-id", &session),
        Request::post(&answer).header("mcp-session-id", &session),
        Request::bare("GET", &session),
        Request::bare("GET", &session).header("last-event-id", "0"),
        Request::bare("GET", &session).header("last-event-id", "0/0"),
        Request::bare("DELETE", &session),
        Request::initialize().header("mcp-session-id", &session),
    ];
    for request in foreign {
        let reply = server.send(&request.clone().token(&bob));
        assert_eq!(reply.status, 404, "{}: {reply:?}", request.head(&server));
        assert_eq!(server.send(&request).status, 401);
    }
    assert_eq!(server.send(&list.clone().token(&ann)).status, 200);
    // What never was anybody's looks the same.
    for session in ["x", "", "00000000-0000-0000-0000-000000000000"] {
        assert_eq!(server.send(&Request::legacy(session, "tools/list", &json!({})).token(&bob)).status, 404);
        assert_eq!(server.send(&Request::bare("DELETE", session).token(&bob)).status, 404);
    }
    let own = open(&server, Some(&bob));
    let both = list.token(&bob).header("mcp-session-id", &own);
    assert_eq!((server.send(&both).status, server.send(&both).code()), (400, -32020));
}

#[test]
fn a_session_ends_with_delete() {
    let server = Server::start(&[]);
    let session = open(&server, None);
    assert_eq!(server.send(&Request::bare("DELETE", &session)).status, 204);
    assert_eq!(server.send(&Request::bare("DELETE", &session)).status, 404);
    assert_eq!(server.send(&Request::legacy(&session, "tools/list", &json!({}))).status, 404);
    assert_eq!(server.send(&Request::bare("GET", &session)).status, 404);
    for method in ["GET", "DELETE"] {
        assert_eq!(server.send(&Request::bare(method, "").without("mcp-session-id")).status, 400);
    }
}

#[test]
fn a_legacy_request_needs_a_session() {
    let server = Server::start(&[]);
    let request = Request::post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(server.send(&request).status, 400);
    assert_eq!(server.send(&request.header("mcp-protocol-version", "2025-11-25")).status, 400);
}

#[test]
fn sessions_are_counted_for_each_caller_and_in_total() {
    let tokens = Tokens::new();
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| tokens.issue(name, "read"));
    let server = Server::with(&tokens, &["--sessions-per-caller", "3", "--sessions-in-total", "5"]);
    let initialize = |token: &str| server.send(&Request::initialize().token(token));
    let statuses = |token: &str| [(); 4].map(|()| initialize(token).status);
    assert_eq!(statuses(&ann), [200, 200, 200, 429]);
    assert_eq!(statuses(&bob), [200, 200, 429, 429]);
    let full = initialize(&cat);
    assert_eq!((full.status, full.header("retry-after").is_some()), (429, true));
    // The modern era needs none, and an open session goes on.
    assert_eq!(server.send(&Request::list().token(&cat)).status, 200);
}

#[test]
fn an_ended_session_makes_room() {
    let server = Server::start(&["--sessions-per-caller", "1"]);
    for _ in 0..5 {
        let session = open(&server, None);
        assert_eq!(server.send(&Request::initialize()).status, 429);
        assert_eq!(server.send(&Request::bare("DELETE", &session)).status, 204);
    }
}

#[test]
fn a_session_that_nobody_uses_ends() {
    let server = Server::start(&["--session-seconds", "0.2", "--sessions-per-caller", "1"]);
    let opened = |_| {
        server.send(&Request::initialize()).status == 200 || {
            thread::sleep(std::time::Duration::from_millis(20));
            false
        }
    };
    assert!((0..100).any(opened));
    assert!((0..100).any(opened), "the abandoned one is still there");
}

#[test]
fn a_thousand_openings_at_once_stay_within_the_limit() {
    let server = Server::start(&[]);
    let opened: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|_| scope.spawn(|| (0..50).filter(|_| server.send(&Request::initialize()).status == 200).count()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(opened, 16);
}

#[test]
fn streams_of_one_caller_are_counted() {
    let server = Server::start(&["--sessions-per-caller", "1"]);
    let session = open(&server, None);
    let open_stream = || {
        let mut connection = server.connect();
        connection.send(&Request::bare("GET", &session).bytes(&server));
        (connection.reply_head().status, connection)
    };
    let held: Vec<_> = (0..3).map(|_| open_stream()).collect();
    assert_eq!(held.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [200, 200, 429]);
    drop(held);
    assert!((0..100).any(|_| open_stream().0 == 200 || {
        thread::sleep(std::time::Duration::from_millis(20));
        false
    }));
}
