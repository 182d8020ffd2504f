//! What the rows of a table count for: data, or what SQLite keeps for itself.

use std::collections::BTreeMap;

use super::store::Object;

/// What a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Rows that somebody put there.
    Data,
    /// Bookkeeping, by this rule.
    Kept(&'static str),
    /// A virtual table whose rows are read through it, since its own tables hold them encoded.
    Encoded,
    /// A virtual table that needs no look: its rows lie in tables of its own.
    Elsewhere,
    /// A table of a virtual table whose module is unknown.
    Unknown,
}

const SEQUENCE: &str = "`sqlite_sequence` only remembers the greatest row number of a table";
const STATISTICS: &str = "tables named `sqlite_…` hold what SQLite keeps for itself";
const INDEX: &str = "the index of a full-text table follows its rows, which are judged in its content table";
const NODES: &str = "these are the nodes of an R-tree, whose rows are judged as the R-tree gives them";

/// What each table of a schema is.
pub(super) fn standings(objects: &BTreeMap<String, Object>) -> BTreeMap<&str, Standing> {
    let tables = || objects.iter().filter(|(_, object)| object.kind == "table").map(|(name, object)| (&**name, object));
    let mut standings: BTreeMap<&str, Standing> = tables().map(|(name, _)| (name, Standing::Data)).collect();
    for (name, object) in tables() {
        if name == "sqlite_sequence" {
            standings.insert(name, Standing::Kept(SEQUENCE));
        } else if name.starts_with("sqlite_") {
            standings.insert(name, Standing::Kept(STATISTICS));
        }
        let Some(module) = object.sql.as_deref().and_then(module) else { continue };
        let mut own = |suffixes: &[&str], standing| {
            for suffix in suffixes {
                if let Some(found) = standings.get_mut(&*format!("{name}_{suffix}")) {
                    *found = standing;
                }
            }
        };
        let standing = match module.to_ascii_lowercase().as_str() {
            "fts5" | "fts4" | "fts3" => {
                own(&["data", "idx", "config", "segments", "segdir", "stat"], Standing::Kept(INDEX));
                // Without a content table of its own, only this one has a row for each text.
                if objects.contains_key(&format!("{name}_content")) {
                    own(&["docsize"], Standing::Kept(INDEX));
                }
                Standing::Elsewhere
            }
            "rtree" | "rtree_i32" => {
                own(&["node", "rowid", "parent"], Standing::Kept(NODES));
                Standing::Encoded
            }
            _ => {
                let prefix = format!("{name}_");
                let theirs = standings.iter_mut().filter(|(other, _)| other.starts_with(&prefix));
                theirs.for_each(|(_, standing)| *standing = Standing::Unknown);
                Standing::Elsewhere
            }
        };
        standings.insert(name, standing);
    }
    standings
}

/// The module of a virtual table, from its definition as SQLite writes it down; empty if it can't
/// be told, `None` for any other table.
fn module(sql: &str) -> Option<&str> {
    let rest = sql.strip_prefix("CREATE VIRTUAL TABLE ")?;
    let after_name = match rest.chars().next()? {
        quote @ ('"' | '\'' | '`' | '[') => {
            let end = if quote == '[' { ']' } else { quote };
            let mut rest = rest.get(1..)?;
            loop {
                rest = rest.split_once(end)?.1;
                match rest.strip_prefix(end).filter(|_| quote != '[') {
                    Some(more) => rest = more,
                    None => break rest,
                }
            }
        }
        _ => rest.split_once(char::is_whitespace)?.1,
    };
    let mut words = after_name.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty());
    let is_using = words.next().is_some_and(|word| word.eq_ignore_ascii_case("using"));
    Some(words.next().filter(|_| is_using).unwrap_or_default())
}
