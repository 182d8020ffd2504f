//! Configuration, hooks, objects, and files that git can give back.

use std::fs;

use candor::verify::Grade::{Additive, Lossy, Recoverable};

use super::{assert_nothing, assert_only, git, only, run, told, trial};

#[test]
fn configuration_and_hooks_are_named_and_judged_as_text() {
    assert_only(&run(&["config", "core.pager", "cat"]), Additive, "repo/.git/config", "");
    assert_only(&run(&["config", "core.bare", "true"]), Lossy, "repo/.git/config", "replaced");
    let mut trial = trial();
    let hook = |text: &'static str| {
        move |world: &std::path::Path| fs::write(world.join("repo/.git/hooks/pre-commit"), text).unwrap()
    };
    let effects = trial.effects(hook("#!/bin/sh\n"));
    assert_only(&effects, Additive, "repo/.git/hooks/pre-commit", "created");
    assert_eq!(only(&effects).lens, "git");
    assert_only(&trial.effects(hook("#!/bin/sh\nexit 1\n")), Additive, "repo/.git/hooks/pre-commit", "");
    assert_only(&trial.effects(hook("exit 1\n")), Lossy, "repo/.git/hooks/pre-commit", "");
}

#[test]
fn hooks_and_configuration_of_a_repository_are_never_run() {
    let mut trial = trial();
    trial.effects(|world| {
        let repo = world.join("repo");
        for hook in ["fsmonitor", "reference-transaction", "post-index-change"] {
            let path = repo.join(".git/hooks").join(hook);
            fs::write(&path, "#!/bin/sh\necho ran >> ran.log\n").unwrap();
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        git(&repo, &["config", "core.fsmonitor", ".git/hooks/fsmonitor"]);
    });
    fs::remove_file(trial.path().join("repo/ran.log")).ok();
    trial.effects(|world| {
        let refs = world.join("repo/.git/refs/heads");
        fs::copy(refs.join("main"), refs.join("old")).unwrap();
    });
    assert!(!trial.path().join("repo/ran.log").exists());
}

#[test]
fn objects_that_nothing_names_are_nothing() {
    let mut trial = trial();
    assert_nothing(&trial.effects(|world| {
        fs::write(world.join("repo/.git/loose.txt"), "").unwrap();
        fs::remove_file(world.join("repo/.git/loose.txt")).unwrap();
        git(&world.join("repo"), &["commit-tree", "HEAD^{tree}", "-m", "loose"]);
    }));
}

#[test]
fn overwritten_files_are_recoverable_while_git_has_them() {
    let mut trial = trial();
    let effects = trial.effects(|world| fs::write(world.join("repo/file.txt"), "other\n").unwrap());
    assert_only(&effects, Recoverable, "repo/file.txt", "is blob");
    // That text was never stored.
    let effects = trial.effects(|world| fs::write(world.join("repo/file.txt"), "third\n").unwrap());
    assert_only(&effects, Lossy, "repo/file.txt", "replaced");
    let effects = trial.effects(|world| fs::remove_dir_all(world.join("repo/labels")).unwrap());
    assert_only(&effects, Recoverable, "repo/labels", "directory deleted, with 1 entry");
}

#[test]
fn the_same_file_outside_of_a_working_tree_is_lost() {
    let mut trial = trial();
    trial.effects(|world| assert!(fs::copy(world.join("repo/file.txt"), world.join("file.txt")).is_ok()));
    let effects = trial.effects(|world| fs::remove_file(world.join("file.txt")).unwrap());
    assert_only(&effects, Lossy, "file.txt", "deleted");
}

#[test]
fn a_lost_object_is_lost_even_if_every_reference_stays() {
    let mut trial = trial();
    let effects = trial.effects(|world| {
        let blob = git(&world.join("repo"), &["rev-parse", "main~1:file.txt"]);
        let (dir, rest) = blob.split_at(2);
        fs::remove_file(world.join("repo/.git/objects").join(dir).join(rest)).unwrap();
    });
    assert_only(&effects, Lossy, "repo/.git/objects", "1 objects gone");
}

#[test]
fn a_reflog_is_bookkeeping_and_says_so() {
    let effects = run(&["reflog", "expire", "--expire=now", "--all"]);
    assert_nothing(&effects);
    assert!(effects.iter().any(|effect| effect.excuse.unwrap().contains("reflogs")), "{:?}", told(&effects));
}
