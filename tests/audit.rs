//! Every call leaves one line that says how it ended; a destructive one leaves its intent first.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    confirm::Demo,
    support::{Era, Server, User},
};

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"))).collect()
}

fn events(file: &Path) -> Vec<(String, String)> {
    let event = |line: &Value| {
        let outcome = line["outcome"].as_str().unwrap_or("");
        (line["tool"].as_str().unwrap().to_owned(), format!("{} {outcome}", line["event"].as_str().unwrap()))
    };
    lines(file).iter().map(event).collect()
}

#[test]
fn each_call_has_one_outcome_and_a_destructive_one_its_intent_before() {
    let demo = Demo::new();
    let audit = tempfile::tempdir().unwrap();
    let file = audit.path().join("audit.jsonl");
    let file_name = file.to_str().unwrap();
    let mut server = demo.serve(Era::Legacy, User::Declines, &["--audit", file_name, "--call-seconds", "0.5"]);
    server.call("list_branches", json!({})).output();
    server.call("list_branches", json!({"limit": 0})).refusal();
    server.call("no_such_tool", json!({})).code();
    server.call("delete_branch", json!({"branch": "feature/search"})).refusal();
    server.call("delete_branch", json!({"branch": "fix/typo"})).output();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    server.call("query", json!({"sql": endless})).refusal();
    let id = server.begin("tools/call", json!({"name": "query", "arguments": {"sql": endless}}));
    std::thread::sleep(std::time::Duration::from_millis(100));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    server.call("list_branches", json!({})).output();
    assert_eq!(server.finish().0.code(), Some(0));

    let mut server = Server::start(&["--grant", "notes:read", "--audit", file_name]);
    server.call("query", json!({"sql": "SELECT 1"})).refusal();
    server.finish();

    let mut seen = events(&file);
    // The cancelled query and the listing after it end in either order.
    if seen[8].0 == "query" {
        seen.swap(8, 9);
    }
    let expected = [
        ("list_branches", "outcome done"),
        ("list_branches", "outcome refused"),
        ("no_such_tool", "outcome unknown"),
        ("delete_branch", "intent "),
        ("delete_branch", "outcome unconfirmed"),
        ("delete_branch", "intent "),
        ("delete_branch", "outcome done"),
        ("query", "outcome timed-out"),
        ("list_branches", "outcome done"),
        ("query", "outcome cancelled"),
        ("query", "outcome denied"),
    ];
    assert_eq!(seen, expected.map(|(tool, event)| (tool.to_owned(), event.to_owned())));
    let lines = lines(&file);
    assert!(lines.iter().all(|line| line["caller"] == "local" && line["time"].is_string()));
    assert_eq!(lines[3]["call"], lines[4]["call"]);
    assert_ne!(lines[4]["call"], lines[5]["call"]);
}

#[test]
fn nothing_that_a_caller_sent_stands_in_the_log_or_the_audit() {
    let demo = Demo::new();
    let audit = tempfile::tempdir().unwrap();
    let file = audit.path().join("audit.jsonl");
    let mut server = demo.serve(Era::Modern, User::Accepts, &["--audit", file.to_str().unwrap()]);
    let secret = "s3cr3t\n\"\u{1b}[31m";
    for (tool, arguments) in [
        ("query", json!({"sql": format!("SELECT '{secret}'")})),
        ("query", json!({"sql": secret, "params": [secret]})),
        ("delete_branch", json!({"branch": secret})),
        ("delete_branch", json!({"branch": "main", secret: secret})),
        ("execute", json!({"sql": format!("SELECT '{secret}'")})),
        ("fetch_url", json!({"url": format!("http://user:{secret}@127.0.0.1/?token={secret}")})),
    ] {
        server.call(tool, arguments);
    }
    // Nor in whatever is no call of a tool.
    server.request(secret, json!({}));
    server.request("tools/list", json!({"cursor": secret}));
    let id = json!(secret);
    for request in [
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": secret}}),
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": secret, "io.modelcontextprotocol/clientCapabilities": {}}}}),
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": [secret]}}),
        json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": secret}}),
        json!({"jsonrpc": secret, "id": id, "method": "tools/list"}),
    ] {
        server.send(&request);
        assert!(server.next().unwrap()["error"].is_object(), "{request}");
    }
    server.send(&json!({"jsonrpc": "2.0", "method": secret, "params": {secret: secret}}));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": secret}}));
    server.send(&json!({"jsonrpc": "2.0", "id": id, "result": {secret: secret}}));
    // Not even in an unknown tool's name may a line be broken; the name itself is cut.
    server.call(&format!("x\n{}", "y".repeat(200)), json!({}));
    let (status, log) = server.finish();
    assert_eq!(status.code(), Some(0));
    assert!(!log.contains("s3cr3t"), "{log}");
    assert!(!fs::read_to_string(&file).unwrap().contains("s3cr3t"));
    assert!(lines(&file).iter().all(|line| line["tool"].as_str().unwrap().len() <= 64));
}

#[test]
fn while_the_audit_cannot_be_written_destructive_calls_are_refused_and_reads_go_on() {
    let demo = Demo::new();
    let before = demo.refs();
    let mut server = demo.serve(Era::Modern, User::Accepts, &["--audit", "/dev/full"]);
    server.call("list_branches", json!({})).output();
    let reply = server.call("delete_branch", json!({"branch": "fix/typo"}));
    assert!(reply.refusal().contains("audit"), "{reply:?}");
    assert_eq!(demo.refs(), before);
    server.call("list_branches", json!({})).output();
    let (_, log) = server.finish();
    assert!(log.contains("audit lines were lost"), "{log}");
}

#[test]
fn a_line_that_was_cut_off_spoils_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (notes, file) = (dir.path().join("notes"), dir.path().join("audit.jsonl"));
    fs::create_dir(&notes).unwrap();
    // No file may grow beyond a kibibyte or two, as if the disk were full there.
    let mut serve = Command::new("sh");
    serve.args(["-c", "ulimit -S -f 2; trap '' XFSZ; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_candor")]);
    serve.args(["serve", "--notes", notes.to_str().unwrap(), "--audit", file.to_str().unwrap()]);
    let mut server = Server::spawn(&mut serve, Era::Modern, User::Accepts);
    for _ in 0..20 {
        server.call("list_notes", json!({})).output();
    }
    while fs::metadata(&file).unwrap().len() < 1024 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    server.call("list_notes", json!({})).output();
    let raised = Command::new("prlimit").args(["--pid", &server.pid(), "--fsize=unlimited"]).status().unwrap();
    assert!(raised.success());
    server.call("no_such_tool", json!({})).code();
    server.finish();
    let text = fs::read_to_string(&file).unwrap();
    let broken: Vec<_> = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_err()).collect();
    assert_eq!(broken.len(), 1, "{text}");
    let last: Value = serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
    assert_eq!((&last["tool"], &last["outcome"]), (&json!("no_such_tool"), &json!("unknown")));
}

#[test]
fn a_killed_server_leaves_the_intent() {
    let demo = Demo::new();
    let audit = tempfile::tempdir().unwrap();
    let file = audit.path().join("audit.jsonl");
    let mut server = demo.serve(Era::Legacy, User::Accepts, &["--audit", file.to_str().unwrap()]);
    server.begin("tools/call", json!({"name": "delete_branch", "arguments": {"branch": "feature/search"}}));
    while server.next().unwrap()["method"] != "elicitation/create" {}
    drop(server); // killed
    assert_eq!(events(&file), [("delete_branch".to_owned(), "intent ".to_owned())]);
}

#[test]
fn the_audit_file_may_not_lie_where_tools_can_see_it() {
    let demo = Demo::new();
    for place in ["notes/audit.jsonl", "repo/audit.jsonl", "repo/.git/audit.jsonl", "origin.git/audit.jsonl", "shop.db"]
    {
        let file = demo.path(place);
        let output = crate::support::candor()
            .args([
                "serve",
                "--repo",
                demo.path("repo").to_str().unwrap(),
                "--notes",
                demo.path("notes").to_str().unwrap(),
            ])
            .args(["--database", demo.path("shop.db").to_str().unwrap(), "--audit", file.to_str().unwrap()])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{place}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--audit"), "{place}: {output:?}");
    }
}
