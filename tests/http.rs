//! The HTTP transport, through the real binary and a client that writes raw bytes: what breaks
//! servers here is what no ordinary client would send.

mod bodies;
mod calls;
mod client;
mod lies;
mod messages;
mod names;
mod server;
mod sessions;
mod start;
mod stopping;
mod tokens;

use client::{Connection, Reply, Request};
use server::{Server, Tokens};
