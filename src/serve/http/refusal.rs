//! Answers to requests that never reach rmcp.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::{
    Response, StatusCode,
    header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
};
use rmcp::model::RequestId;
use serde_json::json;

/// The body of every response, as rmcp makes it.
pub(super) type Body = BoxBody<Bytes, std::convert::Infallible>;

/// A request turned away, and why. The answer is a JSON-RPC error whatever was wrong, since that is
/// what MCP clients show.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    id: Option<RequestId>,
    code: i32,
    text: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// A matter of HTTP: the status is the error's code too, well outside of JSON-RPC's range.
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, id: None, code: status.as_u16().into(), text: text.into(), headers: Vec::new() }
    }

    /// A matter of JSON-RPC.
    pub(super) fn rpc(status: StatusCode, id: Option<&RequestId>, code: i32, text: impl Into<String>) -> Self {
        Self { id: id.cloned(), code, ..Self::new(status, text) }
    }

    /// To be tried again after so many seconds.
    pub(super) fn later(self, seconds: u64) -> Self {
        self.with(RETRY_AFTER, &seconds.to_string())
    }

    /// The connection ends with this answer.
    pub(super) fn closing(self) -> Self {
        self.with(CONNECTION, "close")
    }

    /// A `Bearer` challenge (RFC 6750, section 3). An authorization server, once there is one, is
    /// advertised here as `resource_metadata` (RFC 9728, section 5.1).
    pub(super) fn challenge(self, error: Option<&str>, scopes: &str) -> Self {
        let mut fields = Vec::new();
        if let Some(error) = error {
            fields.push(format!("error=\"{error}\""));
        }
        if !scopes.is_empty() {
            fields.push(format!("scope=\"{scopes}\""));
        }
        self.with(WWW_AUTHENTICATE, format!("Bearer {}", fields.join(", ")).trim_end())
    }

    fn with(mut self, name: HeaderName, value: &str) -> Self {
        match HeaderValue::from_str(value) {
            Ok(value) => self.headers.push((name, value)),
            Err(error) => tracing::error!(%error, %name, "a header could not be written"),
        }
        self
    }
}

impl From<Refusal> for Response<Body> {
    fn from(refusal: Refusal) -> Self {
        let Refusal { status, id, code, text, headers } = refusal;
        // Clients know the end of a session by a bare 404.
        let (kind, body) = if status == StatusCode::NOT_FOUND {
            ("text/plain; charset=utf-8", text)
        } else {
            let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}});
            ("application/json", error.to_string())
        };
        let mut response = Self::new(Full::from(body).boxed());
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response.headers_mut().extend(headers);
        response
    }
}
