//! Docker Agent. Its labels: destructive first, then read-only is safe, the rest is unknown.

use super::{Client, Conduct, Evidence, Prompt, ask_unless, destructive, reads_only, refuse_unless};
use crate::approval::Hints;

const SOURCE: &str = "docker/cagent, pkg/safety/safety.go, pkg/runtime/toolexec/permissions.go";
const VERSION: &str = "5517a597";

fn safe(hints: &Hints) -> bool {
    !destructive(hints) && reads_only(hints)
}

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "docker-strict",
        name: "Docker Agent, mode strict",
        version: VERSION,
        rule: "Everything is asked about.",
        source: SOURCE,
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |_, _| Conduct::prompt(Prompt::Ask),
    },
    Client {
        id: "docker-balanced",
        name: "Docker Agent, mode balanced (and where none is set)",
        version: VERSION,
        rule: "Read-only and not destructive runs, the rest is asked about.",
        source: SOURCE,
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct::prompt(ask_unless(safe(hints))),
    },
    Client {
        id: "docker-restricted",
        name: "Docker Agent, mode restricted",
        version: VERSION,
        rule: "Read-only and not destructive runs, the rest is refused.",
        source: SOURCE,
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct::prompt(refuse_unless(safe(hints))),
    },
    Client {
        id: "docker-autonomous",
        name: "Docker Agent, mode autonomous",
        version: VERSION,
        rule: "Everything runs, unless a hook of the operator objects.",
        source: SOURCE,
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |_, _| Conduct::prompt(Prompt::Run),
    },
    Client {
        id: "docker-read-only",
        name: "Docker Agent, read-only toolset",
        version: VERSION,
        rule: "Only read-only tools are kept, even those that are destructive too.",
        source: SOURCE,
        date: "2026-10",
        evidence: Evidence::Quoted,
        rules: |hints, _| Conduct::prompt(refuse_unless(reads_only(hints))),
    },
];
