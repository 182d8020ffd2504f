//! Values for a parameter by its name.

use serde_json::{Value, json};

use super::{
    inventory::Inventory,
    record::{self, Record, score, words},
    sql,
};

/// Where values come from that no schema names.
pub(super) struct Source<'a> {
    /// The words of the tool's name.
    tool: Vec<String>,
    inventory: &'a Inventory,
    records: Vec<Record>,
}

/// The name of a parameter, and what its schema takes.
pub(super) type Asked<'a> = (&'a str, &'a dyn Fn(&Value) -> bool);

/// Values of one parameter, and sets of values that belong together.
const VALUES: usize = 6;
const SETS: usize = 3;
/// Last words of names of places in a file system, and of texts that somebody writes.
const PLACE: [&str; 8] = ["path", "paths", "filename", "filepath", "pathname", "file", "dir", "directory"];
const PROSE: [&str; 7] = ["text", "content", "contents", "body", "message", "comment", "description"];
/// What nothing in a world is called.
pub(super) const FRESH: &str = "candor-new";

impl<'a> Source<'a> {
    pub(super) fn new(tool: &str, inventory: &'a Inventory, known: &[Value]) -> Self {
        let mut records = record::of_results(known);
        records.extend(inventory.records());
        Self { tool: words(tool), inventory, records }
    }

    /// Candidates, the best first; those that a schema doesn't take are for the caller to drop.
    /// Empty if the name says nothing.
    pub(super) fn values(&self, name: &str, takes: &dyn Fn(&Value) -> bool) -> Vec<Value> {
        let parameter = words(name);
        let last = parameter.last().map_or("", String::as_str);
        let has = |any: &[&str]| parameter.iter().any(|word| any.contains(&word.as_str()));
        // `repo`, `repo_path` and `repo_dir`, and not `repo_branch`.
        let place = |any: &[&str]| any.contains(&last) || (has(any) && (PLACE.contains(&last) || last == "name"));
        let mut values: Vec<Value> = Vec::new();
        let world = &self.inventory;
        let inside = |places: &[String]| Inventory::paths(places).collect::<Vec<_>>();
        let fresh_path = || json!(format!("{{world}}/{FRESH}.txt"));
        if ["sql", "statement"].contains(&last) || (last == "query" && !world.tables.is_empty()) {
            return sql::statements(world).into_iter().filter(takes).collect();
        }
        if PROSE.contains(&last) {
            let texts = ["A line that candor wrote.\n", "Another line.\n"].map(|text| json!(text));
            return texts.into_iter().filter(takes).collect();
        }
        if ["timezone", "tz"].contains(&last) || parameter.ends_with(&["time".into(), "zone".into()]) {
            values.extend(["UTC", "Asia/Kolkata"].map(|zone| json!(zone)));
        } else if last == "time" {
            values.extend(["09:30", "2026-03-02T09:30:00Z"].map(|time| json!(time)));
        } else if !world.repositories.is_empty() && ["revision", "rev", "ref", "target"].contains(&last) {
            values.extend(["HEAD", "HEAD~1"].map(|revision| json!(revision)));
        } else if ["url", "uri", "href", "link", "endpoint"].contains(&last) {
            values.extend(["{listener}/", "{listener}/missing", "{listener}/redirect"].map(|url| json!(url)));
        } else if place(&["repo", "repository", "cwd", "workdir", "workspace", "project", "root"]) {
            values.extend(inside(&world.repositories));
            values.push(json!("{world}"));
        } else if place(&["db", "database"]) {
            values.extend(inside(&world.databases));
        } else if place(&["dir", "directory", "folder"]) {
            values.extend(inside(&world.directories));
            values.push(json!("{world}"));
        } else if place(&["destination", "dest"]) {
            values.push(fresh_path());
            values.extend(inside(&world.files));
        } else if PLACE.contains(&last) || place(&["file", "files", "source"]) {
            values.extend(inside(&world.files));
            values.insert(values.len().min(1), fresh_path());
            values.push(json!("{world}"));
        }
        values.retain(takes);
        values.truncate(VALUES);
        self.known(&parameter, takes, &mut values);
        values
    }

    /// What earlier calls returned and the world holds, and one name that nothing has.
    fn known(&self, parameter: &[String], takes: &dyn Fn(&Value) -> bool, values: &mut Vec<Value>) {
        let before = values.len();
        let mut found: Vec<(u8, &Value)> = Vec::new();
        for record in &self.records {
            for (key, value) in &record.members {
                let score = score(parameter, &self.tool, &record.container, key);
                if score > 0 && takes(value) && !found.iter().any(|(_, known)| *known == value) {
                    found.push((score, value));
                }
            }
        }
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        // A weak match is a guess that a good one makes needless.
        let best = found.first().map_or(0, |(score, _)| *score);
        let good = found.into_iter().filter(|(score, _)| *score >= 2 || best < 2);
        values.extend(good.take(VALUES).map(|(_, value)| value.clone()));
        let fresh = json!(FRESH);
        if values.len() > before && takes(&fresh) {
            values.insert(before + 1, fresh);
        }
    }

    /// Sets of values that stood together, for at least two of these parameters.
    pub(super) fn together(&self, parameters: &[Asked<'_>]) -> Vec<Vec<(String, Value)>> {
        let mut sets = Vec::new();
        for record in &self.records {
            let mut set: Vec<(String, Value)> = Vec::new();
            let mut used: Vec<&str> = Vec::new();
            for (name, takes) in parameters {
                let parameter = words(name);
                // What somebody writes is not taken from what somebody else wrote.
                if parameter.last().is_some_and(|word| PROSE.contains(&word.as_str())) {
                    continue;
                }
                let scored = record
                    .members
                    .iter()
                    .filter(|(key, _)| !used.contains(&key.as_str()))
                    .map(|(key, value)| (score(&parameter, &self.tool, &record.container, key), key, value));
                let fitting = scored.filter(|(score, _, value)| *score >= 2 && takes(value));
                if let Some((_, key, value)) = fitting.rev().max_by_key(|(score, ..)| *score) {
                    used.push(key);
                    set.push(((*name).to_owned(), value.clone()));
                }
            }
            if set.len() >= 2 && !sets.contains(&set) {
                sets.push(set);
            }
            if sets.len() == SETS {
                break;
            }
        }
        sets
    }

    /// Tables and rows for them.
    pub(super) fn rows(&self) -> Vec<(&str, [serde_json::Map<String, Value>; 2])> {
        sql::rows(self.inventory)
    }
}
