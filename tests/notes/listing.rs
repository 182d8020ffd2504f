use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    time::{Duration, SystemTime},
};

use candor_tools::notes::{Note, Notes, NotesConfig, NotesLimits};

use super::folder::{Folder, assert_refused};

#[tokio::test]
async fn notes_are_listed_by_name_with_size_and_time() {
    let folder = Folder::new();
    for (name, text) in [("b.md", "12345"), ("A note", ""), ("a.txt", "é")] {
        folder.create(name, text).await.unwrap();
        let file = fs::File::options().write(true).open(folder.path(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_400)).unwrap();
    }
    let listing = folder.list(None).await.unwrap();
    let note = |name: &str, bytes| Note { name: name.into(), bytes, modified: Some("2000-02-29T00:00:00Z".into()) };
    assert_eq!(listing.notes, [note("A note", 0), note("a.txt", 2), note("b.md", 5)]);
    assert_eq!((listing.other_entries, listing.next_cursor), (0, None));
}

#[tokio::test]
async fn what_is_no_note_is_counted_and_not_shown() {
    let folder = Folder::new();
    folder.create("note", "text").await.unwrap();
    fs::create_dir(folder.path("folder")).unwrap();
    fs::write(folder.path(".hidden"), "x").unwrap();
    fs::write(folder.path("n\u{1b}ame"), "x").unwrap();
    fs::write(folder.path("ends."), "x").unwrap();
    symlink("note", folder.path("inner")).unwrap();
    symlink(folder.secret(), folder.path("outer")).unwrap();
    fs::hard_link(folder.secret(), folder.path("hard")).unwrap();
    let listing = folder.list(None).await.unwrap();
    let names: Vec<_> = listing.notes.iter().map(|note| note.name.as_str()).collect();
    assert_eq!((names.as_slice(), listing.other_entries), (["note"].as_slice(), 7));
}

#[tokio::test]
async fn pages_cover_every_note_once_whatever_changes_between_them() {
    let folder = Folder::with(NotesLimits { page: 3, ..NotesLimits::default() });
    for n in 0..10 {
        folder.create(&format!("n{n}"), "x").await.unwrap();
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = folder.list(cursor).await.unwrap();
        assert!(page.notes.len() <= 3);
        seen.extend(page.notes.into_iter().map(|note| note.name));
        if seen.len() == 3 {
            // The very note goes that the cursor stands on.
            fs::remove_file(folder.path("n2")).unwrap();
        }
        folder.replace(&format!("a{}", seen.len()), "x").await.unwrap();
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..10).map(|n| format!("n{n}")).collect::<Vec<_>>());
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 10);
    for cursor in ["", "!", "Li4veA", "\u{1b}", &"A".repeat(100_000)] {
        assert_refused(folder.list(Some(cursor.into())).await, "unknown cursor");
    }
}

#[tokio::test]
async fn what_a_crash_left_is_never_listed_and_is_gone_after_the_next_start() {
    let folder = Folder::new();
    folder.create("note", "text").await.unwrap();
    // Killed between the two names of a note that was being created, and in the middle of a text.
    for linked in [true, false] {
        let temporary = folder.path(".candor-note.tmp");
        if linked {
            fs::hard_link(folder.path("note"), &temporary).unwrap();
        } else {
            fs::write(&temporary, "half a te").unwrap();
        }
        let listing = folder.list(None).await.unwrap();
        assert_eq!(listing.other_entries, u64::from(linked));
        folder.second(NotesLimits::default());
        assert!(!temporary.exists());
        assert_eq!(folder.read("note").await.unwrap(), "text");
    }
    // A running server clears it away too.
    fs::write(folder.path(".candor-note.tmp"), "half a te").unwrap();
    folder.create("next", "whole").await.unwrap();
    folder.replace("note", "whole").await.unwrap();
    let files = folder.files();
    assert_eq!(files, [("next".to_owned(), b"whole".to_vec()), ("note".to_owned(), b"whole".to_vec())]);
}

#[test]
fn a_directory_that_is_none_is_named_at_the_start() {
    let folder = Folder::new();
    for dir in [folder.path("missing"), folder.secret()] {
        let error = Notes::open(NotesConfig { dir: dir.clone(), ..NotesConfig::default() }).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot serve the notes directory `{}`: ", dir.display())), "{error}");
    }
    assert_eq!(folder.notes().directory(), folder.path("").canonicalize().unwrap());
}
