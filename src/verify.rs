//! The verifier: calls a server's tools in copies of a world, observes what changes, and compares
//! that with the hints.
//!
//! A claim (`readOnlyHint: true`, `destructiveHint: false`, `idempotentHint: true`,
//! `openWorldHint: false`) is refuted by one counter-example over all cases and worlds. Nothing
//! proves one.

mod act;
mod conduct;
pub mod case;
mod effect;
pub mod lens;
mod observation;
mod snapshot;
pub mod world;
mod judge;
mod lint;
mod observation;
pub mod report;
mod rule;
mod verdict;
mod trial;

pub use conduct::conduct;
pub mod synthesis;

pub use case::{Answer, Case, CaseError, CaseFile};
pub use effect::{Effect, Grade};
pub use judge::judge;
pub use lint::lint;
pub use observation::{Observation, Phase, Reply, Step};
pub use snapshot::Snapshot;
pub use world::{World, WorldCopy, WorldError, builders};
pub use rule::{Finding, Level, Rule};
pub use verdict::{Definition, Evidence, Outcome, Sight, Verdict};
pub use trial::{Case, Plan, Watch, in_world, run};
