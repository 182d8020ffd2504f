//! A case file to start from.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Case, one_line, placeholder, visible};
use crate::{
    hints::DeclaredTool,
    verify::synthesis::{Inventory, order, synthesise},
};

/// A case as it is written: what the reader takes for granted is left out.
#[derive(Serialize)]
struct Written<'a> {
    tool: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    literal: bool,
    arguments: Arguments<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Table(&'a Map<String, Value>),
    Json(String),
}

#[derive(Serialize)]
struct File<'a> {
    case: [Written<'a>; 1],
}

const HEAD: &str = "\
# Cases for `candor verify --case FILE`, synthesised from the server's schemas and from what the
# world holds. Check the arguments, then add what only you know: targets that exist and targets
# that don't, each mode of a tool, the call that loses the most.
#
# Each case may also say `worlds = [\"…\"]`, `answers = [\"decline\", \"cancel\", \"accept\"]` and
# `expect = \"success\"` or `\"refused\"`. `{world}` in a string is the path of the copy of the world,
# `{listener}` the origin of a server on loopback that notes which requests reach it.
";

/// Write a case file with what [`synthesise`] finds for each tool. [`read`](super::read) takes it
/// as it is, unless there is no case in it.
#[must_use]
pub fn suggest(tools: &[DeclaredTool], world: &Inventory) -> String {
    let mut text = HEAD.to_owned();
    for tool in order(tools).into_iter().filter_map(|at| tools.get(at)) {
        let found = synthesise(tool, world, &[]).and_then(|cases| {
            let written: Vec<_> = cases.iter().filter_map(write_case).collect();
            if written.is_empty() { Err("nothing found can be written down".to_owned()) } else { Ok(written) }
        });
        match found {
            Ok(cases) => text.extend(cases.into_iter().map(|case| format!("\n{case}"))),
            Err(why) => {
                let name = visible(&tool.name, 100);
                let _ = write!(text, "\n# No case for `{name}`: {}.\n# [[case]]\n# tool = ", one_line(&why, 300));
                let _ = writeln!(text, "{}", Value::String(name));
                text += "# name = \"…\"\n# arguments = { … }\n";
            }
        }
    }
    text
}

/// The text of a case, if the reader would take it.
fn write_case(case: &Case) -> Option<String> {
    let Case { tool, name, arguments, .. } = case;
    let write = |literal, arguments| toml::to_string(&File { case: [Written { tool, name, literal, arguments }] }).ok();
    let literal = arguments.values().any(|value| placeholder::slip(value).is_some());
    let as_text = || Some(Arguments::Json(serde_json::to_string(arguments).ok()?));
    // TOML has no null, and an integer of 64 bits has a sign.
    let text = if arguments.values().all(is_toml) { write(literal, Arguments::Table(arguments)) } else { None };
    let text = text.or_else(|| write(literal, as_text()?))?;
    let back = super::parse("", &text).ok()?;
    // What doesn't come back as it was (a placeholder inside a literal case) is no suggestion.
    let same = matches!(back.cases.as_slice(), [read] if read.arguments == *arguments && read.tool == *tool);
    let filled = |value| placeholder::NAMES.iter().any(|name| placeholder::names(value, name));
    (same && !(literal && arguments.values().any(filled))).then_some(text)
}

fn is_toml(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Number(number) => number.is_i64() || number.is_f64(),
        Value::Array(values) => values.iter().all(is_toml),
        Value::Object(members) => members.values().all(is_toml),
        Value::Bool(_) | Value::String(_) => true,
    }
}
