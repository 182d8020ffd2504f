//! Codex, `ChatGPT` and the Responses API.

use super::{
    Client, Conduct, Evidence, Prompt, ask_unless, ask_unless_read_only, destructive, reads_only, refuse_unless,
};
use crate::{approval::Hints, hints::HintName};

const CODEX: &str = "openai/codex, codex-rs/core/src/mcp_tool_call.rs (requires_mcp_tool_approval_for_mode), \
                     tools/handlers/mcp.rs";
const CODEX_VERSION: &str = "since openai/codex#15519; the same at ca466061";

/// The scheduler is the same in every mode.
fn codex(hints: &Hints, prompt: Prompt) -> Conduct {
    Conduct { prompt: Some(prompt), parallel: Some(reads_only(hints)), ..Conduct::UNKNOWN }
}

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "codex-auto",
        name: "Codex, approval mode `auto` (the default)",
        version: CODEX_VERSION,
        rule: "Destructive asks; else read-only runs; else it asks if destructive or open-world by the defaults. \
               Parallel if read-only. The vendor's page says that read-only wins; the code and its tests say this.",
        source: CODEX,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |hints, _| {
            let harmless = !hints.or_default(HintName::Destructive) && !hints.or_default(HintName::OpenWorld);
            codex(hints, ask_unless(!destructive(hints) && (reads_only(hints) || harmless)))
        },
    },
    Client {
        id: "codex-writes",
        name: "Codex, approval mode `writes`",
        version: CODEX_VERSION,
        rule: "Read-only runs, whatever else is said; the rest is asked about. Parallel if read-only.",
        source: CODEX,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |hints, _| codex(hints, ask_unless(reads_only(hints))),
    },
    Client {
        id: "codex-prompt",
        name: "Codex, approval mode `prompt`",
        version: CODEX_VERSION,
        rule: "Everything is asked about. Parallel if read-only.",
        source: CODEX,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |hints, _| codex(hints, Prompt::Ask),
    },
    Client {
        id: "codex-approve",
        name: "Codex, approval mode `approve`",
        version: CODEX_VERSION,
        rule: "Everything runs. Parallel if read-only.",
        source: CODEX,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |hints, _| codex(hints, Prompt::Run),
    },
    Client {
        id: "codex-apps",
        name: "Codex apps, destructive and open-world tools switched off",
        version: "October 2026",
        rule: "A tool is enabled unless it is destructive or open-world by the defaults. Both switches are on at \
               first, and an explicit choice for a tool or app skips the hints.",
        source: "openai/codex, app_tool_policy.rs",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| {
            let off = hints.or_default(HintName::Destructive) || hints.or_default(HintName::OpenWorld);
            Conduct::prompt(refuse_unless(!off))
        },
    },
    Client {
        id: "chatgpt-developer",
        name: "ChatGPT, developer mode",
        version: "October 2026",
        rule: "What isn't read-only is a write, and asked about.",
        source: "OpenAI, documentation of developer mode",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: ask_unless_read_only,
    },
    Client {
        id: "responses-read-only",
        name: "OpenAI Responses API, with the filter `require_approval.never.read_only`",
        version: "October 2026",
        rule: "Everything is asked about, except read-only tools of servers for which the developer sets the filter.",
        source: "OpenAI, documentation of the Responses API",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, trusted| Conduct::prompt(ask_unless(trusted && reads_only(hints))),
    },
];
