//! Each deviation is caught by the checks that are about it, and by no other.

use std::{collections::BTreeSet, process::Command, thread};

use super::{client, conform};

/// The bad clients, and the checks that catch them: `SCENARIO/CHECK`, where a `*` at the end of
/// either half stands for anything. Each must fail somewhere, and nothing else may.
const CAUGHT: &[(&str, &[&str])] = &[
    (
        "believes-anyone",
        &[
            "untrusted-read-only/asks-before-*",
            "trust-by-name/asks-before-*",
            "reply-lost-untrusted/no-unasked-repeat-*",
        ],
    ),
    ("trusts-by-name", &["trust-by-name/asks-before-read_note"]),
    ("trusts-nobody", &["*/runs-*"]),
    // Whatever asks because of what is absent goes unasked, and so shows no heading.
    (
        "takes-absent-for-safe",
        &[
            "no-annotations/asks-before-*",
            "one-hint-absent/asks-before-*",
            "unknown-keys/asks-before-misspelt",
            "title-precedence/shows-*",
            "deceptive-titles/clean-heading-*",
            "two-tools-one-title/headings-differ",
            "arguments-as-sent/*",
            "many-tools/asks-before-last_tool",
        ],
    ),
    ("takes-null-for-true", &["null-hint/asks-before-null_read_only"]),
    ("takes-text-for-true", &["text-hint/asks-before-odd", "text-hint/warns-about-odd"]),
    ("takes-one-for-true", &["number-hint/asks-before-odd", "number-hint/warns-about-odd"]),
    ("takes-the-last-key", &["duplicate-keys/asks-before-odd", "duplicate-keys/warns-about-odd"]),
    ("guesses-keys", &["unknown-keys/asks-before-misspelt"]),
    ("drops-odd-tools", &["text-hint/*", "number-hint/*", "duplicate-keys/*"]),
    ("lets-read-only-win", &["contradiction/asks-before-both", "contradiction/warns-about-both"]),
    ("warns-of-nothing", &["*/warns-about-*"]),
    ("hears-no-as-yes", &["user-says-no/withholds-drop_notes"]),
    ("shows-short-arguments", &["arguments-as-sent/arguments-in-full"]),
    ("prefers-inner-title", &["title-precedence/shows-both_titles"]),
    ("forgets-inner-title", &["title-precedence/shows-inner_title"]),
    ("shows-titles-raw", &["deceptive-titles/clean-heading-*"]),
    ("shows-twins-alike", &["two-tools-one-title/headings-differ"]),
    ("forgets-what-it-read", &["steered-by-content/asks-before-add_note", "steered-by-content/warns-about-add_note"]),
    ("never-lists-again", &["flip-announced/*", "flip-after-reconnect/*", "new-tool/*", "title-swapped/*"]),
    (
        "never-compares",
        &["flip-announced/*", "flip-after-reconnect/*", "flip-between-pages/*", "new-tool/*", "title-swapped/*"],
    ),
    ("reads-one-page", &["many-tools/reads-all-pages", "many-tools/asks-before-last_tool"]),
    ("always-lists-again", &["list-lifetime/respects-ttl"]),
    ("repeats-everything", &["reply-lost-*/no-unasked-repeat-*", "client-gives-up/cancels-slow_add"]),
    ("repeats-what-anyone-calls-idempotent", &["reply-lost-untrusted/no-unasked-repeat-save_note"]),
    ("never-cancels", &["user-stops/cancels-slow_read", "client-gives-up/cancels-slow_add"]),
    ("accepts-in-silence", &["elicitation-silence/*"]),
    ("accepts-always", &["elicitation-decline/*", "elicitation-cancel/*", "elicitation-silence/*"]),
    ("cancels-where-declined", &["elicitation-decline/says-decline"]),
    ("declines-where-cancelled", &["elicitation-cancel/says-cancel"]),
    ("hides-who-asks", &["elicitation-*/names-the-server"]),
    ("offers-what-it-lacks", &["elicitation-unsupported/offers-nothing"]),
    ("asks-before-everything", &["*/runs-*"]),
    // Without a question there is no sign of an approval channel: see `results.rs`.
    ("never-asks", &[]),
];

/// What can only go wrong in the era before streams were what cancels a call.
const LEGACY: &[&str] = &["never-cancels"];

fn matches(pattern: &str, name: &str) -> bool {
    let half = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    };
    let ((scenario, check), (in_scenario, failed)) = (pattern.split_once('/').unwrap(), name.split_once('/').unwrap());
    half(scenario, in_scenario) && half(check, failed)
}

fn is_caught(name: &str, patterns: &[&str]) -> Result<(), String> {
    let era = if LEGACY.contains(&name) { "2025-11-25" } else { "2026-07-28" };
    let bad = client("bad-client");
    let told = conform(&["--spec-version", era, "--jobs", "16"], &[bad.to_str().unwrap(), name]);
    let failed = told.checks("FAILURE");
    let unrelated = failed.iter().find(|failed| !patterns.iter().any(|pattern| matches(pattern, failed)));
    let unseen = patterns.iter().find(|pattern| !failed.iter().any(|failed| matches(pattern, failed)));
    match (unrelated, unseen) {
        _ if told.status != Some(i32::from(!patterns.is_empty())) => Err(format!("{name}: {:?}", told.status)),
        (Some(unrelated), _) => Err(format!("{name}: caught by {unrelated}")),
        (_, Some(unseen)) => Err(format!("{name}: not caught by {unseen}")),
        (None, None) => Ok(()),
    }
}

#[test]
fn each_bad_client_is_caught_by_its_checks_and_by_no_unrelated_one() {
    let listed = Command::new(client("bad-client")).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.lines().collect::<BTreeSet<_>>(), CAUGHT.iter().map(|(name, _)| *name).collect());
    // Three at a time: they mostly wait.
    let wrong: Vec<String> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..3)
            .map(|lane| {
                let share = CAUGHT.iter().skip(lane).step_by(3);
                scope.spawn(move || share.filter_map(|(name, by)| is_caught(name, by).err()).collect::<Vec<_>>())
            })
            .collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {} are caught:\n{}", CAUGHT.len() - wrong.len(), CAUGHT.len(), wrong.join("\n"));
}
