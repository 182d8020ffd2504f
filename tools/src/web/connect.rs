//! One client for one request: what it looks up is what the guard judged.

use std::{
    error::Error,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect, retry,
};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::{sync::OwnedSemaphorePermit, task::spawn_blocking};

use super::{
    Lookup, WebConfig,
    guard::{Guard, Refusal, Target},
};
use crate::{ToolError, text::quoted};

/// Looks a name up once and gives out its addresses only if all of them may be connected to, so
/// that no second answer can differ from the judged one.
struct FilteringResolver {
    lookup: Arc<Lookup>,
    guard: Arc<Guard>,
    target: Target,
    /// A system lookup cannot be stopped; while it runs, its caller's place stays taken.
    permit: Arc<OwnedSemaphorePermit>,
}

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let Self { lookup, guard, target, permit } = self;
        let (lookup, permit) = (Arc::clone(lookup), Arc::clone(permit));
        let (guard, port, allowed) = (Arc::clone(guard), target.port, target.allowed);
        Box::pin(async move {
            let quoted_host = quoted(&host);
            let found = spawn_blocking(move || {
                let _held = permit;
                lookup(&host)
            });
            let addresses: Vec<IpAddr> = found.await?.unwrap_or_default();
            if addresses.is_empty() {
                return Err(refusal(format!("unknown host {quoted_host}: check its spelling")));
            }
            if !addresses.iter().all(|&ip| guard.reachable(ip, port, allowed)) {
                let reason = "it leads to an address that is not public";
                return Err(refusal(format!("blocked address {quoted_host}: {reason}")));
            }
            Ok(Box::new(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}

fn refusal(text: String) -> Box<dyn Error + Send + Sync> {
    Box::new(Refusal(text))
}

/// A client that can reach one target and keeps nothing: no pool, no cookies, no proxy, no
/// redirects of its own, no `Referer`.
///
/// # Errors
///
/// Only if the HTTP library refuses its own settings.
pub(super) fn client(
    target: &Target,
    guard: &Arc<Guard>,
    lookup: &Arc<Lookup>,
    permit: &Arc<OwnedSemaphorePermit>,
    tls: ClientConfig,
    config: &WebConfig,
) -> reqwest::Result<Client> {
    let resolver = FilteringResolver {
        lookup: Arc::clone(lookup),
        guard: Arc::clone(guard),
        target: target.clone(),
        permit: Arc::clone(permit),
    };
    Client::builder()
        .user_agent(concat!("candor/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .http1_only()
        .pool_max_idle_per_host(0)
        .connect_timeout(config.connect_timeout)
        .read_timeout(config.read_timeout)
        .dns_resolver(resolver)
        .tls_backend_preconfigured(tls)
        .build()
}

/// TLS with the certificates that this machine trusts. Reads them from disk, so this blocks.
pub(super) fn tls() -> Result<ClientConfig, rustls::Error> {
    let builder = || {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider())).with_safe_default_protocol_versions()
    };
    match builder()?.with_platform_verifier() {
        Ok(config) => Ok(config.with_no_client_auth()),
        Err(error) => {
            tracing::warn!(%error, "no trusted certificates found: https pages cannot be fetched");
            let none = RootCertStore::empty();
            Ok(builder()?.with_root_certificates(none).with_no_client_auth())
        }
    }
}

/// What a failed request means to the caller. Says nothing that the other side wrote.
pub(super) fn explain(error: &reqwest::Error, target: &Target) -> ToolError {
    let first: &(dyn Error + 'static) = error;
    let chain = || std::iter::successors(Some(first), |cause| (*cause).source());
    if let Some(refusal) = chain().find_map(|cause| cause.downcast_ref::<Refusal>()) {
        return refusal.clone().into();
    }
    let host = quoted(target.url.host_str().unwrap_or_default());
    let io = chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    let reason = match io.map(io::Error::kind) {
        _ if error.is_timeout() => "time limit: it did not answer in time".to_owned(),
        _ if error.is_builder() => "its url cannot be sent over http".to_owned(),
        Some(io::ErrorKind::InvalidData) => "its certificate or TLS is not acceptable".to_owned(),
        Some(kind) if error.is_connect() => kind.to_string(),
        _ if error.is_connect() => "no connection".to_owned(),
        _ => "its answer is not valid http or broke off".to_owned(),
    };
    ToolError::refused(format!("cannot fetch from {host}: {reason}; try again later or another url"))
}
