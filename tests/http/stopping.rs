use std::{thread, time::Duration};

use super::{messages::open, *};

/// A request whose body is half here: a call that is under way.
fn under_way(server: &Server) -> (Connection, Vec<u8>) {
    let mut connection = server.connect();
    let mut bytes = Request::call("list_branches").header("expect", "100-continue").bytes(server);
    let rest = bytes.split_off(bytes.len() - 10);
    connection.send(&bytes);
    assert_eq!(connection.reply_head().status, 100); // somebody waits for the rest
    (connection, rest)
}

fn wait_for_refusal(server: &Server) {
    for _ in 0..200 {
        let reply = server.send(&Request::call("list_branches"));
        if reply.status == 503 {
            assert!(reply.header("retry-after").is_some());
            assert_eq!(reply.header("connection"), Some("close"));
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("new calls are still served: {}", server.log());
}

#[test]
fn told_to_stop_it_ends_what_runs_and_begins_nothing_new() {
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start(&["--drain-seconds", "20"]);
        let session = open(&server, None);
        let mut idle = server.connect();
        idle.send(&Request::bare("GET", &session).bytes(&server));
        assert_eq!(idle.reply_head().status, 200);
        let mut kept = server.connect();
        kept.send(&Request::list().bytes(&server));
        assert_eq!(kept.reply().status, 200);
        let (mut call, rest) = under_way(&server);

        server.signal(signal);
        wait_for_refusal(&server);
        while idle.chunk().is_some() {} // a stream that only waits holds nobody up
        kept.send(&Request::call("list_branches").bytes(&server));
        assert_eq!(kept.reply().status, 503);
        call.send(&rest);
        assert_eq!(call.reply().status, 200);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    }
}

#[test]
fn a_call_that_does_not_end_is_not_waited_for_long() {
    let mut server = Server::start(&["--drain-seconds", "0.3"]);
    let (_call, _) = under_way(&server);
    server.signal("-TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn told_twice_it_ends_at_once() {
    let mut server = Server::start(&["--drain-seconds", "3600", "--body-seconds", "3600"]);
    let (_call, _) = under_way(&server);
    server.signal("-TERM");
    wait_for_refusal(&server);
    server.signal("-TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn with_nothing_to_do_it_ends_at_once() {
    let mut server = Server::start(&["--drain-seconds", "3600", "--header-seconds", "3600"]);
    let _silent = server.connect();
    open(&server, None);
    server.signal("-TERM");
    assert_eq!(server.wait().code(), Some(0));
}
