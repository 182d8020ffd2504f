//! What the judge says, and in which words.

use std::fmt;

use serde::Serialize;

use super::{Effect, Grade, Phase};
use crate::hints::{Hint, HintName};

/// What is said about one hint of one tool: the first of these that applies, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Neither boolean nor absent.
    Malformed,
    /// A claim, and an effect that it denies was seen.
    Refuted,
    /// Read-only and destructive at once.
    Contradictory,
    /// Absent; the default is judged beside it.
    Undeclared,
    /// No call succeeded, or this rung can't see.
    Untested,
    /// More alarming than anything that was seen.
    Overstated,
    /// Survived every trial. Never a proof.
    Holds,
}

impl Outcome {
    /// All of them, in the order of precedence.
    pub const ALL: [Self; 7] = [
        Self::Malformed,
        Self::Refuted,
        Self::Contradictory,
        Self::Undeclared,
        Self::Untested,
        Self::Overstated,
        Self::Holds,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Refuted => "refuted",
            Self::Contradictory => "contradictory",
            Self::Undeclared => "undeclared",
            Self::Untested => "untested",
            Self::Overstated => "overstated",
            Self::Holds => "holds",
        }
    }

    /// One character for it, in tables.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Malformed => "!",
            Self::Refuted => "✗",
            Self::Contradictory => "≠",
            Self::Undeclared => "-",
            Self::Untested => "?",
            Self::Overstated => "~",
            Self::Holds => "✓",
        }
    }

    /// Whether something is wrong: exit status 1.
    #[must_use]
    pub const fn is_wrong(self) -> bool {
        matches!(self, Self::Malformed | Self::Refuted | Self::Contradictory)
    }

    /// Whether something is open: exit status 1 under `--strict`.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Undeclared | Self::Untested | Self::Overstated)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is said about one hint of one tool, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// `TOOL/HINT`; the same in every run and format.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The hint.
    pub hint: HintName,
    /// What the wire says.
    pub declared: Hint,
    /// The word.
    pub outcome: Outcome,
    /// For an undeclared hint, what would be said if the default were declared.
    pub default: Option<Outcome>,
    /// The worst effect that bears on this hint, of all calls in all worlds; none for
    /// `openWorldHint`, and where nothing was called.
    pub grade: Option<Grade>,
    /// The effects that bear on this hint, in the first world that had any: what refutes a claim,
    /// or what an alarm is raised about.
    pub evidence: Vec<Evidence>,
    /// The world with the fewest differences from the plain one in which a claim is refuted.
    pub world: Option<String>,
    /// How many calls tested this hint.
    pub calls: usize,
    /// The worlds in which they did, in the order of the trials.
    pub worlds: Vec<String>,
    /// What else there is to say: the reason, the default, the other worlds.
    pub note: Option<String>,
}

/// The effects of one step that bear on a hint. Equal steps over other transports and in other eras
/// are counted, not repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The world.
    pub world: String,
    /// The case.
    pub case: String,
    /// `stdio` or `http`, of the first trial that saw it.
    pub transport: &'static str,
    /// The protocol revision of that trial.
    pub era: &'static str,
    /// During what.
    pub phase: Phase,
    /// What changed.
    pub effects: Vec<Effect>,
    /// How many trials saw exactly this.
    pub trials: usize,
}

/// What this run could see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sight {
    /// Whether changes are seen at all.
    pub changes: bool,
    /// Whether connections are seen wherever they lead, and not only at a server of the world.
    pub connections: bool,
    /// Which rung of the ladder: `box`, `box without listener`, `listener`, `worlds`; `remote` beside it.
    pub rung: &'static str,
    /// What this rung can't see, in a few words each.
    pub blind_to: Vec<String>,
    /// Why it isn't a higher rung, if there is one.
    pub why: Option<String>,
}

/// Whose definition of the hints counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Definition {
    /// The specification, 2025-03-26 to 2026-07-28. Nothing is required; anything above additive is
    /// destructive.
    #[default]
    Mcp,
    /// What the review of the `OpenAI` directory asks for: three hints explicit on every tool; a
    /// read-only tool keeps no log, cache or other artefact; what can be undone is destructive too.
    OpenaiDirectory,
    /// What the Anthropic directory asks for: a title, and `readOnlyHint` or `destructiveHint`.
    AnthropicDirectory,
}

impl Definition {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mcp, Self::OpenaiDirectory, Self::AnthropicDirectory];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::OpenaiDirectory => "openai-directory",
            Self::AnthropicDirectory => "anthropic-directory",
        }
    }

    /// Whether an effect is a change by this definition. Bookkeeping is none, but the `OpenAI`
    /// directory counts "persisting artefacts" and "writing logs", which is what excused files are.
    #[must_use]
    pub fn changes(self, effect: &Effect) -> bool {
        let artefact = effect.excuse.is_some() && matches!(effect.lens, "files" | "text" | "json");
        effect.grade > Grade::None || (self == Self::OpenaiDirectory && artefact)
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
