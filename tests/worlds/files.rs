use std::{
    fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    time::SystemTime,
};

use candor::verify::{Grade, Snapshot};
use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};

use super::{Trial, plain, told, worst};

fn append(path: &Path, text: &str) {
    fs::File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn nothing_done_is_nothing_seen() {
    let mut trial = Trial::of(&plain());
    assert_eq!(trial.effects(|_| {}), []);
    let read = |world: &Path| drop(fs::read(world.join("a.txt")).unwrap());
    assert_eq!(trial.effects(read), []);
    let opened = |world: &Path| drop(fs::File::options().read(true).write(true).open(world.join("a.txt")).unwrap());
    assert_eq!(trial.effects(opened), []);
}

type Act = fn(&Path);

#[test]
fn each_kind_of_change_has_its_grade() {
    use Grade::{Additive, Lossy, None, Recoverable};
    let table: [(&str, Act, Grade, &str); 22] = [
        ("create", |w| fs::write(w.join("new"), "n").unwrap(), Additive, "new"),
        ("link", |w| symlink("a.txt", w.join("new")).unwrap(), Additive, "new"),
        ("hard link", |w| fs::hard_link(w.join("a.txt"), w.join("new")).unwrap(), Additive, "new"),
        ("fifo", |w| mknodat(CWD, w.join("new"), FileType::Fifo, Mode::RUSR, 0).unwrap(), Additive, "new"),
        ("directory", |w| fs::create_dir(w.join("new")).unwrap(), Additive, "new"),
        ("equal bytes", |w| fs::write(w.join("a.txt"), "hello\n").unwrap(), None, "a.txt"),
        (
            "touch",
            |w| fs::File::open(w.join("a.txt")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap(),
            None,
            "a.txt",
        ),
        ("append", |w| append(&w.join("a.txt"), "more\n"), Additive, "a.txt"),
        ("append to bytes", |w| append(&w.join("zeros.bin"), "more\n"), Additive, "zeros.bin"),
        ("overwrite", |w| fs::write(w.join("a.txt"), "HELLO\n").unwrap(), Lossy, "a.txt"),
        ("truncate", |w| fs::write(w.join("a.txt"), "hel").unwrap(), Lossy, "a.txt"),
        (
            "rename over",
            |w| {
                fs::write(w.join("a.txt~"), "HELLO\n").unwrap();
                fs::rename(w.join("a.txt~"), w.join("a.txt")).unwrap();
            },
            Lossy,
            "a.txt",
        ),
        (
            "equal bytes renamed over",
            |w| {
                fs::write(w.join("a.txt~"), "hello\n").unwrap();
                fs::rename(w.join("a.txt~"), w.join("a.txt")).unwrap();
            },
            None,
            "a.txt",
        ),
        ("delete", |w| fs::remove_file(w.join("a.txt")).unwrap(), Lossy, "a.txt"),
        ("delete a tree", |w| fs::remove_dir_all(w.join("sub")).unwrap(), Lossy, "sub"),
        ("delete an empty directory", |w| fs::remove_dir(w.join("empty")).unwrap(), Lossy, "empty"),
        ("rename", |w| fs::rename(w.join("a.txt"), w.join("b.txt")).unwrap(), Recoverable, "a.txt"),
        ("rename a directory", |w| fs::rename(w.join("sub"), w.join("bus")).unwrap(), Recoverable, "sub"),
        (
            "mode",
            |w| fs::set_permissions(w.join("a.txt"), fs::Permissions::from_mode(0o600)).unwrap(),
            Recoverable,
            "a.txt",
        ),
        (
            "attribute",
            |w| setxattr(w.join("a.txt"), "user.k", b"v", XattrFlags::empty()).unwrap(),
            Recoverable,
            "a.txt",
        ),
        (
            "another kind",
            |w| {
                fs::remove_file(w.join("a.txt")).unwrap();
                fs::create_dir(w.join("a.txt")).unwrap();
            },
            Lossy,
            "a.txt",
        ),
        (
            "temporary",
            |w| {
                fs::write(w.join("empty/t"), "t").unwrap();
                fs::remove_file(w.join("empty/t")).unwrap();
            },
            None,
            "empty",
        ),
    ];
    for (name, act, grade, place) in table {
        let mut trial = Trial::of(&plain());
        let effects = trial.effects(act);
        let told = told(&effects);
        assert!(matches!(told.as_slice(), [(found, at, _)] if (*found, *at) == (grade, place)), "{name}: {told:?}");
        assert_eq!(effects[0].excuse.is_some(), grade == None, "{name}");
    }
}

#[test]
fn a_tree_that_was_removed_and_made_anew_is_told_entry_by_entry() {
    let mut trial = Trial::of(&plain());
    let effects = trial.effects(|world| {
        fs::remove_dir_all(world.join("sub")).unwrap();
        fs::create_dir(world.join("sub")).unwrap();
        fs::write(world.join("sub/n"), "n\n").unwrap();
    });
    let told = told(&effects);
    let grades: Vec<_> = told.iter().map(|(grade, place, _)| (*grade, *place)).collect();
    assert!(grades.contains(&(Grade::Lossy, "sub/deep")), "{told:?}");
    assert!(grades.contains(&(Grade::Additive, "sub/n")), "{told:?}");
    assert!(grades.contains(&(Grade::Lossy, "sub/x")), "{told:?}");
}

#[test]
fn a_rename_over_another_file_loses_that_one_alone() {
    let mut trial = Trial::of(&plain());
    let effects = trial.effects(|world| fs::rename(world.join("poem.txt"), world.join("a.txt")).unwrap());
    assert!(
        matches!(
            told(&effects).as_slice(),
            [(Grade::Lossy, "a.txt", _), (Grade::Recoverable, "poem.txt", "file renamed to `a.txt`")]
        ),
        "{effects:?}"
    );
}

#[test]
fn a_renamed_directory_whose_content_changed_is_no_mere_rename() {
    let mut trial = Trial::of(&plain());
    let effects = trial.effects(|world| {
        fs::rename(world.join("sub"), world.join("bus")).unwrap();
        fs::write(world.join("bus/x"), "other\n").unwrap();
    });
    assert_eq!(worst(&effects), Grade::Lossy, "{effects:?}");
}

#[test]
fn a_change_within_one_tick_of_the_clock_is_seen() {
    let copy = plain().fresh().unwrap();
    let file = copy.path().join("a.txt");
    let mut last = Snapshot::take(&copy, None).unwrap();
    for (round, text) in ["HELLO\n", "hello\n", "HELLO\n", "hello\n", "Hello\n"].iter().enumerate() {
        // Neither the size nor the time of writing tells them apart.
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        let mut open = fs::File::options().write(true).open(&file).unwrap();
        open.write_all(text.as_bytes()).unwrap();
        open.set_modified(time).unwrap();
        let now = Snapshot::take(&copy, Some(&last)).unwrap();
        assert_eq!(worst(&Snapshot::effects(&last, &now)), Grade::Lossy, "round {round}");
        last = now;
    }
}

#[test]
fn steps_can_be_compared_across_others() {
    let copy = plain().fresh().unwrap();
    let take = |before: Option<&Snapshot>| Snapshot::take(&copy, before).unwrap();
    let first = take(None);
    fs::write(copy.path().join("poem.txt"), "zero\none\ntwo\nthree\n").unwrap();
    let second = take(Some(&first));
    fs::write(copy.path().join("poem.txt"), "one\ntwo\nthree\n").unwrap();
    let third = take(Some(&second));
    fs::write(copy.path().join("poem.txt"), "one\ntwo\nthree\nfour\n").unwrap();
    let fourth = take(Some(&third));
    let grade = |from, to| worst(&Snapshot::effects(from, to));
    assert_eq!(grade(&first, &second), Grade::Additive);
    assert_eq!(grade(&second, &third), Grade::Lossy);
    assert_eq!(grade(&first, &third), Grade::None);
    assert_eq!(grade(&first, &fourth), Grade::Additive);
    assert_eq!(grade(&second, &fourth), Grade::Lossy);
}

#[test]
fn lock_files_are_excused_by_what_they_hold() {
    for (name, text, grade) in [
        ("db.lock", "", Grade::None),
        ("db.lock", "4711\n", Grade::None),
        ("Cargo.lock", "version = 4\n", Grade::Additive),
        ("blank", "", Grade::Additive),
    ] {
        let mut trial = Trial::of(&plain());
        let effects = trial.effects(|world| fs::write(world.join(name), text).unwrap());
        assert_eq!(worst(&effects), grade, "{name} {text:?}");
        let effects = trial.effects(|world| fs::remove_file(world.join(name)).unwrap());
        assert_eq!(worst(&effects) == Grade::None, grade == Grade::None, "{name} {text:?}");
    }
}

#[test]
fn a_log_beyond_what_lenses_read_is_still_seen_to_grow() {
    let mut trial = Trial::of(&plain());
    let line = "a line of a log that never ends\n";
    trial.effects(|world| fs::write(world.join("big.log"), line.repeat(200_000)).unwrap());
    let effects = trial.effects(|world| append(&world.join("big.log"), line));
    assert_eq!(told(&effects), [(Grade::Additive, "big.log", "32 bytes appended")]);
    let effects = trial.effects(|world| {
        let mut file = fs::File::options().write(true).open(world.join("big.log")).unwrap();
        file.write_all(b"A").unwrap();
        append(&world.join("big.log"), line);
    });
    assert_eq!(worst(&effects), Grade::Lossy);
}

#[test]
fn evidence_shows_no_content_and_no_control_characters() {
    let mut trial = Trial::of(&plain());
    let effects = trial.effects(|world| {
        fs::write(world.join("a\u{1b}[2Jb"), "secret").unwrap();
        fs::write(world.join("a.txt"), "secret").unwrap();
    });
    let all = format!("{effects:?}");
    assert!(effects.iter().any(|effect| effect.place == "a\\u{1b}[2Jb"), "{all}");
    assert!(!all.contains("secret") && !all.contains("hello"), "{all}");
}

#[test]
fn a_file_that_nobody_may_read_is_judged_all_the_same() {
    let mut trial = Trial::of(&plain());
    let effects = trial.effects(|world| {
        fs::write(world.join("a.txt"), "other text").unwrap();
        fs::set_permissions(world.join("a.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    });
    assert_eq!(worst(&effects), Grade::Lossy, "{effects:?}");
}
