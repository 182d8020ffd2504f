//! n8n, Cursor, Hermes, smg.

use super::{
    Client, Conduct, Evidence, Prompt, SECOND_HAND, SURVEY, ask_unless, destructive, reads_only, refuse_unless,
};
use crate::hints::HintName;

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "n8n",
        name: "n8n Instance AI, default settings",
        version: "bae76563",
        rule: "Not read-only or destructive is asked about; else read-only runs; where neither is said, words in the \
               name decide, and an unknown name is asked about.",
        source: "n8n-io/n8n, mcp-tool-permissions.ts (classifyMcpTool)",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| {
            Conduct::prompt(match () {
                () if hints.is(HintName::ReadOnly, false) || destructive(hints) => Prompt::Ask,
                () if reads_only(hints) => Prompt::Run,
                () => Prompt::Guess,
            })
        },
    },
    Client {
        id: "cursor-reads",
        name: "Cursor, the administrator's allow-list in mode `reads`",
        version: "3.23.12",
        rule: "Read-only and not destructive runs, the rest is disabled. A key of its own, \
               `cursor/requiresConfirmation`, asks.",
        source: SURVEY,
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct::prompt(refuse_unless(reads_only(hints) && !destructive(hints))),
    },
    Client {
        id: "hermes",
        name: "Hermes Agent",
        version: "November 2026",
        rule: "Of servers marked untrusted, read-only runs and the rest is asked about; of all others, everything runs.",
        source: "NousResearch/hermes-agent#133532",
        date: "2026-11",
        evidence: Evidence::Reported,
        rules: |hints, trusted| Conduct::prompt(ask_unless(trusted || reads_only(hints))),
    },
    Client {
        id: "smg",
        name: "smg, a gateway",
        version: "November 2026",
        rule: "After a lost connection a call is replayed if it is idempotent or read-only; else its outcome is \
               reported as unknown.",
        source: SECOND_HAND,
        date: "2026-11",
        evidence: Evidence::Reported,
        rules: |hints, _| Conduct {
            replay: Some(hints.is(HintName::Idempotent, true) || reads_only(hints)),
            ..Conduct::UNKNOWN
        },
    },
];
