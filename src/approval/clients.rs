//! What known clients do with hints, as functions: facts about others, beside the recommendation.
//!
//! Each [`Client`] is one product in one mode, with the rule in a sentence, its source, its date and
//! how well it is known. What isn't known is none, and never a guess; how a client takes a hint that
//! is no boolean depends on the library below it, so [`Client::conduct`] says nothing there.

mod anthropic;
mod docker;
mod filters;
mod google;
mod goose;
mod microsoft;
mod openai;
mod others;
mod qwen;
mod silent;

use std::fmt;

use serde::Serialize;

pub use silent::{IGNORING, Ignoring};

use super::{Context, Decision, Hints, Trust, decide};
use crate::hints::HintName;

/// What a client does before a call; each is stricter than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Prompt {
    /// It lets the call through without a question of its own.
    Run,
    /// A language model, or words in the tool's name, decide.
    Guess,
    /// It asks its user.
    Ask,
    /// It refuses, or hides the tool.
    Refuse,
}

/// What a client does with a call. None is not known, or no matter of hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Conduct {
    /// Before the call.
    pub prompt: Option<Prompt>,
    /// Whether it has the user confirm the result before the model sees it.
    pub review: Option<bool>,
    /// Whether the call may run beside others.
    pub parallel: Option<bool>,
    /// Whether it sends the call again by itself if the reply is lost.
    pub replay: Option<bool>,
}

impl Conduct {
    /// Where nothing is known.
    const UNKNOWN: Self = Self { prompt: None, review: None, parallel: None, replay: None };

    /// Where only the question is known.
    const fn prompt(prompt: Prompt) -> Self {
        Self { prompt: Some(prompt), ..Self::UNKNOWN }
    }
}

/// How a rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Run and observed.
    Measured,
    /// The code was read.
    Source,
    /// Code or the vendor's text, as the `AuthGap` survey of October 2026 quotes it.
    Quoted,
    /// Issues, documents and other people's reading, second-hand.
    Reported,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured",
            Self::Source => "source read",
            Self::Quoted => "quoted by a survey",
            Self::Reported => "reported",
        })
    }
}

/// One product in one mode.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Client {
    /// Its name in tables and reports.
    pub id: &'static str,
    /// Product and mode.
    pub name: &'static str,
    /// Which version, as exactly as it is known.
    pub version: &'static str,
    /// What it does, in words.
    pub rule: &'static str,
    /// Where that is written.
    pub source: &'static str,
    /// Year and month in which it was so.
    pub date: &'static str,
    /// How it is known.
    pub evidence: Evidence,
    #[serde(skip)]
    rules: fn(&Hints, bool) -> Conduct,
}

impl Client {
    /// What it does with a tool of these hints. `trusted` is whatever the client itself means by
    /// trust in a server; most have no such notion. None if a hint is no boolean.
    #[must_use]
    pub fn conduct(&self, hints: &Hints, trusted: bool) -> Option<Conduct> {
        hints.is_well_formed().then(|| (self.rules)(hints, trusted))
    }
}

/// The recommendation in the shape of a client: in a fresh conversation, with a user there who has
/// laid down nothing.
pub const RECOMMENDED: Client = Client {
    id: "recommended",
    name: "The recommendation",
    version: concat!("candor ", env!("CARGO_PKG_VERSION")),
    rule: "An alarming hint is believed from anyone, a reassuring one only from a trusted server.",
    source: "candor, src/approval.rs",
    date: "2026-11",
    evidence: Evidence::Measured,
    rules: |hints, trusted| {
        let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
        let approval = decide(hints, Context { trust, ..Context::default() });
        let prompt = match approval.decision {
            Decision::Run => Prompt::Run,
            Decision::Ask | Decision::Warn => Prompt::Ask,
            Decision::Refuse => Prompt::Refuse,
        };
        Conduct { prompt: Some(prompt), review: None, parallel: Some(approval.parallel), replay: Some(approval.retry) }
    },
};

/// The known clients whose conduct is known in part at least; those known to use no hints at all,
/// and no more than that, are in [`IGNORING`].
pub fn known() -> impl Iterator<Item = &'static Client> {
    [
        openai::CLIENTS,
        microsoft::CLIENTS,
        google::CLIENTS,
        qwen::CLIENTS,
        goose::CLIENTS,
        anthropic::CLIENTS,
        docker::CLIENTS,
        others::CLIENTS,
        filters::CLIENTS,
    ]
    .into_iter()
    .flatten()
}

// What several of them share.

/// The source where no place is known.
const SECOND_HAND: &str = "documents and issues of the vendor, second-hand";
/// The survey that read programs whose source isn't public.
const SURVEY: &str = "the AuthGap survey (s1300105/auth_gap), on the program itself";

/// Exactly true; absent is not.
fn reads_only(hints: &Hints) -> bool {
    hints.is(HintName::ReadOnly, true)
}

/// Exactly true; absent is not.
fn destructive(hints: &Hints) -> bool {
    hints.is(HintName::Destructive, true)
}

/// Run if so, otherwise ask.
const fn ask_unless(runs: bool) -> Prompt {
    if runs { Prompt::Run } else { Prompt::Ask }
}

/// Let it through if so, otherwise don't.
const fn refuse_unless(passes: bool) -> Prompt {
    if passes { Prompt::Run } else { Prompt::Refuse }
}

/// The commonest rule: strictly read-only runs, everything else is asked about, and no server is
/// trusted less than another.
fn ask_unless_read_only(hints: &Hints, _: bool) -> Conduct {
    Conduct::prompt(ask_unless(reads_only(hints)))
}
