use std::{fs, path::Path, sync::Arc};

use candor::{
    serve::demo::DemoWorkspace,
    verify::{Effect, Grade, World, builders::builders},
};
use candor_tools::{
    OpenError,
    repo::{BranchName, Repo, RepoConfig, RepoWriter},
};

use super::{Trial, worst};
use crate::support::git;

fn world(name: &str) -> World {
    builders().into_iter().find(|world| world.name == name).unwrap()
}

fn open(workspace: &DemoWorkspace) -> Result<Repo, OpenError> {
    Repo::open(RepoConfig { dir: workspace.repo.clone(), ..RepoConfig::default() })
}

/// What git says of a repository of a world, and what it changed by saying so.
fn ask(trial: &mut Trial, repo: &str, arguments: &[&str]) -> (String, Vec<Effect>) {
    let mut answer = String::new();
    let effects = trial.effects(|world| answer = git(&world.join(repo), arguments));
    (answer, effects)
}

#[test]
fn every_named_world_resets() {
    for world in builders() {
        world.check_reset().unwrap_or_else(|error| panic!("{}: {error}", world.name));
        let mut trial = Trial::of(&world);
        assert_eq!(worst(&trial.effects(|_| {})), Grade::None, "{}", world.name);
    }
}

#[test]
fn every_named_world_is_healthy_to_git_and_can_be_served() {
    for world in builders() {
        let copy = world.fresh().unwrap();
        let workspace = DemoWorkspace::at(copy.path());
        for repo in [&workspace.repo, &workspace.origin] {
            git(repo, &["fsck", "--full", "--strict", "--no-dangling"]);
        }
        assert_eq!(git(&workspace.repo, &["diff", "--no-ext-diff"]), "", "{}", world.name);
        open(&workspace).unwrap_or_else(|error| panic!("{}: {error:?}", world.name));
    }
}

#[test]
fn packed_references_are_those_of_the_demo() {
    let (demo, packed) = (world("demo").fresh().unwrap(), world("packed").fresh().unwrap());
    for repo in ["repo", "origin.git"] {
        let list = |dir: &Path| git(&dir.join(repo), &["for-each-ref"]);
        assert_eq!(list(demo.path()), list(packed.path()));
    }
    assert!(!packed.path().join("origin.git/refs/heads/main").exists());
}

#[test]
fn hooks_note_that_they_ran() {
    let mut trial = Trial::of(&world("hooks"));
    let (_, effects) = ask(&mut trial, "repo", &["status"]);
    let log = |trial: &Trial| fs::read_to_string(trial.path().join("ran.log")).unwrap();
    assert!(log(&trial).contains("fsmonitor"), "{}", log(&trial));
    assert!(effects.iter().any(|effect| effect.place == "ran.log" && effect.grade == Grade::Additive), "{effects:?}");
    fs::write(trial.path().join("repo/README.md"), "changed\n").unwrap();
    ask(&mut trial, "repo", &["diff"]);
    assert!(log(&trial).contains("diff"), "{}", log(&trial));
    ask(&mut trial, "repo", &["push", "-q", "origin", "main:refs/heads/pushed"]);
    for hook in ["pre-push", "pre-receive", "update", "post-receive", "reference-transaction"] {
        assert!(log(&trial).lines().any(|line| line == hook), "{hook}: {}", log(&trial));
    }
}

#[test]
fn git_refreshes_a_stale_index_and_that_is_nothing() {
    let mut trial = Trial::of(&world("stale-index"));
    let (status, effects) = ask(&mut trial, "repo", &["status", "--porcelain"]);
    assert_eq!((status.as_str(), worst(&effects)), ("", Grade::None));
    let index = effects.iter().find(|effect| effect.place == "repo/.git/index").unwrap();
    assert!(index.excuse.unwrap().contains("stat cache"));
}

#[tokio::test]
async fn protected_branches_are_refused_by_our_own_tool() {
    let copy = world("protected").fresh().unwrap();
    let workspace = DemoWorkspace::at(copy.path());
    let trees = git(&workspace.origin, &["worktree", "list", "--porcelain"]);
    assert!(trees.contains("branch refs/heads/experiment/cache") && !trees.contains("prunable"), "{trees}");
    assert_eq!(git(&copy.path().join("review"), &["status", "--porcelain"]), "");
    let tool = RepoWriter::new(Arc::new(open(&workspace).unwrap()));
    for branch in ["experiment/cache", "feature/search"] {
        let name = BranchName::try_from(branch.to_owned()).unwrap();
        let refusal = tool.delete(name, None, |_| Ok(())).await.unwrap_err();
        assert!(format!("{refusal:?}").contains("checked out in a working tree"), "{branch}: {refusal:?}");
    }
}

#[test]
fn a_partial_clone_fetches_what_it_lacks_and_that_is_an_effect() {
    let mut trial = Trial::of(&world("partial-clone"));
    let (log, effects) = ask(&mut trial, "repo", &["log", "--oneline", "origin/feature/search"]);
    assert!(log.lines().count() > 5);
    assert_eq!(worst(&effects), Grade::None, "{effects:?}");
    let (text, effects) = ask(&mut trial, "repo", &["show", "origin/feature/search:labels/search.py"]);
    assert!(text.contains("casefold"));
    assert!(
        effects.iter().any(|effect| effect.place == "repo/.git/objects" && effect.what.contains("fetched")),
        "{effects:?}"
    );
    assert_eq!(worst(&effects), Grade::Additive);
}
