use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use candor_tools::{
    ToolError,
    notes::{NoteName, NotesLimits},
};

use super::folder::{Folder, assert_refused, name};

#[test]
fn a_name_that_is_not_a_plain_file_name_everywhere_is_invalid() {
    let (fits, long) = ("a".repeat(100), "a".repeat(101));
    let huge = "a".repeat(300);
    for note in [
        "",
        ".",
        "..",
        "../x",
        "/etc/passwd",
        "../notes-evil/secret",
        "a/b",
        "a\\b",
        "..\\x",
        "C:x",
        "a:b",
        "~",
        "~/x",
        ".hidden",
        ".candor-note.tmp",
        "-x",
        " a",
        "a ",
        "a.",
        "a\0b",
        "a\nb",
        "\u{1b}[31m",
        "é",
        "e\u{301}",
        "a\u{202e}b",
        "a\u{a0}b",
        "CON",
        "con.txt",
        "NUL",
        "nul.md",
        "COM1",
        "lpt9.note.md",
        "aux ",
        "a*b",
        "a?b",
        "$(id)",
        "a|b",
        "%2e%2e",
        "file:x",
        &long,
        &huge,
    ] {
        let error = NoteName::try_from(note.to_owned()).expect_err(note);
        assert!(error.starts_with("invalid note name `") && error.len() < 400, "{error}");
        assert!(error.chars().all(|c| !c.is_control()), "{error}");
        serde_json::from_value::<NoteName>(note.into()).expect_err(note);
    }
    for note in ["a", "ideas.md", "To do 2024-10", "v1.2_final", "console", "com", "COM10", &fits] {
        assert_eq!(NoteName::try_from(note.to_owned()).unwrap().as_str(), note);
    }
}

/// Everything that a tool can do to one name, refused.
async fn assert_no_note(folder: &Folder, note: &str, part: &str) {
    assert_refused(folder.read(note).await, part);
    assert_refused(folder.append(note, "x").await, part);
    assert_refused(folder.replace(note, "x").await, part);
    assert_refused(folder.create(note, "x").await, "already exists");
}

#[tokio::test]
async fn what_is_no_plain_file_is_refused_and_never_waited_for() {
    let folder = Folder::new();
    folder.create("note", "text").await.unwrap();
    symlink("note", folder.path("inner")).unwrap();
    symlink(folder.secret(), folder.path("outer")).unwrap();
    symlink("../notes-evil/secret", folder.path("relative")).unwrap();
    symlink("nowhere", folder.path("dangling")).unwrap();
    symlink("loop", folder.path("loop")).unwrap();
    symlink("/dev/zero", folder.path("zero")).unwrap();
    symlink("/proc/self/environ", folder.path("proc")).unwrap();
    fs::hard_link(folder.secret(), folder.path("hard")).unwrap();
    fs::create_dir(folder.path("folder")).unwrap();
    let _socket = UnixListener::bind(folder.path("socket")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    let before = folder.files();
    let all = async {
        for note in
            ["inner", "outer", "relative", "dangling", "loop", "zero", "proc", "hard", "folder", "socket", "pipe"]
        {
            assert_no_note(&folder, note, "is no plain file").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all).await.expect("something was waited for");
    assert_eq!(folder.files(), before);
    assert_eq!(fs::read_to_string(folder.secret()).unwrap(), "secret");
    assert!(folder.path("outer").is_symlink() && folder.path("folder").is_dir());
}

#[tokio::test]
async fn a_device_is_not_even_opened() {
    let folder = Folder::new();
    let made = Command::new("mknod").arg(folder.path("device")).args(["c", "1", "5"]).output().unwrap();
    if !made.status.success() {
        // Only root may make one.
        return;
    }
    assert_no_note(&folder, "device", "is no plain file").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_swapped_for_a_link_or_a_pipe_in_the_last_moment_leads_nowhere() {
    let folder = Arc::new(Folder::new());
    let pipe = folder.secret().with_file_name("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    folder.create("other", "other").await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (folder, stop, pipe) = (Arc::clone(&folder), Arc::clone(&stop), pipe.clone());
        thread::spawn(move || {
            let stage = folder.path(".stage");
            // Each trap comes right after a note, when somebody may just have looked.
            let kinds = ["plain", "pipe", "plain", "inner", "plain", "outer"].into_iter().cycle();
            for kind in kinds.take_while(|_| !stop.load(Ordering::Relaxed)) {
                match kind {
                    "plain" => fs::write(&stage, "plain"),
                    "inner" => symlink("other", &stage),
                    "outer" => symlink(folder.secret(), &stage),
                    _ => fs::hard_link(&pipe, &stage),
                }
                .unwrap();
                fs::rename(&stage, folder.path("note")).unwrap();
            }
        })
    };
    let all = async {
        for _ in 0..4_000 {
            match folder.read("note").await {
                Ok(text) => assert_eq!(text.trim_end_matches('x'), "plain"),
                Err(ToolError::Refused(_)) => {}
                Err(error) => panic!("{error:?}"),
            }
            match folder.append("note", "x").await {
                Ok(_) | Err(ToolError::Refused(_)) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(60), all).await;
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    if done.is_err() {
        // Whoever waits at the pipe would keep the test from ending.
        drop(fs::File::options().read(true).write(true).open(&pipe));
        panic!("something was waited for");
    }
    assert_eq!(fs::read_to_string(folder.secret()).unwrap(), "secret");
    assert_eq!(fs::read_to_string(folder.path("other")).unwrap(), "other");
}

#[tokio::test]
async fn a_directory_that_is_swapped_stays_the_one_of_the_start() {
    let folder = Folder::new();
    folder.create("note", "text").await.unwrap();
    let moved = folder.path("").parent().unwrap().join("moved");
    fs::rename(folder.path("").components().as_path(), &moved).unwrap();
    symlink(folder.secret().parent().unwrap(), folder.path("").components().as_path()).unwrap();
    assert_eq!(folder.read("note").await.unwrap(), "text");
    assert_refused(folder.read("secret").await, "no note `secret`");
    folder.replace("secret", "mine").await.unwrap();
    assert_eq!(fs::read_to_string(folder.secret()).unwrap(), "secret");
    assert_eq!(fs::read_to_string(moved.join("secret")).unwrap(), "mine");
}

#[tokio::test]
async fn a_text_that_is_too_long_or_no_text_is_refused_whole() {
    let folder = Folder::with(NotesLimits { note_bytes: 10, ..NotesLimits::default() });
    fs::File::create(folder.path("giant")).unwrap().set_len(1 << 30).unwrap();
    fs::write(folder.path("over"), "12345678901").unwrap();
    fs::write(folder.path("latin"), b"caf\xe9").unwrap();
    folder.create("note", "1234567").await.unwrap();
    for note in ["giant", "over"] {
        assert_refused(folder.read(note).await, "longer than 10 bytes");
        assert_refused(folder.append(note, "").await, "the limit is 10");
    }
    assert_refused(folder.read("latin").await, "not UTF-8");
    assert_refused(folder.append("note", "1234").await, "would have 11 bytes");
    assert_refused(folder.replace("note", "12345678901").await, "would have 11 bytes");
    assert_refused(folder.create("new", "éééééé").await, "would have 12 bytes");
    assert_eq!(folder.append("note", "123").await.unwrap(), 10);
    assert_eq!(folder.read("note").await.unwrap(), "1234567123");
    assert_eq!(folder.replace("giant", "small").await.unwrap(), 1 << 30);
    assert!(!folder.path("new").exists());
}

#[tokio::test]
async fn refusals_show_no_path_of_the_server() {
    let folder = Folder::new();
    let root = folder.path("").display().to_string();
    for result in [folder.read("none").await.map(|_| 0), folder.append("none", "x").await] {
        match result {
            Err(ToolError::Refused(text)) => {
                assert!(!text.contains(root.trim_end_matches('/')), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_refused(folder.read("none").await, "there is no note `none`");
    assert_eq!(name("none").to_string(), "none");
}
