//! Gemini CLI.

use super::{Client, Conduct, Evidence, Prompt, ask_unless, reads_only};

const SOURCE: &str = "google-gemini/gemini-cli, policies/plan.toml, policy-engine.ts";

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "gemini-plan",
        name: "Gemini CLI, plan mode",
        version: "5411f113",
        rule: "Read-only is asked about where somebody is there; the rest is refused.",
        source: SOURCE,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |hints, _| Conduct::prompt(if reads_only(hints) { Prompt::Ask } else { Prompt::Refuse }),
    },
    Client {
        id: "gemini",
        name: "Gemini CLI, other modes",
        version: "5411f113",
        rule: "Tools of servers with `trust: true` run, the rest is asked about. Hints count only in rules that a \
               user writes.",
        source: SOURCE,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |_, trusted| Conduct::prompt(ask_unless(trusted)),
    },
];
