//! A web server on loopback that says exactly the bytes that a test wants.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// Serves until the test process ends.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Each connection gets one request read and is then handed over, with the path.
    pub(crate) fn start(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let request = read_head(&mut stream);
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    seen.lock().unwrap().push(request);
                    answer(&path, &mut stream);
                });
            }
        });
        Self { address, requests }
    }

    /// Answers each path with the whole response that a table gives for it.
    pub(crate) fn saying(table: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let table: Vec<_> = table.into_iter().collect();
        Self::start(move |path, stream| {
            let known = table.iter().find(|(known, _)| known == path);
            let _ = stream.write_all(known.map_or(b"HTTP/1.1 404 Not Found\r\n\r\n", |(_, r)| r));
        })
    }

    /// The same answer for each path.
    pub(crate) fn always(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |_, stream| drop(stream.write_all(&response)))
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A whole response with a content type.
pub(crate) fn page(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A whole response that sends the client elsewhere.
pub(crate) fn redirect(status: u16, location: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into()
}
