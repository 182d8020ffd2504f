//! What reached the sink of a box.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use serde::Serialize;

/// One attempt to reach something over the network. Holds names and counts, never what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contact {
    /// The address and port asked for.
    pub address: SocketAddr,
    /// The name that the address was given for, or that is asked about, or that a TLS greeting names.
    pub name: Option<String>,
    /// What was said.
    pub said: Said,
    /// Whether it was led on to a host that may be reached.
    pub allowed: bool,
}

/// What was said to the sink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Said {
    /// A question to a name server.
    Question {
        /// The type of the record asked for, such as `A`; its number where it has no name here.
        record: String,
    },
    /// An HTTP request.
    Request {
        /// Its method.
        method: String,
        /// Its path. Of a query only that there was one: values can be secret.
        path: String,
    },
    /// The greeting of a TLS connection, after which nothing can be read.
    Tls,
    /// A connection on which the other side is to speak first, or whose bytes mean nothing here.
    Connection {
        /// How many bytes came.
        bytes: usize,
    },
    /// A datagram.
    Datagram {
        /// Its size.
        bytes: usize,
    },
}

impl Contact {
    /// Whether it was meant for the machine itself: for a local service that isn't in the box.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let address = match self.address.ip() {
            IpAddr::V6(address) => address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4),
            address @ IpAddr::V4(_) => address,
        };
        address.is_loopback() && !matches!(self.said, Said::Question { .. })
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or_default();
        match &self.said {
            Said::Question { record } => return write!(f, "asked for the address of {name} ({record})"),
            Said::Request { method, path } => write!(f, "{method} {path}")?,
            Said::Tls => write!(f, "TLS")?,
            Said::Connection { bytes: 0 } => write!(f, "connection")?,
            Said::Connection { bytes } => write!(f, "connection, {bytes} bytes")?,
            Said::Datagram { bytes } => write!(f, "datagram, {bytes} bytes")?,
        }
        write!(f, " to {}", self.address)?;
        if name.is_empty() { Ok(()) } else { write!(f, " ({name})") }
    }
}
