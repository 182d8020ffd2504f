//! Worlds, their copies, and what snapshots of them tell.

mod builders;
mod copies;
mod cost;
mod files;
mod meaning;
mod stores;
mod watched;

use std::{fs, path::Path};

use candor::verify::{Effect, Grade, Snapshot, World, WorldCopy, WorldError};

/// A copy of a world and what it held when last looked at.
pub(crate) struct Trial {
    pub(crate) copy: WorldCopy,
    last: Snapshot,
}

impl Trial {
    pub(crate) fn of(world: &World) -> Self {
        let copy = world.fresh().unwrap().watched();
        let last = Snapshot::take(&copy, None).unwrap();
        Self { copy, last }
    }

    pub(crate) fn path(&self) -> &Path {
        self.copy.path()
    }

    /// What doing something changes.
    pub(crate) fn effects(&mut self, act: impl FnOnce(&Path)) -> Vec<Effect> {
        act(self.copy.path());
        let now = Snapshot::take(&self.copy, Some(&self.last)).unwrap();
        let effects = Snapshot::effects(&self.last, &now);
        self.last = now;
        effects
    }
}

/// Grades, places and words of some effects.
pub(crate) fn told(effects: &[Effect]) -> Vec<(Grade, &str, &str)> {
    effects.iter().map(|effect| (effect.grade, effect.place.as_str(), effect.what.as_str())).collect()
}

pub(crate) fn worst(effects: &[Effect]) -> Grade {
    effects.iter().map(|effect| effect.grade).max().unwrap_or(Grade::None)
}

/// Some files and directories.
fn lay_out(dir: &Path) -> Result<(), WorldError> {
    fs::create_dir_all(dir.join("sub/deep"))?;
    fs::create_dir(dir.join("empty"))?;
    for (path, text) in [
        ("a.txt", "hello\n"),
        ("sub/x", "x\n"),
        ("sub/deep/y", "y\n"),
        ("poem.txt", "one\ntwo\nthree\n"),
        ("data.json", r#"{"big": 12345678901234567890.10, "list": [1, {"id": 2}, 3]}"#),
        ("log.jsonl", "{\"id\": 1}\n{\"id\": 2}\n"),
    ] {
        fs::write(dir.join(path), text)?;
    }
    fs::write(dir.join("zeros.bin"), [0; 4096])?;
    Ok(())
}

fn plain() -> World {
    World::builder("plain", lay_out)
}
