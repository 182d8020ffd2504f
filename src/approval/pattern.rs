//! Hint combinations, and sets of them in few words.

use super::Hints;
use crate::hints::{Hint, HintName};

/// What the wire may say in one hint, where it says it well.
const SAID: [Hint; 3] = [Hint::Is(true), Hint::Is(false), Hint::Absent];

/// All well-formed combinations, 81 of them, in the order of [`HintName::ALL`], true first.
pub(super) fn combinations() -> Vec<Hints> {
    combine(&SAID)
}

/// All combinations of these values.
pub(super) fn combine(values: &[Hint]) -> Vec<Hints> {
    HintName::ALL.into_iter().fold(vec![Hints::empty_object()], |combinations, name| {
        let longer = |hints: Hints| values.iter().map(move |value| hints.with(name, value.clone()));
        combinations.into_iter().flat_map(longer).collect()
    })
}

/// One character for a hint: `T`, `F`, `-` for absent, `!` for anything else.
pub(super) fn letter(hint: &Hint) -> char {
    match hint {
        Hint::Is(true) => 'T',
        Hint::Is(false) => 'F',
        Hint::Absent => '-',
        Hint::Malformed(_) => '!',
    }
}

/// `TF-T`.
pub(super) fn letters(hints: &Hints) -> String {
    HintName::ALL.iter().map(|name| letter(hints.get(*name))).collect()
}

/// The members of a set of combinations as patterns such as `TF**`, where `*` is any of the three.
/// Together they match exactly the set.
pub(super) fn patterns(set: &[String]) -> Vec<String> {
    let mut all = vec![String::new()];
    for _ in HintName::ALL {
        all = all.iter().flat_map(|start| ['*', 'T', 'F', '-'].map(|next| format!("{start}{next}"))).collect();
    }
    all.sort_by_key(|pattern| std::cmp::Reverse(pattern.matches('*').count()));
    let mut left: Vec<&String> = set.iter().collect();
    all.retain(|pattern| {
        let size = 3_usize.pow(u32::try_from(pattern.matches('*').count()).unwrap_or(0));
        let whole = set.iter().filter(|letters| matches(pattern, letters)).count() == size;
        let before = left.len();
        if whole {
            left.retain(|letters| !matches(pattern, letters));
        }
        left.len() < before
    });
    all
}

fn matches(pattern: &str, letters: &str) -> bool {
    pattern.chars().zip(letters.chars()).all(|(one, other)| one == '*' || one == other)
}
