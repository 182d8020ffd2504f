//! The network lens of this rung: a web server on loopback that notes who comes.
//!
//! A server under test is told about it (`--fetch-allow ORIGIN`) and can be given its addresses as
//! arguments. **It sees contacts with itself only.** Where else a server goes, nobody sees here:
//! a claim to be closed to the outside stays untested until an observer watches connections.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE, HeaderValue, LOCATION},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, sync::oneshot, task::JoinSet, time::timeout};

use crate::verify::{Effect, Grade};

const LENS: &str = "network";
const SAFE: &str = "a safe method (RFC 9110, section 9.2.1) asks for nothing but an answer";
const PROBE: &str = "a connection that sent no request";

/// A page that is larger than what anybody should keep, in bytes.
const BIG: usize = 16 << 20;
/// What is read of a request's body, in bytes; the rest is not waited for.
const MAX_BODY: usize = 1 << 20;
/// How long a request may take to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// What is kept of a path or a header's name, in characters.
const SHOWN: usize = 200;
/// What is kept between two looks.
const MAX_LOG: usize = 10_000;

const PAGE: &str = "<!doctype html><html lang=\"en\"><head><title>Opening hours</title></head>\
    <body><h1>Opening hours</h1><p>The shop is open from nine to five.</p></body></html>";

/// One contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its method; empty if nothing was sent, `?` if what was sent is no HTTP request.
    pub method: String,
    /// Its path. Of a query only that there was one: values can be secret.
    pub path: String,
    /// The names of its header fields, in order.
    pub headers: Vec<String>,
}

/// A web server on a free port of 127.0.0.1, with a thread of its own. It ends when it is dropped.
///
/// `/missing` is 404, `/redirect` leads to `/`, `/big` is 16 MiB of text, and everything else is a
/// small page.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    log: Log,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Start it.
    ///
    /// # Errors
    ///
    /// If no port or no thread is to be had.
    pub fn start() -> io::Result<Self> {
        let socket = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let log = Log::default();
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let thread = {
            let log = log.clone();
            std::thread::Builder::new().name("listener".into()).spawn(move || {
                runtime.block_on(async {
                    if let Ok(socket) = TcpListener::from_std(socket) {
                        serve(socket, log, stopped).await;
                    }
                });
            })?
        };
        Ok(Self { address, log, stop: Some(stop), thread: Some(thread) })
    }

    /// Its origin, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it waits.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The contacts since the last look.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.log.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the contacts count for: asking for a page is none, sending something is additive.
#[must_use]
pub fn effects(requests: &[Request]) -> Vec<Effect> {
    requests.iter().map(effect).collect()
}

fn effect(Request { method, path, .. }: &Request) -> Effect {
    let place = format!("listener {path}");
    match method.as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" => Effect::excused(LENS, place, format!("{method} seen"), SAFE),
        "" => Effect::excused(LENS, "listener", "connection seen", PROBE),
        "?" => Effect::new(Grade::Additive, LENS, "listener", "sent something that is no HTTP request"),
        method => Effect::new(Grade::Additive, LENS, place, format!("sent by {method}")),
    }
}

#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<Request>>>);

impl Log {
    fn note(&self, request: Request) {
        let mut requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() < MAX_LOG {
            requests.push(request);
        }
    }
}

async fn serve(socket: TcpListener, log: Log, mut stopped: oneshot::Receiver<()>) {
    // Dropped at the end, and the connections with it.
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => return,
            Some(_) = connections.join_next() => continue,
            accepted = socket.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // No more handles, say: the next connection may have better luck.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        connections.spawn(talk(TokioIo::new(stream), log.clone()));
    }
}

async fn talk(stream: TokioIo<tokio::net::TcpStream>, log: Log) {
    let seen = Arc::new(Mutex::new(0_u32));
    let service = {
        let (log, seen) = (log.clone(), Arc::clone(&seen));
        service_fn(move |request| {
            *seen.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            log.note(noted(&request));
            answer(request)
        })
    };
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIME);
    let ended = http.serve_connection(stream, service).await;
    if *seen.lock().unwrap_or_else(PoisonError::into_inner) == 0 {
        let is_garbage = ended.is_err_and(|error| error.is_parse() || error.is_incomplete_message());
        let method = if is_garbage { "?" } else { "" };
        log.note(Request { method: method.into(), path: String::new(), headers: Vec::new() });
    }
}

fn noted(request: &hyper::Request<Incoming>) -> Request {
    let cut = |text: &str| text.chars().take(SHOWN).flat_map(char::escape_debug).collect::<String>();
    let query = if request.uri().query().is_some() { "?…" } else { "" };
    Request {
        method: cut(request.method().as_str()),
        path: cut(request.uri().path()) + query,
        headers: request.headers().keys().map(|name| cut(name.as_str())).collect(),
    }
}

async fn answer(request: hyper::Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    // Read, so that the client gets to its reply, and thrown away.
    let _ = timeout(REQUEST_TIME, Limited::new(body, MAX_BODY).collect()).await;
    let (status, header, body) = match (head.method, head.uri.path()) {
        (Method::CONNECT, _) => (StatusCode::METHOD_NOT_ALLOWED, (ALLOW, "GET, HEAD, POST"), Bytes::new()),
        (_, "/missing") => (StatusCode::NOT_FOUND, (CONTENT_TYPE, "text/plain"), "no such page".into()),
        (_, "/redirect") => (StatusCode::FOUND, (LOCATION, "/"), Bytes::new()),
        (_, "/big") => (StatusCode::OK, (CONTENT_TYPE, "text/plain"), vec![b'a'; BIG].into()),
        _ => (StatusCode::OK, (CONTENT_TYPE, "text/html; charset=utf-8"), PAGE.into()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header.0, HeaderValue::from_static(header.1));
    Ok(response)
}
