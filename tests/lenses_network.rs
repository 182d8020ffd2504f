//! The listener notes who comes, and what that counts for.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use candor::verify::{
    Grade,
    lens::network::{Listener, Request, effects},
};
use serde_json::json;

use crate::support::{HANG, Server};

/// Send bytes and read to the end.
fn say(listener: &Listener, bytes: &str) -> String {
    let mut stream = TcpStream::connect(address(listener)).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn ask(listener: &Listener, method: &str, path: &str) -> String {
    say(
        listener,
        &format!("{method} {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"),
    )
}

fn address(listener: &Listener) -> SocketAddr {
    listener.origin().strip_prefix("http://").unwrap().parse().unwrap()
}

/// What the listener saw; a connection is noted when it ends, which may be after we know.
fn seen(listener: &Listener) -> Vec<Request> {
    let began = Instant::now();
    loop {
        let requests = listener.requests();
        if !requests.is_empty() || began.elapsed() > HANG {
            return requests;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn each_page_is_what_it_is_for() {
    let listener = Listener::start().unwrap();
    let cases = [
        ("/", "HTTP/1.1 200", "nine to five"),
        ("/anything?else", "HTTP/1.1 200", "<h1>"),
        ("/missing", "HTTP/1.1 404", "no such page"),
        ("/redirect", "HTTP/1.1 302", "location: /\r\n"),
        ("/big", "HTTP/1.1 200", "content-length: 16777216"),
    ];
    for (path, status, part) in cases {
        let answer = ask(&listener, "GET", path);
        assert!(answer.starts_with(status) && answer.contains(part), "{path}: {}", &answer[..answer.len().min(300)]);
    }
}

#[test]
fn a_contact_is_noted_without_values() {
    let listener = Listener::start().unwrap();
    say(
        &listener,
        "GET /search?token=secret HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n",
    );
    let seen = seen(&listener);
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("GET", "/search?…"));
    assert_eq!(seen[0].headers, ["host", "authorization", "connection"]);
    assert!(!format!("{seen:?}{:?}", effects(&seen)).contains("secret"));
    assert!(listener.requests().is_empty(), "a look takes what it sees");
}

#[test]
fn asking_is_excused_and_sending_is_not() {
    let listener = Listener::start().unwrap();
    let cases = [
        ("GET", Grade::None),
        ("HEAD", Grade::None),
        ("OPTIONS", Grade::None),
        ("POST", Grade::Additive),
        ("PUT", Grade::Additive),
        ("PATCH", Grade::Additive),
        ("DELETE", Grade::Additive),
        ("PROPFIND", Grade::Additive),
    ];
    for (method, grade) in cases {
        ask(&listener, method, "/page");
        let effects = effects(&seen(&listener));
        assert_eq!(effects.len(), 1, "{method}");
        assert_eq!((effects[0].grade, effects[0].lens), (grade, "network"), "{method}");
        assert_eq!(effects[0].excuse.is_some(), grade == Grade::None, "{method}");
        assert_eq!(effects[0].place, "listener /page");
        assert!(effects[0].what.contains(method), "{}", effects[0].what);
    }
}

#[test]
fn a_contact_without_a_request_is_a_contact() {
    let listener = Listener::start().unwrap();
    drop(TcpStream::connect(address(&listener)).unwrap());
    let silent = effects(&seen(&listener));
    assert_eq!((silent.len(), silent[0].grade), (1, Grade::None));
    for bytes in ["\x16\x03\x01\x02\x00 not HTTP\r\n\r\n", "GET / no version\r\n\r\n"] {
        say(&listener, bytes);
        let garbage = effects(&seen(&listener));
        assert_eq!((garbage.len(), garbage[0].grade), (1, Grade::Additive), "{bytes:?}");
    }
}

#[test]
fn a_listener_that_is_dropped_is_gone_even_while_somebody_is_connected() {
    let listener = Listener::start().unwrap();
    let address = address(&listener);
    let mut waiting = TcpStream::connect(address).unwrap();
    waiting.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let began = Instant::now();
    drop(listener);
    assert!(began.elapsed() < HANG);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn fetch_url_is_seen_when_it_may_come() {
    let listener = Listener::start().unwrap();
    let mut server = Server::start(&["--grant", "web:fetch", "--fetch-allow", &listener.origin()]);
    let reply = server.call("fetch_url", json!({"url": format!("{}/page", listener.origin())}));
    assert!(reply.output().to_string().contains("nine to five"), "{reply:?}");
    let methods: Vec<_> = seen(&listener).into_iter().map(|request| (request.method, request.path)).collect();
    assert_eq!(methods, [("GET".to_owned(), "/page".to_owned())]);
    server.finish();
}
