//! Those that keep or drop tools by their hints, by the choice of whoever operates them. Here
//! [`Prompt::Run`](super::Prompt::Run) means kept: what stands before or behind may still ask.

use super::{Client, Conduct, Evidence, SECOND_HAND, reads_only, refuse_unless};
use crate::hints::HintName;

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "aws-proxy-read-only",
        name: "AWS MCP Proxy, --read-only",
        version: "November 2026",
        rule: "Only read-only tools are kept.",
        source: SECOND_HAND,
        date: "2026-11",
        evidence: Evidence::Reported,
        rules: |hints, _| Conduct::prompt(refuse_unless(reads_only(hints))),
    },
    Client {
        id: "pydantic-ai-read-only",
        name: "Pydantic AI, `read_only`",
        version: "November 2026",
        rule: "Only read-only tools are kept.",
        source: SECOND_HAND,
        date: "2026-11",
        evidence: Evidence::Reported,
        rules: |hints, _| Conduct::prompt(refuse_unless(reads_only(hints))),
    },
    Client {
        id: "toolhive-safe",
        name: "ToolHive, \"safe tools\"",
        version: "November 2026",
        rule: "Permitted if read-only, or if neither destructive nor open-world.",
        source: SECOND_HAND,
        date: "2026-11",
        evidence: Evidence::Reported,
        rules: |hints, _| {
            let harmless = hints.is(HintName::Destructive, false) && hints.is(HintName::OpenWorld, false);
            Conduct::prompt(refuse_unless(reads_only(hints) || harmless))
        },
    },
];
