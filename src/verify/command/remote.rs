//! What a server elsewhere asks of its callers.

use candor_tools::shown;

use super::{Options, roads::Road};
use crate::{
    verify::{Finding, Level, Rule},
    wire::{Connection, Target, WireError},
};

impl Options {
    /// Whether somebody who says nothing about himself gets the list of tools, and what he is told
    /// if not.
    pub(super) async fn authentication(&self, road: &Road) -> Option<Finding> {
        let Target::Http { url, .. } = &road.target else { return None };
        let target = Target::Http { url: url.clone(), headers: Vec::new() };
        let listed = async {
            let mut connection = Connection::open(&target, road.era, &self.limits()).await?;
            let tools = connection.list().await;
            connection.close().await;
            tools
        };
        let text = match listed.await {
            Ok(tools) => format!("`tools/list` answers without authentication, with {} tools", tools.len()),
            Err(WireError::Status { status, challenge: Some(challenge), .. }) => format!(
                "without authentication the server answers with status {status} and the challenge `{}`",
                shown(&challenge, 300)
            ),
            Err(error) => {
                format!("without authentication there is no `tools/list`: {}", shown(&error.to_string(), 300))
            }
        };
        let (rule, level) = (Rule::Authentication, Level::Note);
        Some(Finding { id: format!("server/{}", rule.name()), tool: None, rule, level, text })
    }
}
