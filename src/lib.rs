//! candor: MCP tool annotations that tell the truth.

pub mod serve;
