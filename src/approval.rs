//! What a client should do with hints: the reference for client authors, as one pure function.
//!
//! [`decide`] takes what a server says of a tool ([`Hints`]) and what the client knows besides
//! ([`Context`]), and returns an [`Approval`]: run, ask, ask with a warning or refuse; whether the
//! call may be sent again if its reply is lost, whether it may run beside others, whether its output
//! is untrusted; and the rules that say so. No IO, no clock, no state: the client keeps the context.
//!
//! The heart is an asymmetry. **An alarming hint is believed from anyone; a reassuring one only from
//! a server that the user trusts.** A liar gains nothing by an alarm, and everything by a
//! reassurance. Absence and nonsense reassure nobody, and a user's deny beats everything.
//!
//! ```
//! use candor::{
//!     approval::{Context, Decision, Hints, Rule, Trust, decide},
//!     hints::{Hint, HintName},
//! };
//!
//! let reads = Hints::default().with(HintName::ReadOnly, Hint::Is(true));
//! let trusted = Context { trust: Trust::Trusted, ..Context::default() };
//!
//! // The same words, from a server that the user trusts and from one that she doesn't.
//! assert_eq!(decide(&reads, trusted).decision, Decision::Run);
//! assert_eq!(decide(&reads, Context::default()).decision, Decision::Ask);
//!
//! // An alarm counts from both, and wins over the reassurance beside it.
//! let both = reads.with(HintName::Destructive, Hint::Is(true));
//! let approval = decide(&both, trusted);
//! assert_eq!(approval.decision, Decision::Warn);
//! assert!(approval.reasons.iter().any(|reason| reason.rule == Rule::Alarm));
//! assert!(!approval.retry && !approval.parallel);
//! ```
//!
//! # What a client must see to
//!
//! - Take hints from the bytes of the list ([`crate::hints::read_list`]): a typed model merges null
//!   with absent, turns `"true"` into true, or loses the whole list.
//! - Trust is the user's decision about one server, bound to how it is reached (command, or origin
//!   and identity), never to the name that it gives itself.
//! - [`Trust::Changed`] stands until the user has seen the new definition. Keep a digest of
//!   everything that was shown: name, titles, description, schema, annotations.
//! - Decide again, on the definition of that moment, before a call is sent again.
//! - After a result whose output is [`Output::Untrusted`], set [`History::untrusted_content`].
//!   Hints say nothing about secrecy: what is private, the client must know from elsewhere.
//! - Hints describe the worst case of a tool and never grant anything: permissions are the server's.
//!
//! What well-known clients do instead is in [`clients`], what a false hint makes of it in
//! [`mod@impact`].

mod believed;
pub mod clients;
mod hints;
pub mod impact;
mod pattern;
mod rule;
mod table;

use serde::Serialize;

use believed::Believed;
pub use hints::Hints;
pub use impact::impact;
pub use rule::{Reason, Rule};
pub use table::{json, markdown, table};

use crate::hints::HintName;

/// How far the user trusts the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The user has said that what it says of its tools may be believed.
    Trusted,
    /// Nobody has, which is where every server begins.
    #[default]
    Untrusted,
    /// The tool is not what it was when the user approved of it or of its server.
    Changed,
}

/// What the user has laid down for this tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UserRule {
    /// Don't ask again.
    Allow,
    /// Ask each time.
    Ask,
    /// Never.
    Deny,
}

/// What the model has taken in earlier in the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct History {
    /// Content that outsiders may have written, and with it, perhaps, instructions.
    pub untrusted_content: bool,
    /// Something that the user would not publish.
    pub private_data: bool,
}

/// What a client knows besides the hints. The default knows nothing: no trust, no rule, a fresh
/// conversation, somebody to ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Context {
    /// How far the server is trusted.
    pub trust: Trust,
    /// The user's own rule for this tool.
    pub user: Option<UserRule>,
    /// What happened before.
    pub history: History,
    /// Whether nobody is there to answer.
    pub unattended: bool,
}

/// What to do with a call; each is stricter than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Send it.
    Run,
    /// Ask the user, with the arguments in full.
    Ask,
    /// Ask, and say what is alarming: the reasons are the text.
    Warn,
    /// Don't send it.
    Refuse,
}

/// How to treat what comes back. Neither is ever an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// From a closed world that a trusted server vouches for.
    Own,
    /// Outsiders may have written it: mark it as such for the model, and remember that it was seen.
    Untrusted,
}

/// What a client should do with one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// Run, ask, warn, refuse.
    pub decision: Decision,
    /// Whether the same call may be sent again, unasked, if its reply is lost. Otherwise the outcome
    /// is unknown and the user is to be told so.
    pub retry: bool,
    /// Whether it may run beside other calls.
    pub parallel: bool,
    /// How to treat its output.
    pub output: Output,
    /// Why, in the order in which [`decide`] asks. Never empty.
    pub reasons: Vec<Reason>,
}

/// Decide about one call. Of the rules that apply the strictest wins, and a user's permission ends the
/// list: read it from the top.
///
/// Nothing makes it laxer by being more alarming: in each hint, in trust, in the user's rule and in
/// the history alike (the tests walk through all of them).
///
/// ```
/// use candor::approval::{Context, Decision, Hints, History, Trust, UserRule, decide};
///
/// // An allowed tool runs, until something has been read that may have been written to steer it.
/// let mut context = Context { trust: Trust::Trusted, user: Some(UserRule::Allow), ..Context::default() };
/// assert_eq!(decide(&Hints::default(), context).decision, Decision::Run);
/// context.history = History { untrusted_content: true, ..History::default() };
/// assert_eq!(decide(&Hints::default(), context).decision, Decision::Warn);
///
/// // Nobody there: what would be asked is refused.
/// context.unattended = true;
/// assert_eq!(decide(&Hints::default(), context).decision, Decision::Refuse);
/// ```
#[must_use]
pub fn decide(hints: &Hints, context: Context) -> Approval {
    let Context { trust, user, history, unattended } = context;
    let believed = Believed::new(hints, trust);
    let mut so_far = Floor { decision: Decision::Run, reasons: Vec::new() };

    if user == Some(UserRule::Deny) {
        so_far.raise(Decision::Refuse, Rule::UserDenies, None);
        return so_far.refused();
    }

    // What no permission given earlier can have foreseen.
    if trust == Trust::Changed {
        so_far.raise(Decision::Warn, Rule::Changed, None);
    }
    let may_leak = history.private_data && !believed.closed();
    if history.untrusted_content && (!believed.reads_only() || may_leak) {
        so_far.raise(Decision::Warn, Rule::Steered, None);
    }

    if user == Some(UserRule::Ask) {
        so_far.raise(Decision::Ask, Rule::UserAsks, None);
    }
    if user == Some(UserRule::Allow) && so_far.decision == Decision::Run {
        so_far.raise(Decision::Run, Rule::UserAllows, None);
    } else {
        for hint in hints.nonsense() {
            so_far.raise(Decision::Warn, Rule::Nonsense, hint);
        }
        if believed.alarms(HintName::Destructive) {
            so_far.raise(Decision::Warn, Rule::Alarm, Some(HintName::Destructive));
        }
        if may_leak {
            so_far.raise(Decision::Ask, Rule::MayLeak, Some(HintName::OpenWorld));
        }
        if believed.reads_only() {
            so_far.raise(Decision::Run, Rule::ReadsOnly, Some(HintName::ReadOnly));
        } else if believed.adds_only() && believed.closed() {
            so_far.raise(Decision::Run, Rule::AddsOnly, Some(HintName::Destructive));
        } else if let Some(hint) = believed.unvouched() {
            so_far.raise(Decision::Ask, Rule::Unvouched, Some(hint));
        } else {
            so_far.raise(Decision::Ask, Rule::MayChange, None);
        }
    }

    if unattended && so_far.decision > Decision::Run {
        so_far.raise(Decision::Refuse, Rule::NobodyToAsk, None);
        return so_far.refused();
    }

    let mut because = |rule, hint| so_far.reasons.push(Reason { rule, hint });
    because(Rule::Repeat, believed.repeat_hint());
    because(Rule::Parallel, Some(HintName::ReadOnly));
    because(Rule::Outside, Some(HintName::OpenWorld));
    Approval {
        decision: so_far.decision,
        retry: believed.repeatable(),
        parallel: believed.reads_only(),
        output: if believed.closed() { Output::Own } else { Output::Untrusted },
        reasons: so_far.reasons,
    }
}

/// The strictest decision so far, and why.
struct Floor {
    decision: Decision,
    reasons: Vec<Reason>,
}

impl Floor {
    fn raise(&mut self, at_least: Decision, rule: Rule, hint: Option<HintName>) {
        self.decision = self.decision.max(at_least);
        self.reasons.push(Reason { rule, hint });
    }

    /// Nothing is sent: neither again nor beside others.
    fn refused(self) -> Approval {
        let Self { decision, reasons } = self;
        Approval { decision, retry: false, parallel: false, output: Output::Untrusted, reasons }
    }
}
