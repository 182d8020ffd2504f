use std::{thread, time::Duration};

use serde_json::json;

use super::*;

#[test]
fn a_body_over_the_limit_is_refused_however_its_length_is_told() {
    let server = Server::start(&["--body-bytes", "4096"]);
    let mut request = Request::modern("tools/list", json!({"cursor": "x".repeat(5 << 20)}));
    assert_eq!(server.send(&request).status, 413);

    let mut connection = server.connect();
    connection.send(format!("{}transfer-encoding: chunked\r\n\r\n", request.head(&server)).as_bytes());
    for _ in 0..5 {
        connection.send(format!("400\r\n{}\r\n", "x".repeat(0x400)).as_bytes());
    }
    assert_eq!(connection.reply().status, 413);

    // Announced, and never sent: the answer does not wait for it.
    let mut connection = server.connect();
    connection.send(format!("{}content-length: 10000000000\r\n\r\n", request.head(&server)).as_bytes());
    assert_eq!(connection.reply().status, 413);

    request = Request::list();
    request.body += &" ".repeat(4096 - request.body.len());
    assert_eq!(server.send(&request).status, 200);
    request.body += " ";
    assert_eq!(server.send(&request).status, 413);
}

#[test]
fn a_refused_body_does_not_cost_the_connection() {
    let tokens = Tokens::new();
    let token = tokens.issue("ann", "read");
    let server = Server::with(&tokens, &[]);
    let mut connection = server.connect();
    let mut large = Request::list();
    large.body += &" ".repeat(900 << 10);
    connection.send(&large.bytes(&server));
    assert_eq!(connection.reply().status, 401);
    connection.send(&Request::list().token(&token).bytes(&server));
    assert_eq!(connection.reply().status, 200);
}

#[test]
fn an_encoded_body_is_refused_unread() {
    let server = Server::start(&[]);
    for encoding in ["gzip", "br", "deflate", "identity", "gzip, gzip", ""] {
        assert_eq!(server.send(&Request::list().header("content-encoding", encoding)).status, 415, "{encoding}");
    }
}

#[test]
fn only_json_is_read_and_both_kinds_of_answer_must_be_welcome() {
    let server = Server::start(&[]);
    for (header, value, status) in [
        ("content-type", "text/plain", 415),
        ("content-type", "application/jsonp", 415),
        ("content-type", "", 415),
        ("content-type", "Application/JSON; charset=utf-8", 200),
        ("accept", "application/json", 406),
        ("accept", "*/*", 406),
        ("accept", "text/event-stream, application/json;q=0.5", 200),
    ] {
        assert_eq!(server.send(&Request::list().with(header, value)).status, status, "{header}: {value}");
    }
    assert_eq!(server.send(&Request::list().without("content-type")).status, 415);
}

#[test]
fn a_length_that_lies_hurts_only_the_liar() {
    let server = Server::start(&["--body-seconds", "0.3"]);
    let request = Request::list();
    let head = request.head(&server);
    // More announced than sent.
    let mut connection = server.connect();
    connection.send(format!("{head}content-length: {}\r\n\r\n{}", request.body.len() + 9, request.body).as_bytes());
    assert_eq!(connection.reply().status, 408);
    assert!(connection.is_closed());
    // Less announced than sent.
    let mut connection = server.connect();
    connection.send(format!("{head}content-length: {}\r\n\r\n{}", request.body.len() - 9, request.body).as_bytes());
    assert_eq!(connection.reply().code(), -32700);
    // Two lengths, or none that is a number, or two ways to tell it.
    for lengths in
        ["content-length: 3\r\ncontent-length: 4", "content-length: -1", "content-length: 3, 4", "content-length: 0x10"]
    {
        let mut connection = server.connect();
        connection.send(format!("{head}{lengths}\r\n\r\n{}", request.body).as_bytes());
        assert_eq!(connection.reply().status, 400, "{lengths}");
    }
    assert_eq!(server.send(&Request::list()).status, 200);
}

#[test]
fn half_a_body_ends_in_time() {
    let server = Server::start(&["--body-seconds", "0.3"]);
    let request = Request::list();
    let mut connection = server.connect();
    connection
        .send(format!("{}content-length: {}\r\n\r\n{{\"json", request.head(&server), request.body.len()).as_bytes());
    assert_eq!(connection.reply().status, 408);
    // One byte at a time is no better.
    let mut connection = server.connect();
    connection.send(format!("{}transfer-encoding: chunked\r\n\r\n", request.head(&server)).as_bytes());
    for _ in 0..20 {
        connection.send(b"1\r\n \r\n");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(connection.reply().status, 408);
    assert_eq!(server.send(&Request::list()).status, 200);
}

#[test]
fn half_a_head_and_silence_end_in_time() {
    let server = Server::start(&["--header-seconds", "0.3"]);
    for beginning in ["", "P", "POST /mcp HTTP/1.1\r\nhost: local"] {
        let mut connection = server.connect();
        connection.send(beginning.as_bytes());
        assert!(connection.is_closed(), "{beginning:?}");
    }
    // After a good request too.
    let mut connection = server.connect();
    connection.send(&Request::list().bytes(&server));
    assert_eq!(connection.reply().status, 200);
    assert!(connection.is_closed());
}

#[test]
fn a_head_over_the_limit_is_refused() {
    let server = Server::start(&["--header-bytes", "8192"]);
    assert_eq!(server.send(&Request::list().header("x-long", &"x".repeat(9000))).status, 431);
    let mut many = Request::list();
    for at in 0..200 {
        many = many.header(&format!("x-{at}"), "");
    }
    assert_eq!(server.send(&many).status, 431);
    assert_eq!(server.send(&Request::list().header("x-short", &"x".repeat(4000))).status, 200);
}

#[test]
fn what_is_no_http_is_no_trouble() {
    let server = Server::start(&["--header-seconds", "0.3"]);
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        &[0; 64],
    ] {
        let mut connection = server.connect();
        connection.send(bytes);
        while !connection.is_closed() {
            if connection.reply_head().status >= 400 {
                break;
            }
        }
    }
    assert_eq!(server.send(&Request::list()).status, 200);
}

#[test]
fn connections_over_the_limit_are_turned_away_until_others_end() {
    let server = Server::start(&["--connections", "4", "--header-seconds", "1"]);
    let idle: Vec<_> = (0..4).map(|_| server.connect()).collect();
    let mut fifth = server.connect();
    assert_eq!(fifth.reply().status, 503);
    // The idle ones run into their timer.
    for mut connection in idle {
        assert!(connection.is_closed());
    }
    let again = || {
        let mut connection = server.connect();
        connection.send(&Request::list().bytes(&server));
        connection.reply().status
    };
    assert!((0..100).any(|_| again() == 200 || {
        thread::sleep(Duration::from_millis(20));
        false
    }));
}

#[test]
fn five_hundred_silent_connections_hold_nobody_up() {
    let server = Server::start(&["--header-seconds", "2"]);
    let silent: Vec<_> = (0..500).map(|_| server.connect()).collect();
    assert_eq!(server.send(&Request::list()).status, 200);
    for mut connection in silent {
        assert!(connection.is_closed());
    }
}

#[test]
fn many_callers_at_once_are_all_answered() {
    let server = Server::start(&["--calls-at-once", "2"]);
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                let mut connection = server.connect();
                for _ in 0..10 {
                    connection.send(&Request::call("list_branches").bytes(&server));
                    assert_eq!(connection.reply().status, 200);
                }
            });
        }
    });
}
