//! The user. Here an address answers for the user; in a real client this is a dialogue.

use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};

/// Where the user is.
pub(crate) struct User {
    pub(crate) http: Client,
    pub(crate) url: String,
    pub(crate) patience: Duration,
}

impl User {
    /// Ask about a call. None if there is no answer.
    pub(crate) async fn approves(
        &self,
        tool: &str,
        title: &str,
        arguments: &Value,
        warning: Option<&str>,
    ) -> Option<String> {
        let question = json!({"tool": tool, "title": title, "arguments": arguments, "warning": warning});
        self.ask(&question).await?.get("answer")?.as_str().map(str::to_owned)
    }

    /// Put a server's question to the user. None if there is no answer in time.
    pub(crate) async fn answers(&self, server: &str, message: &Value) -> Option<Value> {
        self.ask(&json!({"elicitation": {"server": server, "message": message}})).await
    }

    async fn ask(&self, question: &Value) -> Option<Value> {
        let request = self.http.post(&self.url).timeout(self.patience).body(question.to_string());
        let answer = request.send().await.ok()?.bytes().await.ok()?;
        serde_json::from_slice(&answer).ok()
    }
}
