//! Which URLs may be asked for. Judges what the parser made of a URL, never its text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use url::{Host, Origin, ParseError, Url};

use super::{WebConfig, address::is_public};
use crate::{OpenError, ToolError, text::quoted};

/// A refusal that has to travel through the HTTP library as an error.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub(super) String);

impl From<Refusal> for ToolError {
    fn from(Refusal(text): Refusal) -> Self {
        Self::refused(text)
    }
}

/// A URL that may be asked for, as far as its text can tell.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) port: u16,
    /// The operator named this origin: its addresses need not be public.
    pub(super) allowed: bool,
}

#[derive(Debug)]
pub(super) struct Guard {
    allow: Vec<Origin>,
    own_addresses: Vec<SocketAddr>,
    own_hosts: Vec<String>,
    ports: Vec<u16>,
    max_url_bytes: usize,
}

/// Names that no public server has, or that mean this machine or this network.
const LOCAL_SUFFIXES: [&str; 6] = [".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".onion"];

impl Guard {
    pub(super) fn new(config: &WebConfig) -> Result<Self, OpenError> {
        Ok(Self {
            allow: config.allow.iter().map(|text| origin(text)).collect::<Result<_, _>>()?,
            own_addresses: config.own_addresses.clone(),
            own_hosts: config.own_hosts.iter().map(|host| bare(host)).collect(),
            ports: config.ports.clone(),
            max_url_bytes: config.max_url_bytes,
        })
    }

    /// Judge a URL that a caller wrote.
    pub(super) fn admit(&self, text: &str) -> Result<Target, Refusal> {
        self.judge(text, self.checked(text).and_then(|text| Ok(Url::parse(text)?)))
    }

    /// Judge where a response wants to send us.
    pub(super) fn follow(&self, from: &Target, location: &str) -> Result<Target, Refusal> {
        self.judge(location, self.checked(location).and_then(|text| Ok(from.url.join(text)?)))
    }

    /// What the parser would silently drop or choke on.
    fn checked<'t>(&self, text: &'t str) -> Result<&'t str, Invalid> {
        if text.len() > self.max_url_bytes {
            return Err(Invalid(format!("it is longer than {} bytes", self.max_url_bytes)));
        }
        if text.contains(char::is_control) {
            return Err(Invalid("it contains a control character".into()));
        }
        Ok(text)
    }

    fn judge(&self, text: &str, parsed: Result<Url, Invalid>) -> Result<Target, Refusal> {
        let invalid = |Invalid(reason)| Refusal(format!("invalid url {}: {reason}", quoted(text)));
        let url = parsed.map_err(invalid)?;
        if url.as_str().len() > self.max_url_bytes {
            return Err(invalid(Invalid(format!("it is longer than {} bytes", self.max_url_bytes))));
        }
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = quoted(url.scheme());
            return Err(Refusal(format!("invalid scheme {scheme}: use http or https")));
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(invalid(Invalid("it names no host".into())));
        };
        if !url.username().is_empty() || url.password().is_some() {
            // The text is not repeated: it holds a password.
            let reason = "leave out the user name and password before the `@`";
            return Err(Refusal(format!("invalid url for host `{host}`: {reason}")));
        }
        let allowed = self.allow.contains(&url.origin());
        let blocked = || Refusal(format!("blocked address `{host}`: use a public web address"));
        match &host {
            Host::Domain(name) => {
                let name = bare(name);
                if self.own_hosts.contains(&name) || (!allowed && is_local_name(&name)) {
                    return Err(blocked());
                }
            }
            Host::Ipv4(ip) if !self.reachable((*ip).into(), port, allowed) => return Err(blocked()),
            Host::Ipv6(ip) if !self.reachable((*ip).into(), port, allowed) => return Err(blocked()),
            Host::Ipv4(_) | Host::Ipv6(_) => {}
        }
        if !allowed && (port == 0 || !self.ports.contains(&port)) {
            let ports = self.ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
            return Err(Refusal(format!("port not allowed `{port}`: use one of {ports}")));
        }
        Ok(Target { url, port, allowed })
    }

    /// Whether a connection to this address may be made.
    pub(super) fn reachable(&self, ip: IpAddr, port: u16, allowed: bool) -> bool {
        !self.is_own(ip, port) && (allowed || is_public(ip))
    }

    /// Whether this server itself listens there.
    fn is_own(&self, ip: IpAddr, port: u16) -> bool {
        let ip = match ip.to_canonical() {
            // Connecting to "any address" reaches loopback.
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        self.own_addresses.iter().any(|own| {
            let same = own.ip().to_canonical() == ip;
            // Who listens on all addresses listens on each that this machine can bind.
            let one_of_all = || own.ip().is_unspecified() && TcpListener::bind((ip, 0)).is_ok();
            own.port() == port && (same || one_of_all())
        })
    }
}

struct Invalid(String);

impl From<ParseError> for Invalid {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::RelativeUrlWithoutBase => {
                Self("invalid scheme, it has none; start with http:// or https://".into())
            }
            other => Self(other.to_string()),
        }
    }
}

/// A host name as it is compared: lower case, without the dot of the root.
fn bare(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn is_local_name(name: &str) -> bool {
    !name.contains('.') || LOCAL_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Reads `scheme://host[:port]`, and nothing more.
fn origin(text: &str) -> Result<Origin, OpenError> {
    let bad = |reason: &str| OpenError(format!("invalid origin `{text}`: {reason}; write scheme://host:port"));
    let url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("only http and https have one here"));
    }
    let origin = url.origin();
    if url.as_str().trim_end_matches('/') != origin.ascii_serialization() {
        return Err(bad("it holds more than an origin"));
    }
    Ok(origin)
}
