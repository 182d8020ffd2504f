//! Our own server: its worlds, its cases, and how it is started in a copy of a world.

use std::path::Path;

use candor_tools::Scope;

use super::{
    Case, CaseError,
    case::{self},
};
use crate::wire::Target;

/// The case files, as they stand in the repository.
const CASES: [(&str, &str); 15] = [
    ("list_branches.toml", include_str!("../../tests/cases/list_branches.toml")),
    ("create_branch.toml", include_str!("../../tests/cases/create_branch.toml")),
    ("delete_branch.toml", include_str!("../../tests/cases/delete_branch.toml")),
    ("list_notes.toml", include_str!("../../tests/cases/list_notes.toml")),
    ("read_note.toml", include_str!("../../tests/cases/read_note.toml")),
    ("create_note.toml", include_str!("../../tests/cases/create_note.toml")),
    ("append_note.toml", include_str!("../../tests/cases/append_note.toml")),
    ("write_note.toml", include_str!("../../tests/cases/write_note.toml")),
    ("describe_database.toml", include_str!("../../tests/cases/describe_database.toml")),
    ("query.toml", include_str!("../../tests/cases/query.toml")),
    ("insert_rows.toml", include_str!("../../tests/cases/insert_rows.toml")),
    ("execute.toml", include_str!("../../tests/cases/execute.toml")),
    ("fetch_report.toml", include_str!("../../tests/cases/fetch_report.toml")),
    ("post_comment.toml", include_str!("../../tests/cases/post_comment.toml")),
    ("fetch_url.toml", include_str!("../../tests/cases/fetch_url.toml")),
];

/// Every case of every tool. One that names no world is called in those that touch what its tool
/// acts on.
///
/// # Errors
///
/// If a file is wrong, which a test would have told.
pub(super) fn cases() -> Result<Vec<Case>, CaseError> {
    let mut cases = Vec::new();
    for (file, text) in CASES {
        cases.extend(case::parse(file, text)?.cases);
    }
    let (_, tools) = candor_tools::inventory();
    for case in cases.iter_mut().filter(|case| case.worlds.is_empty()) {
        let scope = tools.iter().find(|tool| tool.name == case.tool).and_then(Scope::of);
        case.worlds = scope.map(worlds).unwrap_or_default().iter().map(|world| (*world).to_owned()).collect();
    }
    Ok(cases)
}

const DATABASES: &[&str] = &[
    "demo",
    "write-ahead-log",
    "triggers",
    "writable-views",
    "generated-columns",
    "replacing-columns",
    "foreign-rows",
];
/// A locked one can be read alone.
const DATABASES_TO_READ: &[&str] = &[
    "demo",
    "write-ahead-log",
    "triggers",
    "writable-views",
    "generated-columns",
    "replacing-columns",
    "foreign-rows",
    "locked",
];

/// Worlds that differ from the plain one in what tools of this scope act on, the plain one first.
fn worlds(scope: Scope) -> &'static [&'static str] {
    match scope {
        Scope::RepoRead | Scope::RepoWrite | Scope::RepoDelete => {
            &["demo", "packed", "hooks", "stale-index", "protected", "partial-clone"]
        }
        Scope::NotesRead | Scope::NotesWrite => &["demo", "odd-notes"],
        Scope::DatabaseWrite | Scope::DatabaseAdmin => DATABASES,
        Scope::DatabaseRead => DATABASES_TO_READ,
        Scope::ReportsRead | Scope::ReportsWrite => &["demo", "packed"],
        Scope::WebFetch => &["demo", "packed", "offline"],
    }
}

/// A target with `{listener}` replaced by an origin.
pub(super) fn beside(mut target: Target, listener: &str) -> Target {
    if let Target::Stdio { command, .. } | Target::Serving { command, .. } = &mut target {
        for word in command.iter_mut() {
            *word = word.replace("{listener}", listener);
        }
    }
    target
}

/// The options that name what lies in a world of ours. Branches are changed where hooks lie, too: a
/// hook that ran would be an effect.
pub(super) fn demo() -> Vec<String> {
    [
        "--repo",
        "{world}/repo",
        "--protect",
        "release/*",
        "--trust-hooks",
        "--notes",
        "{world}/notes",
        "--database",
        "{world}/shop.db",
        "--reports",
        "{world}/reports.db",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// How our server is started on stdio; `{listener}` stands for the origin that `fetch_url` may
/// reach.
pub(super) fn on_stdio(candor: &str, options: &[String], grant: &str) -> Target {
    Target::Stdio { command: command(candor, options, &["--grant", grant]), env: quiet(), dir: None }
}

/// The same over HTTP at a port, 0 for any that is free, for the one caller that a file of tokens lets in.
pub(super) fn on_http(candor: &str, options: &[String], port: u16, tokens: &Path, token: &str) -> Target {
    let tokens = tokens.to_string_lossy();
    let headers = vec![("authorization".into(), format!("Bearer {token}"))];
    let command = command(candor, options, &["--http", &format!("127.0.0.1:{port}"), "--tokens", &tokens]);
    Target::Serving { command, env: quiet(), dir: None, headers, socket: None }
}

fn command(candor: &str, options: &[String], more: &[&str]) -> Vec<String> {
    let words = [candor, "serve", "--fetch-allow", "{listener}"].into_iter();
    words.chain(options.iter().map(String::as_str)).chain(more.iter().copied()).map(str::to_owned).collect()
}

fn quiet() -> Vec<(String, String)> {
    vec![("CANDOR_LOG".to_owned(), "warn".to_owned())]
}
