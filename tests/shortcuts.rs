//! What makes the server fast must not be seen in what it does.

use std::{fs, path::Path};

use candor::serve::stdio::parse;
use proptest::prelude::*;
use rmcp::{RoleServer, service::RxJsonRpcMessage};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    confirm::Demo,
    support::{Era, Server, User, git},
};

/// The short way over the envelope, and rmcp's own reading of the same line.
fn both_ways(line: &str) -> (Option<String>, Option<String>) {
    let told = |message: RxJsonRpcMessage<RoleServer>| format!("{message:?}");
    (parse(line.as_bytes()).ok().map(told), serde_json::from_str(line).ok().map(told))
}

#[test]
fn the_short_way_over_the_envelope_reads_what_rmcp_reads() {
    let calls = [
        r#"{"name":"query"}"#,
        r#"{"name":"query","arguments":{}}"#,
        r#"{"name":"query","arguments":null}"#,
        r#"{"name":"query","arguments":{"sql":"SELECT 1","params":[1,null,2.5,"x"]},"more":true}"#,
        r#"{"name":"q","_meta":{"progressToken":7,"x/y":{"z":[1]}}}"#,
        r#"{"name":"q","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#,
        r#"{"name":"q","arguments":{},"requestState":"s","inputResponses":{"k":{"action":"accept","content":{"confirm":true}}}}"#,
        r#"{"name":"\u0071uery","arguments":{"a":18446744073709551615,"b":-1e300}}"#,
        r#"{"name":"q","task":{"ttl":5}}"#,
    ];
    for params in calls {
        for id in ["1", "0", "-5", "9007199254740993", r#""1""#, r#""""#, r#""\u00e9""#] {
            for line in [
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#),
                format!(r#"{{"params":{params},"method":"tools/call","id":{id},"jsonrpc":"2.0"}}"#),
                format!(
                    r#" {{ "jsonrpc" : "2.0" , "id":{id},"extra":[{{}}],"method":"tools\/call","params":{params} }} "#
                ),
            ] {
                let (short, long) = both_ways(&line);
                assert!(long.is_some(), "{line}");
                assert_eq!(short, long, "{line}");
            }
        }
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"q"}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"q"}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"q"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"q"}"#,
    ] {
        assert_eq!(both_ways(line).0, None, "{line}");
    }
}

/// Any JSON, not too deep.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    /// Whatever the short way reads, rmcp reads alike; what rmcp can't read, neither can it.
    #[test]
    fn the_short_way_never_disagrees_with_rmcp(
        id in prop_oneof![any::<i64>().prop_map(Value::from), ".{0,6}".prop_map(Value::from)],
        name in ".{0,12}",
        arguments in prop::option::of(prop::collection::btree_map(".{0,6}", anything(), 0..4)),
        meta in prop::option::of(prop::collection::btree_map(".{0,6}", anything(), 0..3)),
        stray in prop::option::of((prop_oneof![
            Just("name"), Just("arguments"), Just("_meta"), Just("task"), Just("requestState"), Just("inputResponses"),
        ], anything())),
    ) {
        let mut params = json!({"name": name});
        if let Some(arguments) = arguments { params["arguments"] = json!(arguments); }
        if let Some(meta) = meta { params["_meta"] = json!(meta); }
        if let Some((key, value)) = stray { params[key] = value; }
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
        let (short, long) = both_ways(&line);
        if let Some(short) = short {
            prop_assert_eq!(Some(short), long);
        } else if let Some(long) = long {
            // Refused by us, kept by rmcp as a method that it does not know: never as a call.
            prop_assert!(long.contains("CustomRequest"), "{}: {}", line, long);
        }
    }
}

#[test]
fn a_kept_reader_carries_no_state_from_call_to_call() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("shop.db");
    Connection::open(&file)
        .unwrap()
        .execute_batch("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), ('Y');")
        .unwrap();
    let options = ["--database", file.to_str().unwrap(), "--database-readers", "1", "--query-seconds", "1"];
    let mut server = Server::start(&options);
    let probes = [
        "SELECT a LIKE 'y', typeof(a), changes(), total_changes(), last_insert_rowid() FROM t ORDER BY a",
        "SELECT name FROM sqlite_temp_master",
        "SELECT count(*) FROM t",
        "SELECT name FROM pragma_database_list",
    ];
    let answers = |server: &mut Server| probes.map(|sql| server.call("query", json!({"sql": sql})).0["result"].clone());
    let before = answers(&mut server);
    for sql in [
        "BEGIN",
        "SAVEPOINT s",
        "PRAGMA case_sensitive_like = 1",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "CREATE TEMP TABLE u (b)",
        "CREATE TEMP VIEW t AS SELECT 1",
        "ATTACH ':memory:' AS other",
        "INSERT INTO t VALUES ('z')",
        "SELECT load_extension('x')",
        "SELECT nothing FROM nowhere",
        "SELECT abs(-9223372036854775808)",
        "SELECT a FROM t LIMIT 1",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    ] {
        server.call("query", json!({"sql": sql}));
        assert_eq!(answers(&mut server), before, "after {sql}");
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let demo = Demo::new();
    let branches = |origin: &Path| git(origin, &["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    let rows = |file: &Path, name: &str| -> i64 {
        let sql = "SELECT count(*) FROM probe WHERE name = ?";
        Connection::open(file).unwrap().query_row(sql, [name], |row| row.get(0)).unwrap()
    };
    let (shop, origin, notes) = (demo.path("shop.db"), demo.path("origin.git"), demo.path("notes"));
    Connection::open(&shop).unwrap().execute_batch("CREATE TABLE probe (name TEXT)").unwrap();
    for round in 0..8 {
        let name = format!("kept-{round}");
        let killed_after = |tool: &str, arguments: Value| {
            let mut server = demo.serve(Era::Modern, User::Accepts, &["--notes", notes.to_str().unwrap()]);
            server.call(tool, arguments).output();
            drop(server); // killed
        };
        killed_after("insert_rows", json!({"table": "probe", "rows": [{"name": name}]}));
        assert_eq!(rows(&shop, &name), 1, "{name}");
        killed_after("execute", json!({"sql": "DELETE FROM probe WHERE name = ?", "params": [name]}));
        assert_eq!(rows(&shop, &name), 0, "{name}");
        killed_after("create_branch", json!({"branch": name}));
        assert!(branches(&origin).contains(&name), "{name}");
        killed_after("delete_branch", json!({"branch": name}));
        assert!(!branches(&origin).contains(&name), "{name}");
        killed_after("write_note", json!({"name": format!("{name}.md"), "text": name}));
        assert_eq!(fs::read_to_string(notes.join(format!("{name}.md"))).unwrap(), name);
    }
}
