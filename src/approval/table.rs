//! The recommendation and the known clients over all hint combinations: `candor tools --decisions`.

use std::{cmp::Ordering, fmt::Write};

use serde_json::{Value, json};

use super::{
    Approval, Context, Decision, Hints, Output, Rule, Trust,
    clients::{self, Client, IGNORING, Ignoring, Prompt, RECOMMENDED},
    decide,
    pattern::{combinations, combine, letters, patterns},
};
use crate::hints::Hint;

const WIDTH: usize = 80;

const HEAD: &str = "\
What a client should do with hints, and what known clients do

R readOnlyHint, D destructiveHint, I idempotentHint, O openWorldHint: T true,
F false, - absent. Null counts as absent; after anything else the client asks
with a warning, and no hint reassures. This is a fresh conversation with a user
who is there and has laid down nothing. RETRY: may be sent again after a lost
reply. BESIDE: may run beside other calls. OUTPUT: own or untrusted content. For
an untrusted server they are no, no, and untrusted. Columns A and following are
groups of clients, named below, for a server that they trust: r runs, g a model
or words in the name guess, a asks, x refuses or hides; in capitals where that
is laxer than the recommendation.

";

/// The table for people: at most 80 columns.
#[must_use]
pub fn table() -> String {
    let groups = groups();
    let mut text = HEAD.to_owned();
    let mut heading = "R D I O  TRUSTED  RETRY  BESIDE  OUTPUT     UNTRUSTED".to_owned();
    for (name, _) in ('A'..).zip(&groups) {
        let _ = write!(heading, " {name}");
    }
    let _ = writeln!(text, "{heading}");
    for hints in combinations() {
        text += &row(&hints, &groups);
    }
    text += "\nGROUPS\n";
    for (name, group) in ('A'..).zip(&groups) {
        let ids: Vec<_> = group.iter().map(|client| client.id).collect();
        wrap(&mut text, &format!("  {name}  "), &ids.join(", "));
    }
    text += "\nWHERE THEY DIFFER FROM THE RECOMMENDATION\n\nCombinations as RDIO, * for any of T, F and -.\n";
    for client in clients::known() {
        text += &portrait(client);
    }
    text += "\nTHOSE THAT USE NO HINTS WHEN THEY DECIDE\n\n";
    for Ignoring { name, source, evidence } in IGNORING {
        wrap(&mut text, "  ", &format!("{name} [{source}; {evidence}]"));
    }
    text += "\nRULES\n";
    for rule in Rule::ALL {
        let _ = writeln!(text, "\n{}", rule.id());
        wrap(&mut text, "  ", rule.text());
        wrap(&mut text, "  ", &format!("[{}]", rule.source()));
    }
    text
}

/// The same for programs, with malformed hints and all three kinds of trust.
#[must_use]
pub fn json() -> Value {
    let values = [Hint::Is(true), Hint::Is(false), Hint::Absent, Hint::Malformed("\"true\"".to_owned())];
    let decisions: Vec<Value> = [Trust::Trusted, Trust::Untrusted, Trust::Changed]
        .into_iter()
        .flat_map(|trust| {
            combine(&values).into_iter().map(move |hints| {
                let Approval { decision, retry, parallel, output, reasons } = approval(&hints, trust);
                let rules: Vec<_> = reasons.iter().map(|reason| reason.rule.id()).collect();
                json!({"hints": letters(&hints), "trust": trust, "decision": decision, "retry": retry,
                       "parallel": parallel, "output": output, "rules": rules})
            })
        })
        .collect();
    let rules: Vec<Value> =
        Rule::ALL.iter().map(|rule| json!({"id": rule, "text": rule.text(), "source": rule.source()})).collect();
    json!({
        "hints": "readOnlyHint, destructiveHint, idempotentHint, openWorldHint: T true, F false, - absent or null, ! else",
        "decisions": decisions,
        "rules": rules,
        "clients": clients::known().collect::<Vec<_>>(),
    })
}

/// The rules as a table for the README.
#[must_use]
pub fn markdown() -> String {
    let rows = Rule::ALL.iter().map(|rule| format!("| `{}` | {} |\n", rule.id(), rule.text()));
    ["| rule | |\n|---|---|\n".to_owned()].into_iter().chain(rows).collect()
}

fn approval(hints: &Hints, trust: Trust) -> Approval {
    decide(hints, Context { trust, ..Context::default() })
}

/// Clients whose question depends on hints; those that always ask alike stand together.
fn groups() -> Vec<Vec<&'static Client>> {
    let mut groups: Vec<Vec<&Client>> = Vec::new();
    for client in clients::known() {
        let both = answers(client);
        if both.iter().all(|answers| answers.iter().all(|answer| Some(answer) == answers.first())) {
            continue;
        }
        match groups.iter_mut().find(|group| group.first().is_some_and(|other| answers(other) == both)) {
            Some(group) => group.push(client),
            None => groups.push(vec![client]),
        }
    }
    groups
}

/// What it does before a call of a trusted and of an untrusted server, over all combinations.
fn answers(client: &Client) -> [Vec<Option<Prompt>>; 2] {
    [true, false].map(|trusted| combinations().iter().map(|hints| prompt(client, hints, trusted)).collect())
}

fn prompt(client: &Client, hints: &Hints, trusted: bool) -> Option<Prompt> {
    client.conduct(hints, trusted).and_then(|conduct| conduct.prompt)
}

fn row(hints: &Hints, groups: &[Vec<&Client>]) -> String {
    let [trusted, untrusted] = [Trust::Trusted, Trust::Untrusted].map(|trust| approval(hints, trust));
    let combination: Vec<String> = letters(hints).chars().map(String::from).collect();
    let yes = |yes| if yes { "yes" } else { "no" };
    let output = match trusted.output {
        Output::Own => "own",
        Output::Untrusted => "untrusted",
    };
    let mut line = format!(
        "{}  {:<9}{:<7}{:<8}{output:<11}{:<9}",
        combination.join(" "),
        word(trusted.decision),
        yes(trusted.retry),
        yes(trusted.parallel),
        word(untrusted.decision),
    );
    let recommended = prompt(&RECOMMENDED, hints, true);
    for client in groups.iter().filter_map(|group| group.first()) {
        let prompt = prompt(client, hints, true);
        let letter = match prompt {
            Some(Prompt::Run) => 'r',
            Some(Prompt::Guess) => 'g',
            Some(Prompt::Ask) => 'a',
            Some(Prompt::Refuse) => 'x',
            None => ' ',
        };
        line.push(' ');
        line.push(if prompt < recommended { letter.to_ascii_uppercase() } else { letter });
    }
    line + "\n"
}

const fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Run => "run",
        Decision::Ask => "ask",
        Decision::Warn => "warn",
        Decision::Refuse => "refuse",
    }
}

/// One client: what it is, its rule, and where it differs.
fn portrait(client: &Client) -> String {
    let mut text = format!("\n{}\n", client.id);
    wrap(&mut text, "  ", &format!("{}. {}", client.name, client.rule));
    wrap(&mut text, "  ", &format!("[{}; {}; {}, {}]", client.version, client.source, client.evidence, client.date));
    for aspect in Aspect::ALL {
        for (server, trusted) in [("trusted", true), ("untrusted", false)] {
            for (word, ordering) in [("laxer", Ordering::Less), ("stricter", Ordering::Greater)] {
                let differs = |hints: &Hints| aspect.compare(client, hints, trusted) == Some(ordering);
                let set: Vec<String> = combinations().iter().filter(|hints| differs(hints)).map(letters).collect();
                if !set.is_empty() {
                    wrap(&mut text, &format!("  {:<9}{server:<10}{word:<9}", aspect.word()), &patterns(&set).join(" "));
                }
            }
        }
    }
    text
}

/// In what a client may differ.
#[derive(Clone, Copy)]
enum Aspect {
    Question,
    Parallel,
    Replay,
}

impl Aspect {
    const ALL: [Self; 3] = [Self::Question, Self::Parallel, Self::Replay];

    const fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Parallel => "parallel",
            Self::Replay => "replay",
        }
    }

    /// How strict the client is beside the recommendation; none if it isn't known.
    fn compare(self, client: &Client, hints: &Hints, trusted: bool) -> Option<Ordering> {
        let strictness = |client: &Client| {
            let conduct = client.conduct(hints, trusted)?;
            match self {
                Self::Question => conduct.prompt.map(|prompt| prompt as u8),
                Self::Parallel => conduct.parallel.map(|allowed| u8::from(!allowed)),
                Self::Replay => conduct.replay.map(|allowed| u8::from(!allowed)),
            }
        };
        Some(strictness(client)?.cmp(&strictness(&RECOMMENDED)?))
    }
}

/// Write words behind a beginning, in lines of the width, the later ones indented as far.
fn wrap(text: &mut String, start: &str, words: &str) {
    let indent = " ".repeat(start.len());
    let mut line = start.to_owned();
    for word in words.split_whitespace() {
        if line.len() > indent.len() && line.chars().count() + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            line.clone_from(&indent);
        }
        line += word;
        line.push(' ');
    }
    let _ = writeln!(text, "{}", line.trim_end());
}
