//! What `candor verify` can be told.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{rung::Asked, served::Served};
use crate::{
    verify::{Definition, sandbox::Allowed},
    wire::Limits,
};

/// The options of `candor verify`.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub struct Options {
    /// A case file, whose calls alone are made; without any, our own cases, or arguments made from
    /// the schemas
    #[arg(long, value_name = "FILE")]
    pub(super) case: Vec<PathBuf>,

    /// A world: a directory to copy, a program that lays one out in the directory that it gets, or
    /// the name of one of ours
    #[arg(long, value_name = "DIR|SCRIPT|NAME", conflicts_with = "url")]
    pub(super) world: Vec<String>,

    /// Print a case file to start from, and call nothing
    #[arg(long)]
    pub(super) suggest: bool,

    /// Only read the tools, and call nothing
    #[arg(long)]
    pub(super) lint: bool,

    /// Fail for what is untested, undeclared or overstated, and for trials that broke off, too
    #[arg(long)]
    pub(super) strict: bool,

    /// Whose definition of the hints counts: mcp, openai-directory, anthropic-directory
    #[arg(long, value_name = "NAME", default_value = "mcp", value_parser = definition)]
    pub(super) definition: Definition,

    /// How much of the server to see; the most that this system allows, if not said: in a box, by the
    /// listener of its system calls alone, or by what changes in copies of its world
    #[arg(long, value_name = "box|listener|worlds", conflicts_with = "url")]
    pub(super) rung: Option<Asked>,

    /// Let a server in a box reach a host, for real or at another address
    #[arg(long = "allow-network", value_name = "HOST[:PORT][=ADDRESS:PORT]", conflicts_with_all = ["url", "unboxed"])]
    pub(super) allow: Vec<Allowed>,

    /// Call the tools of a server of yours without a box around it: it can reach whatever you can
    #[arg(long)]
    pub(super) unboxed: bool,

    /// Write the report as JSON (schema `candor-verify/1`)
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Write the report as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    pub(super) sarif: Option<PathBuf>,

    /// Write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,

    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// A server elsewhere. Its tools are read; one is called only if a --case names it, and then
    /// more than once. What it changes is seen by nobody here
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "unboxed"])]
    pub(super) url: Option<String>,

    /// A header for every request to --url, such as `authorization: Bearer …`
    #[arg(long, value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    pub(super) header: Vec<(String, String)>,

    /// A server of yours, on stdio; `{world}` stands for the copy of the world
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,

    #[command(flatten)]
    limits: LimitOptions,

    #[command(flatten)]
    pub(super) served: Served,
}

/// How much a server may take.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits for the server")]
struct LimitOptions {
    /// Until it has opened the conversation
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    start_seconds: Duration,

    /// For the answer to a call, and for the whole list of its tools
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    answer_seconds: Duration,

    /// For one message
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().line_bytes)]
    answer_bytes: usize,

    /// On all pages of its list
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().tools)]
    most_tools: usize,
}

impl Options {
    /// Whether it is our own server that is run.
    pub(super) fn is_ours(&self) -> bool {
        self.command.is_empty() && self.url.is_none()
    }

    pub(super) fn limits(&self) -> Limits {
        let LimitOptions { start_seconds, answer_seconds, answer_bytes, most_tools } = self.limits;
        Limits { start: start_seconds, call: answer_seconds, line_bytes: answer_bytes, tools: most_tools }
    }
}

fn definition(name: &str) -> Result<Definition, String> {
    let known = Definition::ALL.into_iter().find(|definition| definition.name() == name);
    known.ok_or_else(|| format!("the definitions are {}", Definition::ALL.map(Definition::name).join(", ")))
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is `NAME: VALUE`")?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |char: char| char.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(char);
    if name.is_empty() || !name.chars().all(is_token) {
        return Err("a header is `NAME: VALUE`, and its name has letters, digits and hyphens".into());
    }
    if value.contains(char::is_control) {
        return Err("the value of a header is one line".into());
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|seconds| !seconds.is_zero()).ok_or_else(|| "a number of seconds above 0".to_owned())
}
