//! Servers that break the rules: each gets a clear error in time, and leaves no process.
#![cfg(unix)]

use std::{
    os::unix::process::ExitStatusExt as _,
    time::{Duration, Instant},
};

use candor::{verify::Reply, wire::Limits};

use super::{
    small::{Small, short},
    *,
};

/// What becomes of opening a conversation, listing the tools, and calling one.
async fn trouble(small: &Small, era: Era, limits: &Limits) -> String {
    let outcome = async {
        let mut connection = Connection::open(&small.target, era, limits).await?;
        connection.list().await?;
        call(&mut connection, "act", json!({}), Answer::Accept).await?;
        Ok::<_, WireError>(())
    };
    let from = Instant::now();
    let error = outcome.await.unwrap_err().to_string();
    assert!(from.elapsed() < Duration::from_secs(30), "{error}");
    small.is_gone();
    error
}

#[tokio::test]
async fn an_honest_small_server_is_listed_called_and_closed() {
    for era in Era::ALL {
        let small = Small::new("");
        let mut connection = Connection::open(&small.target, era, &Limits::default()).await.unwrap();
        assert_eq!(connection.list().await.unwrap().len(), 1);
        let (called, _) = call(&mut connection, "act", json!({}), Answer::Accept).await.unwrap();
        assert_eq!(called.reply, Reply::Success);
        assert!(connection.close().await.status.unwrap().success());
        small.is_gone();
    }
}

#[tokio::test]
async fn a_broken_server_gets_an_error_that_names_the_fault() {
    let cases = [
        // It ends, at whatever moment.
        ("started() { echo 'no licence' >&2; exit 3; }", "ended with exit status: 3 before it answered"),
        ("started() { echo 'no licence' >&2; exit 3; }", "its last words: no licence"),
        ("list() { exit 0; }", "ended with exit status: 0 before it answered `tools/list`"),
        ("call() { kill -9 $$; }", "ended with signal: 9 (SIGKILL) before it answered `tools/call`"),
        ("call() { exec >&-; sleep 100; }", "closed its output before it answered `tools/call`"),
        // It says nothing.
        ("list() { :; }", "did not answer `tools/list` within 1.5 s"),
        ("call() { echo 'thinking' >&2; }", "did not answer `tools/call` within 1.5 s; its last words: thinking"),
        ("call() { sleep 1000; }", "did not answer `tools/call`"),
        // It says what is no message.
        ("started() { echo 'Welcome to my server!'; }", "sent `Welcome to my server!`, which is no JSON-RPC message"),
        ("call() { printf '\\033[2Jx\\n'; }", "sent `\\u{1b}[2Jx`"),
        ("call() { printf '\\377\\376\\n'; }", "which is no JSON-RPC message"),
        ("call() { say '[]'; }", "sent `[]`"),
        ("call() { say '{\"jsonrpc\":\"2.0\",\"id\":3}'; }", "which is no JSON-RPC message"),
        ("call() { result '7'; }", "sent `7`"),
        ("call() { head -c 300000 /dev/zero | tr '\\0' '['; echo; }", "which is no JSON-RPC message"),
        ("call() { head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; }", "sent a message of more than 1000000 bytes"),
        ("call() { yes | tr -d '\\n'; }", "sent a message of more than 1000000 bytes"),
        // It answers what nobody asked.
        ("call() { id=77; result '{}'; }", "answered a request `77`, which was never made"),
        ("call() { id=\\\"3\\\"; result '{}'; }", "answered a request `\"3\"`, which was never made"),
        ("call() { id=null; result '{}'; }", "answered a request `null`, which was never made"),
        ("call() { id=1; result '{}'; }", "did not answer `tools/call`"),
        // Its list is none.
        ("list() { result '{}'; }", "the result of `tools/list` can't be read: missing field `tools`"),
        ("list() { result '{\"tools\":[{\"title\":\"x\"}]}'; }", "tool number 1 of `tools/list` has no name"),
        (
            "list() { result '{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"'$id'\"}'; }",
            "`tools/list` names `a` twice",
        ),
        (
            "list() { say '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":{\"code\":-32603,\"message\":\"no list today\"}}'; }",
            "answered `tools/list` with error -32603: no list today",
        ),
        // It does not end.
        ("list() { result '{\"tools\":[],\"nextCursor\":\"same\"}'; }", "the cursor `same` comes back"),
        (
            "list() { result '{\"tools\":[],\"nextCursor\":\"'$id'\"}'; }",
            "`tools/list` does not end: 50 pages hold 0 tools",
        ),
        (
            "list() { result '{\"tools\":[{\"name\":\"t'$id'\"}],\"nextCursor\":\"'$id'\"}'; }",
            "lists more than 50 tools",
        ),
        (
            "list() { t=; i=0; while [ $i -lt 60 ]; do i=$((i+1)); t=\"$t,{\\\"name\\\":\\\"t$i\\\"}\"; done; result '{\"tools\":['\"${t#,}\"']}'; }",
            "lists more than 50 tools",
        ),
        ("call() { while :; do say '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}'; done; }", "did not answer"),
    ];
    for era in Era::ALL {
        let all = cases.map(|(differences, expected)| async move {
            // Waited out only where that is the point.
            let patience = if expected.contains("did not answer") { short() } else { Limits::default() };
            let limits = Limits { line_bytes: 1_000_000, tools: 50, ..patience };
            let error = trouble(&Small::new(differences), era, &limits).await;
            assert!(error.contains(expected), "{differences}: {error}");
            assert!(error.len() < 1000, "{error}");
            assert!(!error.contains(char::is_control), "{error:?}");
        });
        futures::future::join_all(all).await;
    }
}

#[tokio::test]
async fn a_server_that_never_opens_the_conversation_is_given_up_in_time() {
    for era in Era::ALL {
        let small = Small::new("started() { sleep 1000; }");
        let limits = Limits { start: Duration::from_millis(500), ..short() };
        let error = trouble(&small, era, &limits).await;
        assert!(error.contains("within 0.5 s; it wrote nothing to standard error"), "{error}");
    }
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let command = vec!["/no/such/program".to_owned(), "x".into()];
    let target = candor::wire::Target::Stdio { command, env: Vec::new(), dir: None };
    let error = Connection::open(&target, Era::Modern, &short()).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot start `/no/such/program`: No such file"), "{error}");
}

#[tokio::test]
async fn what_a_server_says_of_its_era_is_shown() {
    let modern = Small::new(r#"discover() { result '{"supportedVersions":["2099-01-01"]}'; }"#);
    let error = trouble(&modern, Era::Modern, &Limits::default()).await;
    assert!(error.contains(r#"does not speak protocol 2026-07-28: it supports ["2099-01-01"]"#), "{error}");
    let legacy = Small::new(r#"initialize() { result '{"protocolVersion":"1999-01-01"}'; }"#);
    let error = trouble(&legacy, Era::Legacy, &Limits::default()).await;
    assert!(error.contains("does not speak protocol 2025-11-25: it answers with `1999-01-01`"), "{error}");
    let old = Small::new(r#"initialize() { result '{"protocolVersion":"2024-11-05"}'; }"#);
    Connection::open(&old.target, Era::Legacy, &Limits::default()).await.unwrap().close().await;
}

#[tokio::test]
async fn requests_of_the_server_are_answered_and_do_not_disturb_the_call() {
    let differences = r#"
        ask() { say '{"jsonrpc":"2.0","id":"'$1'","method":"'$1'"}'; }
        call() { ask roots/list; ask sampling/createMessage; ask ping; }
        answered() { echo "$line" >&2; case "$line" in *'"id":"ping"'*) result '{"content":[]}' ;; esac; }
    "#;
    for (era, ping) in [(Era::Legacy, r#""result":{}"#), (Era::Modern, "-32601")] {
        let small = Small::new(differences);
        let mut connection = Connection::open(&small.target, era, &Limits::default()).await.unwrap();
        let (called, asked) = call(&mut connection, "act", json!({}), Answer::Accept).await.unwrap();
        assert_eq!((called.reply, asked), (Reply::Success, 0));
        let heard = connection.close().await.stderr;
        let answer = |id: &str| heard.lines().find(|line| line.contains(id)).unwrap();
        assert!(answer("roots/list").contains("-32601") && answer("sampling").contains("-32601"), "{heard}");
        assert!(answer("\"ping\"").contains(ping), "{heard}");
    }
}

#[tokio::test]
async fn a_form_is_filled_in_as_by_a_user_who_agrees() {
    let properties = json!({
        "sure": {"type": "boolean", "default": false},
        "name": {"type": "string"},
        "long": {"type": "string", "minLength": 3},
        "greeting": {"type": "string", "default": "hello"},
        "mail": {"type": "string", "format": "email"},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "titled": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
        "count": {"type": "integer", "minimum": 2},
        "several": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["x", "y"]}},
    });
    let expected = json!({
        "sure": true, "name": "", "long": "xxx", "greeting": "hello", "mail": "user@example.com",
        "colour": "red", "titled": "a", "count": 2, "several": ["x"],
    });
    let params = json!({"message": "Which?", "requestedSchema": {"type": "object", "properties": properties}});
    let request = json!({"method": "elicitation/create", "params": params});
    let modern = format!(
        r#"call() {{ case "$line" in
            *inputResponses*) echo "$line" >&2; result '{{"resultType":"complete","content":[]}}' ;;
            *) result '{{"resultType":"input_required","inputRequests":{{"q":{request}}},"requestState":"s1"}}' ;;
        esac; }}"#
    );
    let legacy = format!(
        r#"call() {{ say '{{"jsonrpc":"2.0","id":900,"method":"elicitation/create","params":{params}}}'; }}
        answered() {{ echo "$line" >&2; result '{{"content":[]}}'; }}"#
    );
    for (era, differences) in [(Era::Modern, modern), (Era::Legacy, legacy)] {
        let answers = [
            (Answer::Accept, json!({"action": "accept", "content": expected})),
            (Answer::Decline, json!({"action": "decline"})),
            (Answer::Cancel, json!({"action": "cancel"})),
        ];
        for (answer, expected) in answers {
            let small = Small::new(&differences);
            let mut connection = Connection::open(&small.target, era, &Limits::default()).await.unwrap();
            let (called, asked) = call(&mut connection, "act", json!({"a": 1}), answer).await.unwrap();
            assert_eq!((asked, called.questions[0].message.as_str()), (1, "Which?"));
            let heard: Value = serde_json::from_str(&connection.close().await.stderr).unwrap();
            if era == Era::Modern {
                assert_eq!(heard["params"]["inputResponses"], json!({"q": expected}));
                assert_eq!(heard["params"]["requestState"], "s1");
                assert_eq!(heard["params"]["arguments"], json!({"a": 1}));
            } else {
                assert_eq!(heard["result"], expected);
            }
            small.is_gone();
        }
    }
}

#[tokio::test]
async fn a_server_that_keeps_asking_is_given_up() {
    let modern = r#"call() { result '{"resultType":"input_required","inputRequests":{},"requestState":"x"}'; }"#;
    let legacy = r#"call() { say '{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"?"}}'; }
        answered() { call; }"#;
    for (era, differences) in [(Era::Modern, modern), (Era::Legacy, legacy)] {
        let error = trouble(&Small::new(differences), era, &Limits::default()).await;
        assert!(error.contains("asks about one call of `act` more than"), "{error}");
    }
}

#[tokio::test]
async fn what_was_not_offered_is_not_given() {
    let cases = [
        (r#"call() { result '{"resultType":"task","task":{}}'; }"#, "the server needs `resultType \"task\"`"),
        (
            r#"call() { result '{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}'; }"#,
            "the server needs `roots/list` from its client",
        ),
    ];
    for (differences, expected) in cases {
        let error = trouble(&Small::new(differences), Era::Modern, &Limits::default()).await;
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_will_not_end_is_killed_with_everything_it_started() {
    let stubborn = "trap '' TERM; ended() { sleep 1000 & while :; do sleep 1; done; }";
    let small = Small::new(stubborn);
    let connection = Connection::open(&small.target, Era::Modern, &Limits::default()).await.unwrap();
    let closed = connection.close().await;
    assert_eq!(closed.status.unwrap().signal(), Some(9));
    small.is_gone();

    let deaf_to_the_end = Small::new("ended() { while :; do sleep 1; done; }");
    let connection = Connection::open(&deaf_to_the_end.target, Era::Modern, &Limits::default()).await.unwrap();
    assert_eq!(connection.close().await.status.unwrap().signal(), Some(15));
    deaf_to_the_end.is_gone();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_left_the_servers_group_is_found_and_ended() {
    let small = Small::new("call() { setsid sleep 1000 & result '{\"content\":[]}'; }");
    let mut connection = Connection::open(&small.target, Era::Legacy, &Limits::default()).await.unwrap();
    let at_rest = connection.processes();
    call(&mut connection, "act", json!({}), Answer::Accept).await.unwrap();
    assert!(!connection.settles(&at_rest, Duration::from_millis(100)).await);
    assert!(small.processes().len() > 1);
    let closed = connection.close().await;
    assert!(closed.status.unwrap().success());
    small.is_gone();
}

#[tokio::test]
async fn a_dropped_conversation_leaves_no_process() {
    let small = Small::new("call() { setsid sleep 1000 & sleep 1000; }");
    let mut connection = Connection::open(&small.target, Era::Modern, &Limits::default()).await.unwrap();
    let arguments = serde_json::Map::new();
    let call = connection.call("act", &arguments, Answer::Accept, |_: &Question| std::future::ready(()));
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    assert!(!small.processes().is_empty());
    drop(connection);
    small.is_gone();
}

#[tokio::test]
async fn a_flood_on_standard_error_blocks_nobody_and_its_end_is_kept() {
    let small = Small::new("started() { head -c 1000000 /dev/zero | tr '\\0' 'x' >&2; echo the end >&2; }");
    let connection = Connection::open(&small.target, Era::Modern, &Limits::default()).await.unwrap();
    let stderr = connection.close().await.stderr;
    assert!(stderr.len() <= 64 * 1024 && stderr.ends_with("xxthe end\n"), "{}", stderr.len());
}

#[tokio::test]
async fn a_server_that_still_writes_at_its_end_is_heard_out() {
    let small = Small::new(
        "ended() { i=0; while [ $i -lt 20000 ]; do say '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; i=$((i+1)); done; echo done >&2; }",
    );
    let connection = Connection::open(&small.target, Era::Modern, &Limits::default()).await.unwrap();
    let closed = connection.close().await;
    assert!(closed.status.unwrap().success() && closed.stderr.ends_with("done\n"), "{closed:?}");
}
