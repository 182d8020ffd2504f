//! What is found beside the verdicts: by reading a tool, and by watching how it behaves.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// To know.
    Note,
    /// To mend.
    Warning,
    /// A rule of the protocol or of a case is broken, whatever the hints say: exit status 1.
    Fault,
}

impl Level {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// One thing found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `TOOL/RULE`, with a third part where a rule can apply to a tool more than once; `server/RULE`
    /// for the server. The same in every run and format.
    pub id: String,
    /// The tool; none if it is about the server.
    pub tool: Option<String>,
    /// The rule.
    pub rule: Rule,
    /// How bad it is.
    pub level: Level,
    /// What was found and what to do. Fit to be shown.
    pub text: String,
}

/// The rules, those of the lint first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Question 1 of the checklist.
    Title,
    /// Question 2.
    Explicit,
    /// Question 3.
    Contradiction,
    /// Question 4.
    Description,
    /// Question 5.
    ModeParameter,
    /// Question 6.
    Name,
    /// Keys that were meant to be hints.
    NearMiss,
    /// What a directory demands.
    Directory,
    /// An effect while the question is open.
    ActsBeforeItAsks,
    /// An effect after a refusal by the user.
    ActsThoughDeclined,
    /// An effect after a cancelled question.
    ActsThoughCancelled,
    /// An effect of a call that was answered with an error.
    ActsThoughItFails,
    /// An effect after the answer, that the server alone doesn't have.
    ActsAfterItAnswers,
    /// An effect of the server alone.
    Background,
    /// A call that ends otherwise than its case says.
    UnexpectedReply,
    /// A trial that broke off.
    Unfinished,
    /// A world that can't be used.
    World,
    /// What a server elsewhere asks of its callers.
    Authentication,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Title,
        Self::Explicit,
        Self::Contradiction,
        Self::Description,
        Self::ModeParameter,
        Self::Name,
        Self::NearMiss,
        Self::Directory,
        Self::ActsBeforeItAsks,
        Self::ActsThoughDeclined,
        Self::ActsThoughCancelled,
        Self::ActsThoughItFails,
        Self::ActsAfterItAnswers,
        Self::Background,
        Self::UnexpectedReply,
        Self::Unfinished,
        Self::World,
        Self::Authentication,
    ];

    /// Its name in ids.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Explicit => "explicit",
            Self::Contradiction => "contradiction",
            Self::Description => "description",
            Self::ModeParameter => "mode-parameter",
            Self::Name => "name",
            Self::NearMiss => "near-miss",
            Self::Directory => "directory",
            Self::ActsBeforeItAsks => "acts-before-it-asks",
            Self::ActsThoughDeclined => "acts-though-declined",
            Self::ActsThoughCancelled => "acts-though-cancelled",
            Self::ActsThoughItFails => "acts-though-it-fails",
            Self::ActsAfterItAnswers => "acts-after-it-answers",
            Self::Background => "background",
            Self::UnexpectedReply => "unexpected-reply",
            Self::Unfinished => "unfinished",
            Self::World => "world",
            Self::Authentication => "authentication",
        }
    }

    /// What it asks for. The first six are the questions that every tool should answer with yes.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Title => "Does the tool have a title that somebody who is no developer understands?",
            Self::Explicit => "Are all four hints explicit?",
            Self::Contradiction => "Are the hints free of contradictions?",
            Self::Description => "Does the description carry the warning, for clients that show models no hints?",
            Self::ModeParameter => {
                "Is there one honest answer for all arguments, and no parameter that picks the risk?"
            }
            Self::Name => "Does the name fit the hints?",
            Self::NearMiss => "A key that only looks like a hint says nothing.",
            Self::Directory => "What the chosen directory demands is there.",
            Self::ActsBeforeItAsks => "Nothing changes before the user has answered.",
            Self::ActsThoughDeclined => "Nothing changes if the user declines.",
            Self::ActsThoughCancelled => "Nothing changes if the user cancels.",
            Self::ActsThoughItFails => "A call that is answered with an error changes nothing.",
            Self::ActsAfterItAnswers => "What a call changes is changed when it is answered.",
            Self::Background => "What the server changes without being called is known.",
            Self::UnexpectedReply => "Every accepted call ends as its case says.",
            Self::Unfinished => "Every trial goes on to its end.",
            Self::World => "Every world can be built, and its copies are equal.",
            Self::Authentication => "Who may read the list of tools is known.",
        }
    }
}
