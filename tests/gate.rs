//! Only the gate decides whether a tool runs.

use std::{sync::Arc, time::Duration};

use candor::serve::{Gate, Grant, House, Limits, Principal, audit::Audit};
use candor_tools::{
    Scope, Toolbox,
    notes::{Notes, NotesConfig},
};
use clap::Parser;
use futures::FutureExt;
use rmcp::{
    ServiceExt,
    handler::server::router::tool::ToolRoute,
    model::{Tool, object},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::{ERAS, Server, User};

/// Arguments that any grant but the right one must make irrelevant.
fn harmless(tool: &str) -> Value {
    match tool {
        "create_branch" | "delete_branch" => json!({"branch": "no-such-branch"}),
        "read_note" => json!({"name": "no-such-note"}),
        "create_note" | "append_note" | "write_note" => json!({"name": "n", "text": "t"}),
        "query" | "execute" => json!({"sql": "SELECT 1"}),
        "insert_rows" => json!({"table": "no_such_table", "rows": [{"a": 1}]}),
        "fetch_report" => json!({"report": "no-such-report"}),
        "post_comment" => json!({"report": "no-such-report", "text": "t"}),
        "fetch_url" => json!({"url": "http://127.0.0.1/"}),
        _ => json!({}),
    }
}

#[test]
fn each_scope_opens_its_tools_and_no_others() {
    let (_, inventory) = candor_tools::inventory();
    for scope in Scope::ALL {
        let mut server = Server::start(&["--grant", scope.name()]);
        let granted: Vec<_> =
            inventory.iter().filter(|tool| Scope::of(tool) == Some(scope)).map(|tool| &*tool.name).collect();
        assert!(!granted.is_empty(), "no tool needs `{scope}`");
        assert_eq!(server.tool_names(), granted, "listed for `{scope}`");
        for tool in inventory.iter().filter(|tool| Scope::of(tool) != Some(scope)) {
            let needed = Scope::of(tool).unwrap();
            let reply = server.call(&tool.name, harmless(&tool.name));
            assert!(reply.refusal().contains(&format!("`{needed}`")), "{} with `{scope}`: {reply:?}", tool.name);
        }
    }
}

#[test]
fn each_scope_is_missed_when_all_others_are_granted() {
    let (_, inventory) = candor_tools::inventory();
    for scope in Scope::ALL {
        let others: Vec<_> = Scope::ALL.iter().filter(|other| **other != scope).map(|other| other.name()).collect();
        let mut server = Server::start(&["--grant", &others.join(",")]);
        for tool in inventory.iter().filter(|tool| Scope::of(tool) == Some(scope)) {
            assert!(!server.tool_names().contains(&tool.name.to_string()));
            let reply = server.call(&tool.name, harmless(&tool.name));
            assert!(reply.refusal().contains(&format!("`{scope}`")), "{}: {reply:?}", tool.name);
        }
    }
}

#[test]
fn without_a_grant_a_caller_gets_the_read_scopes() {
    for era in ERAS {
        let mut server = Server::start_in(era, User::Accepts, &[]);
        let expected = ["list_branches", "list_notes", "read_note", "describe_database", "query", "fetch_report"];
        assert_eq!(server.tool_names(), expected);
    }
}

#[test]
fn the_list_is_private_and_in_reading_order() {
    let mut server = Server::start(&["--grant", "all"]);
    let result = server.request("tools/list", json!({}))["result"].clone();
    assert_eq!((&result["cacheScope"], &result["ttlMs"]), (&json!("private"), &json!(0)));
    let reading_order: Vec<_> = candor_tools::inventory().1.into_iter().map(|tool| tool.name.into_owned()).collect();
    assert_eq!(reading_order.len(), 15);
    assert_eq!(server.tool_names(), reading_order);
}

#[test]
fn an_unknown_tool_is_a_protocol_error_and_its_name_comes_back_printable() {
    let mut server = Server::start(&["--grant", "all"]);
    for name in ["nope", "", "list_branches\u{1b}[2J", "LIST_BRANCHES", "list_branches ", &"x".repeat(5000)] {
        let reply = server.call(name, json!({}));
        assert_eq!(reply.code(), -32602, "{reply:?}");
        let message = reply.0["error"]["message"].as_str().unwrap();
        assert!(message.len() < 500 && !message.contains('\u{1b}'), "{message}");
    }
}

#[test]
fn a_tool_without_its_resource_is_neither_listed_nor_called() {
    let notes = tempfile::tempdir().unwrap();
    let mut server = Server::start(&["--grant", "all", "--notes", notes.path().to_str().unwrap()]);
    let expected = ["list_notes", "read_note", "create_note", "append_note", "write_note", "fetch_url"];
    assert_eq!(server.tool_names(), expected);
    assert_eq!(server.call("query", json!({"sql": "SELECT 1"})).code(), -32602);
}

#[test]
fn wrong_arguments_are_told_to_the_model_by_name() {
    let mut server = Server::start(&["--grant", "all"]);
    for (tool, arguments, named) in [
        ("list_branches", json!({"limit": 0}), "`0`"),
        ("list_branches", json!({"limit": "ten"}), "ten"),
        ("list_branches", json!({"repo": "/etc"}), "`repo`"),
        ("delete_branch", json!({}), "`branch`"),
        ("delete_branch", json!({"branch": "feature/search", "confirm": true}), "`confirm`"),
        ("delete_branch", json!({"branch": "feature/search", "force": true}), "`force`"),
        ("query", json!({"sql": 5}), "5"),
        ("write_note", json!({"name": "n"}), "`text`"),
    ] {
        let reply = server.call(tool, arguments.clone());
        assert!(reply.refusal().contains(named), "{tool} {arguments}: {reply:?}");
    }
}

#[test]
fn arguments_results_and_rates_have_limits() {
    let mut server = Server::start(&["--grant", "all", "--argument-bytes", "300", "--result-bytes", "2000"]);
    let reply = server.call("create_note", json!({"name": "n", "text": "x".repeat(400)}));
    assert!(reply.refusal().contains("300"), "{reply:?}");
    server.call("query", json!({"sql": "SELECT 1"})).output();
    let reply = server.call("query", json!({"sql": "SELECT printf('%.*c', 5000, 'x')"}));
    assert!(reply.refusal().contains("2000"), "{reply:?}");

    let mut server = Server::start(&["--calls-per-second", "5"]);
    let ids: Vec<_> =
        (0..50).map(|_| server.begin("tools/call", json!({"name": "list_notes", "arguments": {}}))).collect();
    let refused = ids.into_iter().filter(|_| server.next().unwrap()["result"]["isError"] == true).count();
    assert!(refused >= 30, "only {refused} of 50 were refused");
    std::thread::sleep(Duration::from_millis(1100));
    server.call("list_notes", json!({})).output(); // a second later there is room again
}

#[test]
fn a_call_that_takes_too_long_is_stopped_and_said_so() {
    let mut server = Server::start(&["--grant", "all", "--call-seconds", "0.3"]);
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let reply = server.call("query", json!({"sql": endless}));
    assert!(reply.refusal().contains("0.3 s"), "{reply:?}");
    server.call("query", json!({"sql": "SELECT 1"})).output();
}

#[derive(Parser)]
struct Defaults {
    #[command(flatten)]
    limits: Limits,
}

fn limits() -> Limits {
    Defaults::parse_from(["test"]).limits
}

/// An inventory with a tool of the test's own in it.
fn inventory_with(
    tool: Tool,
    body: fn() -> Result<rmcp::model::CallToolResponse, rmcp::ErrorData>,
) -> (rmcp::handler::server::router::tool::ToolRouter<Toolbox>, Vec<Tool>) {
    let (mut router, mut tools) = candor_tools::inventory();
    tools.push(tool.clone());
    router.add_route(ToolRoute::new_dyn(tool, move |_| async move { body() }.boxed()));
    (router, tools)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panicking_tool_is_answered_and_the_next_call_served() {
    let notes = tempfile::tempdir().unwrap();
    let mut tool = Tool::new("panics", "Panics", object(json!({"type": "object"})));
    tool.meta = Some(Scope::NotesRead.required());
    let inventory = inventory_with(tool, || panic!("with a secret"));
    let config = NotesConfig { dir: notes.path().into(), ..NotesConfig::default() };
    let toolbox = Toolbox::default().with_notes(Notes::open(config).unwrap());
    let house = Arc::new(House::new(inventory, toolbox, Audit::default(), limits(), false).unwrap());
    let caller = Arc::new(Principal::new("test", Grant::read(), house.limits()));
    let (near, far) = tokio::io::duplex(1 << 16);
    let server = tokio::spawn(async move { Gate::on_stdio(house, caller).serve(far).await.unwrap().waiting().await });
    let (replies, mut requests) = tokio::io::split(near);
    let mut replies = BufReader::new(replies).lines();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    for tool in ["panics", "list_notes", "panics", "list_notes"] {
        let params = json!({"name": tool, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        requests.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let reply = tokio::time::timeout(crate::support::HANG, replies.next_line()).await.expect("an answer");
        let reply: Value = serde_json::from_str(&reply.unwrap().unwrap()).unwrap();
        if tool == "panics" {
            assert_eq!(reply["error"], json!({"code": -32603, "message": "internal error"}));
        } else {
            assert!(reply["result"]["structuredContent"].is_object(), "{reply}");
        }
    }
    drop((requests, replies));
    server.await.unwrap().unwrap();
}

#[test]
fn a_tool_that_names_no_scope_keeps_the_server_from_starting() {
    let tool = Tool::new("unscoped", "Names no scope", object(json!({"type": "object"})));
    let inventory = inventory_with(tool, || Err(rmcp::ErrorData::internal_error("unreachable", None)));
    let refused = House::new(inventory, Toolbox::default(), Audit::default(), limits(), false).unwrap_err();
    assert!(refused.contains("`unscoped`"), "{refused}");
}
