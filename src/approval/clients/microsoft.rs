//! VS Code and the Copilots.

use super::{Client, Conduct, Evidence, SECOND_HAND, ask_unless, ask_unless_read_only, reads_only, refuse_unless};
use crate::hints::HintName;

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "vscode",
        name: "VS Code, Copilot agent",
        version: "d2fe6d3",
        rule: "Read-only runs, the rest is asked about; results of tools that say open-world are confirmed too. An \
               absent openWorldHint counts as false, the opposite of the default. Servers in a sandbox are neither \
               asked about nor confirmed.",
        source: "microsoft/vscode, mcpLanguageModelToolContribution.ts",
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |hints, _| Conduct {
            review: Some(hints.is(HintName::OpenWorld, true)),
            ..Conduct::prompt(ask_unless(reads_only(hints)))
        },
    },
    Client {
        id: "copilot-cli",
        name: "GitHub Copilot CLI",
        version: "1.0.63",
        rule: "After the user's deny rules: read-only runs, the rest is asked about. The vendor's page says that \
               read-only is asked about too. Of later versions it is not known.",
        source: "npm @github/copilot, app.js, the permission service",
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: ask_unless_read_only,
    },
    Client {
        id: "m365-copilot",
        name: "Microsoft 365 Copilot, after one consent to the plugin",
        version: "November 2026",
        rule: "Read-only runs, the rest is asked about.",
        source: SECOND_HAND,
        date: "2026-11",
        evidence: Evidence::Reported,
        rules: ask_unless_read_only,
    },
    Client {
        id: "copilot-review",
        name: "GitHub Copilot code review",
        version: "November 2026",
        rule: "Only read-only tools are kept.",
        source: SECOND_HAND,
        date: "2026-11",
        evidence: Evidence::Reported,
        rules: |hints, _| Conduct::prompt(refuse_unless(reads_only(hints))),
    },
];
