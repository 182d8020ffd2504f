//! Case files: which calls to try on a server, written by whoever knows it.
//!
//! A case file is TOML. It holds one case after another, each a call of one tool:
//!
//! ```toml
//! tool = "delete_branch"                  # the tool of every case that names none itself
//!
//! [[case]]
//! name = "a branch that is merged"        # what the report calls it; once for each tool
//! arguments = { branch = "fix/typo" }     # left out: a call without arguments
//!
//! [[case]]
//! name = "a branch with commits of its own"
//! answers = ["decline", "accept"]         # what the user says when the server asks
//! worlds = ["demo", "packed"]             # left out: every world
//! expect = "success"                      # or "refused"; left out, "any"
//! [case.arguments]
//! branch = "feature/search"
//! ```
//!
//! | key of a case | value | left out |
//! |---|---|---|
//! | `name` | text on one line | an error |
//! | `tool` | name of a tool, as the server lists it | the `tool` of the file |
//! | `arguments` | a table, or a text that holds a JSON object (TOML has no null) | no arguments |
//! | `worlds` | names of worlds | all of them |
//! | `answers` | `decline`, `cancel`, `accept` in the order to try | all three, in this order |
//! | `expect` | `success`, `refused`, `any`: how the accepted call must end | `any` |
//! | `literal` | `true`: strings stand for themselves | `false` |
//!
//! In every string of the arguments `{world}` stands for the path of the copy of the world, and
//! `{listener}` for the origin (`http://127.0.0.1:PORT`) of the server on loopback that notes which
//! requests reach it. What looks like a misspelling of either is an error, unless the case is
//! `literal`.
//!
//! Choose the cases so that each hint is put to the test: a target that exists and one that does
//! not, each mode of the tool, the call that loses the most. Each case is called with every answer,
//! repeated, and called twice at once, whatever the hints say; a case says neither.

mod placeholder;
mod reader;
mod suggest;

use std::{fmt, fs, io::Read, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::{placeholder::Places, suggest::suggest};
use super::Reply;
use crate::{hints::DeclaredTool, wire::Answer};

/// One call to try.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The tool.
    pub tool: String,
    /// What the report calls the case.
    pub name: String,
    /// The arguments, with placeholders: see [`Self::arguments_at`].
    pub arguments: Map<String, Value>,
    /// The worlds to call it in; empty for all.
    pub worlds: Vec<String>,
    /// What the user says to a question, one logical call each, in this order.
    pub answers: Vec<Answer>,
    /// How the accepted call must end.
    pub expect: Expect,
    /// Whether `{world}` and `{listener}` in its strings stand for themselves.
    pub literal: bool,
    /// The line of its file that it begins on; 0 if it comes from none.
    pub line: usize,
}

/// How an accepted call must end. Anything else is told as a fault beside the verdicts, and fails the
/// run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// With a result.
    Success,
    /// With `isError: true` or a protocol error.
    Refused,
    /// Either way.
    #[default]
    Any,
}

impl Expect {
    /// Whether a call that was answered so ended as it must.
    #[must_use]
    pub fn is_met(self, reply: &Reply) -> bool {
        match self {
            Self::Success => *reply == Reply::Success,
            Self::Refused => *reply != Reply::Success,
            Self::Any => true,
        }
    }
}

impl Case {
    /// A case that leaves everything but the arguments to the defaults.
    #[must_use]
    pub fn new(tool: impl Into<String>, name: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            name: name.into(),
            arguments,
            worlds: Vec::new(),
            answers: vec![Answer::Decline, Answer::Cancel, Answer::Accept],
            expect: Expect::Any,
            literal: false,
            line: 0,
        }
    }

    /// The arguments of a call, with the placeholders filled in.
    #[must_use]
    pub fn arguments_at(&self, places: &Places<'_>) -> Map<String, Value> {
        if self.literal { self.arguments.clone() } else { places.fill(&self.arguments) }
    }

    /// Whether it names the server on loopback.
    #[must_use]
    pub fn needs_listener(&self) -> bool {
        !self.literal && self.arguments.values().any(|value| placeholder::names(value, "listener"))
    }

    /// Whether it is to be called in this world.
    #[must_use]
    pub fn runs_in(&self, world: &str) -> bool {
        self.worlds.is_empty() || self.worlds.iter().any(|name| name == world)
    }
}

/// A case file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseFile {
    /// Its path, as shown in errors.
    pub path: String,
    /// Its cases, in its order.
    pub cases: Vec<Case>,
}

/// What is wrong with a case file, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CaseError {
    /// The file.
    pub path: String,
    /// The line, from 1; none if the file can't be read at all.
    pub line: Option<usize>,
    /// The key, such as `case.answers`; none if the fault is in none.
    pub key: Option<String>,
    /// The fault and the next step.
    pub text: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, key, text } = self;
        write!(f, "case file `{path}`")?;
        if let Some(line) = line {
            write!(f, ", line {line}")?;
        }
        if let Some(key) = key {
            write!(f, ", `{key}`")?;
        }
        write!(f, ": {text}")
    }
}

/// Bytes of a case file.
pub const FILE_BYTES: u64 = 1 << 20;

/// Read a case file.
///
/// # Errors
///
/// Naming the file, the line, the key and the next step.
pub fn read(path: &Path) -> Result<CaseFile, CaseError> {
    let shown = visible(&path.display().to_string(), 300);
    let fail = |line: Option<usize>, text: String| CaseError { path: shown.clone(), line, key: None, text };
    let unreadable = |error| fail(None, format!("{error}; name a file that you may read"));
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        // Opening a pipe would wait.
        return Err(fail(None, "this is not a file; name a TOML file of cases".into()));
    }
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(unreadable)?.take(FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES {
        return Err(fail(None, format!("it is larger than {FILE_BYTES} bytes; split it into several files")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        fail(Some(lines(valid) + 1), "here is a byte that is not UTF-8; save the file as UTF-8".into())
    })?;
    parse(&shown, &text)
}

/// Read the text of a case file; the path is for the errors.
///
/// # Errors
///
/// As [`read`].
pub fn parse(path: &str, text: &str) -> Result<CaseFile, CaseError> {
    reader::Reader { path, text }.file()
}

impl CaseFile {
    /// Make sure that a server has the tools and a run the worlds that the cases name.
    ///
    /// # Errors
    ///
    /// Naming the first that is not there, and the most similar one that is.
    pub fn check(&self, tools: &[DeclaredTool], worlds: &[&str]) -> Result<(), CaseError> {
        let tools: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        for case in &self.cases {
            let fail = |key: &str, text| {
                Err(CaseError { path: self.path.clone(), line: Some(case.line), key: Some(key.into()), text })
            };
            if !tools.contains(&case.tool.as_str()) {
                return fail("tool", unknown("the server has no tool", &case.tool, &tools));
            }
            if let Some(world) = case.worlds.iter().find(|world| !worlds.contains(&world.as_str())) {
                return fail("case.worlds", unknown("there is no world", world, worlds));
            }
        }
        Ok(())
    }
}

/// That something isn't known, and what there is instead.
fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let similar = |name: &&&str| strsim::damerau_levenshtein(&word.to_lowercase(), &name.to_lowercase());
    let nearest = known.iter().min_by_key(similar).filter(|name| similar(name) <= 1 + word.chars().count() / 3);
    let word = visible(word, 60);
    match nearest {
        Some(name) => format!("{what} `{word}`; did you mean `{}`?", visible(name, 60)),
        None if known.is_empty() => format!("{what} `{word}`, and no other either"),
        None => {
            let all: Vec<_> = known.iter().take(20).map(|name| format!("`{}`", visible(name, 60))).collect();
            let more = if known.len() > all.len() { " and more" } else { "" };
            format!("{what} `{word}`; there are {}{more}", all.join(", "))
        }
    }
}

/// A text of somebody else to stand in backticks.
fn visible(text: &str, max: usize) -> String {
    one_line(text, max).replace('`', "'")
}

/// A text of somebody else on one line, cut.
fn one_line(text: &str, max: usize) -> String {
    let cut: String = text.chars().take(max).collect();
    let escaped = cut.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"");
    if text.chars().nth(max).is_some() { escaped + "…" } else { escaped }
}

fn lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}
