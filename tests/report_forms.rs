//! The forms of the report: each parses, says what was found, and lets nothing of a server act.

mod hostile;
mod sample;

use candor::verify::{
    Phase, Reply, Step,
    report::{SCHEMA, exit_status, html, json, junit, safe_text, sarif, terminal},
};
use sample::{report, shop};
use serde_json::{Value, json};

use crate::judge::samples::{additive, lossy, step, trial, twice};

fn width(line: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(line)
}

#[test]
fn the_table_fits_and_shows_every_tool_with_its_four_marks() {
    for columns in [20, 72, 80, 120] {
        let text = terminal(&shop(), columns, false);
        for line in text.lines() {
            assert!(width(line) <= columns.max(72), "{columns}: {line}");
            assert_eq!(line, line.trim_end());
        }
        assert!(!text.contains('\x1b'));
    }
    let text = terminal(&shop(), 80, false);
    let row =
        |tool: &str| text.lines().find(|line| line.starts_with(tool)).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row("list_items"), ["list_items", "✓", "true", "✓", "false", "✓", "true", "?", "false"]);
    assert_eq!(row("drop_item"), ["drop_item", "✗", "true", "≠", "true", "-", "absent", "?", "false"]);
    assert_eq!(row("save_item"), ["save_item", "!", "nonsense", "~", "true", "~", "false", "?", "true"]);
}

#[test]
fn the_text_says_what_is_wrong_where_and_what_was_not_seen() {
    let text = terminal(&shop(), 80, false);
    for part in [
        "shop 1.2.0: 3 tools, 2 worlds, ",
        "Rung `worlds`; blind to connections, processes.",
        "✗ drop_item/readOnlyHint: true refuted (lossy)",
        "smallest world `triggers`",
        "  asks about it instead of refusing it: gemini-plan",
        "not in `plain`",
        "world `triggers`, case `one`, first (stdio, 2026-07-28):",
        "    files items/a.json: deleted (lossy)",
        "! save_item/readOnlyHint: nonsense malformed",
        "? untested openWorldHint: the rung `worlds` doesn't see connections",
        "list_items, drop_item, save_item",
        "Not counted, being bookkeeping:\n  git: a refreshed stat cache",
        "12 verdicts: 1 malformed, 1 refuted, 1 contradictory, 1 undeclared, 3 untested,\n  2 overstated, 3 holds",
        "acts-before-it-asks",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    let last = text.lines().rev().take(2).collect::<Vec<_>>();
    assert!(
        last.iter().any(|line| line.starts_with("Wrong: 1 malformed, 1 refuted, 1 contradictory, 1 fault;")),
        "{last:?}"
    );
    let fine = terminal(&report("t", "tf--", vec![]), 80, false);
    assert!(fine.ends_with("Nothing wrong; open: 2 undeclared, 2 untested.\n"), "{fine}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let coloured = terminal(&shop(), 80, true);
    assert!(coloured.contains("\x1b[31m✗ true\x1b[0m") && coloured.contains("\x1b[32m✓ true\x1b[0m"));
    let mut plain = String::new();
    for (at, part) in coloured.split('\x1b').enumerate() {
        plain += if at == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    assert_eq!(plain, terminal(&shop(), 80, false));
}

#[test]
fn the_json_is_valid_by_its_schema_and_the_schema_notices_a_change() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    for report in
        [shop(), hostile::report(), report("t", "xt-f", vec![]), report("t", "tftf", vec![twice("w", &[], &[])])]
    {
        let value = json(&report);
        let errors: Vec<_> =
            validator.iter_errors(&value).map(|error| format!("{error} at {}", error.instance_path())).collect();
        assert_eq!(errors, [""; 0]);
        assert_eq!(serde_json::from_str::<Value>(&safe_text(&value)).unwrap(), value);
    }
    let good = json(&shop());
    for (pointer, bad) in [
        ("/schema", json!("candor-verify/2")),
        ("/verdicts/0/outcome", json!("fine")),
        ("/verdicts/0/declared", json!(true)),
        ("/verdicts/0/hint", json!("readOnly")),
        ("/trials/0/steps/0/phase", json!("third")),
        ("/tools/0/hints/readOnlyHint", json!(null)),
        ("/counts/holds", json!(-1)),
        ("/status/plain", json!(2)),
        ("/findings/0/level", json!("error")),
    ] {
        let mut value = good.clone();
        *value.pointer_mut(pointer).unwrap() = bad;
        assert!(!validator.is_valid(&value), "{pointer}");
    }
    for member in good.as_object().unwrap().keys() {
        let mut value = good.clone();
        value.as_object_mut().unwrap().remove(member);
        assert!(!validator.is_valid(&value), "without {member}");
    }
}

#[test]
fn the_json_holds_the_verdicts_the_counts_and_every_trial() {
    let value = json(&shop());
    let verdict =
        value["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["id"] == "drop_item/readOnlyHint");
    let verdict = verdict.unwrap();
    assert_eq!(
        (&verdict["outcome"], &verdict["world"], &verdict["declared"]),
        (&json!("refuted"), &json!("triggers"), &json!({"is": true}))
    );
    assert_eq!(verdict["evidence"][0]["effects"][0]["place"], "items/a.json");
    assert_eq!(value["counts"]["refuted"], 1);
    assert_eq!(value["status"], json!({"plain": 1, "strict": 1}));
    assert_eq!(value["trials"].as_array().unwrap().len(), shop().observations.len());
    assert_eq!(value["tools"][2]["hints"]["readOnlyHint"], json!({"malformed": "null"}));
}

#[test]
fn the_sarif_has_a_result_for_what_is_wrong_and_none_for_what_holds() {
    let value = sarif(&shop());
    let run = &value["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: std::collections::BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "a rule stands there twice");
    let results = run["results"].as_array().unwrap();
    for result in results {
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[at]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let location = &result["locations"][0];
        assert!(location["logicalLocations"][0]["fullyQualifiedName"].is_string());
        let uri = location["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.starts_with("tools/list/") && !uri.contains(' '), "code scanning refuses the file: {uri}");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
    }
    let find = |id: &str| results.iter().find(|result| result["partialFingerprints"]["candor/v1"] == id);
    let refuted = find("drop_item/readOnlyHint").unwrap();
    assert_eq!((&refuted["ruleId"], &refuted["level"]), (&json!("refuted/readOnlyHint"), &json!("error")));
    let text = refuted["message"]["text"].as_str().unwrap();
    assert!(text.contains("world `triggers`") && text.contains("items/a.json deleted (lossy)"), "{text}");
    let levels = [
        "save_item/readOnlyHint",
        "drop_item/destructiveHint",
        "drop_item/idempotentHint",
        "save_item/destructiveHint",
    ]
    .map(|id| find(id).unwrap()["level"].as_str().unwrap());
    assert_eq!(levels, ["error", "error", "warning", "note"]);
    assert!(find("list_items/readOnlyHint").is_none(), "holds");
    assert!(find("list_items/openWorldHint").is_none(), "untested");
    assert_eq!(find("save_item/acts-before-it-asks").unwrap()["level"], "error");
    assert!(shop().findings.iter().all(|finding| find(&finding.id).is_some()));
    assert_eq!(run["properties"]["untested"], 3);
}

#[test]
fn the_junit_passes_only_what_holds() {
    let text = junit(&shop());
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    let number = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<usize>().unwrap();
    let count =
        |node: roxmltree::Node<'_, '_>, name: &str| node.descendants().filter(|node| node.has_tag_name(name)).count();
    for suite in root.children().filter(roxmltree::Node::is_element).chain([root]) {
        for (attribute, tag) in [("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")] {
            assert_eq!(number(suite, attribute), count(suite, tag), "{attribute} of {:?}", suite.attribute("name"));
        }
    }
    assert_eq!((count(root, "testcase"), count(root, "failure"), count(root, "skipped")), (13, 4, 6));
    let failure = document.descendants().find(|node| node.attribute("type") == Some("refuted")).unwrap();
    assert!(failure.text().unwrap().contains("triggers, one, first: files items/a.json: deleted (lossy)"));
}

#[test]
fn the_page_stands_alone_and_opens_without_a_script() {
    let page = html(&shop());
    for forbidden in ["<script", "http://", "https://", "url(", "@import", " src=", "<link", "onclick", "<iframe"] {
        assert!(!page.to_lowercase().contains(forbidden), "{forbidden}");
    }
    assert_eq!(page.matches("<details>").count(), 3);
    for part in [
        "default-src 'none'",
        "drop_item",
        "refuted",
        "items/a.json",
        "a refreshed stat cache",
        "What known clients do because of it",
        "<li>runs it without a question: ",
        "connections, processes",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Void elements aside, what is opened is closed in order: it is XML but for the first lines.
    let body = format!("<html>{}", page.split_once("</head>").unwrap().1);
    roxmltree::Document::parse(&body).unwrap();
}

#[test]
fn an_exit_status_follows_from_verdicts_and_faults() {
    let status = |letters: &str, trials: Vec<_>| {
        let report = report("t", letters, trials);
        [exit_status(&report, false), exit_status(&report, true)]
    };
    let contacts = [crate::judge::samples::contact()];
    let quiet = || vec![twice("plain", &contacts, &[])];
    assert_eq!(status("tftt", quiet()), [0, 0], "holds");
    assert_eq!(status("tftf", vec![twice("plain", &[], &[])]), [0, 1], "untested");
    assert_eq!(status("tf-t", quiet()), [0, 1], "undeclared");
    assert_eq!(status("tfft", quiet()), [0, 1], "overstated");
    assert_eq!(status("xftt", quiet()), [1, 1], "malformed");
    assert_eq!(status("tttt", quiet()), [1, 1], "contradictory");
    assert_eq!(status("tftt", vec![twice("plain", &[additive("a"), contacts[0].clone()], &[])]), [1, 1], "refuted");
    let asks = |asking: &[_]| {
        let effects = [lossy("a"), contacts[0].clone()];
        let second = Step { reply: Some(Reply::Success), ..step(Phase::Second, &[lossy("b")]) };
        vec![trial("plain", &[step(Phase::Asking, asking), step(Phase::First, &effects), second])]
    };
    assert_eq!(status("ftft", asks(&[])), [0, 0], "asks first");
    assert_eq!(status("ftft", asks(&[additive("a")])), [1, 1], "acts before it asks");
}
