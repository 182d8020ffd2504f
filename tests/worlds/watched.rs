//! A copy whose looks visit what may have changed alone tells the same as one that is walked.

use std::{
    fs::{self, File, FileTimes},
    io::{BufRead as _, BufReader, Seek as _, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use candor::verify::{Effect, Grade, Held, Snapshot, World, WorldCopy, WorldError};
use rusqlite::Connection;

use crate::support::git;

fn lay_out(dir: &Path) -> Result<(), WorldError> {
    super::lay_out(dir)?;
    fs::hard_link(dir.join("a.txt"), dir.join("sub/other-name"))?;
    symlink("sub", dir.join("way"))?;
    git(dir, &["init", "-q", "--bare", "-b", "main", "repo"]);
    let database = Connection::open(dir.join("shop.db")).unwrap();
    database.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n); INSERT INTO t VALUES (1);").unwrap();
    Ok(())
}

/// A copy and the last snapshot of it.
struct Looked(WorldCopy, Snapshot);

impl Looked {
    fn at(copy: WorldCopy) -> Self {
        let last = Snapshot::take(&copy, None).unwrap();
        Self(copy, last)
    }

    fn look(&mut self) -> Vec<Effect> {
        let now = Snapshot::take(&self.0, Some(&self.1)).unwrap();
        let effects = Snapshot::effects(&self.1, &now);
        self.1 = now;
        effects
    }
}

type Act = fn(&Path);

const ACTS: [(&str, Act); 24] = [
    ("nothing", |_| {}),
    ("read", |w| drop(fs::read(w.join("a.txt")).unwrap())),
    ("create", |w| fs::write(w.join("new.txt"), "n").unwrap()),
    ("overwrite", |w| fs::write(w.join("sub/x"), "another\n").unwrap()),
    ("same size", |w| fs::write(w.join("poem.txt"), "one\nTWO\nthree\n").unwrap()),
    ("cut", |w| File::options().write(true).open(w.join("zeros.bin")).unwrap().set_len(9).unwrap()),
    ("by another name", |w| fs::write(w.join("sub/other-name"), "through the other name\n").unwrap()),
    ("through a link", |w| fs::write(w.join("way/deep/y"), "why\n").unwrap()),
    ("mode", |w| fs::set_permissions(w.join("sub/x"), fs::Permissions::from_mode(0o600)).unwrap()),
    ("mode of a directory", |w| fs::set_permissions(w.join("empty"), fs::Permissions::from_mode(0o700)).unwrap()),
    ("time", |w| {
        let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(9));
        File::options().write(true).open(w.join("data.json")).unwrap().set_times(times).unwrap();
    }),
    ("attribute", |w| {
        let _ = rustix::fs::setxattr(w.join("a.txt"), "user.k", b"v", rustix::fs::XattrFlags::empty());
    }),
    ("directories", |w| fs::create_dir_all(w.join("one/two/three")).unwrap()),
    ("in them", |w| fs::write(w.join("one/two/three/four"), "4").unwrap()),
    ("again in them", |w| fs::write(w.join("one/two/three/four"), "IV").unwrap()),
    ("a directory moves", |w| fs::rename(w.join("sub"), w.join("moved")).unwrap()),
    ("where it went", |w| fs::write(w.join("moved/deep/y"), "there\n").unwrap()),
    ("a link in its place", |w| symlink("moved", w.join("sub")).unwrap()),
    ("through that", |w| fs::write(w.join("sub/deep/y"), "and there\n").unwrap()),
    ("a reference", |w| fs::write(w.join("repo/refs/heads/b"), "ref: refs/heads/main\n").unwrap()),
    ("a row", |w| {
        Connection::open(w.join("shop.db")).unwrap().execute("INSERT INTO t VALUES (2)", []).unwrap();
    }),
    ("no repository any more", |w| fs::rename(w.join("repo/HEAD"), w.join("repo/TAIL")).unwrap()),
    ("a repository again", |w| fs::rename(w.join("repo/TAIL"), w.join("repo/HEAD")).unwrap()),
    ("all gone", |w| fs::remove_dir_all(w.join("moved")).unwrap()),
];

#[test]
fn what_is_watched_and_what_is_walked_tell_the_same() {
    let world = World::builder("all kinds", lay_out);
    let mut watched = Looked::at(world.fresh().unwrap().watched());
    let mut walked = Looked::at(world.fresh().unwrap());
    for (name, act) in ACTS {
        let told = [&mut watched, &mut walked].map(|looked| {
            act(looked.0.path());
            let effects = looked.look();
            effects.into_iter().map(|effect| (effect.grade, effect.lens, effect.place)).collect::<Vec<_>>()
        });
        let [watched, walked] = told;
        assert_eq!(watched, walked, "{name}");
        assert_eq!(watched.is_empty(), ["nothing", "read"].contains(&name), "{name}: {watched:?}");
    }
}

#[test]
fn a_file_that_was_opened_before_the_first_look_is_watched_as_long_as_it_may_be_written() {
    let world = World::builder("held", lay_out);
    let copy = world.fresh().unwrap().watched();
    let mut held = File::options().write(true).open(copy.path().join("zeros.bin")).unwrap();
    let database = Connection::open(copy.path().join("shop.db")).unwrap();
    database.query_row("SELECT count(*) FROM t", [], |_| Ok(())).unwrap(); // maps `-shm`
    let mut looked = Looked::at(copy);
    for round in 1..4 {
        held.rewind().unwrap();
        held.write_all(&[round; 4096]).unwrap();
        database.execute("INSERT INTO t VALUES (?)", [round]).unwrap();
        let effects = looked.look();
        let graded = |grade| effects.iter().filter(|effect| effect.grade == grade).count();
        assert_eq!((graded(Grade::Lossy), graded(Grade::Additive)), (1, 1), "{effects:?}");
    }
}

/// Writes in ways that nobody tells of: to memory, and by a request that the kernel works off later.
const SILENT: &str = r#"
import ctypes, mmap, struct, sys
kernel = ctypes.CDLL(None, use_errno=True).syscall
kernel.restype = ctypes.c_long
setup, submit, events = (206, 209, 208) if sys.maxsize > 2**32 and "x86" in __import__("platform").machine() else (0, 2, 4)
mapped, held = open("zeros.bin", "r+b"), open("poem.txt", "r+b")
memory = mmap.mmap(mapped.fileno(), 4096)
mapped.close()
context, text = ctypes.c_ulong(0), ctypes.create_string_buffer(b"ONE")
assert kernel(setup, 1, ctypes.byref(context)) == 0
request = ctypes.create_string_buffer(
    struct.pack("<QIIHhIQQqQII", 0, 0, 0, 1, 0, held.fileno(), ctypes.addressof(text), 3, 0, 0, 0, 0))
print("ready", flush=True)
for line in sys.stdin:
    match line.split():
        case ["store", at]:
            memory[int(at)] = 1
        case ["close", at]:
            memory[int(at)] = 1
            memory.close()
        case ["submit"]:
            pointer, result = ctypes.c_void_p(ctypes.addressof(request)), ctypes.create_string_buffer(32)
            assert kernel(submit, context, ctypes.c_long(1), ctypes.byref(pointer)) == 1
            assert kernel(events, context, ctypes.c_long(1), ctypes.c_long(1), result, None) == 1
    print("done", flush=True)
"#;

#[test]
fn what_a_process_writes_with_nobody_telling_is_seen() {
    let copy = World::builder("silent", lay_out).fresh().unwrap().watched();
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", SILENT]).current_dir(copy.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, mut lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let look = |last: Option<&Snapshot>| {
        let held = Held::by([child.id()]).within(copy.path());
        Snapshot::take_held(&copy, last, &held).unwrap()
    };
    let mut last = look(None);
    // The second store and those after it move no time.
    for act in ["store 1", "", "store 2", "", "store 3", "submit", "", "close 4", ""] {
        writeln!(input, "{act}").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "done", "{act}");
        let now = look(Some(&last));
        let effects = Snapshot::effects(&last, &now);
        let places: Vec<&str> = effects.iter().map(|effect| effect.place.as_str()).collect();
        let expected = match act {
            "" => &[][..],
            "submit" => &["poem.txt"],
            _ => &["zeros.bin"],
        };
        assert_eq!(places, expected, "{act}: {effects:?}");
        last = now;
        // So that the time of change proves something, if it moved.
        std::thread::sleep(Duration::from_millis(30));
    }
    drop(input);
    child.wait().unwrap();
}

#[test]
fn nothing_is_missed_when_more_happens_than_the_kernel_remembers() {
    let mut looked = Looked::at(World::builder("busy", lay_out).fresh().unwrap().watched());
    let world = looked.0.path().to_owned();
    // Alternating, since the kernel folds equal events.
    let same = |name: &str| {
        let path = world.join(name);
        fs::set_permissions(&path, fs::metadata(&path).unwrap().permissions()).unwrap();
    };
    for _ in 0..20_000 {
        same("a.txt");
        same("poem.txt");
    }
    fs::write(world.join("sub/x"), "late\n").unwrap();
    assert_eq!(looked.look().len(), 1);
    fs::write(world.join("sub/deep/y"), "later\n").unwrap();
    assert_eq!(looked.look().len(), 1);
}
