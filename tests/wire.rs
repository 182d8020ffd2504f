//! The wire client against the real server in both eras and over both transports, and against
//! servers that break every rule.

mod broken;
mod http;
mod real;
pub(crate) mod small;

use std::collections::BTreeSet;

use candor::wire::{Answer, Called, Connection, Era, Question, WireError};
use serde_json::{Value, json};

/// Call and count the questions that were open.
async fn call(
    connection: &mut Connection,
    tool: &str,
    arguments: Value,
    answer: Answer,
) -> Result<(Called, usize), WireError> {
    let mut asked = 0;
    let arguments = arguments.as_object().unwrap().clone();
    let called = connection
        .call(tool, &arguments, answer, |_: &Question| {
            asked += 1;
            std::future::ready(())
        })
        .await?;
    Ok((called, asked))
}
