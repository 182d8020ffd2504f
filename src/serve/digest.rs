//! Digests of call arguments: equal for equal JSON values, whatever the order of their keys.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// SHA-256 over the canonical form of a call's arguments. Absent arguments count as `{}`.
pub(crate) fn of_arguments(arguments: Option<&Map<String, Value>>) -> [u8; 32] {
    let mut hash = Sha256::new();
    match arguments {
        Some(members) => feed_object(&mut hash, members),
        None => feed_object(&mut hash, &Map::new()),
    }
    hash.finalize().into()
}

fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(members) => feed_object(hash, members),
        Value::Array(items) => {
            hash.update(b"[");
            for item in items {
                feed(hash, item);
                hash.update(b",");
            }
            hash.update(b"]");
        }
        // The display form of a scalar is its JSON text, strings quoted and escaped.
        scalar => hash.update(scalar.to_string()),
    }
}

fn feed_object(hash: &mut Sha256, members: &Map<String, Value>) {
    // A dependency may switch on serde_json's `preserve_order`, so sorting is never left to it.
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    hash.update(b"{");
    for (key, value) in members {
        hash.update(Value::from(key.as_str()).to_string());
        hash.update(b":");
        feed(hash, value);
        hash.update(b",");
    }
    hash.update(b"}");
}
