//! The verifier: calls a server's tools in copies of a world, observes what changes, and compares
//! that with the hints.
//!
//! A claim (`readOnlyHint: true`, `destructiveHint: false`, `idempotentHint: true`,
//! `openWorldHint: false`) is refuted by one counter-example over all cases and worlds. Nothing
//! proves one.
//!
//! The judge and the lint take plain values, so they serve without the command. The lint on a list
//! that a server sent, and the judge before any call:
//!
//! ```
//! use candor::{hints::read_list, verify::{Definition, Outcome, Rule, judge, lint, sight}};
//!
//! let result = br#"{"tools": [{"name": "save", "title": "Save", "annotations": {"readOnlyHint": true}}]}"#;
//! let (tools, _) = read_list(result)?;
//! assert!(lint(&tools, Definition::Mcp).iter().any(|finding| finding.rule == Rule::Explicit));
//!
//! let verdicts = judge(&tools, &[], &sight(), Definition::Mcp);
//! assert_eq!(verdicts[0].id, "save/readOnlyHint");
//! assert_eq!(verdicts[0].outcome, Outcome::Untested); // never passed without a call
//! # Ok::<(), candor::hints::ListError>(())
//! ```

mod act;
mod artefact;
pub mod case;
mod command;
mod conduct;
mod effect;
mod judge;
pub mod lens;
mod lint;
pub mod listener;
mod observation;
mod ours;
pub mod report;
mod rule;
pub mod sandbox;
mod snapshot;
pub mod synthesis;
mod trial;
mod verdict;
pub mod world;

pub use case::{Case, CaseError, CaseFile};
pub use command::{Options, Run, sight, verify};
pub use conduct::conduct;
pub use effect::{Effect, Grade};
pub use judge::judge;
pub use lint::lint;
pub use observation::{Observation, Phase, Reply, Step};
pub use rule::{Finding, Level, Rule};
pub use snapshot::{Held, Snapshot};
pub use trial::{Plan, Watch, in_world, run};
pub use verdict::{Definition, Evidence, Outcome, Sight, Verdict};
pub use world::{World, WorldCopy, WorldError, builders};
