//! JSON-RPC messages as bytes.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json, value::RawValue};

use super::{Era, WireError, error::cut};

/// What a server sent that concerns us. Notifications do not.
#[derive(Debug)]
pub(super) enum Incoming {
    /// An answer, to the request of this id.
    Reply { id: Value, outcome: Outcome },
    /// A request of the server's own.
    Request { id: Value, method: String, params: Value },
}

/// `result` or `error` of a reply.
#[derive(Debug)]
pub(super) enum Outcome {
    /// As it stands on the wire.
    Result(Box<RawValue>),
    /// The error object.
    Error(Value),
}

/// Read one message; `None` for a notification.
pub(super) fn read(bytes: &[u8]) -> Result<Option<Incoming>, WireError> {
    #[derive(Deserialize)]
    struct Message {
        // `"id": null` is not the same as no id.
        #[serde(default, deserialize_with = "present")]
        id: Option<Value>,
        method: Option<String>,
        #[serde(default)]
        params: Value,
        result: Option<Box<RawValue>>,
        error: Option<Value>,
    }
    let garbage = || WireError::Garbage { line: cut(&String::from_utf8_lossy(bytes)) };
    let message: Message = serde_json::from_slice(bytes).map_err(|_| garbage())?;
    Ok(Some(match message {
        Message { id: Some(id), method: Some(method), params, .. } => Incoming::Request { id, method, params },
        Message { id: None, method: Some(_), .. } => return Ok(None),
        Message { id: Some(id), result: Some(result), error: None, .. } => {
            Incoming::Reply { id, outcome: Outcome::Result(result) }
        }
        Message { id, result: None, error: Some(error), .. } => {
            Incoming::Reply { id: id.unwrap_or_default(), outcome: Outcome::Error(error) }
        }
        _ => return Err(garbage()),
    }))
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A request; in the modern era each says for itself who asks.
pub(super) fn request(era: Era, id: u64, method: &str, mut params: Map<String, Value>) -> Value {
    if era == Era::Modern {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": era.name(),
            "io.modelcontextprotocol/clientCapabilities": capabilities(),
            "io.modelcontextprotocol/clientInfo": identity(),
        });
        params.insert("_meta".into(), meta);
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(super) fn initialize() -> Map<String, Value> {
    let version = Value::from(Era::Legacy.name());
    [("protocolVersion", version), ("capabilities", capabilities()), ("clientInfo", identity())]
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect()
}

/// `elicitation: {}` means forms alone (specification, client/elicitation).
fn capabilities() -> Value {
    json!({"elicitation": {}})
}

fn identity() -> Value {
    json!({"name": "candor", "version": env!("CARGO_PKG_VERSION")})
}
