//! `fetch_url` and its outbound guard, against servers on loopback.

mod content;
mod guard;
mod limits;
mod server;

use std::{net::IpAddr, sync::Arc, time::Duration};

use candor_tools::{
    ToolError,
    web::{Page, Web, WebConfig, WebReader},
};

use self::server::Server;

/// Limits that let a test that hangs fail soon, and a server that may be fetched from.
fn config(server: &Server) -> WebConfig {
    WebConfig { allow: vec![server.origin()], ..WebConfig::default() }
}

fn reader(config: WebConfig) -> WebReader {
    WebReader::new(Arc::new(Web::new(config).unwrap()))
}

/// A reader for which every name leads to these addresses.
fn reader_where_names_lead_to(config: WebConfig, addresses: &[&str]) -> WebReader {
    let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    let lookup = move |_: &str| Ok(addresses.clone());
    WebReader::new(Arc::new(Web::with_lookup(config, lookup).unwrap()))
}

/// Fetch a path from a server that may be fetched from.
async fn fetch(server: &Server, path: &str) -> Result<Page, ToolError> {
    let url = format!("{}{path}", server.origin());
    tokio::time::timeout(Duration::from_secs(60), reader(config(server)).fetch(&url)).await.unwrap()
}

fn refusal<T: std::fmt::Debug>(result: Result<T, ToolError>) -> String {
    match result {
        Err(ToolError::Refused(text)) => text,
        other => panic!("should have been refused: {other:?}"),
    }
}

/// Refused with words that begin so, on one line of reasonable length.
fn assert_refused<T: std::fmt::Debug>(result: Result<T, ToolError>, start: &str, input: &str) {
    let text = refusal(result);
    let input: String = input.chars().take(200).collect();
    assert!(text.starts_with(start), "{input:?} should be refused as {start:?}: {text:?}");
    assert!(!text.contains(char::is_control), "{input:?}: {text:?}");
    assert!(text.len() < 1000, "{input:?}: {text:?}");
}
