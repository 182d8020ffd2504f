//! The learning path: its files are there, its commands exist, its lies are found as it says.

use std::path::Path;

use crate::support::candor;

const README: &str = include_str!("../README.md");

fn between(start: &str, end: &str) -> &'static str {
    let (_, rest) = README.split_once(start).unwrap_or_else(|| panic!("no `{start}`"));
    rest.split_once(end).unwrap_or_else(|| panic!("no `{end}`")).0
}

#[test]
fn every_link_leads_to_a_file() {
    for (name, text) in [("", README), ("inspector", include_str!("../inspector/README.md"))] {
        let links: Vec<_> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(links.len() > 5);
        for link in links.into_iter().filter(|link| !link.starts_with("https:")) {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join(link);
            assert!(path.exists(), "{name}/README.md links to {link}, which is not there");
        }
    }
}

#[test]
fn every_step_has_a_file_and_a_command_that_exists() {
    let rows: Vec<_> = between("<!-- steps -->\n", "<!-- /steps -->").lines().skip(2).collect();
    assert_eq!(rows.len(), 9);
    for row in rows {
        let command = row.rsplit('`').nth(1).unwrap();
        let words: Vec<_> = command.split(' ').collect();
        match words.as_slice() {
            ["candor", arguments @ ..] => {
                let output = candor().args(arguments).arg("--help").output().unwrap();
                assert!(output.status.success(), "{command}: {output:?}");
            }
            ["cargo", alias] => assert!(include_str!("../.cargo/config.toml").contains(&format!("{alias} = "))),
            ["npm", "--prefix", "inspector", script] => {
                assert!(include_str!("../inspector/package.json").contains(&format!("\"{script}\": ")));
            }
            _ => panic!("who runs `{command}`?"),
        }
    }
}

#[test]
fn the_four_lies_are_refuted_in_the_words_that_are_printed_here() {
    let section = between("### How annotations come to lie\n", "<!-- /lies -->");
    let lies: Vec<_> = section.split('`').filter(|code| code.contains("Hint=")).collect();
    assert_eq!(lies.len(), 4, "{lies:?}");
    let mut command = candor();
    command.args(["verify", "--world", "demo"]);
    for lie in &lies {
        let (tool, _) = lie.split_once('.').unwrap();
        command.args(["--mislabel", lie]);
        command.arg("--case").arg(format!("{}/tests/cases/{tool}.toml", env!("CARGO_MANIFEST_DIR")));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report = String::from_utf8(output.stdout).unwrap();
    let printed = section.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let mut shown: Vec<_> = printed.lines().collect();
    let mut found: Vec<_> = report.lines().filter(|line| line.starts_with("✗ ") && line.contains('/')).collect();
    shown.sort_unstable();
    found.sort_unstable();
    assert_eq!(shown, found, "{report}");
}

/// One tool for each of the six questions, and the finding that answers it.
#[test]
fn the_six_questions_are_those_of_the_lint() {
    use candor::verify::{Definition, Rule, lint};
    let list = r#"{"tools": [{"name": "get_and_remove", "inputSchema": {"type": "object", "properties":
        {"action": {"enum": ["read", "delete"]}}}, "annotations": {"readOnlyHint": true, "destructiveHint": true}},
        {"name": "delete_all", "description": "Things.", "inputSchema": {"type": "object"},
         "annotations": {"readOnlyHint": true}},
        {"name": "purge", "description": "Things.", "inputSchema": {"type": "object"},
         "annotations": {"readOnlyHint": false, "destructiveHint": true}}]}"#;
    let (tools, _) = candor::hints::read_list(list.as_bytes()).unwrap();
    let found: Vec<_> = lint(&tools, Definition::Mcp).into_iter().map(|finding| finding.rule).collect();
    let questions =
        [Rule::Title, Rule::Explicit, Rule::Contradiction, Rule::Description, Rule::ModeParameter, Rule::Name];
    for question in questions {
        assert!(found.contains(&question), "{question:?} is not answered: {found:?}");
    }
}
