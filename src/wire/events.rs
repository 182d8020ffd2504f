//! Server-sent events (WHATWG HTML, section 9.2), as far as MCP uses them: their data.

use super::WireError;

/// The data of events, from bytes as they come.
#[derive(Debug)]
pub(super) struct Events {
    limit: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it ends no second line.
    returned: bool,
}

impl Events {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), data: Vec::new(), returned: false }
    }

    /// The events that these bytes complete. An event without data is none.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, WireError> {
        let mut complete = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.returned, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => complete.extend(self.end_of_line()),
                byte => self.line.push(*byte),
            }
            if self.line.len() + self.data.len() > self.limit.saturating_add(64) {
                return Err(WireError::TooLong { limit: self.limit });
            }
        }
        Ok(complete)
    }

    fn end_of_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Some(std::mem::take(&mut self.data)).filter(|data| !data.is_empty());
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend(data.strip_prefix(b" ").unwrap_or(data));
        }
        None
    }
}
