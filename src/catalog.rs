//! The tools as `candor tools` and the README show them. Everything comes from the inventory.

use std::fmt::Write;

use candor_tools::Scope;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::{
    approval::{Context, Hints, Trust, decide, impact},
    hints::{Hint, HintName},
};

/// The file that holds a tool, from the root of the repository.
#[must_use]
pub fn file_of(tool: &str) -> String {
    format!("tools/src/{tool}.rs")
}

/// A table of 80 columns: the five annotation fields and the scope of each tool.
#[must_use]
pub fn table(tools: &[Tool]) -> String {
    let mut text = row(["TOOL", "READS", "DESTR", "IDEMP", "OPEN", "SCOPE", "TITLE"]);
    for tool in tools {
        let [reads, destroys, repeats, open] = hints(tool).map(|(_, hint)| match hint {
            Some(true) => "yes",
            Some(false) => "no",
            None => "-",
        });
        text += &row([&tool.name, reads, destroys, repeats, open, scope(tool), title(tool)]);
    }
    text + "\nREADS readOnlyHint, DESTR destructiveHint, IDEMP idempotentHint, OPEN\n\
            openWorldHint. Each tool is one file: tools/src/TOOL.rs\n"
}

/// The README's table.
#[must_use]
pub fn markdown(tools: &[Tool]) -> String {
    let mut text = "| tool | title | readOnly | destructive | idempotent | openWorld | scope |\n\
                    |---|---|---|---|---|---|---|\n"
        .to_owned();
    for tool in tools {
        let [reads, destroys, repeats, open] = hints(tool).map(|(_, hint)| match hint {
            Some(true) => "**true**",
            Some(false) => "false",
            None => "",
        });
        let (name, file) = (&tool.name, file_of(&tool.name));
        let _ = writeln!(
            text,
            "| [`{name}`]({file}) | {} | {reads} | {destroys} | {repeats} | {open} | `{}` |",
            title(tool),
            scope(tool)
        );
    }
    text
}

/// Every tool as a client sees it, with its scope and file beside it, what a client should do with
/// it, and, for each hint, what known clients would do if it were false.
#[must_use]
pub fn json(tools: &[Tool]) -> Value {
    tools
        .iter()
        .map(|tool| {
            let declared = declared(tool);
            let approval = |trust| decide(&declared, Context { trust, ..Context::default() });
            json!({
                "tool": tool,
                "scope": Scope::of(tool),
                "file": file_of(&tool.name),
                "approval": {"trusted": approval(Trust::Trusted), "untrusted": approval(Trust::Untrusted)},
                "ifFalse": if_false(&declared),
            })
        })
        .collect()
}

/// For each boolean hint, whom it would deceive if it were false, and how.
fn if_false(declared: &Hints) -> Map<String, Value> {
    let impacts = |hint: HintName| match declared.get(hint) {
        Hint::Is(value) => Some((hint.name().to_owned(), json!(impact(declared, hint, !value)))),
        Hint::Absent | Hint::Malformed(_) => None,
    };
    HintName::ALL.into_iter().filter_map(impacts).collect()
}

fn declared(tool: &Tool) -> Hints {
    let hints = HintName::ALL.into_iter().zip(hints(tool));
    hints.fold(Hints::default(), |declared, (name, (_, hint))| match hint {
        Some(value) => declared.with(name, Hint::Is(value)),
        None => declared,
    })
}

fn row([tool, reads, destroys, repeats, open, scope, title]: [&str; 7]) -> String {
    let line = format!("{tool:<18}{reads:<6}{destroys:<6}{repeats:<6}{open:<5}{scope:<16}{title}");
    format!("{}\n", line.trim_end())
}

fn hints(tool: &Tool) -> [(&'static str, Option<bool>); 4] {
    let none = ToolAnnotations::default();
    let hints = tool.annotations.as_ref().unwrap_or(&none);
    [
        ("readOnlyHint", hints.read_only_hint),
        ("destructiveHint", hints.destructive_hint),
        ("idempotentHint", hints.idempotent_hint),
        ("openWorldHint", hints.open_world_hint),
    ]
}

fn title(tool: &Tool) -> &str {
    tool.title.as_deref().unwrap_or("")
}

fn scope(tool: &Tool) -> &'static str {
    Scope::of(tool).map_or("", Scope::name)
}
