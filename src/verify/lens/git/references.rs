//! References as one map over loose files and `packed-refs`, and HEAD.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::Repository;
use crate::verify::{
    Effect, Grade,
    snapshot::{Change, Kind, Snapshot, place},
};

const STORED: &str = "references are one map over loose files and `packed-refs`; their values are equal";

/// What a reference says.
#[derive(Clone, PartialEq, Eq)]
enum Value {
    Object(String),
    Symbolic(String),
    /// Neither, or too long to be either.
    Broken,
}

impl Value {
    fn parse(text: &[u8]) -> Self {
        let text = std::str::from_utf8(text).unwrap_or_default().trim();
        match text.strip_prefix("ref:") {
            Some(name) => Self::Symbolic(name.trim().into()),
            None if matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                Self::Object(text.into())
            }
            None => Self::Broken,
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Object(id) => id.chars().take(10).collect(),
            Self::Symbolic(name) => format!("`{}`", place(Path::new(name))),
            Self::Broken => "no object".into(),
        }
    }
}

impl Repository<'_> {
    /// What happened to references, given what happened to the files that hold them.
    pub(super) fn references(&self, changes: &[Change<'_>]) -> Vec<Effect> {
        if changes.is_empty() {
            return Vec::new();
        }
        let packed = [packed(self.dir, self.before), packed(self.dir, self.after)];
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut files = 0;
        for change in changes {
            files += 1;
            let name = change.path.strip_prefix(self.dir).unwrap_or(change.path).to_string_lossy().into_owned();
            if name != "packed-refs" {
                names.insert(name);
                continue;
            }
            let [old, new] = &packed;
            let differs = |name: &&String| old.get(*name) != new.get(*name);
            names.extend(old.keys().chain(new.keys()).filter(differs).cloned());
        }
        let [old, new] = &packed;
        let judge = |name: String| {
            let values = (self.value(&name, self.before, old), self.value(&name, self.after, new));
            self.moved(&name, values.0.as_ref(), values.1.as_ref())
        };
        let mut effects: Vec<Effect> = names.into_iter().filter_map(judge).collect();
        if effects.is_empty() {
            let what = if files == 1 { "1 file rewritten".into() } else { format!("{files} files rewritten") };
            effects.push(Effect::excused("git", place(&self.dir.join("refs")), what, STORED));
        }
        effects
    }

    /// Which value a reference has: a loose one hides a packed one.
    fn value(&self, name: &str, snapshot: &Snapshot, packed: &BTreeMap<String, Value>) -> Option<Value> {
        let path = self.dir.join(name);
        let loose = snapshot.tree().get(&path).filter(|state| state.kind != Kind::Directory);
        match loose {
            // The oldest form of a symbolic reference.
            Some(state) if state.kind == Kind::Link => {
                Some(state.target.as_ref().map_or(Value::Broken, |target| Value::Symbolic(place(target))))
            }
            Some(_) => Some(snapshot.bytes(&path).map_or(Value::Broken, |text| Value::parse(&text))),
            None => packed.get(name).cloned(),
        }
    }

    fn moved(&self, name: &str, old: Option<&Value>, new: Option<&Value>) -> Option<Effect> {
        let path = self.dir.join(name);
        let (grade, what) = match (old, new) {
            (None, None) => return None,
            (Some(old), Some(new)) if old == new => return None,
            (None, Some(new)) => (Grade::Additive, format!("reference created at {}", new.shown())),
            (Some(old), None) => {
                (Grade::Lossy, format!("reference deleted, was at {}{}", old.shown(), self.reflog(name, old)))
            }
            (Some(Value::Symbolic(_)), Some(new @ Value::Symbolic(_))) => {
                (Grade::Recoverable, format!("points to {} now", new.shown()))
            }
            (Some(Value::Object(from)), Some(Value::Object(to))) if self.view.is_ahead(to, from) => {
                (Grade::Additive, format!("moved forward from {} to {}", cut(from), cut(to)))
            }
            (Some(old), Some(new)) => {
                let what = format!("moved from {} to {}, which does not contain it", old.shown(), new.shown());
                (Grade::Lossy, what + self.reflog(name, old))
            }
        };
        Some(Effect::new(grade, "git", place(&path), what))
    }

    /// Whether the old tip can be found in the reference's own history.
    fn reflog(&self, name: &str, old: &Value) -> &'static str {
        let Value::Object(id) = old else { return "" };
        let log = self.after.bytes(&self.dir.join("logs").join(name)).unwrap_or_default();
        let keeps = log.windows(id.len()).any(|part| part == id.as_bytes());
        if keeps { "; its reflog keeps the old tip" } else { "" }
    }

    /// What happened to HEAD, of the repository or of a linked working tree.
    pub(super) fn head(&self, change: &Change<'_>) -> Option<Effect> {
        let read = |snapshot: &Snapshot| Some(Value::parse(&snapshot.bytes(change.path)?));
        let (grade, what) = match (read(self.before), read(self.after)) {
            (None, None) => return None,
            (None, Some(_)) => (Grade::Additive, "created".into()),
            (Some(_), None) => (Grade::Lossy, "deleted".into()),
            (Some(old), Some(new)) if old == new => {
                return Some(Effect::excused("git", place(change.path), "rewritten", STORED));
            }
            (Some(Value::Object(from)), Some(Value::Object(to))) if self.view.is_ahead(&to, &from) => {
                (Grade::Additive, format!("moved forward from {} to {}", cut(&from), cut(&to)))
            }
            (Some(Value::Object(from)), Some(new)) if !self.is_reached(&from) => {
                let what = format!("left {}, which no reference reaches, for {}", cut(&from), new.shown());
                (Grade::Lossy, what)
            }
            (Some(_), Some(new)) => (Grade::Recoverable, format!("switched to {}", new.shown())),
        };
        Some(Effect::new(grade, "git", place(change.path), what))
    }

    /// Whether a commit is part of what some reference holds now.
    fn is_reached(&self, id: &str) -> bool {
        let packed = packed(self.dir, self.after);
        let refs = self.dir.join("refs");
        let loose = self.after.tree().below(&refs).filter(|(_, state)| state.kind == Kind::File);
        let loose = loose.filter_map(|(path, _)| Some(Value::parse(&self.after.bytes(path)?)));
        loose.chain(packed.into_values()).any(|value| match value {
            Value::Object(tip) => tip == id || self.view.is_ahead(&tip, id),
            _ => false,
        })
    }
}

fn cut(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// The references of `packed-refs`. Comments and the peeled values of tags are left out.
fn packed(dir: &Path, snapshot: &Snapshot) -> BTreeMap<String, Value> {
    // Not cut at the size that lenses read: one line a reference grows long.
    let bytes = snapshot.file(&dir.join("packed-refs")).and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"));
    lines
        .filter_map(|line| {
            let text = String::from_utf8_lossy(line);
            let (id, name) = text.split_once(' ')?;
            Some((name.to_owned(), Value::parse(id.as_bytes())))
        })
        .collect()
}
