//! The rules of the recommendation: a closed set, each with its sentence and its source.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::hints::HintName;

/// Why something was decided: a rule, and the hint that it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Reason {
    /// The rule.
    pub rule: Rule,
    /// The hint that made it apply; none if it was no hint.
    pub hint: Option<HintName>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hint {
            Some(hint) => write!(f, "{} ({hint}): {}", self.rule.id(), self.rule.text()),
            None => write!(f, "{}: {}", self.rule.id(), self.rule.text()),
        }
    }
}

/// The rules, in the order in which [`super::decide`] asks. Of those that apply the strictest wins; a
/// user's permission keeps those after it from being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A user's deny beats everything.
    UserDenies,
    /// An approval covers what was shown.
    Changed,
    /// Outsiders' words may be behind the call.
    Steered,
    /// The user wants to be asked.
    UserAsks,
    /// The user doesn't want to be asked.
    UserAllows,
    /// What can't be read can't reassure.
    Nonsense,
    /// Alarms are believed from anyone.
    Alarm,
    /// Private data may go out.
    MayLeak,
    /// Nothing to lose.
    ReadsOnly,
    /// Nothing is lost, nothing goes out.
    AddsOnly,
    /// Reassurances are believed from trusted servers.
    Unvouched,
    /// Absence reassures nobody.
    MayChange,
    /// No answer is no approval.
    NobodyToAsk,
    /// Sending again.
    Repeat,
    /// Running beside others.
    Parallel,
    /// What comes back.
    Outside,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::UserDenies,
        Self::Changed,
        Self::Steered,
        Self::UserAsks,
        Self::UserAllows,
        Self::Nonsense,
        Self::Alarm,
        Self::MayLeak,
        Self::ReadsOnly,
        Self::AddsOnly,
        Self::Unvouched,
        Self::MayChange,
        Self::NobodyToAsk,
        Self::Repeat,
        Self::Parallel,
        Self::Outside,
    ];

    /// Its name, to be cited; it never changes.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::UserDenies => "user-denies",
            Self::Changed => "changed",
            Self::Steered => "steered",
            Self::UserAsks => "user-asks",
            Self::UserAllows => "user-allows",
            Self::Nonsense => "nonsense",
            Self::Alarm => "alarm",
            Self::MayLeak => "may-leak",
            Self::ReadsOnly => "reads-only",
            Self::AddsOnly => "adds-only",
            Self::Unvouched => "unvouched",
            Self::MayChange => "may-change",
            Self::NobodyToAsk => "nobody-to-ask",
            Self::Repeat => "repeat",
            Self::Parallel => "parallel",
            Self::Outside => "outside",
        }
    }

    /// What it says, in one sentence.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::UserDenies => "What the user forbids is refused, whatever the server and its hints say.",
            Self::Changed => {
                "A tool that changed after it was approved is asked about with a warning: no earlier trust or \
                 permission covers it."
            }
            Self::Steered => {
                "After untrusted content, a call that may change something, or carry out private data that was read, \
                 is asked about with a warning, even if it is allowed."
            }
            Self::UserAsks => "What the user wants to be asked about is never run unasked.",
            Self::UserAllows => "What the user allows runs, unless one of the rules before this one applies.",
            Self::Nonsense => {
                "If a hint is neither boolean nor absent nor null, the tool is asked about with a warning, and no hint \
                 of it reassures."
            }
            Self::Alarm => "A tool that says it is destructive is asked about with a warning, whoever says so.",
            Self::MayLeak => "After private data was read, a call that may reach the open world is asked about.",
            Self::ReadsOnly => "What a trusted server calls read-only and not destructive too runs.",
            Self::AddsOnly => {
                "What a trusted server calls neither destructive nor open-world runs: nothing is lost and nothing goes \
                 out."
            }
            Self::Unvouched => "A reassuring hint of a server that the user doesn't trust changes nothing: ask.",
            Self::MayChange => "A call that may change something is asked about; an absent hint reassures nobody.",
            Self::NobodyToAsk => "What would be asked is refused where nobody can answer.",
            Self::Repeat => {
                "After a lost reply, a call is sent again only if a trusted server calls it read-only or idempotent, \
                 and doesn't say that it is not idempotent."
            }
            Self::Parallel => {
                "A call runs beside others only if a trusted server calls it read-only and not destructive too."
            }
            Self::Outside => "Output is untrusted content, unless a trusted server says that its world is closed.",
        }
    }

    /// Where it comes from: the specification, or faults of real clients that it answers. The
    /// specification leaves the decisions themselves to clients.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::UserDenies => "MCP 2026-07-28 server/tools (a human able to deny); docker/cagent#1785",
            Self::Changed => {
                "MCP 2026-07-28 server/tools (hints of untrusted servers are untrusted); Qwen Code checks the \
                 definition again before a replay"
            }
            Self::Steered => {
                "candor; the \"lethal trifecta\" (Willison, 2025) and the \"agents rule of two\" (Meta, 2025)"
            }
            Self::UserAsks => "MCP 2026-07-28 server/tools (a human in the loop)",
            Self::UserAllows => "candor; MCP 2026-07-28 server/tools leaves the form of consent to the client",
            Self::Nonsense => "MCP 2026-07-28 schema, ToolAnnotations (the hints are booleans)",
            Self::Alarm => "openai/codex#12353; CVE-2026-32898 (what a tool says of itself may only tighten)",
            Self::MayLeak => "MCP 2026-07-28 schema, openWorldHint; the \"lethal trifecta\" (Willison, 2025)",
            Self::ReadsOnly => "MCP 2026-07-28 schema, readOnlyHint; anthropics/claude-code#12368 (needless questions)",
            Self::AddsOnly => {
                "MCP 2026-07-28 schema, destructiveHint and openWorldHint; Codex `auto` and ToolHive let the same pass"
            }
            Self::Unvouched => {
                "MCP 2026-07-28 server/tools (clients MUST consider annotations untrusted unless they come from \
                 trusted servers); QwenLM/qwen-code#6917"
            }
            Self::MayChange => {
                "MCP 2026-07-28 schema, defaults of ToolAnnotations; openai/codex#15519 (absent hints skipped approval)"
            }
            Self::NobodyToAsk => "candor; MCP 2026-07-28 server/tools (a human in the loop)",
            Self::Repeat => "MCP 2026-07-28 schema, idempotentHint; Qwen Code `canSafelyReplay`",
            Self::Parallel => "candor; the schedulers of Codex, Qwen Code and Claude Code, with trust added",
            Self::Outside => "MCP 2026-07-28 schema, openWorldHint",
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
