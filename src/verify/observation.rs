use serde::Serialize;

use super::{Effect, Grade, case::Expect};

/// What one trial saw: one tool, one case, one fresh copy of one world, one server process.
#[derive(Clone, Debug, Serialize)]
pub struct Observation {
    /// The tool.
    pub tool: String,
    /// Name of the case; `synthesised-1` and so on without a case file.
    pub case: String,
    /// Name of the world.
    pub world: String,
    /// How the case says that its accepted call must end.
    pub expect: Expect,
    /// `stdio` or `http`.
    pub transport: &'static str,
    /// `2026-07-28` or `2025-11-25`.
    pub era: &'static str,
    /// Whether connections were seen wherever they led.
    pub sees_connections: bool,
    /// What was done, in order, with what changed from its beginning to its end.
    pub steps: Vec<Step>,
    /// Why the trial ended early, if it did.
    pub problem: Option<String>,
}

/// One thing that was done in a trial.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// What kind of thing.
    pub phase: Phase,
    /// How the server answered; none for the phases without a call.
    pub reply: Option<Reply>,
    /// What was different afterwards.
    pub effects: Vec<Effect>,
}

/// The phases of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The server starts and lists its tools; nothing is called.
    Start,
    /// The server is left alone.
    Idle,
    /// The server asked and has no answer yet.
    Asking,
    /// The call, its question declined.
    Declined,
    /// The call, its question cancelled.
    Cancelled,
    /// The call, its question accepted.
    First,
    /// The same call again.
    Second,
    /// The same call twice at the same time, in a world of its own.
    Concurrent,
    /// The server ends.
    Shutdown,
}

/// How a server answered a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Reply {
    /// A result.
    Success,
    /// A result with `isError: true`. Holds its text, cut.
    Refused {
        /// The text.
        text: String,
    },
    /// A JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// Its message, cut.
        message: String,
    },
}

impl Step {
    /// The worst effect.
    #[must_use]
    pub fn grade(&self) -> Grade {
        self.effects.iter().map(|effect| effect.grade).max().unwrap_or(Grade::None)
    }
}
