//! goose.

use super::{Client, Conduct, Evidence, Prompt, reads_only};
use crate::hints::HintName;

const SOURCE: &str = "aaif-goose/goose, crates/goose/src/permission/permission_inspector.rs";

pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "goose-smart",
        name: "goose, mode Smart Approve",
        version: "591edd47",
        rule: "After the user's own setting: read-only runs, not read-only is asked about, and where nothing is said \
               a model decides. Other inspectors may only tighten.",
        source: SOURCE,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |hints, _| {
            Conduct::prompt(match () {
                () if reads_only(hints) => Prompt::Run,
                () if hints.is(HintName::ReadOnly, false) => Prompt::Ask,
                () => Prompt::Guess,
            })
        },
    },
    Client {
        id: "goose-approve",
        name: "goose, mode Approve",
        version: "since 1.44",
        rule: "Everything is asked about. Before 1.44, read-only ran.",
        source: SOURCE,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |_, _| Conduct::prompt(Prompt::Ask),
    },
    Client {
        id: "goose-auto",
        name: "goose, mode Auto (the default)",
        version: "591edd47",
        rule: "Everything runs.",
        source: SOURCE,
        date: "2026-11",
        evidence: Evidence::Source,
        rules: |_, _| Conduct::prompt(Prompt::Run),
    },
];
