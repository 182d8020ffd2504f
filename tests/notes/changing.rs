use std::{fs, os::unix::fs::PermissionsExt, sync::Arc, time::Duration};

use candor_tools::notes::{NotesAdder, NotesLimits, NotesReader, NotesWriter};

use super::folder::{Folder, assert_refused, name};

#[tokio::test]
async fn a_note_is_created_extended_and_replaced() {
    let folder = Folder::new();
    folder.create("note.md", "one\n").await.unwrap();
    assert_eq!(folder.append("note.md", "zwei é\n").await.unwrap(), 12);
    assert_eq!(folder.read("note.md").await.unwrap(), "one\nzwei é\n");
    assert_eq!(folder.append("note.md", "").await.unwrap(), 12);
    for _ in 0..2 {
        folder.replace("note.md", "three").await.unwrap();
        assert_eq!(folder.files(), [("note.md".to_owned(), b"three".to_vec())]);
    }
    assert_eq!(folder.replace("note.md", "").await.unwrap(), 5);
    assert_eq!(folder.replace("other", "x").await.unwrap(), 0);
}

#[tokio::test]
async fn creating_never_overwrites() {
    let folder = Folder::new();
    folder.create("note", "first").await.unwrap();
    assert_refused(folder.create("note", "second").await, "`note` already exists");
    for clash in ["Note", "NOTE"] {
        assert_refused(folder.create(clash, "second").await, "in letter case alone");
        assert_refused(folder.replace(clash, "second").await, "in letter case alone");
    }
    assert_eq!(folder.files(), [("note".to_owned(), b"first".to_vec())]);
    assert_refused(folder.append("missing", "x").await, "there is no note `missing`");
    assert_eq!(folder.files().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_eight_creations_at_once_one_succeeds() {
    let folder = Folder::new();
    let servers = [folder.notes(), folder.second(NotesLimits::default())];
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let adder = NotesAdder::new(Arc::clone(&servers[n % 2]));
            tokio::spawn(async move { adder.create(name("note"), n.to_string().repeat(50_000)).await.map(|()| n) })
        })
        .collect();
    let mut created = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            Ok(n) => created.push(n),
            refused => assert_refused(refused, "already exists"),
        }
    }
    assert_eq!(created.len(), 1);
    assert_eq!(folder.files(), [("note".to_owned(), created[0].to_string().repeat(50_000).into_bytes())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_appended_at_once_by_two_servers_stand_one_after_the_other() {
    let folder = Folder::new();
    folder.create("note", "").await.unwrap();
    let servers = [folder.notes(), folder.second(NotesLimits::default())];
    let tasks: Vec<_> = (0..40)
        .map(|n| {
            let adder = NotesAdder::new(Arc::clone(&servers[n % 2]));
            let line = format!("{n:02}").repeat(5_000) + "\n";
            tokio::spawn(async move { adder.append(name("note"), line).await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let text = folder.read("note").await.unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    let expected: Vec<_> = (0..40).map(|n| format!("{n:02}").repeat(5_000)).collect();
    assert_eq!(lines, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_the_old_text_or_the_new_one_whole() {
    let folder = Folder::new();
    folder.create("note", &"0".repeat(20_000)).await.unwrap();
    let writer = NotesWriter::new(folder.notes());
    let writing = tokio::spawn(async move {
        for n in 0..100 {
            writer.replace(name("note"), (n % 10).to_string().repeat(20_000)).await.unwrap();
        }
    });
    let reader = NotesReader::new(folder.second(NotesLimits::default()));
    while !writing.is_finished() {
        let text = reader.read(name("note")).await.unwrap();
        assert_eq!(text.len(), 20_000);
        assert!(text.bytes().all(|b| b == text.as_bytes()[0]));
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn replacing_keeps_the_permissions_of_a_note() {
    let folder = Folder::new();
    folder.create("note", "private").await.unwrap();
    fs::set_permissions(folder.path("note"), fs::Permissions::from_mode(0o600)).unwrap();
    folder.replace("note", "still private").await.unwrap();
    let mode = fs::metadata(folder.path("note")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn no_more_notes_than_allowed_are_created() {
    let folder = Folder::with(NotesLimits { notes: 2, ..NotesLimits::default() });
    folder.create("a", "x").await.unwrap();
    folder.replace("b", "x").await.unwrap();
    assert_refused(folder.create("c", "x").await, "2 notes already");
    assert_refused(folder.replace("c", "x").await, "2 notes already");
    folder.replace("b", "y").await.unwrap();
    folder.append("a", "y").await.unwrap();
    assert_eq!(folder.files().len(), 2);
}

#[tokio::test]
async fn a_lock_that_another_program_keeps_ends_in_a_refusal() {
    let folder = Folder::with(NotesLimits { lock_wait: Duration::from_millis(50), ..NotesLimits::default() });
    folder.create("note", "text").await.unwrap();
    let directory = fs::File::open(folder.path("")).unwrap();
    directory.lock_shared().unwrap();
    assert_eq!(folder.read("note").await.unwrap(), "text");
    for result in [
        folder.append("note", "x").await,
        folder.replace("note", "x").await,
        folder.create("new", "x").await.map(|()| 0),
    ] {
        assert_refused(result, "in use by another program");
    }
    directory.unlock().unwrap();
    directory.lock().unwrap();
    assert_refused(folder.read("note").await, "in use by another program");
    assert_refused(folder.list(None).await, "in use by another program");
    drop(directory);
    assert_eq!(folder.files(), [("note".to_owned(), b"text".to_vec())]);
    folder.append("note", "!").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_while_it_waits_changes_nothing() {
    let folder = Folder::new();
    folder.create("note", "text").await.unwrap();
    let directory = fs::File::open(folder.path("")).unwrap();
    directory.lock().unwrap();
    let (adder, writer) = (NotesAdder::new(folder.notes()), NotesWriter::new(folder.notes()));
    let calls = [
        tokio::spawn(async move { adder.append(name("note"), "x".into()).await }),
        tokio::spawn(async move { writer.replace(name("note"), "x".into()).await }),
    ];
    tokio::time::sleep(Duration::from_millis(50)).await;
    for call in calls {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    drop(directory);
    // Every permit is free again only when the cancelled work has ended.
    for n in 0..8 {
        folder.create(&format!("n{n}"), "").await.unwrap();
    }
    assert_eq!(folder.read("note").await.unwrap(), "text");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_gives_its_place_to_the_next_at_once() {
    let limits = NotesLimits { concurrent: 1, lock_wait: Duration::from_secs(600), ..NotesLimits::default() };
    let folder = Folder::with(limits);
    folder.create("note", "text").await.unwrap();
    let directory = fs::File::open(folder.path("")).unwrap();
    directory.lock_shared().unwrap();
    let adder = NotesAdder::new(folder.notes());
    let call = tokio::spawn(async move { adder.append(name("note"), "x".into()).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    call.abort();
    let read = tokio::time::timeout(Duration::from_secs(30), folder.read("note"));
    assert_eq!(read.await.unwrap().unwrap(), "text");
    drop(directory);
}
