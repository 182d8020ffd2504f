//! Claude Code, the Agent SDK and Cowork.

use super::{Client, Conduct, Evidence, Prompt, SURVEY, ask_unless, reads_only};

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "claude-code-plan",
        name: "Claude Code, plan mode",
        version: "2.1.287 to 2.1.293",
        rule: "What isn't read-only is asked about, even if a rule of the user's allows it; read-only tools go on to the \
               ordinary rules. Parallel if read-only.",
        source: SURVEY,
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct {
            parallel: Some(reads_only(hints)),
            ..Conduct::prompt(ask_unless(reads_only(hints)))
        },
    },
    Client {
        id: "claude-code",
        name: "Claude Code, other modes",
        version: "2.1.287 to 2.1.293",
        rule: "The user's permission rules decide, not the hints. Parallel if read-only.",
        source: "anthropics/claude-code#12368; the AuthGap survey, on the program itself",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct { parallel: Some(reads_only(hints)), ..Conduct::UNKNOWN },
    },
    Client {
        id: "claude-agent-sdk",
        name: "Claude Agent SDK",
        version: "October 2026",
        rule: "Parallel if read-only; the other hints are for information.",
        source: "Anthropic, documentation of the Agent SDK",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct { parallel: Some(reads_only(hints)), ..Conduct::UNKNOWN },
    },
    Client {
        id: "claude-cowork",
        name: "Claude Cowork, mode Auto, connector \"Always allow\"",
        version: "October 2026",
        rule: "Read-only runs; about the rest a model decides.",
        source: "Anthropic, documentation of connectors",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct::prompt(if reads_only(hints) { Prompt::Run } else { Prompt::Guess }),
    },
];
