//! The list of tools, page by page.

use serde_json::Value;

use super::{
    Connection, WireError,
    error::{cut, refusal},
    exchange::Wait,
    message::Outcome,
};
use crate::hints::{DeclaredTool, ListError, read_list};

impl Connection {
    /// The tools that the server declares, from all pages, in its order.
    ///
    /// # Errors
    ///
    /// If the list can't be had within the time limit, is none, or does not end.
    pub async fn list(&mut self) -> Result<Vec<DeclaredTool>, WireError> {
        let wait = Wait::new("`tools/list`", self.limits.call);
        let mut tools: Vec<DeclaredTool> = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let cursor = cursors.last().map(|cursor| ("cursor".to_owned(), Value::from(cursor.as_str())));
            let outcome = self.ask("tools/list", cursor.into_iter().collect(), &wait).await?;
            let result = match outcome {
                Outcome::Result(result) => result,
                Outcome::Error(error) => return Err(refusal(wait.what, &error)),
            };
            let (page, next) = read_list(result.get().as_bytes())?;
            for tool in page {
                if tools.iter().any(|known| known.name == tool.name) {
                    return Err(ListError::Twice(tool.name).into());
                }
                tools.push(tool);
                if tools.len() > self.limits.tools {
                    return Err(WireError::TooManyTools(self.limits.tools));
                }
            }
            match next {
                None => return Ok(tools),
                Some(next) if cursors.contains(&next) => {
                    return Err(WireError::Endless(format!("the cursor `{}` comes back", cut(&next))));
                }
                Some(_) if cursors.len() >= self.limits.tools => {
                    return Err(WireError::Endless(format!("{} pages hold {} tools", cursors.len(), tools.len())));
                }
                Some(next) => cursors.push(next),
            }
        }
    }
}
