//! As much of a message as the transport must know; rmcp reads the rest.

use std::borrow::Cow;

use hyper::StatusCode;
use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::refusal::Refusal;

/// One message, from outside. Reading fails on repeated keys, which rmcp might read otherwise.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    jsonrpc: Option<Cow<'a, str>>,
    pub(super) id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// What is called, as far as permission is concerned.
#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Refusal> {
        let refuse = |id, code, text: &str| Err(Refusal::rpc(StatusCode::BAD_REQUEST, id, code, text));
        match serde_json::from_slice::<Self>(body) {
            Ok(message) if message.jsonrpc.as_deref() == Some("2.0") => Ok(message),
            Ok(message) => refuse(message.id.as_ref(), -32600, "`jsonrpc` must be \"2.0\""),
            Err(wrong) if wrong.is_data() => {
                let text = "a message is one JSON object with `jsonrpc`, `method` and, for a request, a string or whole-number `id`";
                refuse(None, -32600, text)
            }
            Err(wrong) => refuse(None, -32700, &format!("not JSON: {wrong}")),
        }
    }

    pub(super) fn is_initialize(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }

    /// The call, if this is one.
    pub(super) fn call(&self) -> Result<Option<Call<'a>>, Refusal> {
        if self.method.as_deref() != Some("tools/call") {
            return Ok(None);
        }
        let params = self.params.map_or("{}", RawValue::get);
        serde_json::from_str(params).map(Some).map_err(|_| self.unreadable())
    }

    /// For a message that has the outer shape of one, and no more.
    pub(super) fn unreadable(&self) -> Refusal {
        let (id, code, text) = match &self.method {
            Some(method) => {
                let method: String = method.chars().take(64).flat_map(char::escape_debug).collect();
                (self.id.as_ref(), -32602, format!("the `params` are not those of `{method}`"))
            }
            None => (None, -32600, "a message has a `method`, or answers one with `result` or `error`".into()),
        };
        Refusal::rpc(StatusCode::BAD_REQUEST, id, code, &text)
    }
}

impl Call<'_> {
    /// For the record; absent or malformed arguments count as none.
    pub(super) fn arguments(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.arguments?.get()).ok()
    }
}
