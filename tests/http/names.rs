use super::*;

#[test]
fn a_request_names_one_host_and_it_is_ours() {
    let server = Server::start(&["--allow-host", "tools.example.com", "--allow-host", "strict.example.com:8443"]);
    let port = server.port();
    let ours = [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("LocalHost:{port}"),
        format!("[::1]:{port}"),
        "tools.example.com".into(),
        "TOOLS.example.com:1".into(),
        "strict.example.com:8443".into(),
    ];
    for host in ours {
        assert_eq!(server.send(&Request::list().with("host", &host)).status, 200, "{host}");
    }
    let foreign = [
        "evil.example".into(),
        format!("evil.example:{port}"),
        "localhost".into(),
        "127.0.0.1".into(),
        "localhost:1".into(),
        format!("localhost.:{port}"),
        format!("127.0.0.1.nip.example:{port}"),
        format!("localhost.evil.example:{port}"),
        "strict.example.com".into(),
        "sub.tools.example.com".into(),
        format!("2130706433:{port}"),
    ];
    for host in foreign {
        assert_eq!(server.send(&Request::list().with("host", &host)).status, 403, "{host}");
    }
    let malformed = [
        format!("evil@localhost:{port}"),
        format!("localhost:{port}@evil"),
        String::new(),
        format!("localhost:{port}, evil"),
        format!("http://localhost:{port}"),
        "a b".into(),
    ];
    for host in malformed {
        assert_eq!(server.send(&Request::list().with("host", &host)).status, 400, "{host}");
    }
    let own = format!("localhost:{port}");
    assert_eq!(server.send(&Request::list().without("host")).status, 400);
    for (first, second) in [("evil.example", own.as_str()), (&own, "evil.example"), (&own, &own)] {
        let request = Request::list().with("host", first).header("host", second);
        assert_eq!(server.send(&request).status, 400, "{first}, {second}");
    }
}

#[test]
fn a_target_with_a_host_of_its_own_must_name_the_same_one() {
    let server = Server::start(&[]);
    let mut request = Request::list();
    request.target = format!("http://{}/mcp", server.address);
    assert_eq!(server.send(&request).status, 200);
    request.target = "http://evil.example/mcp".into();
    assert_eq!(server.send(&request).status, 400);
}

#[test]
fn the_host_is_judged_before_the_token_and_the_body() {
    let tokens = Tokens::new();
    tokens.issue("ann", "read");
    let server = Server::with(&tokens, &[]);
    let mut connection = server.connect();
    let head = Request::list().with("host", "evil.example").head(&server);
    connection.send(format!("{head}content-length: 100\r\n\r\n").as_bytes());
    assert_eq!(connection.reply().status, 403);
}

#[test]
fn pages_of_other_origins_are_refused() {
    let server =
        Server::start(&["--allow-origin", "https://app.example.com:443", "--allow-origin", "http://a.example:3000"]);
    let port = server.port();
    let ours = [
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}"),
        format!("http://[::1]:{port}"),
        "https://app.example.com".into(),
        "http://a.example:3000".into(),
    ];
    for origin in ours {
        let reply = server.send(&Request::list().header("origin", &origin));
        assert_eq!(reply.status, 200, "{origin}");
        assert_eq!(reply.header("access-control-allow-origin"), Some(origin.as_str()));
    }
    assert_eq!(server.send(&Request::list()).header("access-control-allow-origin"), None);
    let foreign = [
        "null".into(),
        String::new(),
        "*".into(),
        "https://evil.example".into(),
        format!("https://localhost:{port}"),
        "http://localhost".into(),
        format!("http://localhost:{port}.evil.example"),
        format!("http://evil@localhost:{port}"),
        format!("http://localhost:{port}/"),
        format!("http://localhost:{port} https://evil.example"),
        "http://a.example".into(),
        "http://app.example.com".into(),
    ];
    for origin in foreign {
        for method in ["POST", "GET", "DELETE", "OPTIONS"] {
            let mut request = Request::list().header("origin", &origin).header("access-control-request-method", "POST");
            request.method = method;
            let reply = server.send(&request);
            assert_eq!((reply.status, reply.header("access-control-allow-origin")), (403, None), "{method} {origin}");
        }
    }
    let twice =
        Request::list().header("origin", "https://evil.example").header("origin", &format!("http://localhost:{port}"));
    assert_eq!(server.send(&twice).status, 403);
}

#[test]
fn a_browser_may_ask_for_an_allowed_page_before_it_has_a_token() {
    let tokens = Tokens::new();
    let token = tokens.issue("ann", "read");
    let server = Server::with(&tokens, &["--allow-origin", "https://app.example.com"]);
    let mut ask = Request::bare("OPTIONS", "")
        .header("origin", "https://app.example.com")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization, mcp-method");
    let reply = server.send(&ask);
    assert_eq!((reply.status, reply.header("access-control-allow-headers")), (204, Some("authorization, mcp-method")));
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://app.example.com"));
    ask.target = "/other".into();
    assert_eq!(server.send(&ask).status, 404);
    // The page must be able to read refusals too.
    let reply = server.send(&Request::list().header("origin", "https://app.example.com"));
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (401, Some("https://app.example.com")));
    assert!(reply.header("access-control-expose-headers").unwrap().contains("www-authenticate"));
    assert_eq!(server.send(&Request::list().token(&token).header("origin", "https://app.example.com")).status, 200);
}

#[test]
fn there_is_one_path() {
    let server = Server::start(&[]);
    for target in ["/", "/mcp/", "/MCP", "/mcp/../mcp", "//mcp", "/%6dcp", "/.well-known/oauth-protected-resource", "*"]
    {
        let mut request = Request::list();
        request.target = target.into();
        let reply = server.send(&request);
        assert_eq!(reply.status, 404, "{target}: {reply:?}");
    }
}
