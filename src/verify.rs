//! The verifier: calls a server's tools in copies of a world, observes what changes, and compares
//! that with the hints.
//!
//! A claim (`readOnlyHint: true`, `destructiveHint: false`, `idempotentHint: true`,
//! `openWorldHint: false`) is refuted by one counter-example over all cases and worlds. Nothing
//! proves one.

mod effect;
mod observation;
mod trial;

pub use effect::{Effect, Grade};
pub use observation::{Observation, Phase, Reply, Step};
pub use trial::{Case, Plan, Watch, in_world, run};
