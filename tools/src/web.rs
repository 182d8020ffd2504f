//! The way out: one GET at a time, to public addresses only.
//!
//! A model can be talked into fetching any URL, so the server decides where it may go. The URL is
//! judged as parsed (`guard.rs`), the name is looked up once and all its addresses are judged
//! (`connect.rs`), each redirect is judged the same way, and the address at the other end of the
//! connection is judged again. Nothing of the caller's request goes along.

mod address;
mod connect;
mod guard;
mod html;
mod page;
mod reduce;
mod text;

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Response,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION},
};
use rustls::ClientConfig;
use tokio::{
    sync::{OnceCell, OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::timeout,
};

pub use self::{address::is_public, page::Page};
use self::{
    guard::{Guard, Target},
    page::Answer,
    text::{Kind, Media},
};
use crate::{OpenError, ToolError, text::quoted};

/// Turns a host name into its addresses; may block.
pub type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Where [`Web`] may go, and how much it may cost.
#[derive(Debug, Clone)]
pub struct WebConfig {
    /// Origins (`scheme://host:port`) that may be fetched although their address or port is not
    /// public. Exactly these: not another scheme, host or port.
    pub allow: Vec<String>,
    /// Where this server itself listens; never fetched, not even if allowed. An unspecified
    /// address stands for all addresses of this machine.
    pub own_addresses: Vec<SocketAddr>,
    /// Host names under which this server is known; never fetched, whatever the port.
    pub own_hosts: Vec<String>,
    /// Ports that may be fetched from.
    pub ports: Vec<u16>,
    /// Length of a URL.
    pub max_url_bytes: usize,
    /// Redirects that are followed.
    pub max_redirects: u32,
    /// Decompressed bytes of a body; what is beyond is not read.
    pub max_body_bytes: usize,
    /// Bytes of delivered text (UTF-8).
    pub max_text_bytes: usize,
    /// Fetches at the same time; further ones are refused as busy.
    pub max_parallel: usize,
    /// For looking up the name, connecting and agreeing on TLS.
    pub connect_timeout: Duration,
    /// Longest silence of the other side.
    pub read_timeout: Duration,
    /// For all requests of one fetch together.
    pub total_timeout: Duration,
    /// For turning HTML into text; a page that takes longer is cut short.
    pub render_timeout: Duration,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            own_addresses: Vec::new(),
            own_hosts: Vec::new(),
            ports: vec![80, 443],
            max_url_bytes: 4096,
            max_redirects: 5,
            max_body_bytes: 1 << 20,
            max_text_bytes: 256 << 10,
            max_parallel: 8,
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_secs(20),
            render_timeout: Duration::from_secs(5),
        }
    }
}

/// The outbound guard and what it needs to fetch.
pub struct Web {
    config: WebConfig,
    guard: Arc<Guard>,
    lookup: Arc<Lookup>,
    places: Arc<Semaphore>,
    tls: OnceCell<ClientConfig>,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Web {
    /// With this machine's own name lookup.
    ///
    /// # Errors
    ///
    /// If an allowed origin is not one.
    pub fn new(config: WebConfig) -> Result<Self, OpenError> {
        Self::with_lookup(config, |host| Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect()))
    }

    /// With another name lookup. It is asked once for each request, and its answer is judged.
    ///
    /// # Errors
    ///
    /// If an allowed origin is not one.
    pub fn with_lookup(
        config: WebConfig,
        lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        Ok(Self {
            guard: Arc::new(Guard::new(&config)?),
            lookup: Arc::new(lookup),
            places: Arc::new(Semaphore::new(config.max_parallel)),
            tls: OnceCell::new(),
            config,
        })
    }

    /// Ask for a page, following redirects.
    async fn request(&self, url: &str, permit: &Arc<OwnedSemaphorePermit>) -> Result<Answer, ToolError> {
        let mut target = self.guard.admit(url)?;
        let mut redirects = 0;
        loop {
            let response = self.get(&target, permit).await?;
            let Some(location) = redirection(&response)? else {
                return self.receive(target, response, redirects).await;
            };
            if redirects == self.config.max_redirects {
                let next = "ask for the page under its final url";
                return Err(ToolError::refused(format!(
                    "too many redirects, more than {redirects}, from {}: {next}",
                    quoted(url)
                )));
            }
            redirects += 1;
            target = self.guard.follow(&target, &location)?;
        }
    }

    /// One GET. Its connection lives as long as the returned response.
    async fn get(&self, target: &Target, permit: &Arc<OwnedSemaphorePermit>) -> Result<Response, ToolError> {
        let tls = self.tls.get_or_try_init(|| async {
            let read = spawn_blocking(connect::tls).await.map_err(ToolError::internal)?;
            read.map_err(ToolError::internal)
        });
        let tls = tls.await?.clone();
        let client = connect::client(target, &self.guard, &self.lookup, permit, tls, &self.config)
            .map_err(ToolError::internal)?;
        let response = client.get(target.url.clone()).send().await;
        let response = response.map_err(|error| connect::explain(&error, target))?;
        let other_end = response.remote_addr().map(|address| address.ip());
        if !other_end.is_some_and(|ip| self.guard.reachable(ip, target.port, target.allowed)) {
            let host = quoted(target.url.host_str().unwrap_or_default());
            return Err(ToolError::refused(format!(
                "blocked address {host}: it was reached at an address that is not public"
            )));
        }
        Ok(response)
    }

    /// Read the body, if it is text, up to the size limit.
    async fn receive(&self, target: Target, mut response: Response, redirects: u32) -> Result<Answer, ToolError> {
        let mut media = Media::of(header(&response, &CONTENT_TYPE).unwrap_or_default());
        if response.headers().contains_key(CONTENT_ENCODING) {
            // Compressed in a way that was not asked for: these bytes are not the text.
            media.kind = Kind::Other;
        }
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let mut truncated = false;
        while media.kind != Kind::Other && !truncated {
            let chunk = response.chunk().await;
            let Some(chunk) = chunk.map_err(|error| connect::explain(&error, &target))? else {
                break;
            };
            let room = self.config.max_body_bytes - body.len();
            truncated = chunk.len() > room;
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        }
        Ok(Answer { url: target.url, status, media, body, truncated, redirects })
    }
}

/// Where a response sends us, if it does.
fn redirection(response: &Response) -> Result<Option<String>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) || !response.headers().contains_key(LOCATION)
    {
        return Ok(None);
    }
    let location = header(response, &LOCATION).map(str::to_owned);
    let unreadable = || ToolError::refused("invalid url in a redirect: it is not text");
    location.map(Some).ok_or_else(unreadable)
}

fn header<'r>(response: &'r Response, name: &HeaderName) -> Option<&'r str> {
    std::str::from_utf8(response.headers().get(name)?.as_bytes()).ok()
}

/// Fetches pages and changes nothing: GET is the only method it knows.
#[derive(Debug)]
pub struct WebReader(Arc<Web>);

impl WebReader {
    /// A reader that goes out through this guard.
    #[must_use]
    pub fn new(web: Arc<Web>) -> Self {
        Self(web)
    }

    /// Fetch one page. Dropping the future drops the connection.
    ///
    /// # Errors
    ///
    /// Refused if the URL is not allowed, nothing answers in time, or all places are taken. An HTTP
    /// error status is not an error.
    pub async fn fetch(&self, url: &str) -> Result<Page, ToolError> {
        let web = Arc::clone(&self.0);
        let Ok(permit) = Arc::clone(&web.places).try_acquire_owned() else {
            return Err(ToolError::refused(format!(
                "busy: {} fetches are running already; try again in a few seconds",
                web.config.max_parallel
            )));
        };
        let permit = Arc::new(permit);
        let total = web.config.total_timeout;
        let answer = timeout(total, web.request(url, &permit)).await.map_err(|_| {
            let seconds = total.as_secs_f32();
            ToolError::refused(format!("time limit: {} took longer than {seconds} s; try another url", quoted(url)))
        })??;
        let guard = Abandon(Arc::default());
        let abandoned = Arc::clone(&guard.0);
        let reading = spawn_blocking(move || {
            let _held = permit;
            answer.read(&web.config, &abandoned)
        });
        reading.await.map_err(ToolError::internal)?
    }
}

/// Tells the reading thread that its caller has gone.
struct Abandon(Arc<AtomicBool>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
