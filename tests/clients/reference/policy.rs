//! Every decision that a client makes about hints, each in one place.

use candor::{
    approval::{Approval, Context, Decision, Hints, decide},
    hints::{DeclaredTool, ListError, read_list},
};
use serde_json::Value;

use crate::task::Known;

/// How to read a list: from its bytes, before any typed model has touched them.
type Read = fn(&[u8]) -> Result<(Vec<DeclaredTool>, Option<String>), ListError>;

/// The decisions.
pub(crate) struct Policy {
    /// What the list says.
    pub(crate) read: Read,
    /// Whether the user trusts the server at this address, which calls itself so.
    pub(crate) trusts: fn(&[Known], &str, &str) -> bool,
    /// Run, ask, warn, refuse; and whether the call may be sent again.
    pub(crate) decide: fn(&Hints, Context) -> Approval,
    /// The heading of a question about this tool, among all tools.
    pub(crate) heading: fn(&DeclaredTool, &[DeclaredTool]) -> String,
    /// The warning in a question.
    pub(crate) warning: fn(&Approval) -> Option<String>,
    /// The arguments as the user sees them.
    pub(crate) arguments: fn(&Value) -> Value,
    /// Whether the user's answer is a yes.
    pub(crate) agrees: fn(Option<&str>) -> bool,
    /// What to tell a server that asked: what the user said, if anything.
    pub(crate) relay: fn(Option<Value>) -> Value,
    /// Who asks, as the user sees it.
    pub(crate) asker: fn(&str, &str) -> String,
    /// What to do, and what not to leave out.
    pub(crate) habits: Habits,
}

/// What a client does without being told.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub(crate) struct Habits {
    /// Read the list to its end.
    pub(crate) all_pages: bool,
    /// Keep a list as long as the server says.
    pub(crate) keeps_fresh: bool,
    /// Read the list again when told, and after a reconnection.
    pub(crate) reads_again: bool,
    /// Compare each tool with what was seen before.
    pub(crate) compares: bool,
    /// Remember that content of the open world was read.
    pub(crate) remembers: bool,
    /// Tell the server of a call that was given up.
    pub(crate) cancels: bool,
    /// Offer what can be kept.
    pub(crate) offers: fn(bool) -> bool,
    /// How often to send a call again that may be.
    pub(crate) repeats: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            read: read_list,
            // By address. A name is what a server gives itself.
            trusts: |known, url, _name| known.iter().any(|server| server.url == url),
            decide,
            heading,
            warning: |approval| (approval.decision == Decision::Warn).then(|| reasons(approval)),
            // As they are sent, and in full.
            arguments: Value::clone,
            // No answer is no yes.
            agrees: |answer| answer == Some("accept"),
            // Silence is a cancelled question, and never an accepted one.
            relay: |said| said.unwrap_or_else(|| serde_json::json!({"action": "cancel"})),
            asker: |name, url| format!("{} ({url})", plain(name)),
            habits: Habits {
                all_pages: true,
                keeps_fresh: true,
                reads_again: true,
                compares: true,
                remembers: true,
                cancels: true,
                offers: |can| can,
                repeats: 2,
            },
        }
    }
}

/// `Tool.title`, else `annotations.title`, else the name (specification, schema); the name too, where
/// two tools have one title.
fn heading(tool: &DeclaredTool, all: &[DeclaredTool]) -> String {
    let title = |tool: &DeclaredTool| plain(titled(tool));
    let own = title(tool);
    let is_taken = all.iter().any(|other| other.name != tool.name && title(other) == own);
    if is_taken { format!("{own} ({})", plain(&tool.name)) } else { own }
}

pub(crate) fn titled(tool: &DeclaredTool) -> &str {
    let titles = [tool.title.as_deref(), tool.annotations_title.as_deref()];
    titles.into_iter().flatten().find(|title| !title.trim().is_empty()).unwrap_or(&tool.name)
}

/// Text of a server, made harmless: nothing that moves the cursor or turns the text, and short.
fn plain(text: &str) -> String {
    const MOST: usize = 80;
    let hides = |char: &char| {
        char.is_control()
            || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let shown: String = text.chars().map(|char| if hides(&char) { '\u{fffd}' } else { char }).take(MOST).collect();
    if text.chars().count() > MOST { format!("{shown}…") } else { shown }
}

/// Why there is a warning.
fn reasons(approval: &Approval) -> String {
    approval.reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
