use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    messages::open,
    server::{GUARD, replace, token_in},
    *,
};

#[test]
fn a_request_without_a_token_is_told_what_to_bring() {
    let tokens = Tokens::new();
    tokens.issue("ann", "all");
    let server = Server::with(&tokens, &[]);
    for request in [Request::list(), Request::initialize(), Request::bare("GET", "x"), Request::bare("DELETE", "x")] {
        let reply = server.send(&request);
        // Of the scopes that only read, those that this server has tools for.
        assert_eq!((reply.status, reply.code()), (401, 401)); // in JSON-RPC, for clients to show
        let challenge = reply.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer scope=\"repo:read notes:read"), "{challenge}");
        assert!(!challenge.contains("error") && !challenge.contains("resource_metadata"), "{challenge}");
    }
}

#[test]
fn wrong_credentials_are_refused_and_right_ones_in_any_case_of_the_scheme_accepted() {
    let tokens = Tokens::new();
    let token = tokens.issue("ann", "read");
    let expired = tokens.append(&Tokens::entry(&["old", "read", "--expires", "2020-01-01"]));
    let server = Server::with(&tokens, &["--wrong-tokens-per-minute", "100"]);
    let with = |credentials: &str| server.send(&Request::list().header("authorization", credentials));
    for wrong in [
        "Bearer candor_0000".to_owned(),
        format!("Bearer {}", &token[..token.len() - 1]),
        format!("Bearer {token}0"),
        format!("Bearer {}", token.to_uppercase()),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},"),
        format!("Bearer \"{token}\""),
        format!("Bearer {expired}"),
        format!("Bearer{token}"),
        format!("Basic {token}"),
        "Basic YW5uOmFubg==".into(),
        token.clone(),
        "Bearer".into(),
        "Bearer ".into(),
        String::new(),
        "Bearer \u{e9}".into(),
    ] {
        let reply = with(&wrong);
        let challenge = reply.header("www-authenticate").unwrap_or_default();
        assert!(reply.status == 401 && challenge.contains("error=\"invalid_token\""), "{wrong}: {reply:?}");
    }
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        assert_eq!(with(&format!("{scheme} {token}")).status, 200, "{scheme}");
    }
    for other in [token.as_str(), "x"] {
        let twice = server.send(&Request::list().token(&token).token(other));
        assert_eq!(twice.status, 400);
        assert!(twice.header("www-authenticate").unwrap().contains("invalid_request"));
    }
}

#[test]
fn a_token_in_the_url_is_refused_and_no_token_is_ever_logged() {
    let tokens = Tokens::new();
    let token = tokens.issue("ann", "all");
    let server = Server::with(&tokens, &[]);
    for query in ["access_token=", "x=1&access_token=", "ACCESS_TOKEN=", "access%5Ftoken=", "%61ccess_token="] {
        let mut request = Request::list();
        request.target = format!("/mcp?{query}{token}");
        let bare = server.send(&request);
        assert_eq!(bare.status, 401, "{query}");
        assert!(!bare.header("www-authenticate").unwrap().contains("error"));
        assert_eq!(server.send(&request.token(&token)).status, 400, "{query}");
    }
    let mut request = Request::call("list_branches").token(&token);
    request.target = format!("/mcp?other={token}");
    assert_eq!(server.send(&request).status, 200);
    let session = open(&server, Some(&token));
    assert_eq!(server.send(&Request::legacy(&session, "tools/list", &json!({})).token(&token)).status, 200);
    server.send(&Request::list().token("candor_wrong_guess"));
    let log = server.log();
    assert!(log.lines().count() > 20, "the test looks at a full log: {log}");
    for secret in [token.as_str(), &token["candor_".len()..], "candor_wrong_guess", "access_token"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn a_local_server_without_tokens_takes_none_in_the_url_either() {
    let server = Server::start(&[]);
    let mut request = Request::list();
    request.target = "/mcp?access_token=x".into();
    assert_eq!(server.send(&request).status, 400);
}

#[test]
fn a_token_lists_and_calls_what_its_scopes_allow() {
    let tokens = Tokens::new();
    let reader = tokens.issue("ann", "repo:read");
    let deleter = tokens.issue("bob", "repo:read,repo:delete,notes:write");
    let server = Server::with(&tokens, &[]);
    assert_eq!(server.send(&Request::list().token(&reader)).tools(), ["list_branches"]);
    let tools = server.send(&Request::list().token(&deleter)).tools();
    assert_eq!(tools, ["list_branches", "delete_branch", "create_note", "append_note", "write_note"]);
    assert_eq!(server.send(&Request::call("delete_branch").token(&deleter)).status, 200);
}

#[test]
fn a_call_beyond_the_grant_is_forbidden_and_recorded_in_both_eras() {
    let tokens = Tokens::new();
    let reader = tokens.issue("ann", "repo:read");
    let everything = tokens.issue("bob", "all");
    let audit = tokens.path.with_file_name("audit.jsonl");
    let server = Server::with(&tokens, &["--audit", audit.to_str().unwrap()]);
    let session = open(&server, Some(&reader));
    let name = json!({"name": "delete_branch", "arguments": {"branch": "secret"}});
    for request in [Request::modern("tools/call", name.clone()), Request::legacy(&session, "tools/call", &name)] {
        let reply = server.send(&request.token(&reader));
        assert_eq!(reply.status, 403, "{reply:?}");
        let challenge = reply.header("www-authenticate").unwrap();
        assert_eq!(challenge, "Bearer error=\"insufficient_scope\", scope=\"repo:delete\"");
        assert!(reply.json()["error"]["message"].as_str().unwrap().contains("`repo:delete`"));
        assert_eq!(reply.json()["id"], 1);
    }
    // Every tool against a grant of one scope.
    let (_, inventory) = candor_tools::inventory();
    let listed = server.send(&Request::list().token(&reader)).tools();
    let there = server.send(&Request::list().token(&everything)).tools();
    for tool in inventory {
        let reply = server.send(&Request::call(&tool.name).token(&reader));
        match (listed.contains(&tool.name.to_string()), there.contains(&tool.name.to_string())) {
            (true, _) => assert_eq!(reply.status, 200, "{}", tool.name),
            (false, true) => assert_eq!(reply.status, 403, "{}", tool.name),
            (false, false) => assert_eq!((reply.status, reply.code()), (200, -32602), "{}", tool.name),
        }
    }
    drop(server);
    let lines = fs::read_to_string(audit).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let denied: Vec<_> = lines.iter().filter(|line| line["tool"] == "delete_branch").collect();
    assert_eq!(denied.len(), 3);
    assert!(denied.iter().all(|line| line["outcome"] == "denied" && line["caller"] == "ann"), "{denied:?}");
    assert_eq!(denied[0]["token"].as_str().unwrap().len(), 8);
}

#[test]
fn without_tokens_a_caller_reads_at_most() {
    let server = Server::start(&["--grant", "repo:read"]);
    assert_eq!(server.send(&Request::list()).tools(), ["list_branches"]);
    let reply = server.send(&Request::call("create_branch"));
    assert_eq!(reply.status, 403);
    assert!(reply.header("www-authenticate").unwrap().contains("scope=\"repo:write\""));
}

#[test]
fn a_token_is_revoked_added_and_narrowed_at_the_next_request() {
    let tokens = Tokens::new();
    let kept = tokens.issue("ann", "read");
    let before = fs::read_to_string(&tokens.path).unwrap();
    let revoked = tokens.issue("bob", "read");
    let server = Server::with(&tokens, &[]);
    let status = |token: &str| server.send(&Request::call("list_branches").token(token)).status;
    assert_eq!((status(&kept), status(&revoked)), (200, 200));
    replace(&tokens.path, &before);
    assert_eq!((status(&kept), status(&revoked)), (200, 401));
    let added = tokens.issue("cat", "read");
    assert_eq!((status(&kept), status(&added)), (200, 200));
    // Written in place, with the same length and at once.
    let text = fs::read_to_string(&tokens.path).unwrap();
    for _ in 0..20 {
        fs::write(&tokens.path, text.replace("\"repo:read\", ", "\"web:fetch\", ")).unwrap();
        assert_eq!(status(&kept), 403);
        fs::write(&tokens.path, &text).unwrap();
        assert_eq!(status(&kept), 200);
    }
}

#[test]
fn a_token_that_expires_meanwhile_is_refused() {
    let tokens = Tokens::new();
    let end = chrono::Utc::now() + chrono::TimeDelta::seconds(2);
    let end = end.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let token = tokens.append(&Tokens::entry(&["ann", "read", "--expires", &end]));
    tokens.issue("ann", "read");
    let server = Server::with(&tokens, &["--wrong-tokens-per-minute", "1"]);
    let mut statuses = Vec::new();
    while statuses.last() != Some(&401) {
        statuses.push(server.send(&Request::list().token(&token)).status);
        assert!(statuses.len() < 100_000);
    }
    // An expired token is no guess: it may be shown as often as its client likes.
    for _ in 0..5 {
        let reply = server.send(&Request::list().token(&token));
        assert!(reply.status == 401 && reply.body.contains("expired"));
    }
}

#[test]
fn nobody_comes_in_while_the_file_is_broken() {
    let tokens = Tokens::new();
    let token = tokens.issue("ann", "all");
    let good = fs::read_to_string(&tokens.path).unwrap();
    let server = Server::with(&tokens, &[]);
    let send = || server.send(&Request::list().token(&token));
    for broken in [
        "",
        "[[token]]",
        "nonsense",
        &good.replace("scopes", "scope"),
        &good.replace("repo:read", "repo:raed"),
        &good.repeat(2),
        &"#".repeat(2 << 20),
    ] {
        replace(&tokens.path, broken);
        let reply = send();
        assert!(reply.status == 503 && reply.header("retry-after").is_some(), "{broken:.40}: {reply:?}");
        replace(&tokens.path, &good);
        assert_eq!(send().status, 200, "{broken:.40}");
    }
    fs::remove_file(&tokens.path).unwrap();
    assert_eq!(send().status, 503);
    fs::create_dir(&tokens.path).unwrap();
    assert_eq!(send().status, 503);
    fs::remove_dir(&tokens.path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &tokens.path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(send().status, 503);
    replace(&tokens.path, &good);
    assert_eq!(send().status, 200);
    assert!(server.log().contains("nobody is let in"));
}

#[test]
fn guessing_slows_down_and_does_not_shut_out_others() {
    let tokens = Tokens::new();
    let token = tokens.issue("ann", "read");
    let server = Server::with(&tokens, &["--wrong-tokens-per-minute", "3"]);
    let guess = |guess: &str| server.send(&Request::list().token(guess));
    let statuses: Vec<_> = (0..6).map(|at| guess(&format!("candor_{at}")).status).collect();
    assert_eq!(statuses, [401, 401, 401, 429, 429, 429]);
    let wait: u64 = guess("candor_x").header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
    assert_eq!(guess(&token).status, 200);
    assert_eq!(server.send(&Request::list()).status, 401);
}

#[test]
fn tokens_of_one_name_share_their_sessions_and_not_their_scopes() {
    let tokens = Tokens::new();
    let wide = tokens.issue("ann", "read,repo:write".replace("read,", "repo:read,").as_str());
    let narrow = tokens.issue("ann", "repo:read");
    let server = Server::with(&tokens, &[]);
    let session = open(&server, Some(&wide));
    let list = |token: &str| server.send(&Request::legacy(&session, "tools/list", &json!({})).token(token)).tools();
    assert_eq!(list(&wide), ["list_branches", "create_branch"]);
    assert_eq!(list(&narrow), ["list_branches"]);
    let create = Request::legacy(&session, "tools/call", &json!({"name": "create_branch", "arguments": {}}));
    assert_eq!(server.send(&create.clone().token(&narrow)).status, 403);
    assert_eq!(server.send(&create.token(&wide)).status, 200);
}

#[test]
fn a_stream_ends_when_its_token_does() {
    let tokens = Tokens::new();
    let kept = tokens.issue("ann", "read");
    let entry = Tokens::entry(&["bob", "read"]);
    let before = fs::read_to_string(&tokens.path).unwrap();
    tokens.append(&entry);
    let server = Server::with(&tokens, &[]);
    let stream = |token: &str| {
        let session = open(&server, Some(token));
        let mut connection = server.connect();
        connection.send(&Request::bare("GET", &session).token(token).bytes(&server));
        assert_eq!(connection.reply_head().status, 200);
        assert!(connection.chunk().is_some()); // the first event, which comes at once
        (session, connection)
    };
    let (session, mut ended) = stream(token_in(&entry));
    let (other, _open) = stream(&kept);
    replace(&tokens.path, &before);
    let from = Instant::now();
    while ended.chunk().is_some() {
        assert!(from.elapsed() < GUARD, "the stream goes on"); // there are signs of life on it
    }
    // Back again, and the session went with the name.
    tokens.append(&entry);
    let list = |session: &str, token: &str| {
        server.send(&Request::legacy(session, "tools/list", &json!({})).token(token)).status
    };
    assert_eq!((list(&session, token_in(&entry)), list(&other, &kept)), (404, 200));
}

#[test]
fn the_sessions_of_a_name_that_is_gone_make_room() {
    let tokens = Tokens::new();
    let kept = tokens.issue("ann", "read");
    let before = fs::read_to_string(&tokens.path).unwrap();
    let revoked = tokens.issue("bob", "read");
    let server = Server::with(&tokens, &["--sessions-in-total", "1"]);
    open(&server, Some(&revoked));
    let opens = || server.send(&Request::initialize().token(&kept)).status == 200;
    assert!(!opens());
    replace(&tokens.path, &before);
    assert!((0..200).any(|_| opens() || {
        thread::sleep(Duration::from_millis(10));
        false
    }));
}
