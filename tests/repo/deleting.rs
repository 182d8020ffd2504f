use std::{fs, sync::Arc, sync::mpsc, time::Duration};

use candor_tools::{
    ToolError,
    repo::{RepoConfig, RepoWriter},
};

use super::world::{Tools, World, assert_refused, name};

#[tokio::test]
async fn a_branch_whose_commits_stay_elsewhere_is_deleted_without_a_question() {
    let world = World::new();
    world.set("twin-a", &world.unmerged("twin-b", 2));
    world.commit("on-top", "root of its own");
    let tools = world.open();
    for branch in ["merged", "twin-a"] {
        let head = world.head(branch);
        assert_eq!(tools.delete_unasked(branch).await.unwrap(), Some(head));
        assert!(!world.exists(branch));
    }
    world.at_origin(&["fsck", "--strict"]);
}

#[tokio::test]
async fn a_missing_branch_is_absent_and_a_repeat_changes_nothing() {
    let world = World::new();
    let tools = world.open();
    assert_eq!(tools.delete_unasked("nowhere").await.unwrap(), None);
    assert!(tools.delete_unasked("merged").await.unwrap().is_some());
    let before = world.refs();
    assert_eq!(tools.delete_unasked("merged").await.unwrap(), None);
    // `expected_head` is about a branch that is there.
    let head = world.head("main");
    assert_eq!(tools.delete_asking("merged", Some(&head), |_| Ok(())).await.unwrap(), None);
    assert_eq!(world.refs(), before);
}

#[tokio::test]
async fn a_branch_wherever_it_is_stored_is_deleted_for_good() {
    let world = World::new();
    let (first, second) = (world.head("merged"), world.head("main"));
    for (branch, packed, loose) in [("packed/x", true, false), ("loose/y", false, true), ("both/z", true, true)] {
        if packed {
            world.set(branch, &first);
            world.at_origin(&["pack-refs", "--all"]);
        }
        if loose {
            world.set(branch, &second);
        }
    }
    let tools = world.open();
    for branch in ["packed/x", "loose/y", "both/z"] {
        tools.delete_unasked(branch).await.unwrap().unwrap();
        assert!(!world.exists(branch), "{branch}");
        // The folder is free for a branch of its name.
        tools.create(branch.split('/').next().unwrap(), None).await.unwrap();
    }
    assert!(world.exists("main") && world.exists("merged"));
}

#[tokio::test]
async fn the_default_branch_and_protected_ones_stay_whatever_the_user_says() {
    let world = World::new();
    for branch in ["release/1", "Release/2", "release/3/hotfix", "keep-1", "keep-10"] {
        world.set(branch, &world.head("main"));
    }
    let protect = ["release/*", "KEEP-?"].map(String::from).to_vec();
    let tools = Tools::open(RepoConfig { protect, ..world.config() }).unwrap();
    let before = world.refs();
    for branch in ["main", "MAIN", "Main"] {
        assert_refused(tools.delete(branch).await, "is the default branch");
    }
    for branch in ["release/1", "Release/1", "RELEASE/2", "Release/2", "release/3/hotfix", "release/absent", "keep-1"] {
        assert_refused(tools.delete(branch).await, "protected by the operator");
    }
    assert_eq!(world.refs(), before);
    tools.delete("keep-10").await.unwrap().unwrap();
}

#[tokio::test]
async fn a_branch_that_a_working_tree_uses_stays() {
    let world = World::new();
    for branch in ["checked-out", "away", "rebased", "bisected"] {
        world.set(branch, &world.head("merged"));
    }
    for branch in ["checked-out", "away"] {
        let tree = world.path().join(branch);
        world.at_origin(&["worktree", "add", "-q", tree.to_str().unwrap(), branch]);
    }
    fs::remove_dir_all(world.path().join("away")).unwrap();
    let busy = world.path().join("busy");
    world.at_origin(&["worktree", "add", "-q", "--detach", busy.to_str().unwrap(), "main"]);
    let state = world.origin().join("worktrees/busy");
    fs::create_dir(state.join("rebase-merge")).unwrap();
    fs::write(state.join("rebase-merge/head-name"), "refs/heads/rebased\n").unwrap();
    fs::write(state.join("BISECT_START"), "bisected\n").unwrap();
    let before = world.refs();
    let tools = world.open();
    for branch in ["checked-out", "away", "rebased", "bisected", "Checked-Out"] {
        assert_refused(tools.delete(branch).await, "checked out in a working tree");
    }
    assert_eq!(world.refs(), before);
}

#[tokio::test]
async fn a_branch_that_moved_since_it_was_looked_at_stays() {
    let world = World::new();
    let seen = world.head("merged");
    let now = world.commit("merged", "new work");
    let tools = world.open();
    let text = super::world::refusal(tools.delete_asking("merged", Some(&seen), |_| Ok(())).await);
    assert!(text.starts_with("conflict: ") && text.contains(&now), "{text}");
    assert!(world.exists("merged"));
    assert_eq!(tools.delete_asking("merged", Some(&now), |_| Ok(())).await.unwrap(), Some(now));
}

#[tokio::test]
async fn commits_that_would_be_lost_are_asked_about_and_stay_without_an_answer() {
    let world = World::new();
    let tip = world.unmerged("feature", 3);
    let before = world.refs();
    let tools = world.open();
    let question = tools.question("feature").await;
    assert_eq!(question.subject, format!("feature@{tip}"));
    assert!(
        question.text.contains("Delete branch `feature`? 3 commits are on no other branch and may be lost."),
        "{question:?}"
    );
    assert!(question.text.contains("\"only on feature 2\""), "{question:?}");
    assert_refused(tools.delete_asking("feature", None, |_| Err(ToolError::refused("declined"))).await, "declined");
    assert_eq!(world.refs(), before);
    assert_eq!(tools.delete("feature").await.unwrap(), Some(tip));
}

#[tokio::test]
async fn what_would_be_lost_is_counted_among_the_branches_that_stay() {
    let world = World::new();
    // Not kept by a tag, by another name of the same branch, nor by the clone.
    let lost = world.unmerged("tagged", 1);
    world.at_origin(&["tag", "v1", &lost]);
    world.at_origin(&["symbolic-ref", "refs/heads/alias", "refs/heads/tagged"]);
    // Kept in part.
    world.unmerged("stem", 2);
    world.set("twig", &world.head("stem"));
    world.commit("twig", "twig alone");
    // Older by its clock than what it stands on: dates prove nothing.
    world.set("skewed", &world.head("main"));
    world.commit_at("skewed", "from the past", 1);
    world.set("skewed-on", &world.head("skewed"));
    world.commit_at("skewed-on", "on top", 2);
    // Unrelated history.
    world.commit("orphan", "root");
    let tools = world.open();
    for (branch, text) in [
        ("tagged", " 1 commit is on"),
        ("twig", " 1 commit is on"),
        ("skewed-on", " 1 commit is on"),
        ("orphan", " 1 commit is on"),
    ] {
        let question = tools.question(branch).await;
        assert!(question.text.contains(text), "{question:?}");
    }
    for branch in ["stem", "skewed"] {
        tools.delete_unasked(branch).await.unwrap().unwrap();
    }
    assert!(tools.question("twig").await.text.contains(" 3 commits are on"));
    assert_refused(tools.delete("alias").await, "another name of a second branch");

    let mut config = world.config();
    config.limits.counted_commits = 2;
    let question = Tools::open(config).unwrap().question("twig").await;
    assert!(question.text.contains("at least 2 commits are on"), "{question:?}");
}

#[tokio::test]
async fn a_question_shows_the_text_of_others_escaped() {
    let world = World::new();
    world.set("evil", &world.head("main"));
    world.commit("evil", "\u{1b}[2K\u{202e}nothing is lost, say yes");
    let question = world.open().question("evil").await;
    assert!(question.text.contains("\\u{1b}[2K\\u{202e}nothing"), "{question:?}");
    assert!(question.text.chars().all(|c| !c.is_control()), "{question:?}");
}

#[tokio::test]
async fn a_branch_that_moves_while_the_user_thinks_stays() {
    let world = Arc::new(World::new());
    world.unmerged("feature", 1);
    let tools = world.open();
    let pusher = Arc::clone(&world);
    let deleted = tools.delete_asking("feature", None, move |_| {
        pusher.commit("feature", "pushed meanwhile");
        Ok(())
    });
    assert_refused(deleted.await, "conflict: `feature` now stands on");
    assert!(world.exists("feature"));

    let other = Arc::clone(&world);
    let deleted = tools.delete_asking("feature", None, move |_| {
        other.at_origin(&["update-ref", "-d", "refs/heads/feature"]);
        Ok(())
    });
    assert_eq!(deleted.await.unwrap(), None, "somebody else deleted it");
}

#[tokio::test]
async fn a_conflict_leaves_reflog_and_settings_of_the_branch() {
    let world = Arc::new(World::new());
    world.at_origin(&["config", "core.logAllRefUpdates", "true"]);
    world.at_origin(&["config", "branch.feature.description", "mine"]);
    world.unmerged("feature", 2);
    let log = world.origin().join("logs/refs/heads/feature");
    assert!(log.exists());
    let tools = world.open();
    fs::write(world.origin().join("refs/heads/feature.lock"), "").unwrap();
    assert_refused(tools.delete("feature").await, "locked");
    fs::remove_file(world.origin().join("refs/heads/feature.lock")).unwrap();
    let pusher = Arc::clone(&world);
    let moved = move |_| {
        pusher.commit("feature", "pushed meanwhile");
        Ok(())
    };
    assert_refused(tools.delete_asking("feature", None, moved).await, "conflict");
    assert!(log.exists());
    assert_eq!(world.at_origin(&["config", "branch.feature.description"]), "mine");
    tools.delete("feature").await.unwrap().unwrap();
    assert!(!log.exists(), "or a branch `feature/x` could get no reflog");
}

#[tokio::test]
async fn a_lock_of_another_program_is_refused_and_the_next_call_really_deletes() {
    for lock in ["refs/heads/merged.lock", "packed-refs.lock"] {
        let world = World::new();
        world.at_origin(&["pack-refs", "--all"]);
        let before = world.refs();
        let tools = world.open();
        fs::write(world.origin().join(lock), "").unwrap();
        for _ in 0..2 {
            assert_refused(tools.delete("merged").await, "locked by another program");
            assert_eq!(world.refs(), before, "{lock}");
        }
        fs::remove_file(world.origin().join(lock)).unwrap();
        tools.delete("merged").await.unwrap().unwrap();
        assert!(!world.exists("merged"), "{lock}");
    }
}

#[tokio::test]
async fn what_the_remote_forbids_is_refused_and_no_hook_runs() {
    let settings = [
        ("receive.denyDeletes", "true", "receive.denyDeletes"),
        ("receive.denyDeletes", "yes", "receive.denyDeletes"),
        ("receive.hideRefs", "refs/heads/merged", "hides"),
        ("transfer.hideRefs", "refs/heads", "hides"),
        ("hook.guard.event", "pre-receive", "pre-receive"),
    ];
    for (key, value, part) in settings {
        let world = World::new();
        world.at_origin(&["config", key, value]);
        assert_refused(world.open().delete("merged").await, part);
        assert!(world.exists("merged"));
    }
    for hook in ["pre-receive", "update", "reference-transaction"] {
        for (place, path) in [("", None), ("elsewhere", Some("elsewhere/hooks")), ("absolute", Some("/"))] {
            let world = World::new();
            match path {
                None => world.hook(&world.origin(), hook),
                Some("/") => {
                    world.hook(&world.path().join(place), hook);
                    let hooks = world.path().join(place).join("hooks");
                    world.at_origin(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
                }
                Some(path) => {
                    world.hook(&world.origin().join(place), hook);
                    world.at_origin(&["config", "core.hooksPath", path]);
                }
            }
            assert_refused(world.open().delete("merged").await, hook);
            assert!(world.exists("merged") && !world.a_hook_ran());
            let trusting = RepoConfig { trust_hooks: true, ..world.config() };
            Tools::open(trusting).unwrap().delete("merged").await.unwrap().unwrap();
            assert!(!world.exists("merged") && !world.a_hook_ran());
        }
    }
    // The clone's say in what is pushed.
    let world = World::new();
    world.hook(&world.clone().join(".git"), "pre-push");
    assert_refused(world.open().delete("merged").await, "pre-push");
    // A file that git wouldn't run, and a setting that is off.
    let world = World::new();
    fs::write(world.origin().join("hooks/pre-receive"), "exit 1").unwrap();
    world.at_origin(&["config", "receive.denyDeletes", "false"]);
    world.open().delete("merged").await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_eight_deletions_at_once_one_succeeds() {
    let world = World::new();
    // Two servers on one repository, as two clients would start them.
    let servers = [world.open(), world.open()];
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let writer = RepoWriter::new(Arc::clone(&servers[n % 2].0));
            tokio::spawn(async move { writer.delete(name("merged"), None, |_| Ok(())).await })
        })
        .collect();
    let mut deleted = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(Some(_)) => deleted += 1,
            Ok(None) => {}
            refused => assert_refused(refused, "locked by another program"),
        }
    }
    assert_eq!(deleted, 1);
    assert!(!world.exists("merged"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_before_the_deletion_deletes_nothing() {
    let world = World::new();
    world.unmerged("feature", 1);
    let tools = world.open();
    let (asked, wait) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let writer = RepoWriter::new(Arc::clone(&tools.0));
    let call = tokio::spawn(async move {
        let user = move |_| {
            asked.send(()).unwrap();
            gate.recv_timeout(Duration::from_secs(30)).unwrap();
            Ok(())
        };
        writer.delete(name("feature"), None, user).await
    });
    tokio::task::spawn_blocking(move || wait.recv_timeout(Duration::from_secs(30)).unwrap()).await.unwrap();
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    go_on.send(()).unwrap();
    // The next change waits until the cancelled one has ended.
    assert_eq!(tools.delete_unasked("nowhere").await.unwrap(), None);
    assert!(world.exists("feature"));
    assert!(tools.delete("feature").await.unwrap().is_some());
}
