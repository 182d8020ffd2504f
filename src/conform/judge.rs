//! The judge: from a plan's checks and the ledger to results. Pure.

use serde_json::Value;

use super::ledger::{Event, Ledger};

/// A check: what the client must have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Unique within its scenario; the same whether it passes or fails.
    pub id: String,
    /// One sentence.
    pub description: &'static str,
    /// The rule.
    pub rule: Rule,
}

/// The rules that checks are made of. Text is the name of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each call follows a question of its own that was accepted.
    Asked(String),
    /// It is called without a question.
    Unasked(String),
    /// The last question about it carries a warning.
    Warned(String),
    /// It is not called, although the user wanted it, since the user declined when asked.
    Withheld(String),
    /// What the user sees are the arguments that are sent.
    Arguments(String),
    /// A repeat after a lost reply follows a question of its own. The rows say how often it ran.
    NotRepeated(String),
    /// It is sent again only in a way that is allowed, and at most this often.
    Called(String, usize),
    /// The user sees a heading with this text, and without the other.
    Heading(String, String, Option<String>),
    /// The heading has no control or direction characters and is at most 200 characters long.
    CleanHeading(String),
    /// The headings of the two tools differ.
    TwoHeadings(String, String),
    /// The server hears this action, and no other.
    Hears(&'static str),
    /// The server never hears a yes.
    NeverAccepts,
    /// The server has no reason to ask.
    OffersNothing,
    /// The user is told that this server asks.
    NamesServer,
    /// It had its effect so often.
    Rows(String, usize),
    /// The list is read to its end.
    AllPages(usize),
    /// The list is asked for again after it changed or grew old.
    ListedAgain,
    /// The list is read at most so often while it is fresh.
    ListedAtMost(usize),
    /// The call is cancelled, and not sent again.
    Cancelled(String),
    /// Its own protocol version, its own answers.
    Protocol,
    /// It ended by itself, in time, with status 0.
    Ended,
}

impl Rule {
    /// Whether only a client that reports its questions can be judged.
    #[must_use]
    pub const fn needs_questions(&self) -> bool {
        use Rule as R;
        matches!(
            self,
            R::Asked(_)
                | R::Unasked(_)
                | R::Warned(_)
                | R::Withheld(_)
                | R::Arguments(_)
                | R::Heading(..)
                | R::CleanHeading(_)
                | R::TwoHeadings(..)
                | R::NamesServer
        )
    }
}

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Seen, and right.
    Success,
    /// Seen, and wrong, or not seen at all.
    Failure(String),
    /// The client reports no questions, and this is about questions.
    Skipped,
}

/// Judge one check. `channel`: whether the client ever reported a question.
#[must_use]
pub fn judge(check: &Check, ledger: &Ledger, channel: bool) -> Outcome {
    if check.rule.needs_questions() && !channel {
        return Outcome::Skipped;
    }
    match fault(&check.rule, ledger) {
        None => Outcome::Success,
        Some(fault) => Outcome::Failure(fault),
    }
}

#[expect(clippy::too_many_lines, reason = "one arm a rule, each short by itself")]
fn fault(rule: &Rule, ledger: &Ledger) -> Option<String> {
    let unseen = |tool: &str| Some(format!("not observed: `{tool}` was never called"));
    let none_about = |tool: &str| Some(format!("not observed: no question about `{tool}`"));
    match rule {
        Rule::Asked(tool) | Rule::Unasked(tool) | Rule::NotRepeated(tool) if ledger.calls(tool).next().is_none() => {
            unseen(tool)
        }
        Rule::Asked(tool) => {
            unapproved(ledger, tool, 0).map(|call| format!("call {call} of `{tool}` was sent unasked"))
        }
        Rule::Unasked(tool) => {
            ledger.questions(tool).next().map(|_| format!("the user was asked about `{tool}` for nothing"))
        }
        Rule::Warned(tool) => match ledger.questions(tool).last() {
            None => none_about(tool),
            Some(question) if question.warning.trim().is_empty() => {
                Some(format!("the question about `{tool}` carries no warning"))
            }
            Some(_) => None,
        },
        Rule::Withheld(tool) if ledger.questions(tool).next().is_none() => none_about(tool),
        Rule::Withheld(tool) => ledger.calls(tool).next().map(|_| format!("`{tool}` was called after a no")),
        Rule::Arguments(tool) => {
            let Some(question) = ledger.questions(tool).last() else { return none_about(tool) };
            let sent = |event: &&Event| matches!(event, Event::Called { tool: called, .. } if called == tool);
            match ledger.0.iter().find(sent) {
                Some(Event::Called { arguments, .. }) if *arguments == question.arguments => None,
                Some(Event::Called { arguments, .. }) => {
                    Some(format!("shown {}, sent {}", brief(&question.arguments), brief(arguments)))
                }
                _ => unseen(tool),
            }
        }
        Rule::NotRepeated(tool) => {
            let rows = rows(ledger, tool);
            repeated(ledger, tool)
                .map(|call| format!("call {call} of `{tool}` repeats a lost one unasked; it ran {rows} times"))
        }
        Rule::Called(tool, most) => match ledger.calls(tool).count() {
            0 => unseen(tool),
            count if count > *most => Some(format!("`{tool}` was called {count} times")),
            _ => None,
        },
        Rule::Heading(tool, with, without) => {
            let Some(question) = ledger.questions(tool).last() else { return none_about(tool) };
            let (title, without) = (&question.title, without.as_deref());
            let wrong = !title.contains(with) || without.is_some_and(|without| title.contains(without));
            wrong.then(|| format!("the heading is {title:?}, and should show {with:?}"))
        }
        Rule::CleanHeading(tool) => {
            let Some(question) = ledger.questions(tool).last() else { return none_about(tool) };
            let length = question.title.chars().count();
            if let Some(found) = question.title.chars().find(|char| is_deceptive(*char)) {
                return Some(format!("the heading holds {}", found.escape_unicode()));
            }
            (length > 200).then(|| format!("the heading is {length} characters long"))
        }
        Rule::TwoHeadings(one, other) => {
            let heading = |tool| ledger.questions(tool).last().map(|question| &question.title);
            match (heading(one), heading(other)) {
                (Some(first), Some(second)) if first == second => {
                    Some(format!("`{one}` and `{other}` are both shown as {first:?}"))
                }
                (Some(_), Some(_)) => None,
                (None, _) => none_about(one),
                (_, None) => none_about(other),
            }
        }
        Rule::Hears(action) => {
            let mut heard = ledger.0.iter().filter_map(|event| match event {
                Event::Elicited { action } => Some(action.as_str()),
                _ => None,
            });
            match (*action, heard.find(|heard| heard != action), ledger.0.iter().any(elicits)) {
                (_, _, false) => Some("not observed: the server never came to ask".into()),
                (_, Some(other), _) => Some(format!("the server heard `{other}` where the user said `{action}`")),
                ("accept" | "decline" | "cancel", None, _) if !ledger.0.iter().any(elicited) => {
                    Some("not observed: the server heard no answer".into())
                }
                _ => None,
            }
        }
        Rule::NeverAccepts => {
            let yes = |event: &Event| matches!(event, Event::Elicited { action } if action == "accept");
            ledger.0.iter().any(yes).then(|| "the server heard `accept`, which the user never said".into())
        }
        Rule::OffersNothing => {
            ledger.0.iter().any(elicits).then(|| "it declares elicitation, where nobody can be asked".into())
        }
        Rule::NamesServer => {
            let mut named = ledger.0.iter().filter_map(|event| match event {
                Event::Relayed { server } => Some(server),
                _ => None,
            });
            match named.next_back() {
                None => Some("not observed: the server's question did not reach the user".into()),
                Some(server) if server.trim().is_empty() => Some("the user is not told who asks".into()),
                Some(_) => None,
            }
        }
        Rule::Rows(tool, wanted) => {
            let count = rows(ledger, tool);
            (count != *wanted).then(|| format!("`{tool}` had its effect {count} times, not {wanted}"))
        }
        Rule::AllPages(pages) => {
            let seen = |page: usize| ledger.0.contains(&Event::Listed { page });
            (0..*pages).find(|page| !seen(*page)).map(|page| format!("page {} of {pages} was never read", page + 1))
        }
        Rule::ListedAgain => {
            let Some(change) = ledger.0.iter().position(|event| matches!(event, Event::Changed { .. })) else {
                return Some("not observed: the list never came to change".into());
            };
            let again = |event: &Event| matches!(event, Event::Listed { .. });
            let again = ledger.0.iter().skip(change).any(again);
            (!again).then(|| "the list was not read again".into())
        }
        Rule::ListedAtMost(most) => {
            let count = ledger.0.iter().filter(|event| matches!(event, Event::Listed { page: 0 })).count();
            match count {
                0 => Some("not observed: the list was never read".into()),
                count if count > *most => Some(format!("the list was read {count} times while it was fresh")),
                _ => None,
            }
        }
        Rule::Cancelled(tool) => match (ledger.calls(tool).count(), cancelled(ledger, tool)) {
            (0, _) => unseen(tool),
            (_, false) => Some(format!("the call of `{tool}` was not cancelled")),
            (1, true) => None,
            (count, true) => Some(format!("`{tool}` was called {count} times")),
        },
        Rule::Protocol => match ledger.0.iter().find(|event| matches!(event, Event::Fault { .. })) {
            Some(Event::Fault { what }) => Some(what.clone()),
            _ if !ledger.0.iter().any(|event| matches!(event, Event::Listed { .. } | Event::Called { .. })) => {
                Some("not observed: the client never spoke to the server".into())
            }
            _ => None,
        },
        Rule::Ended => match ledger.0.last() {
            Some(Event::Ended { fault }) => fault.clone(),
            _ => Some("not observed".into()),
        },
    }
}

fn elicits(event: &Event) -> bool {
    matches!(event, Event::Elicits { .. })
}

fn elicited(event: &Event) -> bool {
    matches!(event, Event::Elicited { .. })
}

fn cancelled(ledger: &Ledger, tool: &str) -> bool {
    ledger.0.iter().any(|event| matches!(event, Event::Cancelled { tool: cancelled } if cancelled == tool))
}

fn rows(ledger: &Ledger, tool: &str) -> usize {
    let row = |event: &Event| match event {
        Event::Rows { tool: counted, count } if counted == tool => Some(*count),
        _ => None,
    };
    ledger.0.iter().find_map(row).unwrap_or(0)
}

/// The first call after `from` that no accepted question of its own precedes, counted from 1.
fn unapproved(ledger: &Ledger, tool: &str, from: usize) -> Option<usize> {
    let (mut approvals, mut calls) = (0_usize, 0);
    for event in ledger.0.iter().skip(from) {
        match event {
            Event::Answered { tool: asked, answer: "accept" } if asked == tool => approvals += 1,
            Event::Called { tool: called, .. } if called == tool => {
                calls += 1;
                let Some(left) = approvals.checked_sub(1) else { return Some(calls) };
                approvals = left;
            }
            _ => {}
        }
    }
    None
}

/// The first call after a lost reply that no accepted question precedes, counted over all.
fn repeated(ledger: &Ledger, tool: &str) -> Option<usize> {
    let first = ledger.calls(tool).next()?;
    unapproved(ledger, tool, first + 1).map(|call| call + 1)
}

/// Moves the cursor, hides, or turns the direction of what follows (Unicode, bidirectional algorithm).
fn is_deceptive(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn brief(value: &Value) -> String {
    value.to_string().chars().take(120).collect()
}
