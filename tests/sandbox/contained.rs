use std::{
    fs,
    os::unix::net::UnixListener,
    process::{Command, Stdio},
    time::Duration,
};

use candor::verify::sandbox::{Place, Sandbox};

use super::boxed::{Boxed, Host, is_root, listing, wait};

#[test]
fn what_is_written_anywhere_is_told_and_the_host_stays_as_it_was() {
    let host = Host::new().file("kept.txt", "kept\n");
    let name = host.path().file_name().unwrap().to_str().unwrap().to_owned();
    let before = host.listing();
    let script = format!(
        "echo new > ~/new.txt; echo more >> ~/kept.txt; echo x > /dev/shm/{name}; echo x > /tmp/of-{name}; \
         echo x > $TMPDIR/scratch; mkdir ~/.cache; echo x > ~/.cache/x; exit 3"
    );
    let outcome = host.run(&script);
    assert_eq!(outcome.status, Some(3), "{}", outcome.said);
    let expected = [
        format!("/dev/shm/{name}: file created, 2 bytes (additive)"),
        format!("/tmp/of-{name}: file created, 2 bytes (additive)"),
    ];
    let (mut told, mut expected) = (outcome.counting(&host), Vec::from(expected));
    expected.extend(
        ["~/kept.txt: 5 bytes appended (additive)", "~/new.txt: file created, 4 bytes (additive)"].map(Into::into),
    );
    told.sort();
    expected.sort();
    assert_eq!(told, expected);
    let excused = ["$TMPDIR/scratch: file created, 2 bytes (none)", "~/.cache: directory created, with 1 entry (none)"];
    assert!(
        excused.iter().all(|line| outcome.excused(&host).contains(&(*line).into())),
        "{:?}",
        outcome.excused(&host)
    );
    assert_eq!(host.listing(), before);
    assert!(!fs::exists(format!("/dev/shm/{name}")).unwrap() && !fs::exists(format!("/tmp/of-{name}")).unwrap());
}

#[test]
fn the_top_and_the_system_are_written_in_the_box_alone() {
    let host = Host::new();
    let top = listing_of_top();
    let name = host.path().file_name().unwrap().to_str().unwrap().to_owned();
    let outcome = host.run(&format!("echo x > /{name}; echo x > /etc/{name}; echo x > /usr/{name}; :"));
    let expected: Vec<String> = if is_root() {
        ["/", "/etc/", "/usr/"].map(|dir| format!("{dir}{name}: file created, 2 bytes (additive)")).into()
    } else {
        assert_eq!(outcome.said.matches("Permission denied").count(), 3, "{}", outcome.said);
        Vec::new()
    };
    let mut expected = expected;
    expected.sort();
    let mut told = outcome.counting(&host);
    told.sort();
    assert_eq!(told, expected);
    assert_eq!(listing_of_top(), top);
    assert!(!fs::exists(format!("/etc/{name}")).unwrap());
}

fn listing_of_top() -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir("/").unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_kernel_cannot_be_told_anything() {
    let host = Host::new();
    let before = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let script = "echo boxed > /proc/sys/kernel/hostname || echo refused; \
        echo 0 > /proc/sysrq-trigger || echo refused; \
        echo 1 > /sys/kernel/profiling || echo refused; \
        mount -t tmpfs none /mnt 2> /dev/null || echo refused; \
        umount /proc 2> /dev/null || echo refused";
    let outcome = host.run(script);
    assert_eq!(outcome.said.matches("refused").count(), 5, "{}", outcome.said);
    assert_eq!(fs::read_to_string("/proc/sys/kernel/hostname").unwrap(), before);
}

#[test]
fn a_file_at_the_top_cannot_be_written_through() {
    let Some(file) = fs::read_dir("/").unwrap().flatten().find(|entry| entry.file_type().unwrap().is_file()) else {
        return; // no file lies at the top of this system
    };
    let before = fs::read(file.path()).ok();
    let host = Host::new();
    let outcome = host.run(&format!("echo x >> '{}' && echo written", file.path().display()));
    assert!(!outcome.said.contains("written"), "{}", outcome.said);
    assert_eq!(fs::read(file.path()).ok(), before);
}

#[test]
fn processes_and_sockets_of_the_host_are_out_of_reach() {
    let host = Host::new();
    let socket = UnixListener::bind(host.path().join("socket")).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut victim = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let script = format!(
        "kill -9 {} || echo no-process; \
         /usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"socket\")' || echo no-socket; \
         ls -d '{}' || echo no-books",
        victim.id(),
        std::env::temp_dir().join("candor-box-*/upper").display()
    );
    let outcome = host.run(&script);
    let alive = victim.try_wait().unwrap().is_none();
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(alive && outcome.said.contains("no-process"), "{}", outcome.said);
    assert!(outcome.said.contains("no-socket") && socket.accept().is_err(), "{}", outcome.said);
    assert!(outcome.said.contains("no-books"), "{}", outcome.said);
}

#[test]
fn a_world_is_written_to_and_not_told_of() {
    let host = Host::new().file("place/old.txt", "the host's\n");
    let copy = Host::new().file("old.txt", "the copy's\n");
    let mut spec =
        host.spec("cat place/old.txt far/away/old.txt; echo x > place/new.txt; mv place/old.txt far/away/moved.txt");
    spec.worlds = ["place", "far/away"].map(|at| Place { from: copy.path(), at: host.path().join(at) }).into();
    let before = host.listing();
    let outcome = Boxed::start(spec).end();
    assert!(outcome.said.starts_with("the copy's\nthe copy's\n"), "{}", outcome.said);
    assert_eq!(outcome.counting(&host), Vec::<String>::new());
    assert_eq!(fs::read_to_string(copy.path().join("new.txt")).unwrap(), "x\n");
    assert_eq!(host.listing(), before);
}

#[test]
fn a_world_above_the_temporary_directory_is_refused() {
    let host = Host::new();
    for at in ["/", "relative", std::env::temp_dir().to_str().unwrap()] {
        let mut spec = host.spec("true");
        spec.worlds = vec![Place { from: host.path(), at: at.into() }];
        let error = Sandbox::prepare(super::boxed::candor(), spec).unwrap_err().to_string();
        assert!(error.contains(&format!("`{at}`")), "{error}");
    }
}

#[test]
fn a_daemon_does_not_outlive_the_server() {
    let host = Host::new();
    let mark = format!("6{}.5", std::process::id());
    let script = format!("setsid sleep {mark} < /dev/null > /dev/null 2>&1 & echo started");
    let mut boxed = Boxed::start(host.spec(&script));
    assert_eq!(boxed.hear(), "started");
    assert!(wait(&mut boxed.child, Duration::from_secs(20)).is_some());
    let running = || {
        fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&mark)
        })
    };
    assert!(!running());
}

#[test]
fn a_box_leaves_no_file_and_no_process() {
    let host = Host::new();
    let mut boxed = Boxed::start(host.spec("mkdir -p ~/a/b; chmod 0 ~/a; trap '' TERM; echo up; sleep 60"));
    assert_eq!(boxed.hear(), "up");
    let processes = boxed.sandbox.processes();
    let temporary = boxed.sandbox.temporary();
    let base = temporary.parent().unwrap().to_owned();
    assert!(!processes.is_empty() && base.exists());
    drop(boxed);
    assert!(!base.exists(), "{:?}", listing(&base));
    assert!(processes.iter().all(|process| !fs::exists(format!("/proc/{process}")).unwrap()));
}
