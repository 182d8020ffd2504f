//! As much of a message as the transport must know; rmcp reads the rest.

use std::borrow::Cow;

use hyper::StatusCode;
use rmcp::model::RequestId;
use serde::{Deserialize, de::IgnoredAny};
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
        // serde would take an array for the object too, and so would rmcp.
        let read = match body.trim_ascii_start().first() {
            Some(b'{') => serde_json::from_slice(body).map(Some),
            _ => serde_json::from_slice::<IgnoredAny>(body).map(|_| None),
        };
        match read {
            Ok::<Option<Self>, _>(Some(message)) if message.jsonrpc.as_deref() == Some("2.0") => Ok(message),
            Ok(Some(message)) => refuse(message.id.as_ref(), -32600, "`jsonrpc` must be \"2.0\""),
            Err(wrong) if !wrong.is_data() => refuse(None, -32700, &format!("not JSON: {wrong}")),
            _ => {
                let text = "a message is one JSON object with `jsonrpc`, `method` and, for a request, a string or whole-number `id`";
                refuse(None, -32600, text)
            }
        }
    }

    pub(super) fn is_initialize(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }

    /// The call, if this is one. rmcp would take one with wrong parameters for a method that it
    /// does not know.
    pub(super) fn call(&self) -> Result<Option<Call<'a>>, Refusal> {
        if self.method.as_deref() != Some("tools/call") {
            return Ok(None);
        }
        let is_object = |json: &RawValue| json.get().starts_with('{');
        let params = self.params.filter(|params| is_object(params)).ok_or_else(|| self.unreadable())?;
        let call: Call<'a> = serde_json::from_str(params.get()).map_err(|_| self.unreadable())?;
        if call.arguments.is_none_or(is_object) { Ok(Some(call)) } else { Err(self.unreadable()) }
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
        Refusal::rpc(StatusCode::BAD_REQUEST, id, code, text)
    }
}

impl Call<'_> {
    /// For the record.
    pub(super) fn arguments(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.arguments?.get()).ok()
    }
}
