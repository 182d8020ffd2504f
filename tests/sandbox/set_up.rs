use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use candor::{
    verify::sandbox::{self, Sandbox, scrubbed},
    wire::{Connection, Era, Limits, Target},
};

use super::boxed::{Boxed, Host, candor, is_root};

/// Set where the tests run again as somebody else.
const AGAIN: &str = "CANDOR_TEST_AS_USER";

#[test]
fn everything_holds_for_an_ordinary_user_too() {
    if std::env::var_os(AGAIN).is_some() {
        return;
    }
    if !is_root() {
        return; // the others ran as an ordinary user already
    }
    let temporary = tempfile::Builder::new().prefix("candor-user-").tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let is_open = |dir: &Path| dir.metadata().unwrap().mode() & 0o001 != 0;
    if ![program.as_path(), temporary.path()].iter().all(|path| path.ancestors().skip(1).all(is_open)) {
        return; // another user reaches neither the program nor the directory here
    }
    let user = 12_345;
    std::os::unix::fs::chown(temporary.path(), Some(user), Some(user)).unwrap();
    let words = ["--reuid", "12345", "--regid", "12345", "--clear-groups"];
    let mut command = Command::new("setpriv");
    command.args(words).arg(program).args(["sandbox::", "--test-threads", "2"]);
    command.env(AGAIN, "1").env("TMPDIR", temporary.path()).env("HOME", temporary.path()).current_dir("/");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("test result: ok. "), "{told}");
}

#[test]
fn this_system_has_a_box() {
    sandbox::probe(candor()).unwrap();
}

#[test]
fn a_box_stands_soon() {
    let host = Host::new();
    let mut took: Vec<Duration> = (0..9)
        .map(|_| {
            let boxed = Boxed::start(host.spec("true"));
            boxed.sandbox.wait(Duration::from_secs(20)).unwrap();
            boxed.sandbox.took().unwrap()
        })
        .collect();
    took.sort();
    assert!(took[4] < Duration::from_secs(5));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let host = Host::new();
    let mut spec = host.spec("");
    spec.command = vec!["no-such-program".into()];
    let mut boxed = Boxed::start(spec);
    let status = super::boxed::wait(&mut boxed.child, Duration::from_secs(20)).unwrap();
    assert_eq!(status.code(), Some(125));
    let why = boxed.sandbox.refused().unwrap();
    assert!(why.contains("cannot start `no-such-program`"), "{why}");
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let host = Host::new();
    let mut spec = host.spec("true");
    spec.dir = "/no/such/place".into();
    let boxed = Boxed::start(spec);
    let why = boxed.sandbox.wait(Duration::from_secs(20)).unwrap_err().to_string();
    assert!(why.contains("`/no/such/place`"), "{why}");
}

#[test]
fn a_box_that_is_never_started_leaves_nothing() {
    let host = Host::new();
    let sandbox = Sandbox::prepare(candor(), host.spec("true")).unwrap();
    let base = sandbox.temporary().parent().unwrap().to_owned();
    assert!(base.exists() && sandbox.changes().is_err());
    drop(sandbox);
    assert!(!base.exists());
}

#[test]
fn the_environment_is_what_was_given_and_holds_no_secret() {
    let host = Host::new();
    let mut spec = host.spec("env");
    let all = [("PATH", "/usr/bin:/bin"), ("API_KEY", "secret"), ("LC_ALL", "C"), ("HOME", "/")];
    spec.env = scrubbed(all.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let said = Boxed::start(spec).end().said;
    assert!(!said.contains("secret") && said.contains("LC_ALL=C\n") && said.contains("TMPDIR="), "{said}");
}

#[tokio::test]
async fn the_wire_client_speaks_to_a_server_in_a_box() {
    let host = Host::new();
    let mut spec = host.spec("");
    // Where it lays out its demo workspace is the box's.
    spec.command = vec![candor().to_str().unwrap().into(), "serve".into()];
    let sandbox = Sandbox::prepare(candor(), spec).unwrap();
    let target = Target::Stdio { command: sandbox.command(), env: Vec::new(), dir: None };
    let mut connection = Connection::open(&target, Era::Modern, &Limits::default()).await.unwrap();
    let tools = connection.list().await.unwrap();
    assert!(!tools.is_empty());
    let effects = sandbox.changes().unwrap();
    assert!(!effects.is_empty() && effects.iter().all(|effect| effect.place.starts_with("$TMPDIR/")), "{effects:#?}");
    let closed = connection.close().await;
    assert!(closed.status.is_some_and(|status| status.success()), "{closed:?}");
    drop(sandbox);
    assert_eq!(fs::read_dir(host.path()).unwrap().count(), 0);
}
