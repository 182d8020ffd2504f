//! Which names this server answers to, and which web pages may call it.
//!
//! A page from elsewhere can make a browser send requests to a local server, and can give its own
//! name the address of one (DNS rebinding). `Host` and `Origin` tell.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Empty};
use hyper::{
    HeaderMap, Method, Response, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
        ACCESS_CONTROL_REQUEST_METHOD, HOST, HeaderValue, ORIGIN, VARY,
    },
    http::{
        request::Parts,
        uri::{Authority, Uri},
    },
};

use super::refusal::{Body, Refusal};

/// A name by which clients may call the server. Without a port, any port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host(String);

impl std::str::FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<Authority>() {
            Ok(name) if !text.contains('@') && !name.host().is_empty() => Ok(Self(text.to_ascii_lowercase())),
            _ => Err(format!("`{text}` is not a host such as `tools.example.com` or `tools.example.com:8443`")),
        }
    }
}

impl Host {
    /// Without a port.
    pub(super) fn name(&self) -> &str {
        match self.0.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.0,
        }
    }
}

/// Where a web page comes from, as browsers write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin(String);

impl std::str::FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not an origin such as `https://app.example.com` or `http://localhost:3000`");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.authority()) else { return Err(wrong()) };
        if !matches!(scheme, "http" | "https") || uri.path() != "/" || uri.query().is_some() || text.contains('@') {
            return Err(wrong());
        }
        // Browsers leave the port out where it is the scheme's own.
        let own = if scheme == "https" { 443 } else { 80 };
        let host = if host.port_u16() == Some(own) { host.host() } else { host.as_str() };
        Ok(Self(format!("{scheme}://{host}").to_ascii_lowercase()))
    }
}

#[derive(Debug)]
pub(super) struct Names {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

impl Names {
    /// The own names with the own port, and what the operator added.
    pub(super) fn new(address: SocketAddr, hosts: &[Host], origins: &[Origin]) -> Self {
        let port = match address.port() {
            80 => String::new(),
            port => format!(":{port}"),
        };
        let mut own: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}{port}")).into();
        if !address.ip().is_unspecified() {
            let literal = if address.is_ipv6() { format!("[{}]", address.ip()) } else { address.ip().to_string() };
            own.push(format!("{literal}{port}"));
        }
        Self {
            origins: own.iter().map(|name| Origin(format!("http://{name}"))).chain(origins.iter().cloned()).collect(),
            hosts: own.into_iter().map(Host).chain(hosts.iter().cloned()).collect(),
        }
    }

    /// Exactly one `Host`, and one of ours; at most one `Origin`, and one of ours.
    pub(super) fn check(&self, head: &Parts) -> Result<(), Refusal> {
        let bad = |text: &str| Refusal::new(StatusCode::BAD_REQUEST, text);
        let host = single(&head.headers, HOST.as_str()).and_then(|host| host.to_str().ok());
        let host = host.ok_or_else(|| bad("a request has exactly one `Host`"))?;
        let parsed: Authority = host.parse().map_err(|_| bad("`Host` is not a name"))?;
        if host.contains('@') || head.uri.authority().is_some_and(|asked| !asked.as_str().eq_ignore_ascii_case(host)) {
            return Err(bad("`Host` is not the name that was asked for"));
        }
        let known = |ours: &&Host| ours.0.eq_ignore_ascii_case(host) || ours.0.eq_ignore_ascii_case(parsed.host());
        if self.hosts.iter().find(known).is_none() {
            let text = "this server does not answer to that `Host`; its operator can add one with --allow-host";
            return Err(Refusal::new(StatusCode::FORBIDDEN, text));
        }
        if head.headers.contains_key(ORIGIN) && self.page(&head.headers).is_none() {
            let text = "pages of that `Origin` may not call this server; its operator can add one with --allow-origin";
            return Err(Refusal::new(StatusCode::FORBIDDEN, text));
        }
        Ok(())
    }

    /// The `Origin` of a page that may call.
    pub(super) fn page(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = single(headers, ORIGIN.as_str())?;
        let text = origin.to_str().ok()?;
        self.origins.iter().any(|ours| ours.0.eq_ignore_ascii_case(text)).then(|| origin.clone())
    }
}

/// The value of a header that may stand in a request once; `None` if it is absent or repeated.
pub(super) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// What a browser asks before it lets a page of another origin call (the Fetch standard's
/// preflight); carries no credentials, so it is answered before they are looked at.
pub(super) fn preflight(head: &Parts) -> Option<Response<Body>> {
    if head.method != Method::OPTIONS || !head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    if let Some(wanted) = head.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    Some(response)
}

/// Let the page read the answer.
pub(super) fn show_to(page: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    let names = HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, names);
    headers.append(VARY, HeaderValue::from_static("origin"));
}
