//! A server that sees other processes, directories and numbers than the listener does, as in a box.

use std::process::Command;

use candor::verify::listener::{Doing, New};

use super::{Ground, shell};

/// Whether this system lets anybody make namespaces; some don't, and there is nothing to see then.
fn can_enter() -> bool {
    let words = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "true"];
    Command::new("unshare").args(words).output().is_ok_and(|output| output.status.success())
}

const ENTER: &str = "exec unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c";

#[test]
fn paths_are_those_of_the_mounts_that_the_server_sees() {
    if !can_enter() {
        return;
    }
    let ground = Ground::with(&["outside"]);
    std::fs::create_dir(ground.at("mounted")).unwrap();
    let script = "mount -t tmpfs none mounted && : > mounted/new && : >> mounted/new && cd mounted && rm new";
    let seen = shell(&ground, &format!("{ENTER} '{script}'"));
    let path = ground.at("mounted/new");
    for doing in [
        Doing::Mounts { path: ground.at("mounted") },
        Doing::Creates { path: path.clone(), what: New::File },
        Doing::Opens { path: path.clone(), truncates: false },
        Doing::Removes { path: path.clone() },
    ] {
        assert!(seen.contains(&doing), "{doing:?}: {seen:?}");
    }
    assert!(!path.exists(), "it was on a mount that only the server saw");
}

#[test]
fn a_root_of_its_own_is_where_paths_begin() {
    if !can_enter() {
        return;
    }
    let ground = Ground::new();
    std::fs::create_dir_all(ground.at("root/dir")).unwrap();
    let script =
        "import os\nos.chroot(\"root\"); os.chdir(\"/dir\"); open(\"../made\", \"w\"); open(\"/dir/too\", \"w\")";
    let seen = shell(&ground, &format!("exec unshare --user --map-root-user python3 -S -B -c '{script}'"));
    for name in ["root/made", "root/dir/too"] {
        let doing = Doing::Creates { path: ground.at(name), what: New::File };
        assert!(seen.contains(&doing), "{name}: {seen:?}");
        assert!(ground.at(name).exists());
    }
}

#[test]
fn numbers_of_processes_are_those_that_the_server_knows() {
    if !can_enter() {
        return;
    }
    let ground = Ground::new();
    let seen = shell(&ground, &format!("{ENTER} 'sleep 60 & sleep 0.2; kill $!; wait; kill -9 1; :'"));
    let signals: Vec<&Doing> = seen.iter().filter(|doing| matches!(doing, Doing::Signals { .. })).collect();
    // Number one is the shell itself there.
    let expected = Doing::Signals { program: Some("sleep".into()), own: true, signal: 15 };
    assert_eq!(signals, [&expected]);
    let seen = shell(&ground, &format!("{ENTER} 'kill -9 {} || :'", std::process::id()));
    assert!(seen.contains(&Doing::Signals { program: None, own: false, signal: 9 }), "{seen:?}");
}
