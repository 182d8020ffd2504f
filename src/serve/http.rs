//! Streamable HTTP: many callers on one endpoint, in both protocol eras.
//!
//! A request passes, in this order: the number of connections and the time for its head; `Host`
//! and `Origin`; the declared encoding and size of its body; who sends it; the time and size that
//! its body really takes; what its caller may call and how often; how many sessions there are.
//! Then rmcp reads it, and the gate decides.
//!
//! Authorization servers would come in at three places: `callers.rs` (another kind of token),
//! `refusal.rs` (the challenge that names one) and `endpoint.rs` (the metadata).

mod body;
mod callers;
mod endpoint;
mod guesses;
mod names;
mod peek;
mod refusal;
mod sessions;

use std::{
    convert::Infallible,
    error::Error,
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use clap::Args;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Grant, House, Limits, Signals, mislabel::Lies};
use callers::Callers;
use endpoint::{Endpoint, PATH};
use names::{Host, Names, Origin};
use sessions::Hall;

/// The options of `candor serve` that belong to HTTP.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "HTTP")]
pub struct HttpOptions {
    /// Serve HTTP at <http://ADDR/mcp> instead of stdio; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,

    /// Who may call, and what: entries that `candor token new` prints. Read again whenever it
    /// changes; while it can't be read, nobody is let in
    #[arg(long, value_name = "FILE", requires = "http")]
    tokens: Option<PathBuf>,

    /// A further name by which clients call this server, such as `tools.example.com`; without a
    /// port, any port
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<Host>,

    /// A further origin whose web pages may call, such as <https://app.example.com>
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<Origin>,
}

/// An address that is ours already, but not served yet: tools are opened in between, and
/// `fetch_url` must not reach it.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    tokens: Option<PathBuf>,
    grant: Grant,
    names: Names,
}

impl HttpOptions {
    /// The tokens file.
    pub(crate) fn tokens(&self) -> Option<&Path> {
        self.tokens.as_deref()
    }

    /// The further names by which clients call this server, without ports.
    pub(crate) fn hosts(&self) -> Vec<String> {
        self.allow_host.iter().map(|host| host.name().to_owned()).collect()
    }

    /// Take the address, if one is named. `grant` is what `--grant` says.
    ///
    /// # Errors
    ///
    /// If the address can't be taken, or should not be served like this.
    pub async fn bind(&self, grant: Option<&Grant>) -> Result<Option<Bound>, Box<dyn Error>> {
        let Some(wanted) = self.http else { return Ok(None) };
        let local = wanted.ip().to_canonical().is_loopback();
        match (&self.tokens, grant) {
            (Some(_), Some(_)) => {
                return Err("--grant and --tokens exclude each other: over HTTP the tokens file grants".into());
            }
            (None, _) if !local => {
                return Err(format!(
                    "`{wanted}` can be reached from elsewhere, so callers need tokens: add --tokens FILE \
                     (`candor token new` makes one), or serve on 127.0.0.1"
                )
                .into());
            }
            (None, Some(grant)) if !grant.iter().all(candor_tools::Scope::reads_only) => {
                return Err("over HTTP without tokens everybody on this machine may call, so --grant takes only \
                            the scopes that end in :read; use --tokens FILE (`candor token new` makes one)"
                    .into());
            }
            _ => {}
        }
        if !local && self.allow_host.is_empty() {
            return Err(format!(
                "`{wanted}` can be reached from elsewhere, so say by which name clients call it: add --allow-host HOST"
            )
            .into());
        }
        let listener = TcpListener::bind(wanted).await.map_err(|error| format!("`{wanted}`: {error}"))?;
        let address = listener.local_addr()?;
        Ok(Some(Bound {
            listener,
            address,
            tokens: self.tokens.clone(),
            grant: grant.cloned().unwrap_or_else(Grant::read),
            names: Names::new(address, &self.allow_host, &self.allow_origin),
        }))
    }
}

impl Bound {
    /// The address, with the port that was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serve until the process is told to stop; then let running calls end. Told a second time,
    /// end at once.
    ///
    /// # Errors
    ///
    /// If the tokens file can't be read.
    pub async fn serve(self, house: Arc<House>, lies: Lies, mut signals: Signals) -> Result<(), Box<dyn Error>> {
        let stop = CancellationToken::new();
        let hall = Arc::new(Hall::new(house.clone(), stop.clone()));
        let callers = Arc::new(match self.tokens {
            Some(file) => Callers::from_file(&hall, file)?,
            None => Callers::local(&hall, self.grant),
        });
        let (closing, running) = (CancellationToken::new(), TaskTracker::new());
        let endpoint = Arc::new(Endpoint { house, names: self.names, callers, lies, closing, running });
        let connections = TaskTracker::new();

        let serving = async {
            // A line of its own form, because programs wait for it.
            let _ = writeln!(io::stderr(), "candor: listening on http://{}{PATH}", self.address);
            accept(&self.listener, &endpoint, &connections, &stop).await;
        };
        let orderly = tokio::select! {
            biased; // so that we heed signals before anybody learns that we listen
            orderly = drain(&endpoint, &mut signals) => orderly,
            () = serving => false,
        };
        stop.cancel();
        if orderly {
            connections.close();
            let _ = timeout(LAST_WORDS, connections.wait()).await;
        }
        Ok(())
    }
}

/// For what is written already to reach the clients, and for cancelled calls to be recorded.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Wait for the end of all calls after the first request to stop; `false` if a second one came.
async fn drain(endpoint: &Endpoint, signals: &mut Signals) -> bool {
    signals.next().await;
    endpoint.closing.cancel();
    endpoint.running.close();
    tokio::select! {
        _ = timeout(endpoint.house.limits().drain_seconds.0, endpoint.running.wait()) => true,
        () = signals.next() => false,
    }
}

/// Take connections, for ever.
async fn accept(listener: &TcpListener, endpoint: &Arc<Endpoint>, connections: &TaskTracker, stop: &CancellationToken) {
    let places = Arc::new(Semaphore::new(endpoint.house.limits().connections as usize));
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await; // out of descriptors, most likely
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            tracing::debug!(%peer, "too many connections");
            let _ = stream.try_write(
                b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
            continue;
        };
        let (endpoint, stop) = (endpoint.clone(), stop.clone());
        connections.spawn(async move {
            if let Err(error) = converse(stream, peer, endpoint, stop).await {
                tracing::debug!(%error, %peer, "a connection broke off");
            }
            drop(place);
        });
    }
}

/// Serve one connection until the client leaves it, or `stop` and the answer under way is out.
async fn converse(
    stream: TcpStream,
    peer: SocketAddr,
    endpoint: Arc<Endpoint>,
    stop: CancellationToken,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    stream.set_nodelay(true)?; // answers are small, and must not wait for each other's receipt
    let Limits { header_seconds, header_bytes, .. } = *endpoint.house.limits();
    let service = service_fn(move |request| {
        let endpoint = endpoint.clone();
        async move { Ok::<_, Infallible>(endpoint.answer(request, peer.ip()).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(header_seconds.0).max_header_size(header_bytes);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = connection.as_mut() => return Ok(ended?),
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    Ok(connection.await?)
}
