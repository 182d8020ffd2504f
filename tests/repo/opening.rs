use std::{fs, os::unix::fs::symlink};

use candor_tools::repo::RepoConfig;

use super::world::{Tools, World, assert_refused};

#[track_caller]
fn assert_closed(config: RepoConfig, part: &str) {
    let error = Tools::open(config).map(|tools| tools.0).unwrap_err().to_string();
    assert!(error.contains(part), "`{part}` is not in: {error}");
}

#[test]
fn only_a_repository_in_exactly_this_directory_is_opened() {
    let world = World::new();
    let below = world.clone().join("below");
    fs::create_dir(&below).unwrap();
    for dir in [below, world.path().join("missing"), world.path().to_owned(), world.clone().join(".git/refs")] {
        assert_closed(RepoConfig { dir, ..RepoConfig::default() }, "there is no git repository");
    }
    for dir in [world.clone(), world.clone().join(".git"), world.origin()] {
        Tools::open(RepoConfig { dir, ..RepoConfig::default() }).unwrap();
    }
}

#[test]
fn a_repository_of_another_user_is_not_opened() {
    let world = World::new();
    let owner = std::os::unix::fs::chown(world.origin(), Some(54_321), Some(54_321));
    if owner.is_err() {
        // Only root may give a directory away.
        return;
    }
    assert_closed(RepoConfig { dir: world.origin(), ..RepoConfig::default() }, "belongs to another user");
    assert_closed(world.config(), "belongs to another user");
}

#[test]
fn a_format_that_libgit2_does_not_know_is_named() {
    for (key, value) in [
        ("extensions.refStorage", "reftable"),
        ("extensions.objectFormat", "sha256"),
        ("core.repositoryFormatVersion", "2"),
        ("extensions.unknown", "true"),
    ] {
        let world = World::new();
        world.at_origin(&["config", "core.repositoryFormatVersion", "1"]);
        world.at_origin(&["config", key, value]);
        assert_closed(RepoConfig { dir: world.origin(), ..RepoConfig::default() }, "unsupported repository format");
        assert_closed(world.config(), "unsupported repository format");
    }
}

#[test]
fn a_remote_is_a_bare_repository_or_a_git_server() {
    let world = World::new();
    let origin = world.origin();
    let origin = origin.to_str().unwrap();
    world.run(world.path(), &["clone", "-q", "origin.git", "with tree"]);
    symlink(origin, world.path().join("link")).unwrap();
    let set = |url: &str| world.run(&world.clone(), &["config", "remote.origin.url", url]);
    for url in [
        origin,
        "../origin.git",
        "../link",
        &format!("file://{origin}"),
        &format!("file://localhost{origin}"),
        "git://127.0.0.1:1/x",
    ] {
        set(url);
        Tools::open(world.config()).unwrap_or_else(|error| panic!("{url}: {error}"));
    }
    for (url, part) in [
        ("https://example.org/x.git", "not supported; use a path, a `file://` or a `git://` URL"),
        ("ssh://git@example.org/x", "not supported"),
        ("git@example.org:x.git", "not supported"),
        ("host:x", "not supported"),
        ("ext::sh -c x", "not supported"),
        ("--upload-pack=touch x", "not supported"),
        ("-x", "not supported"),
        ("GIT://example.org/x", "not supported"),
        ("http://example.org", "not supported"),
        ("file://elsewhere/x", "names no path of this machine"),
        ("../nowhere", "there is no git repository"),
        ("../with tree", "only bare ones"),
        ("../with tree/.git", "only bare ones"),
    ] {
        set(url);
        assert_closed(world.config(), part);
    }
}

#[test]
fn an_address_that_is_not_plain_is_refused_at_the_start() {
    for (key, value, part) in [
        ("remote.origin.pushurl", "../elsewhere.git", "a `pushurl` that differs"),
        ("url.../elsewhere.git.insteadOf", "../origin.git", "rewrites its URL"),
        ("url.../elsewhere.git.pushInsteadOf", "../origin", "rewrites its URL"),
        ("url.git://evil/.insteadOf", "..", "rewrites its URL"),
        ("remote.origin.url", "../elsewhere.git", "it has 2 URLs"),
    ] {
        let world = World::new();
        world.run(world.path(), &["init", "-q", "--bare", "elsewhere.git"]);
        world.run(&world.clone(), &["config", "--add", key, value]);
        assert_closed(world.config(), part);
    }
    // The same address twice is plain, and a rewriting of other addresses no matter.
    let world = World::new();
    world.run(&world.clone(), &["config", "remote.origin.pushurl", "../origin.git"]);
    world.run(&world.clone(), &["config", "url.git://evil/.insteadOf", "https://"]);
    Tools::open(world.config()).unwrap();
}

#[tokio::test]
async fn a_remote_that_changes_under_the_server_is_refused() {
    let include = "../../include";
    let changes: [&[&str]; 8] = [
        &["remote.origin.url", "../elsewhere.git"],
        &["remote.origin.url", "ext::sh -c x"],
        &["remote.origin.url", "git://127.0.0.1:1/x"],
        &["remote.origin.pushurl", "../elsewhere.git"],
        &["--add", "remote.origin.url", "../elsewhere.git"],
        &["url.../elsewhere.insteadOf", "../origin"],
        &["url.../elsewhere.pushInsteadOf", "../origin"],
        &["include.path", include],
    ];
    for change in changes {
        let world = World::new();
        world.run(world.path(), &["clone", "-q", "--bare", "origin.git", "elsewhere.git"]);
        fs::write(world.path().join("include"), "[remote \"origin\"]\n\turl = ../elsewhere.git\n").unwrap();
        let tools = world.open();
        tools.list(20, None).await.unwrap();
        let config = world.clone().join(".git/config");
        let before = fs::read(&config).unwrap();
        world.run(&world.clone(), &[&["config"], change].concat());
        assert_refused(tools.list(20, None).await, "unknown remote");
        assert_refused(tools.create("new", None).await, "unknown remote");
        assert_refused(tools.delete("merged").await, "unknown remote");
        fs::write(&config, before).unwrap();
        tools.list(20, None).await.unwrap();
        for place in ["origin.git", "elsewhere.git"] {
            let refs = world.run(&world.path().join(place), &["for-each-ref", "--format=%(refname)"]);
            assert_eq!(refs, "refs/heads/main\nrefs/heads/merged");
        }
    }
    // A remote that goes, or that comes to a repository without one.
    let world = World::new();
    let tools = world.open();
    world.run(&world.clone(), &["remote", "remove", "origin"]);
    assert_refused(tools.list(20, None).await, "unknown remote");
    let tools = world.open();
    world.run(&world.clone(), &["remote", "add", "origin", "../origin.git"]);
    assert_refused(tools.delete("merged").await, "unknown remote");
}

#[tokio::test]
async fn the_operator_can_name_another_remote_which_has_to_exist() {
    let world = World::new();
    let named = |remote: &str| RepoConfig { remote: Some(remote.into()), ..world.config() };
    assert_closed(named("upstream"), "remote `upstream`: it does not exist");
    assert_closed(named("../origin.git"), "remote `../origin.git`");
    assert_closed(named("--x y"), "remote `--x y`");
    world.run(world.path(), &["clone", "-q", "--bare", "origin.git", "upstream.git"]);
    world.run(&world.clone(), &["remote", "add", "upstream", "../upstream.git"]);
    let tools = Tools::open(named("upstream")).unwrap();
    tools.delete("merged").await.unwrap().unwrap();
    assert!(world.exists("merged"), "`origin` is another repository");
    let directories: Vec<_> = tools.0.directories().map(|dir| dir.canonicalize().unwrap()).collect();
    assert_eq!(
        directories,
        [world.clone().join(".git"), world.path().join("upstream.git")].map(|dir| dir.canonicalize().unwrap())
    );
}

#[test]
fn a_pattern_that_could_protect_nothing_is_refused_at_the_start() {
    let world = World::new();
    for protect in ["", "-x", "release/", "re lease", "[ab]", "/x", "é*", "a^"] {
        assert_closed(RepoConfig { protect: vec![protect.into()], ..world.config() }, "matches no branch name");
    }
    for protect in ["*", "release/*", "?", "v1.*/x", "*-lts"] {
        Tools::open(RepoConfig { protect: vec![protect.into()], ..world.config() }).unwrap();
    }
}
