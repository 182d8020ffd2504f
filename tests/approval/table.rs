//! The table that `candor tools --decisions` prints, and the JSON beside it.

use std::collections::BTreeSet;

use candor::{
    approval::{
        Hints, Rule,
        clients::{Conduct, RECOMMENDED, known},
        json, table,
    },
    hints::{Hint, HintName},
};

#[test]
fn the_table_fits_eighty_columns_and_shows_every_combination_client_and_rule() {
    let table = table();
    for line in table.lines() {
        assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
    }
    let rows: BTreeSet<&str> = table.lines().filter_map(|line| combination(line)).collect();
    assert_eq!(rows.len(), 81);
    for client in known() {
        assert!(table.lines().any(|line| line == client.id), "{}", client.id);
    }
    for rule in Rule::ALL {
        assert!(table.lines().any(|line| line == rule.id()), "{}", rule.id());
    }
}

fn combination(line: &str) -> Option<&str> {
    let start = line.get(..7)?;
    let letters = start.chars().step_by(2).all(|letter| "TF-".contains(letter));
    (letters && start.chars().skip(1).step_by(2).all(|space| space == ' ')).then_some(start)
}

#[test]
fn a_row_says_what_each_group_does() {
    let table = table();
    let row = |start: &str| table.lines().find(|line| line.starts_with(start)).unwrap();
    // Contradictory: Codex asks in `auto`, and runs in `writes`.
    assert!(row("T T - -").contains("  warn     no     no      untrusted  warn      a R "), "{}", row("T T - -"));
    assert!(row("T F T F").contains("  run      yes    yes     own        ask       r r "), "{}", row("T F T F"));
}

/// Which combinations a portrait's lines of this beginning match.
fn matched(portrait: &str, beginning: &str) -> BTreeSet<String> {
    let mut lines = portrait.lines().skip_while(|line| !line.starts_with(beginning)).peekable();
    let Some(first) = lines.next() else { return BTreeSet::new() };
    let more = lines.take_while(|line| line.starts_with(&" ".repeat(beginning.len())));
    let patterns = std::iter::once(&first[beginning.len()..]).chain(more).flat_map(str::split_whitespace);
    let mut combinations = BTreeSet::new();
    for pattern in patterns {
        let start = vec![String::new()];
        combinations.extend(pattern.chars().fold(start, |all, letter| {
            let letters = if letter == '*' { "TF-".to_owned() } else { letter.to_string() };
            all.iter().flat_map(|text| letters.chars().map(move |letter| format!("{text}{letter}"))).collect()
        }));
    }
    combinations
}

fn hints(letters: &str) -> Hints {
    letters.chars().zip(HintName::ALL).fold(Hints::empty_object(), |hints, (letter, name)| match letter {
        'T' => hints.with(name, Hint::Is(true)),
        'F' => hints.with(name, Hint::Is(false)),
        _ => hints,
    })
}

#[test]
fn the_patterns_of_a_client_match_exactly_where_it_differs() {
    let table = table();
    let all = matched("all ****", "all ");
    assert_eq!(all.len(), 81);
    for client in known() {
        let portrait = table.split(&format!("\n{}\n", client.id)).nth(1).unwrap().split("\n\n").next().unwrap();
        for (server, trusted) in [("trusted  ", true), ("untrusted", false)] {
            let both =
                |letters: &str| [client, &RECOMMENDED].map(|client| client.conduct(&hints(letters), trusted).unwrap());
            let expect = |aspect: &str, differs: &dyn Fn([Conduct; 2]) -> bool| {
                let expected: BTreeSet<String> = all.iter().filter(|letters| differs(both(letters))).cloned().collect();
                let (aspect, word) = aspect.split_once(' ').unwrap();
                let beginning = format!("  {aspect:<9}{server} {word:<9}");
                assert_eq!(matched(portrait, &beginning), expected, "{} {beginning}", client.id);
            };
            expect("question laxer", &|[theirs, ours]| theirs.prompt.is_some_and(|prompt| Some(prompt) < ours.prompt));
            expect("question stricter", &|[theirs, ours]| theirs.prompt > ours.prompt);
            expect("parallel laxer", &|[theirs, ours]| theirs.parallel == Some(true) && ours.parallel == Some(false));
            expect("replay laxer", &|[theirs, ours]| theirs.replay == Some(true) && ours.replay == Some(false));
            expect("replay stricter", &|[theirs, ours]| theirs.replay == Some(false) && ours.replay == Some(true));
        }
    }
}

#[test]
fn the_json_holds_every_decision_with_its_rules() {
    let json = json();
    let decisions = json["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 4 * 4 * 4 * 4 * 3);
    let ids: Vec<&str> = json["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    for decision in decisions {
        let rules = decision["rules"].as_array().unwrap();
        assert!(!rules.is_empty() && rules.iter().all(|rule| ids.contains(&rule.as_str().unwrap())), "{decision}");
    }
    let lied = decisions.iter().find(|row| row["hints"] == "T---" && row["trust"] == "untrusted").unwrap();
    assert_eq!(lied["decision"], "ask");
    assert_eq!(json["clients"].as_array().unwrap().len(), known().count());
}
