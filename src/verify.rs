//! The verifier: calls a server's tools in copies of a world, observes what changes, and compares
//! that with the hints.
//!
//! A claim (`readOnlyHint: true`, `destructiveHint: false`, `idempotentHint: true`,
//! `openWorldHint: false`) is refuted by one counter-example over all cases and worlds. Nothing
//! proves one.

mod effect;
pub mod lens;
mod observation;
mod snapshot;
pub mod world;

pub use effect::{Effect, Grade};
pub use observation::{Observation, Phase, Reply, Step};
pub use snapshot::Snapshot;
pub use world::{World, WorldCopy, WorldError, builders};
