//! One connection to the sink: what is said on it, and an answer that keeps the other side going.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request, Response,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use super::{World, plain};
use crate::verify::sandbox::{Allowed, Contact, Said};

/// How long the other side may take to say something; then it waits for us.
const PATIENCE: Duration = Duration::from_millis(400);
/// How long a request may take to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// What is read of a request's body, in bytes.
const MAX_BODY: usize = 1 << 20;
/// What is looked at of the beginning of a connection: as long as a TLS greeting may be.
const BEGINNING: usize = 16 << 10;
/// What is kept of a method or path, in characters.
const SHOWN: usize = 200;
/// The first byte of a TLS greeting (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;

const PAGE: &str = "<!doctype html><html lang=\"en\"><head><title>Opening hours</title></head>\
    <body><h1>Opening hours</h1><p>The shop is open from nine to five.</p></body></html>";

pub(super) async fn talk(mut stream: TcpStream, world: &World) {
    let Ok(address) = stream.local_addr().map(plain) else { return };
    if address.port() == 53 {
        return questions(stream, world, address).await;
    }
    let name = world.name_of(address.ip());
    let allowed = world.allowed(address.ip(), name.as_deref());
    let beginning = beginning(&stream).await;
    let note = |said, name| world.note(Contact { address, name, said, allowed: allowed.is_some() });
    let request = request_line(&beginning);
    match (&request, beginning.first()) {
        (Some((method, path)), _) if allowed.is_some() => note(request_said(method, path), name),
        (Some(_), _) => {
            let noted = |method: &str, path: &str| note(request_said(method, path), name.clone());
            return answer(stream, noted).await;
        }
        (None, Some(&HANDSHAKE)) => note(Said::Tls, name_greeted(&beginning).or(name)),
        _ => note(Said::Connection { bytes: beginning.len() }, name),
    }
    if let Some(allowed) = allowed {
        lead_on(stream, allowed, address.port()).await;
    } else {
        // Taken, so that the other side finds an end and not a broken connection.
        let mut taken = beginning;
        let _ = stream.read_exact(&mut taken).await;
        let _ = stream.shutdown().await;
    }
}

/// What the other side says first, without taking it.
async fn beginning(stream: &TcpStream) -> Vec<u8> {
    let mut buffer = vec![0; BEGINNING];
    let until = Instant::now() + PATIENCE;
    let mut length = 0;
    while Instant::now() < until {
        let left = until.saturating_duration_since(Instant::now());
        match timeout(left, stream.peek(&mut buffer)).await {
            Ok(Ok(seen @ 1..)) => {
                let stands = seen == length;
                length = seen;
                if is_whole(buffer.get(..seen).unwrap_or_default()) {
                    break;
                }
                if stands {
                    sleep(Duration::from_millis(10)).await;
                }
            }
            _ => break,
        }
    }
    buffer.truncate(length);
    buffer
}

/// Whether enough is there to tell what it is.
fn is_whole(bytes: &[u8]) -> bool {
    match bytes {
        [HANDSHAKE, _, _, high, low, rest @ ..] => rest.len() >= usize::from(u16::from_be_bytes([*high, *low])),
        [HANDSHAKE, ..] => false,
        _ => request_line(bytes).is_some() || !looks_like_request(bytes) || bytes.len() == BEGINNING,
    }
}

fn looks_like_request(bytes: &[u8]) -> bool {
    let word = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    (3..=16).contains(&word) && bytes.get(word) == Some(&b' ')
}

/// The method and the path of an HTTP/1 request.
fn request_line(bytes: &[u8]) -> Option<(String, String)> {
    let line = bytes.split(|byte| *byte == b'\n').next().filter(|line| line.len() < bytes.len())?;
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let mut words = line.split(' ');
    let (method, path, version) = (words.next()?, words.next()?, words.next()?);
    (looks_like_request(bytes) && version.starts_with("HTTP/1")).then(|| (method.into(), path.into()))
}

fn request_said(method: &str, path: &str) -> Said {
    let cut = |text: &str| text.chars().take(SHOWN).flat_map(char::escape_debug).collect::<String>();
    let path = match path.split_once('?') {
        Some((path, _)) => cut(path) + "?…",
        None => cut(path),
    };
    Said::Request { method: cut(method), path }
}

/// The name in a TLS greeting.
fn name_greeted(mut bytes: &[u8]) -> Option<String> {
    let mut acceptor = rustls::server::Acceptor::default();
    acceptor.read_tls(&mut bytes).ok()?;
    let accepted = acceptor.accept().ok()??;
    accepted.client_hello().server_name().map(str::to_lowercase)
}

/// Answer requests with a small page.
async fn answer(stream: TcpStream, note: impl Fn(&str, &str)) {
    let note = &note;
    let service = service_fn(move |request: Request<Incoming>| async move {
        note(request.method().as_str(), request.uri().path_and_query().map_or("", |path| path.as_str()));
        // Read, so that the client gets to its reply, and thrown away.
        let _ = timeout(REQUEST_TIME, Limited::new(request.into_body(), MAX_BODY).collect()).await;
        let mut response = Response::new(Full::new(Bytes::from_static(PAGE.as_bytes())));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        Ok::<_, Infallible>(response)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIME);
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

/// Be the wire to a host that may be reached.
async fn lead_on(mut stream: TcpStream, allowed: &Allowed, port: u16) {
    let there = match allowed.to {
        Some(address) => TcpStream::connect(address).await,
        None => TcpStream::connect((allowed.host.as_str(), port)).await,
    };
    if let Ok(mut there) = there {
        let _ = copy_bidirectional(&mut stream, &mut there).await;
    }
}

/// Questions to a name server over a connection, each with its length before it.
async fn questions(mut stream: TcpStream, world: &World, address: SocketAddr) {
    let mut question = vec![0; usize::from(u16::MAX)];
    while let Ok(Ok(length)) = timeout(REQUEST_TIME, stream.read_u16()).await {
        let Some(question) = question.get_mut(..usize::from(length)) else { return };
        match timeout(REQUEST_TIME, stream.read_exact(question)).await {
            Ok(Ok(_)) => {}
            _ => return,
        }
        let Some(answer) = world.resolve(question, address) else { return };
        let Ok(length) = u16::try_from(answer.len()) else { return };
        if stream.write_u16(length).await.is_err() || stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}
