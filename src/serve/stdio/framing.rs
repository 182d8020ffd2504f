use std::{borrow::Cow, io, sync::Arc};

use bytes::BytesMut;
use rmcp::{
    RoleServer,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{Mutex, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::Shared;

/// Answers that may wait for a client that is slow to read.
const QUEUE: usize = 64;
const CHUNK: usize = 64 << 10;

/// Messages as lines. Clones speak on the same streams.
pub(super) struct Lines<R> {
    input: Shared<Input<R>>,
    output: mpsc::Sender<Vec<u8>>,
    /// No message is taken any more.
    stop: CancellationToken,
}

impl<R> Clone for Lines<R> {
    fn clone(&self) -> Self {
        Self { input: self.input.clone(), output: self.output.clone(), stop: self.stop.clone() }
    }
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new<W>(read: R, write: W, most: usize, stop: CancellationToken) -> (Self, JoinHandle<()>)
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (output, queue) = mpsc::channel(QUEUE);
        let input = Input { read, most, buffer: BytesMut::new(), seen: 0, skipping: false, owed: None };
        (Self { input: Arc::new(Mutex::new(input)), output, stop }, tokio::spawn(write_all(write, queue)))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.output.is_closed() || self.stop.is_cancelled()
    }
}

/// Whatever has gathered goes out in one piece. Ends when the last sender is gone or the client
/// stops reading.
async fn write_all(mut write: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(mut bytes) = queue.recv().await {
        while bytes.len() < CHUNK
            && let Ok(more) = queue.try_recv()
        {
            bytes.extend_from_slice(&more);
        }
        if let Err(error) = write.write_all(&bytes).await {
            tracing::info!(%error, "the client reads no more");
            return;
        }
        if write.flush().await.is_err() {
            return;
        }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            output.send(line).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    /// Cancelled and called again at any time, so nothing is taken before its place is sure.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut input = self.input.lock().await;
        loop {
            if input.owed.is_some() {
                let place = self.output.reserve().await.ok()?;
                place.send(input.owed.take()?);
            }
            if self.stop.is_cancelled() {
                return None;
            }
            match input.next_line() {
                Some(Ok(message)) => return Some(message),
                Some(Err(reply)) => input.owed = reply,
                None => tokio::select! {
                    () = self.output.closed() => return None,
                    () = self.stop.cancelled() => return None,
                    more = input.fill() => match more {
                        Ok(0) => return None,
                        Ok(_) => {}
                        Err(error) => {
                            tracing::error!(%error, "input failed");
                            return None;
                        }
                    },
                },
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Input<R> {
    read: R,
    most: usize,
    buffer: BytesMut,
    /// Bytes of the buffer that hold no line end.
    seen: usize,
    /// In the middle of a line that is too long to keep.
    skipping: bool,
    /// An answer to what was no message.
    owed: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> Input<R> {
    async fn fill(&mut self) -> io::Result<usize> {
        self.buffer.reserve(CHUNK);
        self.read.read_buf(&mut self.buffer).await
    }

    /// The next message, or what to answer to a line that is none; `None` if no whole line is here.
    fn next_line(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, Option<Vec<u8>>>> {
        let unseen = self.buffer.get(self.seen..).unwrap_or_default();
        let Some(end) = unseen.iter().position(|byte| *byte == b'\n').map(|at| self.seen + at) else {
            self.seen = self.buffer.len();
            if self.seen <= self.most {
                return None;
            }
            self.buffer.clear();
            self.seen = 0;
            if std::mem::replace(&mut self.skipping, true) {
                return None;
            }
            return Some(Err(Some(self.too_long())));
        };
        let line = self.buffer.split_to(end + 1);
        self.seen = 0;
        if std::mem::replace(&mut self.skipping, false) {
            return Some(Err(None)); // the end of a line that was answered already
        }
        if line.len() > self.most {
            return Some(Err(Some(self.too_long())));
        }
        Some(parse(&line))
    }

    fn too_long(&self) -> Vec<u8> {
        let text = format!("a message may take {} bytes; this one is longer and was dropped", self.most);
        error(None, -32600, &text)
    }
}

/// The outer shape of a message, cheap to read, and enough to answer what can't be read further.
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<Cow<'a, str>>,
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// One line as a message, or what to answer to a line that is none.
///
/// # Errors
///
/// The answer as a line; `None` if none is due.
pub fn parse(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Option<Vec<u8>>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line); // a byte order mark
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(None);
    }
    let is_object = line.trim_ascii_start().starts_with(b"{"); // an array would do for the struct
    let envelope: Envelope<'_> = match serde_json::from_slice(line) {
        Ok(envelope) if is_object => envelope,
        Ok(_) => return Err(Some(no_message())),
        Err(wrong) if wrong.is_data() => return Err(Some(no_message())),
        Err(wrong) => return Err(Some(error(None, -32700, &format!("not JSON: {wrong}")))),
    };
    let id = envelope.id.clone();
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(Some(error(id.as_ref(), -32600, "`jsonrpc` must be \"2.0\"")));
    }
    if let (Some("tools/call"), Some(id), Some(params)) = (envelope.method.as_deref(), envelope.id, envelope.params) {
        // The usual request, without the detour over every other kind of message.
        return match serde_json::from_str::<CallToolRequestParams>(params.get()) {
            Ok(mut params) => {
                let meta = params.meta.take();
                let mut request = CallToolRequest::new(params);
                if let Some(meta) = meta {
                    request.extensions.insert(meta);
                }
                Ok(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
            }
            Err(wrong) => Err(Some(error(Some(&id), -32602, &format!("wrong `params`: {wrong}")))),
        };
    }
    serde_json::from_slice(line).map_err(|wrong| {
        // Only a request is answered: a notification or a response that can't be read is dropped.
        let request = id.as_ref().filter(|_| envelope.method.is_some())?;
        Some(error(Some(request), -32602, &format!("wrong `params`: {wrong}")))
    })
}

fn no_message() -> Vec<u8> {
    let text =
        "a message is one JSON object with `jsonrpc`, `method` and, for a request, a string or whole-number `id`";
    error(None, -32600, text)
}

fn error(id: Option<&RequestId>, code: i32, text: &str) -> Vec<u8> {
    let reply = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}});
    let mut line = reply.to_string().into_bytes();
    line.push(b'\n');
    line
}
