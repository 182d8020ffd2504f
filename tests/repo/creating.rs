use std::{fs, sync::Arc};

use candor_tools::{
    ToolError,
    repo::{RepoAdder, RepoConfig},
};

use super::world::{Tools, World, assert_refused, name, refusal};

#[tokio::test]
async fn a_branch_starts_at_the_default_branch_a_branch_or_a_commit() {
    let world = World::new();
    let (main, merged) = (world.head("main"), world.head("merged"));
    let tools = world.open();
    assert_eq!(tools.create("at/default", None).await.unwrap(), main);
    assert_eq!(tools.create("at/branch", Some("merged")).await.unwrap(), merged);
    assert_eq!(tools.create("at/commit", Some(&merged.to_uppercase())).await.unwrap(), merged);
    assert_eq!(
        (world.head("at/default"), world.head("at/branch"), world.head("at/commit")),
        (main, merged.clone(), merged)
    );
    assert_eq!(world.run(&world.clone(), &["for-each-ref"]), "", "the clone itself gets no branch");
    world.at_origin(&["fsck", "--strict"]);
}

#[tokio::test]
async fn an_existing_branch_is_refused_and_never_moved() {
    let world = World::new();
    let tools = world.open();
    let before = world.refs();
    for from in [None, Some("main"), Some(world.head("main").as_str())] {
        // `merged` could be fast-forwarded to `main`: a push would do it.
        assert_refused(tools.create("merged", from).await, "`merged` already exists");
    }
    world.at_origin(&["pack-refs", "--all"]);
    assert_refused(tools.create("merged", None).await, "already exists");
    assert_eq!(world.refs(), before);
}

#[tokio::test]
async fn a_start_that_is_no_commit_is_refused() {
    let world = World::new();
    world.at_origin(&["tag", "-a", "-m", "tag", "v1", "main"]);
    let tag = world.at_origin(&["rev-parse", "v1"]);
    let blob = world.at_origin(&["hash-object", "-w", "HEAD"]);
    let tree = world.at_origin(&["rev-parse", "main^{tree}"]);
    let before = world.refs();
    let tools = world.open();
    for (start, part) in [
        (tag.as_str(), "is a tag and not a commit"),
        (blob.as_str(), "is a blob and not a commit"),
        (tree.as_str(), "is a tree and not a commit"),
        ("1234567890123456789012345678901234567890", "has no commit"),
        ("v1", "no branch `v1`"),
        ("nowhere", "no branch `nowhere`"),
    ] {
        assert_refused(tools.create("new", Some(start)).await, part);
    }
    assert_eq!(world.refs(), before);
}

#[tokio::test]
async fn nothing_can_start_at_a_default_branch_without_commits() {
    let world = World::empty();
    assert_refused(world.open().create("new", None).await, "no branch `main`");
    let commit = world.commit("other", "x");
    assert_eq!(world.open().create("new", Some(&commit)).await.unwrap(), commit);
    world.at_origin(&["update-ref", "--no-deref", "HEAD", &commit]);
    assert_refused(world.open().create("new2", None).await, "no default branch");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_eight_creations_at_once_one_succeeds() {
    let world = World::new();
    let tools = world.open();
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let adder = RepoAdder::new(Arc::clone(&tools.0));
            let start = if n % 2 == 0 { "main" } else { "merged" };
            tokio::spawn(async move { adder.create(name("new"), Some(start.to_owned().try_into().unwrap())).await })
        })
        .collect();
    let mut created = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            Ok(head) => created.push(head),
            refused => assert_refused(refused, "already exists"),
        }
    }
    assert_eq!(created, [world.head("new")]);
}

#[tokio::test]
async fn a_locked_reference_is_refused_until_the_lock_is_gone() {
    let world = World::new();
    let tools = world.open();
    let lock = world.origin().join("refs/heads/new.lock");
    fs::write(&lock, "").unwrap();
    assert_refused(tools.create("new", None).await, "locked by another program");
    fs::remove_file(lock).unwrap();
    tools.create("new", None).await.unwrap();
    assert!(world.exists("new"));
}

#[tokio::test]
async fn a_hook_that_could_forbid_a_creation_is_not_run_and_not_passed_by() {
    for name in ["pre-receive", "update", "reference-transaction", "proc-receive"] {
        let world = World::new();
        world.hook(&world.origin(), name);
        assert_refused(world.open().create("new", None).await, name);
        assert!(!world.exists("new") && !world.a_hook_ran());
        let trusting = RepoConfig { trust_hooks: true, ..world.config() };
        Tools::open(trusting).unwrap().create("new", None).await.unwrap();
        assert!(world.exists("new") && !world.a_hook_ran());
    }
    // A hook that only tells others forbids nothing, and is not run either.
    let world = World::new();
    for name in ["post-receive", "post-update", "pre-commit"] {
        world.hook(&world.origin(), name);
    }
    world.open().create("new", None).await.unwrap();
    assert!(!world.a_hook_ran());
}

#[tokio::test]
async fn settings_that_run_programs_run_none() {
    let world = World::new();
    let program = world.path().join("program");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", world.path().join("ran").display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "core.pager",
        "core.editor",
        "credential.helper",
        "gpg.program",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
    ] {
        for dir in [world.clone(), world.origin()] {
            world.run(&dir, &["config", key, program.to_str().unwrap()]);
        }
    }
    let tools = world.open();
    tools.create("new", None).await.unwrap();
    tools.list(20, None).await.unwrap();
    tools.delete("new").await.unwrap();
    assert!(!world.a_hook_ran());
}

#[tokio::test]
async fn a_repository_without_a_remote_gets_the_branch_itself() {
    let world = World::new();
    let dir = world.path().join("alone");
    world.run(world.path(), &["clone", "-q", "origin.git", "alone"]);
    world.run(&dir, &["remote", "remove", "origin"]);
    let tools = Tools::open(RepoConfig { dir: dir.clone(), ..RepoConfig::default() }).unwrap();
    let main = world.head("main");
    assert_eq!(tools.create("new", None).await.unwrap(), main);
    assert_eq!(world.run(&dir, &["rev-parse", "refs/heads/new"]), main);
    let page = tools.list(20, None).await.unwrap();
    assert!(
        page.live && page.branches.iter().any(|branch| branch.name == "main" && branch.checked_out && branch.default)
    );
    assert_refused(tools.delete("main").await, "default branch");
    assert_eq!(tools.delete_unasked("new").await.unwrap(), Some(main));
    // Receiving is no matter of a repository that nobody pushes to; its own hook is.
    world.run(&dir, &["config", "receive.denyDeletes", "true"]);
    world.hook(&dir.join(".git"), "pre-receive");
    tools.create("newer", None).await.unwrap();
    tools.delete_unasked("newer").await.unwrap();
    world.hook(&dir.join(".git"), "reference-transaction");
    assert_refused(tools.create("newest", None).await, "reference-transaction");
}

#[tokio::test]
async fn refusals_show_no_path_of_the_server() {
    let world = World::new();
    let tools = world.open();
    fs::write(world.origin().join("refs/heads/new.lock"), "").unwrap();
    let text = refusal(tools.create("new", None).await);
    assert!(!text.contains(world.path().to_str().unwrap()), "{text}");
    // What the system itself refuses: here a pipe where a folder should be.
    let pipe = world.origin().join("refs/heads/pipe");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    assert_refused(tools.create("pipe", None).await, "operator");
    assert_refused(tools.delete("pipe").await, "operator");
    let text = refusal(tools.create("pipe/new", None).await);
    assert!(text.contains("operator") && !text.contains(world.path().to_str().unwrap()), "{text}");
    fs::rename(world.origin(), world.path().join("away")).unwrap();
    match tools.create("new", None).await {
        Err(ToolError::Internal(_)) => {}
        other => panic!("{other:?}"),
    }
}
