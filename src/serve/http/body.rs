//! Request bodies: plain, of limited size, and in limited time.

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{
    StatusCode,
    body::{Body as _, Incoming},
    header::{CONTENT_ENCODING, EXPECT},
    http::request::Parts,
};

use super::refusal::Refusal;
use crate::serve::Limits;

/// What can be said before the body is read.
pub(super) fn check(head: &Parts, body: &Incoming, limits: &Limits) -> Result<(), Refusal> {
    if head.headers.contains_key(CONTENT_ENCODING) {
        let text = "bodies are taken as they are, without `Content-Encoding`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    if body.size_hint().lower() > limits.body_bytes as u64 {
        return Err(too_large(limits));
    }
    Ok(())
}

/// The whole body.
pub(super) async fn read(body: &mut Incoming, limits: &Limits) -> Result<Bytes, Refusal> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let whole = Limited::new(body, limits.body_bytes).collect();
    match tokio::time::timeout(limits.body_seconds.0, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limits)),
        Ok(Err(_)) => Err(Refusal::new(StatusCode::BAD_REQUEST, "the body broke off").closing()),
        Err(_) => {
            let seconds = limits.body_seconds.0.as_secs_f64();
            let text = format!("the body took longer than {seconds} s");
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, text).closing())
        }
    }
}

/// Throw away the rest of a refused request's body while the answer goes out. Closing a connection
/// on a client that is still sending can cost it the answer.
pub(super) fn discard(head: &Parts, mut body: Incoming, limits: &Limits) {
    if body.is_end_stream() || head.headers.contains_key(EXPECT) {
        return;
    }
    let (mut left, time) = (limits.body_bytes.saturating_mul(8), limits.body_seconds.0);
    tokio::spawn(tokio::time::timeout(time, async move {
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    }));
}

fn too_large(limits: &Limits) -> Refusal {
    let text = format!("a body may take {} bytes; send less in one request", limits.body_bytes);
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
}
