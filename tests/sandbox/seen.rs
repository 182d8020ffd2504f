use candor::verify::Grade;

use super::boxed::{Boxed, Host, is_root};

/// Each script, and all that counts of what it did to a home with `a.txt`, `sub/x`, `sub/deep/y`, a
/// database `d.db` and an empty `e`.
#[test]
fn every_kind_of_change_is_told_and_nothing_else() {
    let cases: &[(&str, &[&str])] = &[
        ("cat ~/a.txt; ls -R ~ > /dev/null", &[]),
        ("echo x > ~/t; rm ~/t", &[]),
        ("exec 3<> ~/a.txt", &[]),
        ("printf 'one\\ntwo\\n' > ~/a.txt", &[]),
        ("touch ~/a.txt", &[]),
        ("echo three >> ~/a.txt", &["~/a.txt: 6 bytes appended (additive)"]),
        ("printf '1\\n' > ~/a.txt", &["~/a.txt: content replaced (lossy)"]),
        ("rm ~/a.txt", &["~/a.txt: file deleted, 8 bytes (lossy)"]),
        ("rm -r ~/sub", &["~/sub: directory deleted, with 2 entries (lossy)"]),
        (
            "rm -r ~/sub; mkdir ~/sub; echo n > ~/sub/n",
            &[
                "~/sub/deep: directory deleted, with 1 entry (lossy)",
                "~/sub/n: file created, 2 bytes (additive)",
                "~/sub/x: file deleted, 2 bytes (lossy)",
            ],
        ),
        ("mv ~/a.txt ~/b.txt", &["~/a.txt: file renamed to `~/b.txt` (recoverable)"]),
        (
            "mv ~/a.txt ~/sub/x",
            &["~/a.txt: file renamed to `~/sub/x` (recoverable)", "~/sub/x: content replaced (lossy)"],
        ),
        ("chmod 600 ~/a.txt", &["~/a.txt: mode 644 became 600 (recoverable)"]),
        ("ln -s a.txt ~/l", &["~/l: link created (additive)"]),
        ("mkfifo ~/f", &["~/f: FIFO created (additive)"]),
        ("mkdir -p ~/new/er; echo x > ~/new/er/x", &["~/new: directory created, with 2 entries (additive)"]),
        ("rmdir ~/e; echo x > ~/e", &["~/e: directory replaced by a file (lossy)"]),
        (
            "/usr/bin/python3 -c 'import os; os.setxattr(\"a.txt\", \"user.k\", b\"v\")'",
            &["~/a.txt: extended attributes changed (recoverable)"],
        ),
        (
            "/usr/bin/python3 -c 'import sqlite3; c = sqlite3.connect(\"d.db\"); c.execute(\"INSERT INTO t VALUES (2)\"); c.commit()'",
            &["~/d.db: t: 1 row new (additive)"],
        ),
    ];
    for (script, expected) in cases {
        let host = host();
        let before = host.listing();
        let outcome = host.run(&format!("umask 022; {script}"));
        let counting: Vec<String> = outcome.counting(&host).iter().map(|line| without_digests(line)).collect();
        assert_eq!(&counting, expected, "{script}: {} {:#?}", outcome.said, outcome.effects);
        assert_eq!(host.listing(), before, "{script}");
    }
}

fn host() -> Host {
    let host = Host::new().file("a.txt", "one\ntwo\n").file("sub/x", "x\n").file("sub/deep/y", "y\n");
    std::fs::create_dir(host.path().join("e")).unwrap();
    let database = rusqlite::Connection::open(host.path().join("d.db")).unwrap();
    database.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (1)").unwrap();
    host
}

fn without_digests(line: &str) -> String {
    match line.split_once("content replaced: ") {
        Some((place, _)) => format!("{place}content replaced (lossy)"),
        None => line.into(),
    }
}

#[test]
fn a_renamed_directory_is_one_change_for_root() {
    let host = host();
    let outcome = host.run("mv ~/sub ~/moved");
    if is_root() {
        assert_eq!(outcome.counting(&host), ["~/sub: directory renamed to `~/moved` (recoverable)"]);
    } else {
        // The kernel refuses it to others; `mv` copies and removes then, with all times kept.
        assert!(outcome.effects.iter().all(|effect| effect.grade < Grade::Lossy), "{:?}", outcome.counting(&host));
    }
}

#[test]
fn each_look_tells_what_came_since_the_last() {
    let host = host();
    let mut boxed = Boxed::start(host.spec("while read line; do eval \"$line\"; echo done; done"));
    for (script, expected) in [
        ("echo x > ~/n", vec!["~/n: file created, 2 bytes (additive)"]),
        (":", vec![]),
        ("echo y >> ~/n", vec!["~/n: 2 bytes appended (additive)"]),
        ("rm ~/n", vec!["~/n: file deleted, 4 bytes (lossy)"]),
        ("rm ~/sub/x", vec!["~/sub/x: file deleted, 2 bytes (lossy)"]),
        ("rm -r ~/sub", vec!["~/sub: directory deleted, with 1 entry (lossy)"]),
        ("mkdir ~/sub; :", vec!["~/sub: directory created (additive)"]),
        (":", vec![]),
    ] {
        boxed.say(script);
        assert_eq!(boxed.hear(), "done");
        assert_eq!(boxed.changes(&host), expected, "{script}");
    }
}

#[test]
fn a_store_to_a_mapped_file_is_seen_though_no_call_was_made() {
    let host = Host::new().file("m.bin", &"0".repeat(4096));
    let script = "import mmap, sys, time\n\
        f = open('m.bin', 'r+b'); m = mmap.mmap(f.fileno(), 4096); m[0] = 1; print('first', flush=True)\n\
        for line in sys.stdin:\n    m[int(line)] = 1; print('stored', flush=True)\n";
    let mut spec = host.spec("");
    spec.command = ["/usr/bin/python3", "-c", script].map(String::from).into();
    let mut boxed = Boxed::start(spec);
    assert_eq!(boxed.hear(), "first");
    assert_eq!(boxed.changes(&host).len(), 1);
    // Long enough for the time of change to prove something, if it moved.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(boxed.changes(&host).len(), 0);
    for at in ["1", "2", "3"] {
        boxed.say(at);
        assert_eq!(boxed.hear(), "stored");
        assert_eq!(boxed.changes(&host).len(), 1, "{at}");
    }
}
