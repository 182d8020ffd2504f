//! One caller on standard input and output, one JSON-RPC message a line.

mod framing;
mod streams;

use std::{io, sync::Arc};

use rmcp::{RoleServer, Service, ServiceExt, service::ServerInitializeError};

use tokio_util::sync::CancellationToken;

use framing::Lines;
pub use framing::parse;

/// Serve until the client closes our input, stops reading our output, or `stop`, which is as if the
/// input had ended: calls that run already may end, and are answered.
///
/// `service` makes the service anew for each attempt to open the conversation: a client whose
/// first message opens none is told so, and may try again.
///
/// # Errors
///
/// If a stream can't be opened.
pub async fn serve<S: Service<RoleServer>>(
    service: impl Fn() -> S,
    message_bytes: usize,
    stop: CancellationToken,
) -> io::Result<()> {
    let (input, output) = streams::open()?;
    let (lines, writer) = Lines::new(input, output, message_bytes, stop);
    loop {
        match service().serve(lines.clone()).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the conversation broke off");
                }
                break;
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => break,
            Err(error) => {
                if lines.is_closed() {
                    break;
                }
                let why = match error {
                    // Its text holds the whole message.
                    ServerInitializeError::ExpectedInitializeRequest(_) => "not a request".to_owned(),
                    error => error.to_string(),
                };
                tracing::warn!(why, "the client's message opened no conversation; waiting for another");
            }
        }
    }
    drop(lines);
    // Whatever was answered goes out before the process ends.
    if let Err(error) = writer.await {
        tracing::error!(%error, "the writer stopped");
    }
    Ok(())
}

/// Shared so that a new attempt goes on where the last one stopped.
type Shared<T> = Arc<tokio::sync::Mutex<T>>;
