//! Names that contradict hints.

use super::{Notes, quoted};
use crate::{
    hints::HintName,
    verify::{Level, Rule},
};

/// What a verb does to what exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Reads,
    Adds,
    Changes,
    Destroys,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Adds => "adds",
            Self::Changes => "changes",
            Self::Destroys => "destroys",
        }
    }
}

const READS: &[&str] = &[
    "list", "get", "read", "fetch", "search", "find", "query", "describe", "show", "view", "count", "lookup",
    "inspect", "check", "preview", "head", "options", "browse", "status", "diff", "validate", "explain",
];
const ADDS: &[&str] = &[
    "create",
    "add",
    "insert",
    "append",
    "post",
    "send",
    "upload",
    "publish",
    "register",
    "comment",
    "clone",
    "copy",
    "new",
    "enqueue",
    "submit",
    "subscribe",
    "invite",
];
const CHANGES: &[&str] = &[
    "update",
    "edit",
    "set",
    "write",
    "replace",
    "rename",
    "move",
    "modify",
    "patch",
    "save",
    "merge",
    "put",
    "upsert",
    "rewrite",
    "overwrite",
    "assign",
    "enable",
    "disable",
    "restore",
    "reset",
    "rebase",
    "checkout",
    "increment",
];
const DESTROYS: &[&str] = &[
    "delete",
    "remove",
    "drop",
    "purge",
    "erase",
    "destroy",
    "truncate",
    "clear",
    "wipe",
    "uninstall",
    "revoke",
    "kill",
    "terminate",
    "prune",
    "discard",
    "unlink",
    "rm",
    "del",
];

/// What a word does, if it is a verb that we know.
pub(super) fn kind(word: &str) -> Option<Kind> {
    let all = [(Kind::Reads, READS), (Kind::Adds, ADDS), (Kind::Changes, CHANGES), (Kind::Destroys, DESTROYS)];
    all.into_iter().find(|(_, words)| words.contains(&word)).map(|(kind, _)| kind)
}

/// The words of a name in snake, kebab, dotted or camel case, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars() {
        let starts = !char.is_alphanumeric() || (char.is_uppercase() && was_lower);
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (char.is_alphanumeric(), words.last_mut()) {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase() || char.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

pub(super) fn names(notes: &mut Notes<'_>) {
    let words = words(&notes.tool.name);
    outside(notes, &words);
    let mut verbs = words.iter().filter_map(|word| Some((word, kind(word)?)));
    let Some((verb, kind)) = verbs.next() else { return };
    // `post_get` and `delete_check` can be read both ways.
    let level = if verbs.any(|(_, other)| other != kind) { Level::Note } else { Level::Warning };
    let verb = quoted(verb);
    let read_only = notes.is(HintName::ReadOnly, true);
    let text = match kind {
        Kind::Reads if notes.is(HintName::ReadOnly, false) => {
            let text = format!("{verb} sounds like a tool that only reads, but it says that it writes");
            return notes.add(
                Rule::Name,
                None,
                Level::Note,
                format!("{text}; name what it writes, or call it read-only"),
            );
        }
        Kind::Adds | Kind::Changes | Kind::Destroys if read_only => {
            format!("a tool that {} ({verb}) says that it is read-only", kind.name())
        }
        Kind::Destroys if notes.is(HintName::Destructive, false) => {
            format!("a tool that destroys ({verb}) says that it isn't destructive")
        }
        Kind::Changes if notes.is(HintName::Destructive, false) => {
            format!("a tool that changes what exists ({verb}) says that it isn't destructive; only adding isn't")
        }
        _ => return,
    };
    notes.add(Rule::Name, None, level, text);
}

const OUTSIDE: &[&str] = &["web", "url", "internet", "http", "https", "email", "mail", "browse", "download", "webhook"];

fn outside(notes: &mut Notes<'_>, words: &[String]) {
    let Some(word) = words.iter().find(|word| OUTSIDE.contains(&word.as_str())) else { return };
    if notes.is(HintName::OpenWorld, false) {
        let text = format!("{} sounds like the open world, but the tool says that its world is closed", quoted(word));
        notes.add(Rule::Name, Some("open-world"), Level::Note, text);
    }
}
