//! What can be said about a tool by reading it: the six questions of the annotation checklist, keys
//! that only look like hints, and what directories demand. Each rule works on words and can be
//! wrong about one tool; that is why none of them is a verdict.

mod modes;
mod names;

use candor_tools::shown;

use super::{Definition, Finding, Level, Rule};
use crate::hints::{Annotations, DeclaredTool, Hint, HintName};

/// Longer titles are cut by clients.
const TITLE_CHARS: usize = 60;

/// Read every tool, in the order of the list.
#[must_use]
pub fn lint(tools: &[DeclaredTool], definition: Definition) -> Vec<Finding> {
    let mut findings = Vec::new();
    for tool in tools {
        let mut notes = Notes { tool, findings: &mut findings };
        titles(&mut notes);
        explicit(&mut notes);
        contradictions(&mut notes);
        description(&mut notes);
        modes::modes(&mut notes);
        names::names(&mut notes);
        near_misses(&mut notes);
        directory(&mut notes, definition);
    }
    findings
}

/// The findings about one tool.
struct Notes<'a> {
    tool: &'a DeclaredTool,
    findings: &'a mut Vec<Finding>,
}

impl Notes<'_> {
    fn add(&mut self, rule: Rule, part: Option<&str>, level: Level, text: impl Into<String>) {
        let name = &self.tool.name;
        let id = format!("{name}/{}", rule.name());
        let id = part.map_or_else(|| id.clone(), |part| format!("{id}/{part}"));
        self.findings.push(Finding { id, tool: Some(name.clone()), rule, level, text: text.into() });
    }

    fn is(&self, hint: HintName, value: bool) -> bool {
        *self.tool.hint(hint) == Hint::Is(value)
    }
}

fn titles(notes: &mut Notes<'_>) {
    let tool = notes.tool;
    if tool.titles_differ() {
        let [one, other] = [&tool.title, &tool.annotations_title].map(|title| quoted(title.as_deref().unwrap_or("")));
        let text =
            format!("clients disagree which title to show: {one} or, in the annotations, {other}; make them equal");
        notes.add(Rule::Title, Some("differs"), Level::Warning, text);
    }
    let Some(title) = tool.title.as_ref().or(tool.annotations_title.as_ref()).filter(|title| !title.trim().is_empty())
    else {
        return notes.add(Rule::Title, None, Level::Warning, "no title; people see the bare name of the tool");
    };
    let symbol = !title.contains(' ') && (*title == tool.name || names::words(title).len() > 1);
    let text = if title.chars().any(char::is_control) || shown(title, usize::MAX) != title.replace('\\', "\\\\") {
        "has characters that can't be seen"
    } else if title.chars().count() > TITLE_CHARS {
        "is long; clients cut titles"
    } else if symbol {
        "is a name for programs; say what the tool does in words"
    } else {
        return;
    };
    notes.add(Rule::Title, None, Level::Warning, format!("the title {} {text}", quoted(title)));
}

fn explicit(notes: &mut Notes<'_>) {
    let tool = notes.tool;
    if let Annotations::Malformed(found) = &tool.annotations {
        return notes.add(Rule::Explicit, None, Level::Warning, format!("`annotations` is no object: {found}"));
    }
    let absent: Vec<HintName> = HintName::ALL.into_iter().filter(|hint| *tool.hint(*hint) == Hint::Absent).collect();
    if !absent.is_empty() {
        let absent = absent.iter().map(|hint| format!("`{hint}` ({} by default)", hint.default()));
        let absent = absent.collect::<Vec<_>>().join(", ");
        notes.add(
            Rule::Explicit,
            None,
            Level::Warning,
            format!("not said: {absent}; clients differ in what they assume"),
        );
    }
}

fn contradictions(notes: &mut Notes<'_>) {
    if notes.tool.contradicts_itself() {
        let text = "read-only and destructive at once; clients differ in which of the two they believe";
        notes.add(Rule::Contradiction, None, Level::Warning, text);
    } else if notes.is(HintName::ReadOnly, true) && notes.is(HintName::Idempotent, false) {
        let text = "read-only but not idempotent, though a call that changes nothing can be repeated";
        notes.add(Rule::Contradiction, None, Level::Note, text);
    }
}

/// Words of which a warning has one; beginnings, so that `delet` stands for all its forms.
const LOSS: [&str; 27] = [
    "delet",
    "remov",
    "overwrit",
    "replac",
    "lose",
    "lost",
    "loss",
    "eras",
    "drop",
    "destr",
    "irrevers",
    "cannot be",
    "can't be",
    "permanent",
    "undo",
    "undone",
    "recover",
    "discard",
    "purge",
    "wipe",
    "truncat",
    "chang",
    "updat",
    "modif",
    "alter",
    "revok",
    "terminat",
];
const OUTSIDE: [&str; 21] = [
    "internet",
    "web",
    "url",
    "http",
    "extern",
    "public",
    "third part",
    "third-part",
    "outside",
    "untrusted",
    "remote",
    "online",
    "network",
    "host",
    "mail",
    "send",
    "post",
    "cloud",
    "api",
    "download",
    "upload",
];

fn description(notes: &mut Notes<'_>) {
    let text = notes.tool.description.to_lowercase();
    if text.trim().is_empty() {
        return notes.add(
            Rule::Description,
            None,
            Level::Warning,
            "no description; a model has only the name to go by",
        );
    }
    // Where a word begins, so that `pineapple` doesn't mention an API.
    let mentions = |stems: &[&str]| {
        stems.iter().any(|stem| {
            let preceded = |(at, _): (usize, &str)| text.get(..at).and_then(|before| before.chars().next_back());
            text.match_indices(stem).any(|hit| preceded(hit).is_none_or(|before| !before.is_alphanumeric()))
        })
    };
    let destructive = notes.is(HintName::Destructive, true) && !notes.is(HintName::ReadOnly, true);
    if destructive && !mentions(&LOSS) {
        let text = "destructive, but the description doesn't say what is changed or lost; not every client shows hints";
        notes.add(Rule::Description, Some("destructive"), Level::Warning, text);
    }
    if notes.is(HintName::OpenWorld, true) && !mentions(&OUTSIDE) {
        let text = "open-world, but the description doesn't say that it reaches outside; not every client shows hints";
        notes.add(Rule::Description, Some("open-world"), Level::Warning, text);
    }
}

fn near_misses(notes: &mut Notes<'_>) {
    for key in &notes.tool.unknown {
        let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let stem = plain.strip_suffix("hint").or(plain.strip_suffix("hints")).unwrap_or(&plain);
        let meant = HintName::ALL.into_iter().find(|hint| {
            let name = hint.name().to_lowercase();
            name.strip_suffix("hint").is_some_and(|name| distance_at_most_one(name, stem))
        });
        if let Some(meant) = meant {
            let text = format!("{} is no hint; the key is `{meant}`", quoted(key));
            notes.add(Rule::NearMiss, Some(key), Level::Warning, text);
        }
    }
}

/// Whether one word becomes the other by at most one letter more, less or different.
fn distance_at_most_one(one: &str, other: &str) -> bool {
    let same = |(one, other): &(char, char)| one == other;
    let start = one.chars().zip(other.chars()).take_while(same).count();
    let end = one.chars().rev().zip(other.chars().rev()).take_while(same).count();
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    long - short <= 1 && (short.max(1) - 1).max(long.max(1) - 1) <= start + end
}

fn directory(notes: &mut Notes<'_>, definition: Definition) {
    let tool = notes.tool;
    let said = |hint: HintName| matches!(tool.hint(hint), Hint::Is(_));
    let demanded: &[HintName] = match definition {
        Definition::Mcp => return,
        Definition::OpenaiDirectory => &[HintName::ReadOnly, HintName::Destructive, HintName::OpenWorld],
        // "The applicable one": a read-only tool needs no more.
        Definition::AnthropicDirectory if notes.is(HintName::ReadOnly, true) => &[],
        Definition::AnthropicDirectory => &[HintName::ReadOnly, HintName::Destructive],
    };
    for hint in demanded.iter().filter(|hint| !said(**hint)) {
        let text = format!("{definition} demands an explicit boolean for `{hint}` on every tool like this");
        notes.add(Rule::Directory, Some(hint.name()), Level::Warning, text);
    }
    if definition == Definition::AnthropicDirectory {
        if tool.title.is_none() && tool.annotations_title.is_none() {
            notes.add(Rule::Directory, Some("title"), Level::Warning, format!("{definition} demands a title"));
        }
        if modes::mixes_http_methods(&tool.input_schema) {
            let text = format!("{definition} rejects a tool that takes safe and unsafe HTTP methods");
            notes.add(Rule::Directory, Some("methods"), Level::Warning, text);
        }
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", shown(text, 60).replace('`', "'"))
}
