//! Those that use no hints when they decide.

use super::Evidence;

/// Products that decide without hints, or only show them. A false hint changes nothing here, and a
/// true one neither.
pub const IGNORING: &[(&str, Evidence)] = &[
    ("Cline", Evidence::Source),
    ("Roo", Evidence::Reported),
    ("Kilo", Evidence::Reported),
    ("OpenCode", Evidence::Reported),
    ("Continue", Evidence::Reported),
    ("LibreChat", Evidence::Reported),
    ("Open WebUI", Evidence::Reported),
    ("Warp", Evidence::Reported),
    ("Zed", Evidence::Reported),
    ("Junie", Evidence::Reported),
    ("Antigravity", Evidence::Reported),
    ("Mistral Vibe", Evidence::Reported),
    ("MCP Inspector 2.12.0 (shows a badge for each true value, and no defaults)", Evidence::Measured),
];
