//! What is generated from the inventory stands in the repository as it is today.

use std::{fs, path::PathBuf};

use serde_json::json;

use crate::support::Server;

const FIX: &str = "if the change is meant, run `cargo accept` and commit what it writes";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Each tool as a client sees it in `tools/list`: file name and text.
fn snapshots() -> Vec<(String, String)> {
    let tools = Server::start(&["--grant", "all"]).tools();
    let text = |tool: &serde_json::Value| (format!("{}.json", tool["name"].as_str().unwrap()), format!("{tool:#}\n"));
    tools.iter().map(text).collect()
}

/// The README with its tables made anew.
fn readme() -> String {
    let tables =
        [("tools", candor::catalog::markdown(&candor_tools::inventory().1)), ("rules", candor::approval::markdown())];
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    tables.into_iter().fold(text, |text, (name, table)| {
        let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
        let (before, rest) = text.split_once(&start).expect("the README has a line where each table starts");
        let (_, after) = rest.split_once(&end).expect("the README has a line where each table ends");
        format!("{before}{start}{table}{end}{after}")
    })
}

#[test]
fn each_tool_has_a_snapshot_that_is_what_clients_see_and_no_snapshot_is_left_over() {
    let folder = root().join("tests/snapshots");
    let expected = snapshots();
    for (name, text) in &expected {
        let kept = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(kept == *text, "tests/snapshots/{name} differs from what clients see; {FIX}");
    }
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            expected.iter().any(|(known, _)| *known == name),
            "tests/snapshots/{name} belongs to no tool; remove it"
        );
    }
}

#[test]
fn the_readme_shows_the_tables_of_today() {
    let kept = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(kept == readme(), "a table in README.md is out of date; {FIX}");
}

#[test]
#[ignore = "writes the snapshots and the README's tables: `cargo accept`"]
fn accept_what_is_generated() {
    let folder = root().join("tests/snapshots");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in snapshots() {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(root().join("README.md"), readme()).unwrap();
}

/// Both eras see the same tools.
#[test]
fn the_list_is_the_same_in_both_eras_and_on_every_start() {
    use crate::support::{ERAS, User};
    let lists = ERAS.map(|era| Server::start_in(era, User::Accepts, &["--grant", "all"]).tools());
    assert_eq!(lists[0], lists[1]);
    let again = Server::start(&["--grant", "all"]).request("tools/list", json!({}));
    assert_eq!(again["result"]["tools"], json!(lists[0]));
}
