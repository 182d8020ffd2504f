//! Those that use no hints when they decide.

use super::{Evidence, SURVEY};

/// A product that decides without hints, or only shows them.
#[derive(Clone, Copy, Debug)]
pub struct Ignoring {
    /// The product.
    pub name: &'static str,
    /// Where that is seen.
    pub source: &'static str,
    /// How it is known.
    pub evidence: Evidence,
}

const fn quoted(name: &'static str, source: &'static str) -> Ignoring {
    Ignoring { name, source, evidence: Evidence::Quoted }
}

const fn reported(name: &'static str) -> Ignoring {
    Ignoring { name, source: SURVEY, evidence: Evidence::Reported }
}

/// In October 2026. A false hint changes nothing here, and a true one neither.
pub const IGNORING: &[Ignoring] = &[
    Ignoring {
        name: "Cline",
        source: "cline/cline c269dbb, McpHub.ts: no reference to a hint in the repository",
        evidence: Evidence::Source,
    },
    quoted("Roo Code", "RooCodeInc/Roo-Code b867ec9, McpHub.ts"),
    quoted("Kilo Code", "Kilo-Org/kilocode 78f82b9, mcp/catalog.ts"),
    quoted("OpenCode", "anomalyco/opencode 1ddb087, mcp/catalog.ts"),
    quoted("Continue", "continuedev/continue 5522c6f, doLoadConfig.ts"),
    quoted("LibreChat", "danny-avila/LibreChat f10b1d9, mcp/tools.ts"),
    quoted("Open WebUI", "open-webui/open-webui 8bd8b4f, utils/mcp/client.py"),
    quoted("Warp", "warpdotdev/warp 38b2c55, permissions.rs"),
    reported("Zed"),
    reported("Junie"),
    reported("Antigravity"),
    reported("Mistral Vibe"),
    Ignoring {
        name: "MCP Inspector 2.12.0",
        source: "shows a badge for each true value, and no defaults",
        evidence: Evidence::Measured,
    },
];
