use std::{os::unix::fs::symlink, path::Path};

use candor::verify::listener::{Doing, New, Part};

use super::{Ground, doings, python, shell};

fn creates(ground: &Ground, name: &str, what: New) -> Doing {
    Doing::Creates { path: ground.at(name), what }
}

fn changes(ground: &Ground, name: &str, part: Part) -> Doing {
    Doing::Changes { path: ground.at(name), part }
}

#[test]
fn every_call_on_a_file_is_seen_once_with_its_path() {
    let ground = Ground::with(&["old", "gone", "from", "over"]);
    std::fs::create_dir(ground.at("empty")).unwrap();
    let (old, new) = (ground.at("old"), ground.at("new"));
    let open = |truncates| vec![Doing::Opens { path: old.clone(), truncates }];
    let renames =
        |from: &str, to: &str, replaces| vec![Doing::Renames { from: ground.at(from), to: ground.at(to), replaces }];
    for (script, expected) in [
        ("open('new', 'w').close()", vec![creates(&ground, "new", New::File)]),
        ("open('old', 'a').close()", open(false)),
        ("open('old', 'r+').close()", open(false)),
        ("open('old', 'w').write('old')", open(true)),
        ("os.close(os.open('old', os.O_RDONLY | os.O_TRUNC))", open(true)),
        (
            "os.close(os.open('.', os.O_TMPFILE | os.O_RDWR))",
            vec![Doing::OpensUnnamed { directory: ground.path.clone() }],
        ),
        ("os.rename('new', 'newer')", renames("new", "newer", false)),
        ("os.rename('from', 'over')", renames("from", "over", true)),
        ("os.remove('newer')", vec![Doing::Removes { path: ground.at("newer") }]),
        ("os.mkdir('dir')", vec![creates(&ground, "dir", New::Directory)]),
        ("os.rmdir('empty')", vec![Doing::Removes { path: ground.at("empty") }]),
        ("os.symlink('nowhere', 'link')", vec![creates(&ground, "link", New::SymbolicLink)]),
        ("os.link('old', 'hard')", vec![creates(&ground, "hard", New::HardLink)]),
        ("os.mkfifo('pipe')", vec![creates(&ground, "pipe", New::Node)]),
        ("os.chmod('old', 0o600)", vec![changes(&ground, "old", Part::Mode)]),
        ("os.chown('old', os.getuid(), -1)", vec![changes(&ground, "old", Part::Owner)]),
        ("os.lchown('link', os.getuid(), -1)", vec![changes(&ground, "link", Part::Owner)]),
        ("os.setxattr('old', 'user.k', b'v')", vec![changes(&ground, "old", Part::Attribute)]),
        ("os.removexattr('old', 'user.k')", vec![changes(&ground, "old", Part::Attribute)]),
        ("os.truncate('old', 1)", vec![changes(&ground, "old", Part::Size)]),
        ("os.utime('old')", vec![changes(&ground, "old", Part::Times)]),
    ] {
        assert_eq!(python(&ground, script), expected, "{script}");
    }
    assert!(!new.exists());
}

#[test]
fn an_open_file_is_known_by_its_path() {
    let ground = Ground::with(&["old"]);
    let seen = python(
        &ground,
        "file = os.open('old', os.O_RDWR)\nos.ftruncate(file, 2)\nos.fchmod(file, 0o640)\nos.fchown(file, os.getuid(), -1)\n\
         os.posix_fallocate(file, 0, 9)\nos.utime(file)\nos.setxattr(file, 'user.k', b'v')",
    );
    let parts = [Part::Size, Part::Mode, Part::Owner, Part::Size, Part::Times, Part::Attribute];
    let mut expected = vec![Doing::Opens { path: ground.at("old"), truncates: false }];
    expected.extend(parts.map(|part| changes(&ground, "old", part)));
    assert_eq!(seen, expected);
}

#[test]
fn what_only_reads_or_must_fail_is_no_event() {
    let ground = Ground::with(&["old", "other"]);
    std::fs::create_dir(ground.at("dir")).unwrap();
    for script in [
        "open('old').read(); os.stat('old'); os.listdir('.'); os.access('old', os.W_OK)",
        "os.read(os.open('old', os.O_RDONLY | os.O_CREAT), 9)",
        "try: os.mkdir('dir')\nexcept FileExistsError: pass",
        "try: os.remove('missing')\nexcept FileNotFoundError: pass",
        "try: open('missing/new', 'w')\nexcept FileNotFoundError: pass",
        "try: open('old', 'x')\nexcept FileExistsError: pass",
        "try: os.link('old', 'other')\nexcept FileExistsError: pass",
        "try: os.rename('missing', 'new')\nexcept FileNotFoundError: pass",
        "try: os.execv('/no/such/program', ['x'])\nexcept FileNotFoundError: pass",
        "os.rename('old', 'old')",
    ] {
        assert_eq!(python(&ground, script), [], "{script}");
    }
}

#[test]
fn what_keeps_nothing_is_no_file() {
    let ground = Ground::new();
    for script in [
        "open('/dev/null', 'w').write('x'); open('/dev/zero', 'r+b', buffering=0).close()",
        "open('/proc/self/comm', 'w').write('x'); open('/proc/thread-self/comm', 'w').write('y')",
        "open('/proc/%d/oom_score_adj' % os.getpid(), 'w').close()",
        "os.truncate(os.memfd_create('m'), 9)",
        "open('/dev/stdout', 'w').write('x'); open('/proc/self/fd/2', 'w').close(); open('/dev/fd/1', 'w').close()",
        "read, write = os.pipe(); os.close(os.open('/proc/self/fd/%d' % write, os.O_WRONLY))",
    ] {
        assert_eq!(python(&ground, script), [], "{script}");
    }
    let pipe = shell(&ground, "mkfifo pipe; cat pipe > /dev/null & echo x > pipe; wait");
    let opened = pipe.iter().any(|doing| matches!(doing, Doing::Opens { .. }));
    assert!(!opened, "{pipe:?}");
}

#[test]
fn a_path_is_told_with_its_links_followed_as_the_call_does() {
    let ground = Ground::with(&["file"]);
    std::fs::create_dir_all(ground.at("real/deep")).unwrap();
    symlink("real", ground.at("door")).unwrap();
    symlink("file", ground.at("name")).unwrap();
    symlink("real/made", ground.at("dangling")).unwrap();
    symlink("round", ground.at("round")).unwrap();
    let opens = |name: &str| vec![Doing::Opens { path: ground.at(name), truncates: false }];
    let made = |name: &str| vec![creates(&ground, name, New::File)];
    for (script, expected) in [
        ("open('door/new', 'a').close()", made("real/new")),
        ("open('name', 'a').close()", opens("file")),
        ("open('door/../file', 'a').close()", opens("file")),
        ("open('dangling', 'a').close()", made("real/made")),
        ("os.remove('dangling')", vec![Doing::Removes { path: ground.at("dangling") }]),
        ("os.chdir('door/deep'); open('../above', 'a').close()", made("real/above")),
        ("os.close(os.open('below', os.O_CREAT | os.O_WRONLY, dir_fd=os.open('door', 0)))", made("real/below")),
        ("try: open('round', 'a')\nexcept OSError: pass", vec![]),
        ("os.mkdir('door/trailing/')", vec![creates(&ground, "real/trailing", New::Directory)]),
        ("file = os.open('file', os.O_RDONLY); open('/proc/self/fd/%d' % file, 'a').close()", opens("file")),
    ] {
        assert_eq!(python(&ground, script), expected, "{script}");
    }
}

#[test]
fn children_threads_and_what_they_leave_behind_are_seen() {
    let ground = Ground::new();
    let made = |doings: &[Doing], name: &str| {
        let count = doings.iter().filter(|doing| **doing == creates(&ground, name, New::File)).count();
        assert_eq!(count, 1, "{name}: {doings:?}");
    };
    made(&shell(&ground, "sh -c 'sh -c \": > grandchild\"'"), "grandchild");
    made(&shell(&ground, "(sleep 0.2; : > late) > /dev/null 2>&1 &"), "late");
    made(
        &python(
            &ground,
            "import threading\nthread = threading.Thread(target=lambda: open('thread', 'w').close())\nthread.start()\nthread.join()",
        ),
        "thread",
    );
    let daemon = "import time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.close(1); os.close(2); time.sleep(0.2); open('daemon', 'w').close()\n    os._exit(0)\nos.wait()";
    made(&python(&ground, daemon), "daemon");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_program_without_any_library_is_seen() {
    let ground = Ground::new();
    super::tiny::write(&ground.at("tiny")).unwrap();
    let seen = doings(&ground, &["./tiny"]);
    assert_eq!(seen, [creates(&ground, "made", New::File)]);
    assert!(ground.at("made").exists());
}

#[test]
fn a_path_that_ends_where_readable_memory_ends_is_read() {
    let ground = Ground::new();
    let seen = python(
        &ground,
        "import ctypes, mmap\n\
         libc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n\
         at = libc.mmap(None, ctypes.c_size_t(8192), 3, 34, -1, ctypes.c_size_t(0))\n\
         libc.munmap(ctypes.c_void_p(at + 4096), ctypes.c_size_t(4096))\n\
         ctypes.memmove(at + 4096 - 5, b'edge\\0', 5)\n\
         libc.creat(ctypes.c_void_p(at + 4096 - 5), 0o600)",
    );
    assert!(seen.contains(&creates(&ground, "edge", New::File)), "{seen:?}");
}

#[test]
fn a_call_whose_path_cannot_be_read_goes_on_and_is_told() {
    let ground = Ground::new();
    let seen = python(&ground, "import ctypes\nassert ctypes.CDLL(None).unlink(ctypes.c_void_p(8)) == -1");
    assert!(seen.contains(&Doing::Unreadable { what: "removes a name" }), "{seen:?}");
}

#[test]
fn a_program_that_is_run_is_seen_once_wherever_it_was_looked_for() {
    let ground = Ground::new();
    let script = "PATH=/no/such/directory:/also/none:$PATH; : > first; ls > /dev/null; :";
    let seen = shell(&ground, script);
    let [Doing::Creates { .. }, Doing::Executes { path }] = seen.as_slice() else { panic!("{seen:?}") };
    assert!(path.is_absolute() && *path != Path::new("/"), "{}", path.display());
}
