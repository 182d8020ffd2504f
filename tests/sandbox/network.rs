use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::net::UnixStream,
};

use candor::verify::sandbox::{Allowed, Said, Spec};

use super::boxed::{Boxed, Host, Outcome};
use crate::support::HANG;

fn python(host: &Host, script: &str) -> Spec {
    let mut spec = host.spec("");
    spec.command = ["/usr/bin/python3", "-c", script].map(String::from).into();
    spec
}

fn contacts(outcome: &Outcome) -> Vec<String> {
    outcome.contacts.iter().map(ToString::to_string).collect()
}

#[test]
fn a_request_is_answered_and_told_with_its_name_and_path() {
    let host = Host::new();
    let script = "import urllib.request\n\
        print(urllib.request.urlopen('http://API.example.com/v1/items?key=secret', data=b'x' * 70000).status)";
    let outcome = Boxed::start(python(&host, script)).end();
    assert_eq!(outcome.said, "200\n");
    let told = contacts(&outcome);
    assert!(told.contains(&"asked for the address of api.example.com (A)".into()), "{told:?}");
    assert_eq!(told.last().unwrap(), "POST /v1/items?… to 1.2.3.1:80 (api.example.com)");
    assert!(!told.concat().contains("secret"));
}

#[test]
fn a_tls_greeting_tells_the_name() {
    let host = Host::new();
    let script = "import ssl, socket\n\
        s = socket.create_connection(('93.184.216.34', 443))\n\
        try: ssl.create_default_context().wrap_socket(s, server_hostname='pay.example.org')\n\
        except Exception as e: print('failed')";
    let outcome = Boxed::start(python(&host, script)).end();
    assert_eq!(outcome.said, "failed\n");
    assert_eq!(contacts(&outcome), ["TLS to 93.184.216.34:443 (pay.example.org)"]);
    assert_eq!(outcome.contacts[0].said, Said::Tls);
}

#[test]
fn other_ports_are_seen_once_they_are_opened() {
    let host = Host::new();
    let script = "import socket, sys\n\
        def tcp(address, port):\n    s = socket.create_connection((address, port)); s.sendall(b'hello'); s.recv(1)\n\
        try: tcp('192.0.2.7', 9999)\n\
        except OSError as e: print('refused', flush=True)\n\
        sys.stdin.readline()\n\
        tcp('192.0.2.7', 9999); tcp('2001:db8::1', 9999)\n\
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'log', ('192.0.2.8', 9999))\n\
        tcp('127.0.0.1', 9999)\n\
        print('done', flush=True); sys.stdin.readline()\n\
        s = socket.create_server(('', 9999)); print('mine', flush=True)";
    let mut boxed = Boxed::start(python(&host, script));
    assert_eq!(boxed.hear(), "refused");
    assert!(boxed.sandbox.open_port(9999));
    boxed.say("");
    assert_eq!(boxed.hear(), "done");
    boxed.sandbox.release_port(9999);
    boxed.say("");
    assert_eq!(boxed.hear(), "mine");
    let outcome = boxed.end();
    let mut told = contacts(&outcome);
    told.sort();
    let expected = [
        "connection, 5 bytes to 127.0.0.1:9999",
        "connection, 5 bytes to 192.0.2.7:9999",
        "connection, 5 bytes to [2001:db8::1]:9999",
        "datagram, 3 bytes to 192.0.2.8:9999",
    ];
    assert_eq!(told, expected);
    let local: Vec<_> = outcome.contacts.iter().filter(|contact| contact.is_local()).collect();
    assert_eq!(local.len(), 1);
}

#[test]
fn nothing_leaves_the_box_but_to_what_is_allowed() {
    let host = Host::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let talk = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello").unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    });
    let script = format!(
        "import socket, urllib.request\n\
         try: socket.create_connection(('127.0.0.1', {}))\n\
         except OSError: print('refused')\n\
         print(urllib.request.urlopen('http://test.example/page').read().decode())",
        address.port()
    );
    let mut spec = python(&host, &script);
    spec.allow = vec![format!("Test.example={address}").parse().unwrap()];
    let outcome = Boxed::start(spec).end();
    assert_eq!(outcome.said, "refused\nhello\n");
    assert!(talk.join().unwrap().starts_with("GET /page HTTP/1.1"));
    let last = outcome.contacts.last().unwrap();
    assert!(last.allowed, "{last:?}");
    assert_eq!(last.to_string(), "GET /page to 1.2.3.1:80 (test.example)");
}

#[test]
fn a_server_at_a_port_is_reached_from_outside_by_a_socket() {
    let host = Host::new();
    let script = "import http.server, sys\n\
        class Handler(http.server.BaseHTTPRequestHandler):\n\
        \x20   def do_GET(self):\n\
        \x20       self.send_response(200); self.end_headers(); self.wfile.write(self.path.encode())\n\
        print('wait', flush=True); sys.stdin.readline()\n\
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 8000), Handler)\n\
        print('here', flush=True); server.serve_forever()";
    let mut spec = python(&host, script);
    spec.serves = Some(8000);
    let mut boxed = Boxed::start(spec);
    let served = boxed.sandbox.served().unwrap();
    let ask = |path: &str| {
        let mut stream = UnixStream::connect(&served).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        let mut said = String::new();
        let _ = stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes());
        let _ = stream.read_to_string(&mut said);
        said
    };
    assert_eq!(boxed.hear(), "wait");
    assert_eq!(ask("/early"), "", "nobody listens yet");
    boxed.say("go");
    assert_eq!(boxed.hear(), "here");
    std::thread::scope(|scope| {
        for path in ["/one", "/two", "/three"] {
            scope.spawn(move || assert!(ask(path).ends_with(path), "{path}"));
        }
    });
    boxed.sandbox.kill();
    assert!(boxed.end().contacts.is_empty(), "its own port is no contact");
}

#[test]
fn what_may_be_reached_is_read_as_it_is_written() {
    let read = |text: &str| text.parse::<Allowed>();
    let allowed =
        |host: &str, port, to: Option<&str>| Allowed { host: host.into(), port, to: to.map(|to| to.parse().unwrap()) };
    for (text, expected) in [
        ("Example.com.", allowed("example.com", None, None)),
        ("example.com:8443", allowed("example.com", Some(8443), None)),
        ("example.com=127.0.0.1:8080", allowed("example.com", None, Some("127.0.0.1:8080"))),
        ("[2001:db8::1]:25=[::1]:2525", allowed("2001:db8::1", Some(25), Some("[::1]:2525"))),
        ("2001:db8::1", allowed("2001:db8::1", None, None)),
    ] {
        assert_eq!(read(text).unwrap(), expected, "{text}");
    }
    for (text, part) in [("", "no host"), ("https://a.example", "`//a.example` is no port"), ("a.example=b", "`b`")] {
        assert!(read(text).unwrap_err().contains(part), "{text}: {:?}", read(text));
    }
}
