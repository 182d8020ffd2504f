//! A server that tries to act through its report.

use candor::verify::{
    Definition, Effect, Grade, Observation, Phase, Reply, Sight, Step,
    report::{Report, Server, html, json, junit, safe_text, sarif, terminal},
};

use crate::judge::samples::{raw, trial};

/// Terminal, bidi and invisible characters, HTML, XML, a line of its own, and what Markdown needs.
const EVIL: &str = "x\u{1b}[31m\u{9b}2J\u{7}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{fffe}\r\n✓ all holds<script>alert(1)</script>\"'&]]>--><b>`|\u{0}\u{7f}\u{2028}漢字";

/// Every text that comes from a server or a world is hostile.
pub(crate) fn report() -> Report {
    let evil = serde_json::to_string(EVIL).unwrap();
    let tool = raw(&format!(
        r#""name":{evil},"title":{evil},"description":{evil},
           "inputSchema":{{"properties":{{{evil}:{{"enum":["get",{evil},"delete"]}}}}}},
           "annotations":{{"title":"other","readOnlyHint":true,"destructiveHint":{evil},{evil}:1,"read_only_hint":1}}"#
    ));
    let untested = raw(&format!(r#""name":"other\n{}","annotations":{evil}"#, "漢".repeat(60)));
    let effects = [
        Effect::new(Grade::Lossy, "files", EVIL, EVIL),
        Effect::excused("git", EVIL, EVIL, "a rule"),
        Effect::new(Grade::Additive, "text", "a".repeat(400), "b ".repeat(300)),
    ];
    let step = |phase, reply| Step { phase, reply, effects: effects.to_vec() };
    let refused = || Some(Reply::Refused { text: EVIL.into() });
    let trials = [
        trial(EVIL, &[step(Phase::Idle, None)]),
        trial("plain", &[step(Phase::Asking, None), step(Phase::First, refused())]),
        Observation { problem: Some(EVIL.into()), ..trial(EVIL, &[step(Phase::First, Some(Reply::Success))]) },
        trial(EVIL, &[step(Phase::Second, Some(Reply::Error { code: 1, message: EVIL.into() }))]),
    ];
    let trials =
        trials.into_iter().map(|trial| Observation { tool: EVIL.into(), case: EVIL.into(), ..trial }).collect();
    let server = Server { name: Some(EVIL.into()), version: Some(EVIL.into()), command: EVIL.into() };
    let sight = Sight {
        changes: true,
        connections: false,
        rung: "worlds",
        blind_to: vec![EVIL.into()],
        why: Some(EVIL.into()),
    };
    let uncalled = vec![(untested.name.clone(), EVIL.to_owned())];
    Report::new(server, sight, Definition::AnthropicDirectory, vec![tool, untested], trials, uncalled, 0.0)
}

/// Characters that act on whoever shows them.
fn acts(char: char) -> bool {
    let invisible = ['\u{200b}', '\u{feff}', '\u{2028}', '\u{2029}', '\u{e0041}', '\u{fffe}'];
    (char.is_control() && char != '\n')
        || ('\u{202a}'..='\u{202e}').contains(&char)
        || ('\u{2066}'..='\u{2069}').contains(&char)
        || invisible.contains(&char)
}

fn assert_tame(form: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|char| acts(*char)).collect();
    assert!(found.is_empty(), "{form}: {found:?}");
    assert!(!text.lines().any(|line| line.starts_with("✓ all")), "{form}: a line of its own");
}

#[test]
fn no_character_of_a_server_acts_in_any_form() {
    let report = report();
    // Each width wraps elsewhere.
    for columns in 72..160 {
        let text = terminal(&report, columns, false);
        assert_tame("terminal", &text);
        for line in text.lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= columns, "{line}");
        }
    }
    assert_tame("json", &safe_text(&json(&report)));
    assert_tame("sarif", &safe_text(&sarif(&report)));
    assert_tame("junit", &junit(&report));
    assert_tame("html", &html(&report));
}

#[test]
fn markup_of_a_server_is_text_in_pages_and_xml() {
    let report = report();
    let page = html(&report);
    assert!(!page.contains("<script") && !page.contains("<b>`"), "markup came through");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    let body = format!("<html>{}", page.split_once("</head>").unwrap().1);
    roxmltree::Document::parse(&body).unwrap();
    let head = page.split_once("</title>").unwrap().0;
    assert!(head.contains("&lt;script&gt;"));
    let xml = junit(&report);
    let document = roxmltree::Document::parse(&xml).unwrap();
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));
    assert!(document.descendants().any(|node| node.attribute("name").is_some_and(|name| name.contains("<script>"))));
}

#[test]
fn names_in_the_json_are_exactly_those_of_the_server() {
    let value: serde_json::Value = serde_json::from_str(&safe_text(&json(&report()))).unwrap();
    assert_eq!(value["tools"][0]["name"], EVIL);
    assert_eq!(value["verdicts"][0]["tool"], EVIL);
    assert_eq!(value["trials"][0]["world"], EVIL);
}
