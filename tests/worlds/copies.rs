use std::{
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use candor::verify::{Snapshot, World, WorldError};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::plain;

#[test]
fn a_copy_keeps_modes_times_links_hard_links_and_fifos() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("closed")).unwrap();
    fs::write(at("closed/run"), "#!/bin/sh\n").unwrap();
    fs::hard_link(at("closed/run"), at("also")).unwrap();
    symlink("closed/run", at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let time = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789);
    for name in ["closed/run", "closed"] {
        fs::File::open(at(name)).unwrap().set_modified(time).unwrap();
    }
    fs::set_permissions(at("closed/run"), fs::Permissions::from_mode(0o4751)).unwrap();
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    let world = World::directory("mine", dir.path());
    let copy = world.fresh().unwrap();
    let of = |name: &str| fs::symlink_metadata(copy.path().join(name)).unwrap();
    for name in ["closed", "closed/run", "also", "link", "dangling", "fifo"] {
        let was = fs::symlink_metadata(at(name)).unwrap();
        assert_eq!((of(name).mode(), of(name).modified().unwrap()), (was.mode(), was.modified().unwrap()), "{name}");
    }
    assert_eq!(of("also").ino(), of("closed/run").ino());
    assert_ne!(of("also").ino(), fs::metadata(at("also")).unwrap().ino());
    assert_eq!(fs::read_link(copy.path().join("link")).unwrap(), Path::new("closed/run"));
    assert!(of("fifo").file_type().is_fifo());
    world.check_reset().unwrap();
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_copy_goes_away_even_if_it_was_made_read_only() {
    let copy = plain().fresh().unwrap();
    let path = copy.path().to_owned();
    for name in ["sub/deep/y", "sub/deep", "sub", ""] {
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(0o500)).unwrap();
    }
    fs::set_permissions(path.join("sub/deep"), fs::Permissions::from_mode(0o000)).unwrap();
    assert!(path.exists());
    drop(copy);
    assert!(!path.exists());
}

#[test]
fn a_change_in_one_copy_is_in_no_other() {
    let world = plain();
    let one = world.fresh().unwrap();
    fs::write(one.path().join("a.txt"), "changed\n").unwrap();
    let other = world.fresh().unwrap();
    assert_eq!(fs::read_to_string(other.path().join("a.txt")).unwrap(), "hello\n");
    world.check_reset().unwrap();
}

#[test]
fn a_directory_is_read_once_and_never_written_to() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "first").unwrap();
    let world = World::directory("mine", dir.path());
    drop(world.fresh().unwrap());
    fs::write(dir.path().join("a"), "second").unwrap();
    let copy = world.fresh().unwrap();
    assert_eq!(fs::read_to_string(copy.path().join("a")).unwrap(), "first");
}

#[test]
fn an_original_that_a_server_got_at_is_no_world_any_more() {
    /// A world that tells where its original is, as a server may find out.
    fn telling(dir: &Path) -> Result<(), WorldError> {
        Ok(fs::write(dir.join("where"), dir.to_str().unwrap())?)
    }
    let world = World::builder("leaky", telling);
    let copy = world.fresh().unwrap();
    let original = PathBuf::from(fs::read_to_string(copy.path().join("where")).unwrap());
    assert_ne!(original, copy.path());
    fs::write(original.join("stray"), "x").unwrap();
    let error = world.fresh().unwrap_err();
    assert!(matches!(&error, WorldError::Changed { path, .. } if path == Path::new("stray")), "{error}");
}

#[test]
fn what_every_copy_would_share_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("repo")).unwrap();
    let refusal = |prepare: &dyn Fn(&Path)| {
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        World::directory("mine", dir.path()).fresh().unwrap_err().to_string()
    };
    let link = refusal(&|dir| {
        fs::write(dir.join("a"), "a").unwrap();
        symlink(dir.join("a"), dir.join("link")).unwrap();
    });
    assert!(link.contains("link") && link.ends_with("make it a relative link"), "{link}");
    let absolute = refusal(&|dir| fs::write(dir.join(".git"), "gitdir: /elsewhere/.git/worktrees/x\n").unwrap());
    assert!(absolute.contains("--relative-paths"), "{absolute}");
    let relative = refusal(&|dir| {
        let name = outside.path().file_name().unwrap().to_str().unwrap();
        fs::write(dir.join(".git"), format!("gitdir: ../{name}/repo\n")).unwrap();
    });
    assert!(relative.ends_with("name the directory that holds the repository as well"), "{relative}");
    let socket = refusal(&|dir| drop(std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap()));
    assert!(socket.contains("socket` is a socket"), "{socket}");
    // A link to a place outside is the world's own business.
    let dir = tempfile::tempdir().unwrap();
    symlink("/usr", dir.path().join("usr")).unwrap();
    World::directory("mine", dir.path()).fresh().unwrap();
}

#[test]
fn a_missing_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = World::directory("mine", &dir.path().join("nowhere")).fresh().unwrap_err().to_string();
    assert!(error.contains("nowhere") && error.contains("name a directory"), "{error}");
}

fn script(text: &str) -> (tempfile::TempDir, World) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("build.sh");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let world = World::script("scripted", &path);
    (dir, world)
}

#[test]
fn a_script_builds_a_world_where_it_is_told_to() {
    let (_dir, world) = script("#!/bin/sh\necho here > here\necho there > \"$1/there\"\n");
    let copy = world.fresh().unwrap();
    assert!(copy.path().join("here").exists() && copy.path().join("there").exists());
}

#[test]
fn a_script_that_fails_is_quoted() {
    let (_dir, world) = script("#!/bin/sh\necho building\necho 'no such table' >&2\nexit 3\n");
    let error = world.fresh().unwrap_err().to_string();
    assert!(error.contains("exit status: 3 and said `no such table`"), "{error}");
}

#[test]
fn what_is_unchanged_is_not_read_again() {
    let copy = plain().fresh().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let first = Snapshot::take(&copy, None).unwrap();
    // Reading a file would move its time of access, which was set before all others.
    let file = copy.path().join("a.txt");
    let old = UNIX_EPOCH + Duration::from_secs(1);
    fs::File::open(&file).unwrap().set_times(fs::FileTimes::new().set_accessed(old)).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let second = Snapshot::take(&copy, Some(&first)).unwrap();
    let accessed = || fs::metadata(&file).unwrap().accessed().unwrap();
    let noticed = accessed() != old;
    fs::File::open(&file).unwrap().set_times(fs::FileTimes::new().set_accessed(old)).unwrap();
    assert!(noticed, "setting a time changes the file's time of change, so it was read");
    std::thread::sleep(Duration::from_millis(50));
    let third = Snapshot::take(&copy, Some(&second)).unwrap();
    fs::read(&file).unwrap();
    let mark = accessed();
    let fourth = Snapshot::take(&copy, Some(&third)).unwrap();
    assert_eq!(accessed(), mark);
    assert!(Snapshot::effects(&first, &fourth).is_empty());
}
