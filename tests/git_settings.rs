//! What libgit2 is told once for the whole process.

use std::{net::TcpListener, path::Path};

use serde_json::json;

use crate::{
    confirm::Demo,
    support::{Era, Server, User, candor, git},
};

#[test]
fn nobodys_own_git_configuration_has_a_say() {
    let demo = Demo::new();
    let home = tempfile::tempdir().unwrap();
    // Read, this would lead the remote elsewhere, and the server would refuse to start.
    let hostile = "[url \"/elsewhere/\"]\n\tinsteadOf = ../\n[core]\n\tfsmonitor = touch fsmonitor-ran\n";
    std::fs::write(home.path().join(".gitconfig"), hostile).unwrap();
    std::fs::create_dir(home.path().join("git")).unwrap();
    std::fs::write(home.path().join("git/config"), hostile).unwrap();
    let mut command = candor();
    command.args(["serve", "--repo", demo.path("repo").to_str().unwrap()]);
    command.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
    let mut server = Server::spawn(&mut command, Era::Modern, User::Accepts);
    let output = server.call("list_branches", json!({}));
    assert_eq!(output.output()["default_branch"], "main");
}

fn clone_of(dir: &Path, url: &str) {
    git(dir, &["init", "--quiet", "--initial-branch=main"]);
    git(
        dir,
        &["-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "--allow-empty", "-m", "One"],
    );
    git(dir, &["remote", "add", "origin", url]);
}

#[test]
fn a_remote_that_never_answers_holds_up_one_call_and_no_later_one() {
    // Accepts connections, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let dir = tempfile::tempdir().unwrap();
    clone_of(dir.path(), &format!("git://{}/x.git", silent.local_addr().unwrap()));
    let options = ["--repo", dir.path().to_str().unwrap(), "--grant", "all", "--call-seconds", "0.5"];
    let mut server = Server::start(&options);
    let head = git(dir.path(), &["rev-parse", "HEAD"]);
    for _ in 0..3 {
        let reply = server.call("create_branch", json!({"branch": "topic", "from": head.trim()}));
        reply.refusal();
    }
    server.call("list_branches", json!({})).output();
}
