//! Whatever arguments a tool is called with, it answers or refuses, and goes on.

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::support::{ERAS, Server, User};

/// Any JSON, a few levels deep, with the texts that break things.
fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        select(
            &[
                "",
                "main",
                "../../etc/passwd",
                "feature/search",
                "-x",
                "a\u{0}b",
                "\u{202e}",
                "9223372036854775808",
                "order_lines",
                "SELECT 1",
                "SELECT * FROM sqlite_schema",
                "DROP TABLE customers",
                "http://127.0.0.1/",
                "welcome",
                "ﬀ",
                "CON",
                "a\nb",
            ][..]
        )
        .prop_map(str::to_owned),
        "[a-z]{1,5000}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Arguments with the right names and any values, so that deeper code is reached.
fn arguments_of(tool: &Value) -> impl Strategy<Value = Value> + use<> {
    let names: Vec<String> =
        tool["inputSchema"]["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let count = names.len();
    (
        prop::collection::vec(any_json(), count),
        prop::collection::vec(any::<bool>(), count),
        prop::bool::weighted(0.1),
        any_json(),
    )
        .prop_map(move |(values, present, stray, extra)| {
            let given = names.iter().zip(values).zip(present).filter(|(_, present)| *present);
            let mut members: Map<String, Value> = given.map(|((name, value), _)| (name.clone(), value)).collect();
            if stray {
                members.insert("stray".into(), extra);
            }
            members.into()
        })
}

#[test]
fn no_arguments_stop_a_tool_from_answering() {
    for era in ERAS {
        let mut server = Server::start_in(era, User::Declines, &["--grant", "all", "--call-seconds", "5"]);
        for tool in server.tools() {
            let name = tool["name"].as_str().unwrap().to_owned();
            let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
                cases: 40,
                failure_persistence: None,
                ..ProptestConfig::default()
            });
            let server = std::cell::RefCell::new(&mut server);
            runner
                .run(&arguments_of(&tool), |arguments| {
                    let reply = server.borrow_mut().call(&name, arguments.clone()).0;
                    let internal = reply["error"]["code"] == -32603;
                    prop_assert!(!internal, "{} {}: {}", name, arguments, reply);
                    let result = &reply["result"];
                    prop_assert!(result["content"][0]["text"].is_string() || reply["error"].is_object(), "{}", reply);
                    Ok(())
                })
                .unwrap();
        }
        server.call("list_branches", json!({})).output();
        let (status, log) = server.finish();
        assert_eq!(status.code(), Some(0));
        assert!(!log.contains("panic"), "{log}");
    }
}
