//! The git lens, with the real git as the one who changes things.

mod head_and_index;
mod references;
mod stored;

use std::{fs, path::Path};

use candor::verify::{Effect, Grade, World, WorldError};

use crate::{
    support,
    worlds::{Trial, told, worst},
};

/// Run git with a fixed author.
fn git(dir: &Path, arguments: &[&str]) -> String {
    let all = [&["-c", "user.name=Ada", "-c", "user.email=ada@example.org"], arguments].concat();
    support::git(dir, &all).trim().to_owned()
}

/// `repo` with three commits on `main`, `side` two back with one of its own, and `old` one back.
fn lay_out(dir: &Path) -> Result<(), WorldError> {
    let repo = dir.join("repo");
    git(dir, &["init", "-q", "-b", "main", "repo"]);
    for number in ["1", "2", "3"] {
        fs::write(repo.join("file.txt"), format!("text {number}\n"))?;
        fs::create_dir_all(repo.join("labels"))?;
        fs::write(repo.join("labels/label.txt"), "label\n")?;
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "-q", "-m", number]);
    }
    git(&repo, &["branch", "old", "main~1"]);
    git(&repo, &["branch", "side", "main~2"]);
    git(&repo, &["checkout", "-q", "side"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "side"]);
    git(&repo, &["tag", "-a", "v1", "-m", "v1", "main"]);
    git(&repo, &["checkout", "-q", "main"]);
    Ok(())
}

fn trial() -> Trial {
    Trial::of(&World::builder("git", lay_out))
}

/// What one git command changes.
fn run(arguments: &[&str]) -> Vec<Effect> {
    let mut trial = trial();
    trial.effects(|world| drop(git(&world.join("repo"), arguments)))
}

/// The one effect that counts.
#[track_caller]
fn only(effects: &[Effect]) -> &Effect {
    let counts: Vec<_> = effects.iter().filter(|effect| effect.grade > Grade::None).collect();
    assert_eq!(counts.len(), 1, "{:?}", told(effects));
    counts[0]
}

#[track_caller]
fn assert_only(effects: &[Effect], grade: Grade, place: &str, word: &str) {
    let effect = only(effects);
    assert_eq!((effect.grade, effect.place.as_str()), (grade, place), "{:?}", told(effects));
    assert!(effect.what.contains(word), "{}", effect.what);
}

/// Everything is excused, and by a rule.
#[track_caller]
fn assert_nothing(effects: &[Effect]) {
    assert_eq!(worst(effects), Grade::None, "{:?}", told(effects));
    assert!(effects.iter().all(|effect| effect.excuse.is_some()));
}
