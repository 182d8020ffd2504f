use std::fs;

use candor::verify::Grade::{Additive, Lossy, Recoverable};

use super::{assert_nothing, assert_only, git, run, trial};

#[test]
fn a_new_branch_is_additive_and_a_deleted_one_is_lost() {
    assert_only(&run(&["branch", "new"]), Additive, "repo/.git/refs/heads/new", "created");
    assert_only(&run(&["branch", "deep/er", "old"]), Additive, "repo/.git/refs/heads/deep/er", "created");
    assert_only(&run(&["branch", "-D", "side"]), Lossy, "repo/.git/refs/heads/side", "deleted");
    // Merged or not: the name is gone.
    assert_only(&run(&["branch", "-d", "old"]), Lossy, "repo/.git/refs/heads/old", "deleted");
    assert_only(&run(&["tag", "-d", "v1"]), Lossy, "repo/.git/refs/tags/v1", "deleted");
}

#[test]
fn a_branch_may_move_forward_and_not_elsewhere() {
    assert_only(&run(&["branch", "-f", "old", "main"]), Additive, "repo/.git/refs/heads/old", "moved forward");
    for target in ["main", "old~1"] {
        let effects = run(&["branch", "-f", "side", target]);
        assert_only(&effects, Lossy, "repo/.git/refs/heads/side", "does not contain it; its reflog keeps the old tip");
    }
    assert_only(&run(&["branch", "-f", "old", "old~1"]), Lossy, "repo/.git/refs/heads/old", "does not contain");
    assert_only(&run(&["tag", "-f", "-a", "-m", "again", "v1", "main"]), Lossy, "repo/.git/refs/tags/v1", "moved");
}

#[test]
fn packing_changes_nothing() {
    let mut trial = trial();
    for arguments in [&["pack-refs", "--all"][..], &["gc", "-q"], &["repack", "-a", "-d", "-q"], &["status"]] {
        assert_nothing(&trial.effects(|world| drop(git(&world.join("repo"), arguments))));
    }
    assert!(trial.path().join("repo/.git/packed-refs").exists());
    // What is packed can be deleted, moved, and hidden by a loose reference.
    let mut effects = |arguments: &[&str]| trial.effects(|world| drop(git(&world.join("repo"), arguments)));
    assert_only(&effects(&["branch", "-f", "old", "main"]), Additive, "repo/.git/refs/heads/old", "forward");
    assert_only(&effects(&["branch", "-D", "side"]), Lossy, "repo/.git/refs/heads/side", "deleted");
}

#[test]
fn a_loose_reference_of_the_same_value_hides_nothing() {
    let mut trial = trial();
    trial.effects(|world| drop(git(&world.join("repo"), &["pack-refs", "--all"])));
    assert_nothing(&trial.effects(|world| {
        let repo = world.join("repo");
        let tip = git(&repo, &["rev-parse", "old"]);
        fs::create_dir_all(repo.join(".git/refs/heads")).unwrap();
        fs::write(repo.join(".git/refs/heads/old"), tip + "\n").unwrap();
    }));
}

#[test]
fn a_commit_is_a_step_forward_of_its_branch() {
    let effects = run(&["commit", "-q", "--allow-empty", "-m", "4"]);
    assert_only(&effects, Additive, "repo/.git/refs/heads/main", "moved forward");
    let effects = run(&["commit", "-q", "--amend", "-m", "other"]);
    assert_only(&effects, Lossy, "repo/.git/refs/heads/main", "does not contain it");
}

#[test]
fn a_bare_repository_is_found_and_judged_alike() {
    let mut trial = trial();
    trial.effects(|world| drop(git(world, &["clone", "-q", "--bare", "repo", "bare.git"])));
    let effects = trial.effects(|world| drop(git(&world.join("bare.git"), &["branch", "-D", "side"])));
    assert_only(&effects, Lossy, "bare.git/refs/heads/side", "deleted");
}

#[test]
fn a_repository_that_came_or_went_is_told_as_a_directory() {
    let mut trial = trial();
    let effects = trial.effects(|world| drop(git(world, &["init", "-q", "--bare", "new.git"])));
    assert_only(&effects, Additive, "new.git", "directory created");
    let effects = trial.effects(|world| fs::remove_dir_all(world.join("new.git")).unwrap());
    assert_only(&effects, Lossy, "new.git", "directory deleted");
}

#[test]
fn symbolic_references_are_turned_and_not_lost() {
    let mut trial = trial();
    trial.effects(|world| drop(git(&world.join("repo"), &["symbolic-ref", "refs/remotes/o/HEAD", "refs/heads/main"])));
    let effects = trial
        .effects(|world| drop(git(&world.join("repo"), &["symbolic-ref", "refs/remotes/o/HEAD", "refs/heads/old"])));
    assert_only(&effects, Recoverable, "repo/.git/refs/remotes/o/HEAD", "refs/heads/old");
}

#[test]
fn a_dropped_stash_is_lost_even_if_the_last_one_stays() {
    let mut trial = trial();
    for text in ["one\n", "two\n"] {
        trial.effects(|world| {
            fs::write(world.join("repo/file.txt"), text).unwrap();
            git(&world.join("repo"), &["stash", "-q"]);
        });
    }
    let effects = trial.effects(|world| drop(git(&world.join("repo"), &["stash", "drop", "-q", "stash@{1}"])));
    assert_only(&effects, Lossy, "repo/.git/logs/refs/stash", "replaced");
}

#[test]
fn a_moved_branch_without_its_history_is_not_called_forward() {
    let mut trial = trial();
    let effects = trial.effects(|world| {
        let refs = world.join("repo/.git/refs/heads");
        fs::write(refs.join("old"), "0123456789012345678901234567890123456789\n").unwrap();
    });
    assert_only(&effects, Lossy, "repo/.git/refs/heads/old", "does not contain it");
}
