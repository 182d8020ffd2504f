//! Messages over standard input and output, one a line.

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout},
    task::JoinSet,
};

use super::{WireError, connection::Inbox, message};

#[derive(Debug)]
pub(super) struct Stdio {
    input: ChildStdin,
    /// Ends with us.
    reader: JoinSet<()>,
}

impl Stdio {
    pub(super) fn new(input: ChildStdin, output: ChildStdout, inbox: Inbox, limit: usize) -> Self {
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            let mut output = BufReader::new(output);
            if let Err(error) = read(&mut output, &inbox, limit).await {
                let _ = inbox.send(Err(error)).await;
            }
            drop(inbox);
            // A server that is still writing must not stumble over a closed pipe.
            let _ = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
        });
        Self { input, reader }
    }

    /// A server that no longer reads has ended, or will not answer: either shows when its answer is
    /// waited for.
    pub(super) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let _ = self.input.write_all(line.as_bytes()).await;
        let _ = self.input.flush().await;
    }

    /// Say that nothing more will come; the output is still read.
    pub(super) fn close(self) -> JoinSet<()> {
        self.reader
    }
}

/// Until the end of the output, or of our interest.
async fn read(output: &mut BufReader<ChildStdout>, inbox: &Inbox, limit: usize) -> Result<(), WireError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = limit.saturating_add(1) as u64;
        let count = (&mut *output).take(most).read_until(b'\n', &mut line).await.unwrap_or(0);
        if count == 0 {
            return Ok(());
        }
        if line.trim_ascii_end().len() > limit {
            return Err(WireError::TooLong { limit });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Some(incoming) = message::read(&line)?
            && inbox.send(Ok(incoming)).await.is_err()
        {
            return Ok(());
        }
    }
}
