//! The verifier: calls a server's tools in copies of a world, observes what changes, and compares
//! that with the hints.
//!
//! A claim (`readOnlyHint: true`, `destructiveHint: false`, `idempotentHint: true`,
//! `openWorldHint: false`) is refuted by one counter-example over all cases and worlds. Nothing
//! proves one.

pub mod case;
mod effect;
mod observation;
pub mod synthesis;

pub use case::{Answer, Case, CaseError, CaseFile};
pub use effect::{Effect, Grade};
pub use observation::{Observation, Phase, Reply, Step};
