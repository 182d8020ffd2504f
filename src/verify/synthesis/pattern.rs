//! Texts that a pattern takes.

use std::{cell::RefCell, collections::HashMap};

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Bytes that a compiled pattern may take, so that a hostile one costs no memory.
const SIZE: usize = 1 << 20;
/// Characters of a text that is made.
const LENGTH: usize = 2_000;

/// Compiled patterns that are kept: those of one tool are asked about again and again.
const KEPT: usize = 16;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Option<Regex>>> = RefCell::default();
}

/// Whether a text matches; none if the pattern is none that can be read (look-around, references).
pub(super) fn matches(pattern: &str, text: &str) -> Option<bool> {
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() == KEPT {
            compiled.clear();
        }
        let compile = || RegexBuilder::new(pattern).size_limit(SIZE).build().ok();
        let found = compiled.entry(pattern.to_owned()).or_insert_with(compile);
        Some(found.as_ref()?.is_match(text))
    })
}

/// A short text that matches and has at least this many characters, if one is found.
pub(super) fn example(pattern: &str, least: usize) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    // Each repetition goes on as often as it must, and not further than it may.
    (0..=least.min(64)).chain([least.min(LENGTH)]).find_map(|extra| {
        let mut text = String::new();
        write(&hir, extra, &mut text)?;
        (text.chars().count() >= least && matches(pattern, &text) == Some(true)).then_some(text)
    })
}

fn write(hir: &Hir, extra: usize, text: &mut String) -> Option<()> {
    if text.chars().count() > LENGTH {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(character(class)?),
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize;
            let most = repetition.max.map_or(usize::MAX, |most| most as usize);
            if least > LENGTH {
                return None;
            }
            for _ in 0..least.saturating_add(extra).min(most) {
                write(&repetition.sub, extra, text)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, extra, text)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, extra, text)?;
            }
        }
        HirKind::Alternation(choices) => write(choices.first()?, extra, text)?,
    }
    Some(())
}

/// A letter if the class has one, else a digit, else its first character.
fn character(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    };
    let has = |char: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&char));
    ['c', 'C', '1', '0', '-', ' '].into_iter().find(|char| has(*char)).or_else(|| Some(ranges.first()?.0))
}
