//! What a false hint makes of known clients.
//!
//! ```
//! use candor::{
//!     approval::{Hints, impact},
//!     hints::{Hint, HintName},
//! };
//!
//! // `delete_branch`, declared read-only.
//! let declared = Hints::default().with(HintName::ReadOnly, Hint::Is(true));
//! let impacts = impact(&declared, HintName::ReadOnly, false);
//! let codex = impacts.iter().find(|impact| impact.client == "codex-auto").unwrap();
//! assert_eq!(codex.to_string(), "codex-auto runs it without a question");
//! ```

use std::{collections::BTreeMap, fmt};

use serde::{Serialize, Serializer};

use super::{
    Hints,
    clients::{self, Conduct, Prompt, RECOMMENDED},
};
use crate::hints::{Hint, HintName};

/// What a client does because a hint is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Consequence {
    /// It runs what it would have asked about, refused, or thought about.
    Unasked,
    /// A model or words in the name decide what the user would have decided.
    Guessed,
    /// It asks about what it would have refused.
    Admitted,
    /// The user doesn't confirm the result.
    Unreviewed,
    /// It runs the call beside others.
    Parallel,
    /// It sends the call again when the reply is lost.
    Replayed,
    /// It asks, or lets a model think, where it would have run: a needless question.
    Asked,
    /// It refuses, or hides the tool, where it would not have.
    Refused,
}

impl Consequence {
    /// Its name in JSON.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Unasked => "unasked",
            Self::Guessed => "guessed",
            Self::Admitted => "admitted",
            Self::Unreviewed => "unreviewed",
            Self::Parallel => "parallel",
            Self::Replayed => "replayed",
            Self::Asked => "asked",
            Self::Refused => "refused",
        }
    }

    /// What the client does, after its name.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Unasked => "runs it without a question",
            Self::Guessed => "leaves it to a model or to words in the name",
            Self::Admitted => "asks about it instead of refusing it",
            Self::Unreviewed => "gives its result to the model unconfirmed",
            Self::Parallel => "runs it beside other calls",
            Self::Replayed => "sends it again when a reply is lost",
            Self::Asked => "asks needlessly",
            Self::Refused => "refuses it needlessly",
        }
    }

    /// Whether the user's guard is lower for it; otherwise it is only a nuisance.
    #[must_use]
    pub const fn is_harmful(self) -> bool {
        !matches!(self, Self::Asked | Self::Refused)
    }
}

impl Serialize for Consequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// Of which servers a client does so, by its own notion of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Servers {
    /// Of all.
    Any,
    /// Of trusted ones alone.
    Trusted,
    /// Of untrusted ones alone.
    Untrusted,
}

/// What one client does because one hint is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Impact {
    /// The client's id; `recommended` for one that follows [`super::decide`], which a trusted liar
    /// deceives too.
    pub client: &'static str,
    /// What it does.
    pub consequence: Consequence,
    /// Of which servers.
    pub servers: Servers,
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.servers {
            Servers::Any => "",
            Servers::Trusted => ", if it trusts the server",
            Servers::Untrusted => ", if it does not trust the server",
        };
        write!(f, "{} {}{of}", self.client, self.consequence.text())
    }
}

/// Which known clients would act otherwise, and how, if `hint` were `truth` in what is declared; the
/// recommendation first. Nothing if the hint says so already, and nothing about what isn't known:
/// an empty answer is no all-clear.
#[must_use]
pub fn impact(declared: &Hints, hint: HintName, truth: bool) -> Vec<Impact> {
    let honest = declared.with(hint, Hint::Is(truth));
    let mut impacts = Vec::new();
    for client in std::iter::once(&RECOMMENDED).chain(clients::known()) {
        let consequences = |trusted| match (client.conduct(declared, trusted), client.conduct(&honest, trusted)) {
            (Some(declared), Some(honest)) => difference(declared, honest),
            _ => Vec::new(),
        };
        let (trusted, untrusted) = (consequences(true), consequences(false));
        let mut note = |consequence, servers| impacts.push(Impact { client: client.id, consequence, servers });
        for consequence in &trusted {
            note(*consequence, if untrusted.contains(consequence) { Servers::Any } else { Servers::Trusted });
        }
        for consequence in untrusted.into_iter().filter(|consequence| !trusted.contains(consequence)) {
            note(consequence, Servers::Untrusted);
        }
    }
    impacts
}

/// Impacts in a few lines: each consequence once, with its clients.
///
/// ```
/// use candor::{
///     approval::{Hints, impact::{impact, lines}},
///     hints::{Hint, HintName},
/// };
///
/// let declared = Hints::default().with(HintName::Idempotent, Hint::Is(true));
/// let impacts = impact(&declared, HintName::Idempotent, false);
/// assert_eq!(
///     lines(&impacts),
///     ["sends it again when a reply is lost: recommended (trusted server), qwen (trusted server), smg"]
/// );
/// ```
#[must_use]
pub fn lines(impacts: &[Impact]) -> Vec<String> {
    let mut consequences: BTreeMap<Consequence, Vec<String>> = BTreeMap::new();
    for Impact { client, consequence, servers } in impacts {
        let which = match servers {
            Servers::Any => "",
            Servers::Trusted => " (trusted server)",
            Servers::Untrusted => " (untrusted server)",
        };
        consequences.entry(*consequence).or_default().push(format!("{client}{which}"));
    }
    consequences.into_iter().map(|(consequence, who)| format!("{}: {}", consequence.text(), who.join(", "))).collect()
}

fn difference(declared: Conduct, honest: Conduct) -> Vec<Consequence> {
    let prompt = match (declared.prompt, honest.prompt) {
        (Some(declared), Some(honest)) if declared < honest => match declared {
            Prompt::Run => Some(Consequence::Unasked),
            Prompt::Guess => Some(Consequence::Guessed),
            Prompt::Ask | Prompt::Refuse => Some(Consequence::Admitted),
        },
        (Some(declared), Some(honest)) if declared > honest => match declared {
            Prompt::Refuse => Some(Consequence::Refused),
            Prompt::Run | Prompt::Guess | Prompt::Ask => Some(Consequence::Asked),
        },
        _ => None,
    };
    let only = |lax: (Option<bool>, Option<bool>), value, consequence| {
        (lax == (Some(value), Some(!value))).then_some(consequence)
    };
    [
        prompt,
        only((declared.review, honest.review), false, Consequence::Unreviewed),
        only((declared.parallel, honest.parallel), true, Consequence::Parallel),
        only((declared.replay, honest.replay), true, Consequence::Replayed),
    ]
    .into_iter()
    .flatten()
    .collect()
}
