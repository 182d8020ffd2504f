use std::fs;

use candor::verify::Grade::{self, Additive, Lossy, Recoverable};

use super::{assert_nothing, assert_only, git, run, told, trial, worst};

#[test]
fn switching_branches_is_recoverable_in_all_its_parts() {
    let effects = run(&["checkout", "-q", "side"]);
    assert_eq!(worst(&effects), Recoverable, "{:?}", told(&effects));
    let head = effects.iter().find(|effect| effect.place == "repo/.git/HEAD").unwrap();
    assert_eq!(head.what, "switched to `refs/heads/side`");
    let effects = run(&["checkout", "-q", "--detach", "old"]);
    assert_eq!(worst(&effects), Recoverable, "{:?}", told(&effects));
}

#[test]
fn a_head_that_leaves_a_commit_which_nothing_reaches_loses_it() {
    let mut trial = trial();
    let mut run = |arguments: &[&str]| trial.effects(|world| drop(git(&world.join("repo"), arguments)));
    run(&["checkout", "-q", "--detach"]);
    let effects = run(&["commit", "-q", "--allow-empty", "-m", "alone"]);
    assert_only(&effects, Additive, "repo/.git/HEAD", "moved forward");
    let effects = run(&["checkout", "-q", "main"]);
    assert_only(&effects, Lossy, "repo/.git/HEAD", "which no reference reaches");
}

#[test]
fn the_stat_cache_of_the_index_is_nothing() {
    let mut trial = trial();
    let effects = trial.effects(|world| {
        fs::File::open(world.join("repo/file.txt")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        git(&world.join("repo"), &["status"]);
    });
    assert_nothing(&effects);
    assert!(effects.iter().any(|effect| effect.place == "repo/.git/index"), "{:?}", told(&effects));
}

#[test]
fn index_entries_are_added_replaced_and_removed() {
    let mut trial = trial();
    trial.effects(|world| fs::write(world.join("repo/new.txt"), "new\n").unwrap());
    let effects = trial.effects(|world| drop(git(&world.join("repo"), &["add", "new.txt"])));
    assert_only(&effects, Additive, "repo/.git/index", "1 entries added");
    trial.effects(|world| fs::write(world.join("repo/new.txt"), "newer\n").unwrap());
    let effects = trial.effects(|world| drop(git(&world.join("repo"), &["add", "new.txt"])));
    assert_only(&effects, Recoverable, "repo/.git/index", "1 replaced");
    let effects = trial.effects(|world| drop(git(&world.join("repo"), &["rm", "-q", "--cached", "new.txt"])));
    assert_only(&effects, Recoverable, "repo/.git/index", "1 removed");
}

#[test]
fn an_index_entry_whose_blob_is_gone_is_lost() {
    let mut trial = trial();
    trial.effects(|world| {
        fs::write(world.join("repo/new.txt"), "new\n").unwrap();
        git(&world.join("repo"), &["add", "new.txt"]);
    });
    let effects = trial.effects(|world| {
        git(&world.join("repo"), &["rm", "-q", "--cached", "new.txt"]);
        git(&world.join("repo"), &["prune", "--expire=now"]);
    });
    let index = effects.iter().find(|effect| effect.place == "repo/.git/index").unwrap();
    assert_eq!(index.grade, Lossy, "{:?}", told(&effects));
    let objects = effects.iter().find(|effect| effect.place == "repo/.git/objects").unwrap();
    assert_eq!((objects.grade, objects.what.as_str()), (Lossy, "1 objects gone"));
}

#[test]
fn linked_working_trees_have_a_head_of_their_own() {
    let mut trial = trial();
    let effects = trial.effects(|world| drop(git(&world.join("repo"), &["worktree", "add", "-q", "../tree", "old"])));
    assert_eq!(worst(&effects), Additive, "{:?}", told(&effects));
    let effects = trial.effects(|world| drop(git(&world.join("tree"), &["checkout", "-q", "side"])));
    assert_eq!(worst(&effects), Recoverable, "{:?}", told(&effects));
    assert!(effects.iter().any(|effect| effect.place == "repo/.git/worktrees/tree/HEAD"), "{:?}", told(&effects));
    let effects = trial.effects(|world| fs::remove_file(world.join("tree/file.txt")).unwrap());
    assert_eq!(effects[0].grade, Grade::Recoverable, "{:?}", told(&effects));
}
