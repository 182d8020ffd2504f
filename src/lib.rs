//! candor: MCP tool annotations that tell the truth.
//!
//! A tool of an MCP server may carry four hints: `readOnlyHint`, `destructiveHint`,
//! `idempotentHint`, `openWorldHint`. Clients use them to decide when to ask their user. This crate
//! is a server whose hints are true, a verifier that calls a server's tools and compares what changes
//! with its hints, and the reference for clients: what to do with hints, and what known clients do. The tools themselves are in [`candor_tools`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`serve`] | the reference server: gate, grants, confirmation, limits, audit, transports, demo workspace |
//! | [`hints`] | hints as the wire carries them, read from bytes |
//! | [`verify`] | worlds, cases, trials, lenses, the judge, reports |
//! | [`approval`] | what a client should do with hints, and what known clients do |
//! | [`wire`] | a client that speaks JSON-RPC as bytes, in both eras, over stdio and HTTP |
//! | [`catalog`] | the inventory as tables and JSON |
//!
//! # Invariants
//!
//! 1. `candor-tools` knows nothing of transports, grants or clients. A tool gets a handle that can
//!    do no more than the tool needs.
//! 2. Only [`serve::gate`] decides whether a tool runs.
//! 3. [`candor_tools::inventory`] is the only inventory: no second list of names, hints or scopes.
//! 4. Hints never grant anything. A caller's scopes come from the operator.
//! 5. Only a transport writes to standard output when serving.
//! 6. A tool that panics still gets its caller a reply.
//! 7. The judge and [`approval`] are pure, and no hint chooses what is called, in which order, how often, or what is
//!    watched.
//! 8. What could not be tested is reported as untested, and never as passed.

pub mod approval;
pub mod catalog;
pub mod hints;
mod members;
pub mod serve;
pub mod verify;
pub mod wire;
