//! The table that `candor tools --decisions` prints, and the JSON beside it.

use candor::approval::{Rule, clients::known, json, table};

#[test]
fn the_table_fits_eighty_columns_and_shows_every_combination_client_and_rule() {
    let table = table();
    for line in table.lines() {
        assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
    }
    let rows: std::collections::BTreeSet<&str> = table.lines().filter_map(|line| combination(line)).collect();
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

/// The differences as patterns match exactly the combinations in which a client differs.
#[test]
fn the_patterns_of_a_client_are_its_differences() {
    let table = table();
    let portrait = table.split("\ndocker-balanced\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(portrait.contains("  question trusted   stricter FF*F -F*F"), "{portrait}");
    assert!(portrait.contains("  question untrusted laxer    TF** T-**"), "{portrait}");
    let always = table.split("\ngoose-auto\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(always.contains("  question untrusted laxer    ****"), "{always}");
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
