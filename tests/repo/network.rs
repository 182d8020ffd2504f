//! A remote behind `git daemon` on loopback.

use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    ops::Deref,
    process::{Child, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use candor_tools::repo::RepoConfig;

use super::world::{Tools, World, assert_refused};

/// A world whose clone reaches `origin` through a server, which ends with it.
struct Served {
    world: World,
    server: Child,
}

impl Deref for Served {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

impl Served {
    fn new() -> Self {
        Self::serve(World::new())
    }

    fn serve(world: World) -> Self {
        // The port can be taken between the look and the start, so try a few.
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let base = format!("--base-path={}", world.path().display());
            let port_argument = format!("--port={port}");
            // `git daemon` would start the server as a child of its own, out of reach of a kill.
            let exec_path = world.run(world.path(), &["--exec-path"]);
            let git = world.command(world.path(), &[]);
            let mut daemon = std::process::Command::new(format!("{exec_path}/git-daemon"));
            daemon.env_clear().envs(git.get_envs().filter_map(|(key, value)| Some((key, value?))));
            daemon.args([
                "--enable=receive-pack",
                "--export-all",
                "--reuseaddr",
                "--listen=127.0.0.1",
                &base,
                &port_argument,
            ]);
            let mut server = daemon.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            for _ in 0..200 {
                if server.try_wait().unwrap().is_some() {
                    break;
                }
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    let url = format!("git://127.0.0.1:{port}/origin.git");
                    world.run(&world.clone(), &["config", "remote.origin.url", &url]);
                    let ready = Self { world, server };
                    ready.fetch();
                    return ready;
                }
                thread::sleep(Duration::from_millis(25));
            }
            _ = server.kill();
            _ = server.wait();
        }
        panic!("no `git daemon` could be started");
    }

    fn fetch(&self) {
        self.run(&self.world.clone(), &["fetch", "-q", "--prune", "origin"]);
    }
}

#[tokio::test]
async fn a_network_remote_is_listed_as_of_the_last_fetch() {
    let served = Served::new();
    served.run(&served.world.clone(), &["remote", "set-head", "origin", "main"]);
    served.set("later", &served.head("main"));
    let tools = served.open();
    let page = tools.list(20, None).await.unwrap();
    let names: Vec<_> = page.branches.iter().map(|branch| (branch.name.as_str(), branch.default)).collect();
    assert_eq!(names, [("main", true), ("merged", false)]);
    assert!(!page.live);
    assert_eq!(page.default_branch.as_deref(), Some("main"));
    let as_of = page.as_of.unwrap();
    assert!(as_of.starts_with("20") && as_of.ends_with('Z'), "{as_of}");
    served.fetch();
    assert_eq!(tools.names().await, ["later", "main", "merged"]);
}

#[tokio::test]
async fn a_branch_is_created_at_the_remote() {
    let served = Served::new();
    let (main, merged) = (served.head("main"), served.head("merged"));
    let tools = served.open();
    assert_eq!(tools.create("at/default", None).await.unwrap(), main);
    assert_eq!(tools.create("at/branch", Some("merged")).await.unwrap(), merged);
    assert_eq!(tools.create("at/commit", Some(&merged)).await.unwrap(), merged);
    assert_eq!(
        (served.head("at/default"), served.head("at/branch"), served.head("at/commit")),
        (main, merged.clone(), merged)
    );
    assert!(tools.names().await.contains(&"at/branch".to_owned()), "our own change needs no fetch");

    // A commit that the clone alone has comes with the branch.
    let local = served.world.clone();
    served.run(&local, &["checkout", "-q", "-b", "mine", "origin/main"]);
    served.run(&local, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let mine = served.run(&local, &["rev-parse", "HEAD"]);
    assert_eq!(tools.create("mine", Some(&mine)).await.unwrap(), mine);
    assert_eq!(served.head("mine"), mine);
    served.at_origin(&["fsck", "--strict"]);
}

#[tokio::test]
async fn an_existing_branch_of_the_remote_is_never_moved() {
    let served = Served::new();
    // Not known to the clone, so only the remote can tell.
    served.set("unfetched", &served.head("merged"));
    served.set("dir/x", &served.head("merged"));
    let before = served.refs();
    let tools = served.open();
    for branch in ["merged", "unfetched"] {
        assert_refused(tools.create(branch, Some("main")).await, "already exists");
    }
    for branch in ["MAIN", "main/x", "dir", "dir/x/y"] {
        assert_refused(tools.create(branch, None).await, "conflicts with existing branch");
    }
    assert_refused(tools.create("new", Some("nowhere")).await, "no branch `nowhere`");
    let unfetched = served.commit("unfetched", "the clone has no copy");
    assert_refused(tools.create("new", Some(&unfetched)).await, "the clone has no commit");
    assert_refused(tools.create("new", Some("unfetched")).await, "the clone has no commit");
    served.set("unfetched", &served.head("merged"));
    assert_eq!(served.refs(), before);
}

#[tokio::test]
async fn a_branch_is_deleted_at_the_remote() {
    let served = Served::new();
    let merged = served.head("merged");
    let tools = served.open();
    assert_eq!(tools.delete_unasked("merged").await.unwrap(), Some(merged));
    assert!(!served.exists("merged"));
    assert_eq!(tools.names().await, ["main"], "our own change needs no fetch");
    assert_eq!(tools.delete_unasked("merged").await.unwrap(), None);
    // Known to the clone only.
    served.set("stale", &served.head("main"));
    served.fetch();
    served.at_origin(&["update-ref", "-d", "refs/heads/stale"]);
    assert_eq!(tools.delete_unasked("stale").await.unwrap(), None);
}

#[tokio::test]
async fn what_has_to_stay_at_the_remote_stays() {
    let served = Served::new();
    served.set("release/1", &served.head("main"));
    let seen = served.head("merged");
    let now = served.commit("merged", "pushed since");
    let before = served.refs();
    let tools = Tools::open(RepoConfig { protect: vec!["release/*".into()], ..served.config() }).unwrap();
    assert_refused(tools.delete("main").await, "is the default branch");
    assert_refused(tools.delete("MAIN").await, "is the default branch");
    assert_refused(tools.delete("release/1").await, "protected");
    assert_refused(tools.delete_asking("merged", Some(&seen), |_| Ok(())).await, &now);
    served.hook(&served.world.clone().join(".git"), "pre-push");
    assert_refused(tools.delete("merged").await, "pre-push");
    assert_refused(tools.create("new", None).await, "pre-push");
    assert!(!served.a_hook_ran());
    assert_eq!(served.refs(), before);
}

#[tokio::test]
async fn commits_that_only_the_remote_branch_holds_are_asked_about() {
    let served = Served::new();
    let tip = served.unmerged("feature", 2);
    let tools = served.open();
    let question = tools.question("feature").await;
    assert_eq!(question.subject, format!("feature@{tip}"));
    assert!(question.text.contains("has no copy of its commits"), "{question:?}");
    served.fetch();
    let question = tools.question("feature").await;
    assert!(question.text.contains("2 commits are on no other branch"), "{question:?}");
    assert!(served.exists("feature"));
    assert_eq!(tools.delete("feature").await.unwrap(), Some(tip));
    assert!(!served.exists("feature"));
}

#[tokio::test]
async fn a_remote_branch_that_moves_while_the_user_thinks_stays() {
    let served = Arc::new(Served::new());
    served.unmerged("feature", 1);
    let tools = served.open();
    let pusher = Arc::clone(&served);
    let moved = move |_| {
        pusher.commit("feature", "pushed meanwhile");
        Ok(())
    };
    assert_refused(tools.delete_asking("feature", None, moved).await, "conflict: `feature` now stands on");
    assert!(served.exists("feature"));
    let other = Arc::clone(&served);
    let removed = move |_| {
        other.at_origin(&["update-ref", "-d", "refs/heads/feature"]);
        Ok(())
    };
    assert_eq!(tools.delete_asking("feature", None, removed).await.unwrap(), None);
}

#[tokio::test]
async fn what_the_remote_refuses_is_reported_as_refused() {
    let served = Served::new();
    let tools = served.open();
    let before = served.refs();
    served.at_origin(&["config", "receive.denyDeletes", "true"]);
    assert_refused(tools.delete("merged").await, "\"deletion prohibited\"");
    served.at_origin(&["config", "--unset", "receive.denyDeletes"]);
    // Here the remote's own git runs the hook, as it should.
    for hook in ["pre-receive", "update"] {
        served.hook(&served.origin(), hook);
        assert_refused(tools.delete("merged").await, "the remote refused the change to `merged`");
        assert_refused(tools.create("new", None).await, "the remote refused the change to `new`");
        assert!(served.a_hook_ran());
        fs::remove_file(served.origin().join("hooks").join(hook)).unwrap();
    }
    fs::write(served.origin().join("refs/heads/merged.lock"), "").unwrap();
    assert_refused(tools.delete("merged").await, "the remote refused the change to `merged`");
    fs::remove_file(served.origin().join("refs/heads/merged.lock")).unwrap();
    assert_eq!(served.refs(), before);
    assert_eq!(tools.names().await, ["main", "merged"], "the clone's view is as true as before");
    tools.delete("merged").await.unwrap().unwrap();
}

#[tokio::test]
async fn a_remote_that_is_away_is_named_as_such_and_still_listed() {
    let served = Served::new();
    let tools = served.open();
    let silent = World::new();
    // A port where nobody answers.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    silent.run(&silent.clone(), &["config", "remote.origin.url", &format!("git://127.0.0.1:{port}/x.git")]);
    let away = silent.open();
    assert_refused(away.delete("merged").await, "cannot be reached");
    assert_refused(away.create("new", None).await, "cannot be reached");
    assert!(away.names().await.is_empty());
    // A server that has no such repository ends the connection.
    fs::rename(served.origin(), served.path().join("moved.git")).unwrap();
    assert_refused(tools.delete("merged").await, "cannot be reached");
    assert_eq!(tools.names().await, ["main", "merged"]);
}

/// Forwards connections to `port`. The second, which is the push, loses what the server says after
/// its greeting; with `deaf` the server doesn't hear of the change either.
fn cutting_proxy(port: u16, deaf: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for (turn, client) in listener.incoming().enumerate() {
            let (mut client, mut server) = (client.unwrap(), TcpStream::connect(("127.0.0.1", port)).unwrap());
            let (mut to_client, mut from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let cut = turn == 1;
            thread::spawn(move || {
                let mut buffer = [0; 8_192];
                let mut messages = 0;
                while let Ok(n @ 1..) = client.read(&mut buffer) {
                    messages += 1;
                    // The first message asks for the greeting.
                    if (cut && deaf && messages > 1) || server.write_all(&buffer[..n]).is_err() {
                        break;
                    }
                }
                if cut && deaf {
                    _ = client.shutdown(Shutdown::Both);
                }
                _ = server.shutdown(Shutdown::Write);
            });
            thread::spawn(move || {
                let mut buffer = [0; 8_192];
                let mut greeted = false;
                while let Ok(n @ 1..) = from_server.read(&mut buffer) {
                    if (cut && greeted) || to_client.write_all(&buffer[..n]).is_err() {
                        break;
                    }
                    greeted |= buffer[..n].ends_with(b"0000");
                }
                _ = to_client.shutdown(Shutdown::Both);
            });
        }
    });
    own
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_whose_answer_is_lost_is_judged_by_what_the_remote_then_shows() {
    let served = Served::new();
    let url = served.run(&served.world.clone(), &["config", "remote.origin.url"]);
    let port: u16 = url.trim_start_matches("git://127.0.0.1:").trim_end_matches("/origin.git").parse().unwrap();
    let through = |proxy: u16| {
        let url = format!("git://127.0.0.1:{proxy}/origin.git");
        served.run(&served.world.clone(), &["config", "remote.origin.url", &url]);
        served.open()
    };
    let merged = served.head("merged");
    let before = served.refs();
    assert_refused(through(cutting_proxy(port, true)).delete("merged").await, "shows another state");
    assert_refused(through(cutting_proxy(port, true)).create("new", None).await, "shows another state");
    assert_eq!(served.refs(), before);
    assert_eq!(through(cutting_proxy(port, false)).delete("merged").await.unwrap(), Some(merged));
    assert!(!served.exists("merged"));
    assert_eq!(through(cutting_proxy(port, false)).create("new", None).await.unwrap(), served.head("main"));
}
