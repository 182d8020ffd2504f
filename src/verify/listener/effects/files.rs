//! What events say about files: what came and went, and what changed where nobody compares.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::Ground;
use crate::verify::{
    Effect, Grade,
    listener::{Doing, Event, Part},
};

const LENS: &str = "files";
const TRANSIENT: &str = "what came and went again is not there afterwards";
const UNNAMED: &str = "a file without a name is gone when it is closed";
const TIMES: &str = "times alone";
const WRITTEN: &str = "suspected: whether that changed anything is not compared here";

/// What happened to names, in the order in which it did.
#[derive(Default)]
struct Story<'a> {
    /// Names that are new.
    born: BTreeSet<&'a Path>,
    /// Names that were there before and were removed.
    lost: BTreeSet<&'a Path>,
    /// Names that were there before, by the new name.
    moved: BTreeMap<&'a Path, &'a Path>,
    /// Names that were there before and were taken for something else, by what it was called.
    replaced: BTreeMap<&'a Path, &'a Path>,
}

pub(super) fn effects(events: &[Event], ground: &dyn Ground) -> Vec<Effect> {
    let mut story = Story::default();
    let mut effects = Vec::new();
    for event in events {
        story.tell(&event.doing);
        effects.extend(story.changed(&event.doing, ground));
    }
    effects.extend(story.transients(ground));
    effects.extend(story.uncompared(ground));
    effects
}

impl<'a> Story<'a> {
    fn tell(&mut self, doing: &'a Doing) {
        match doing {
            Doing::Creates { path, .. } => {
                self.born.insert(path);
            }
            Doing::Removes { path } if !self.born.contains(path.as_path()) => {
                self.lost.insert(path);
            }
            Doing::Renames { from, to, replaces } => {
                let was_born = self.born.remove(from.as_path());
                if *replaces && !self.born.contains(to.as_path()) {
                    self.replaced.insert(to, from);
                } else if was_born {
                    self.born.insert(to);
                } else if !self.born.contains(to.as_path()) {
                    self.moved.insert(to, from);
                }
            }
            _ => {}
        }
    }

    /// What one event says alone.
    fn changed(&self, doing: &Doing, ground: &dyn Ground) -> Option<Effect> {
        let (path, grade, what, rule) = match doing {
            Doing::OpensUnnamed { directory } => {
                return Some(Effect::excused("transient", ground.shown(directory), "file without a name", UNNAMED));
            }
            Doing::Opens { path, truncates: true } => (path, Grade::Lossy, "emptied to be written", None),
            Doing::Opens { path, truncates: false } => (path, Grade::None, "opened for writing", Some(WRITTEN)),
            Doing::Changes { path, part: Part::Times } => (path, Grade::None, "times set", Some(TIMES)),
            Doing::Changes { path, part } => (path, Grade::None, part.set(), Some(WRITTEN)),
            _ => return None,
        };
        (!self.is_new(path) && !ground.is_compared(path)).then(|| judged(ground, path, grade, what, rule))
    }

    /// Whether a name, or a directory that it is in, was made just now.
    fn is_new(&self, path: &Path) -> bool {
        path.ancestors().any(|path| self.born.contains(path))
    }

    /// The names that were made, without those in a directory that was.
    fn made(&self) -> impl Iterator<Item = &'a Path> {
        self.born.iter().copied().filter(|path| path.parent().is_none_or(|above| !self.is_new(above)))
    }

    /// What came and went, told by directory: the names themselves are often made up.
    fn transients(&self, ground: &dyn Ground) -> Vec<Effect> {
        let mut gone: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for path in self.made().filter(|path| !ground.exists(path)) {
            gone.entry(path.parent().unwrap_or(path)).or_default().push(path);
        }
        let told = gone.into_iter().map(|(directory, names)| {
            let what = match names.as_slice() {
                [name] => format!("`{}` came and went", name.file_name().unwrap_or_default().display()),
                names => format!("{} names came and went", names.len()),
            };
            Effect::excused("transient", ground.shown(directory), what, TRANSIENT)
        });
        told.collect()
    }

    /// What is different afterwards where nothing else would notice. What failed left no trace.
    fn uncompared(&self, ground: &dyn Ground) -> Vec<Effect> {
        let there = |path: &Path| ground.exists(path);
        let mut effects = Vec::new();
        let mut add = |path: &Path, grade, what: &str| {
            if !ground.is_compared(path) {
                effects.push(judged(ground, path, grade, what, None));
            }
        };
        for path in self.made().filter(|path| there(path) && !self.lost.contains(path)) {
            add(path, Grade::Additive, "created");
        }
        for path in &self.lost {
            match (there(path), self.is_new(path)) {
                (false, _) => add(path, Grade::Lossy, "removed"),
                (true, true) => add(path, Grade::Lossy, "removed and made anew"),
                (true, false) => {}
            }
        }
        for (to, from) in &self.replaced {
            if there(to) && !there(from) {
                add(to, Grade::Lossy, "replaced");
            }
        }
        for (to, from) in &self.moved {
            if there(to) && !there(from) {
                add(from, Grade::Recoverable, &format!("renamed to {}", ground.shown(to)));
            }
        }
        effects
    }
}

impl Part {
    const fn set(self) -> &'static str {
        match self {
            Self::Mode => "mode set",
            Self::Owner => "owner set",
            Self::Attribute => "attribute set",
            Self::Times => "times set",
            Self::Size => "size set",
        }
    }
}

fn judged(ground: &dyn Ground, path: &Path, grade: Grade, what: &str, rule: Option<&'static str>) -> Effect {
    match rule.or_else(|| ground.excuse(path)) {
        Some(rule) => Effect::excused(LENS, ground.shown(path), what, rule),
        None => Effect::new(grade, LENS, ground.shown(path), what),
    }
}
