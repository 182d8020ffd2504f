//! Qwen Code.

use super::{Client, Conduct, Evidence, ask_unless, destructive, reads_only};
use crate::hints::HintName;

pub(super) const CLIENTS: &[Client] = &[Client {
    id: "qwen",
    name: "Qwen Code",
    version: "0.19.11, since QwenLM/qwen-code#6924",
    rule: "Tools of a trusted server in a trusted folder run, the rest is asked about; hints loosen nothing. After a \
           lost connection a call of such a server is replayed, at most three times, if it is idempotent or \
           read-only, unless it is read-only and also destructive or not idempotent. Parallel if read-only.",
    source: "QwenLM/qwen-code, mcp-tool.ts (canSafelyReplay)",
    date: "2026-11",
    evidence: Evidence::Source,
    rules: |hints, trusted| {
        let contradicts = reads_only(hints) && (destructive(hints) || hints.is(HintName::Idempotent, false));
        let repeats = hints.is(HintName::Idempotent, true) || reads_only(hints);
        Conduct {
            parallel: Some(reads_only(hints)),
            replay: Some(trusted && hints.has_object() && !contradicts && repeats),
            ..Conduct::prompt(ask_unless(trusted))
        }
    },
}];
