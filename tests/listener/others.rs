use std::path::Path;
use std::process::{Command, Stdio};

use candor::verify::listener::{Doing, New, Rings};

use super::{Ground, Heard, doings, python, shell};

#[test]
fn a_signal_is_told_with_whose_process_gets_it() {
    let ground = Ground::new();
    let own = |seen: &[Doing]| seen.contains(&Doing::Signals { program: Some("sleep".into()), own: true, signal: 15 });
    let child = shell(&ground, "sleep 60 & sleep 0.2; kill $!; wait");
    assert!(own(&child), "{child:?}");
    let orphan = shell(&ground, "(sleep 60 > /dev/null 2>&1 & echo $! > pid); sleep 0.2; kill $(cat pid)");
    assert!(own(&orphan), "{orphan:?}");

    let mut victim = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let seen = shell(&ground, &format!("kill -9 {}", victim.id()));
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert_eq!(seen, [Doing::Signals { program: Some("sleep".into()), own: false, signal: 9 }]);
}

#[test]
fn every_way_to_send_a_signal_is_seen() {
    let ground = Ground::new();
    let mut victim = Command::new("sleep").arg("60").stdin(Stdio::null()).process_group_of_its_own().spawn().unwrap();
    let id = victim.id();
    let ways = [
        format!("os.kill({id}, 18)"),
        format!("os.killpg({id}, 18)"),
        format!("import signal\nsignal.pidfd_send_signal(os.pidfd_open({id}), 18)"),
        format!("import ctypes\nctypes.CDLL(None).syscall(200, {id}, 18)"),
        format!("import ctypes\nctypes.CDLL(None).syscall(234, {id}, {id}, 18)"),
    ];
    // The numbers of calls in the last two are those of one architecture.
    let known = if cfg!(target_arch = "x86_64") { ways.len() } else { 3 };
    let seen: Vec<Vec<Doing>> = ways[..known].iter().map(|way| python(&ground, way)).collect();
    victim.kill().unwrap();
    victim.wait().unwrap();
    for (way, seen) in ways.iter().zip(seen) {
        let expected = Doing::Signals { program: Some("sleep".into()), own: false, signal: 18 };
        assert!(seen.contains(&expected), "{way}: {seen:?}");
    }
}

trait OwnGroup {
    fn process_group_of_its_own(&mut self) -> &mut Self;
}

impl OwnGroup for Command {
    fn process_group_of_its_own(&mut self) -> &mut Self {
        std::os::unix::process::CommandExt::process_group(self, 0)
    }
}

#[test]
fn a_signal_to_oneself_or_none_at_all_is_no_event() {
    let ground = Ground::new();
    for script in [
        "import signal\nsignal.signal(10, lambda *_: None)\nos.kill(os.getpid(), 10)\nsignal.raise_signal(10)",
        "import signal\nsignal.signal(10, lambda *_: None)\nos.setpgid(0, 0)\nos.kill(0, 10)\nos.killpg(os.getpgid(0), 10)",
        "os.kill(1, 0)",
    ] {
        assert_eq!(python(&ground, script), [], "{script}");
    }
}

#[test]
fn a_signal_to_nobody_is_an_attempt() {
    let ground = Ground::new();
    let seen = python(&ground, "try: os.kill(2 ** 22 + 1, 15)\nexcept ProcessLookupError: pass");
    assert_eq!(seen, [Doing::Signals { program: None, own: false, signal: 15 }]);
}

#[test]
fn switches_of_the_system_are_told_even_if_they_do_not_move() {
    let ground = Ground::new();
    // Opened and not written; mounted on nothing; a clock that does not exist.
    let seen = python(&ground, "os.close(os.open('/proc/sys/kernel/hostname', os.O_WRONLY))");
    assert_eq!(seen, [Doing::Sets { path: "/proc/sys/kernel/hostname".into() }]);
    let calls = "import ctypes\nlibc = ctypes.CDLL(None)\n";
    let mount = python(&ground, &format!("{calls}libc.mount(b'x', b'/no/such/place', b'none', 0, None)"));
    assert!(mount.contains(&Doing::Mounts { path: "/no/such/place".into() }), "{mount:?}");
    let clock = python(&ground, &format!("{calls}libc.clock_settime(99, bytes(16))"));
    assert!(clock.contains(&Doing::ChangesSystem { what: "the clock" }), "{clock:?}");
    let name = python(&ground, &format!("{calls}libc.sethostname(ctypes.c_void_p(8), 3)"));
    assert!(name.contains(&Doing::ChangesSystem { what: "the host name" }), "{name:?}");
    let namespaces = python(&ground, &format!("{calls}libc.unshare(0)"));
    assert!(namespaces.contains(&Doing::EntersNamespaces), "{namespaces:?}");
}

#[test]
fn a_debugger_is_told_with_whose_process_it_holds() {
    let ground = Ground::new();
    let attach = |id: &str| {
        format!(
            "import ctypes, time\nlibc = ctypes.CDLL(None)\nchild = {id}\nlibc.ptrace(16, child, None, None)\nos.kill(child, 9)"
        )
    };
    let own = python(&ground, &attach("os.fork() or time.sleep(60)"));
    assert!(own.iter().any(|doing| matches!(doing, Doing::Traces { own: true, .. })), "{own:?}");
    let traced = python(&ground, "import ctypes\nctypes.CDLL(None).ptrace(0, 0, None, None)");
    assert!(!traced.iter().any(|doing| matches!(doing, Doing::Traces { .. })), "{traced:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_ring_is_told_and_is_refused_where_nothing_else_sees_through_it() {
    let ground = Ground::new();
    let script = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                  print(libc.syscall(425, 4, ctypes.create_string_buffer(120)) >= 0, ctypes.get_errno())";
    for (rings, told) in [(Rings::Allowed, "True 0\n"), (Rings::Refused, "False 38\n")] {
        let heard = Heard::start(&ground.path, rings, &["python3", "-S", "-B", "-c", script]);
        let (events, said) = heard.ends();
        assert_eq!(said, told);
        assert!(events.iter().any(|event| event.doing == Doing::SetsUpRing), "{events:?}");
    }
}

#[test]
fn a_message_queue_is_a_name_that_is_made() {
    let ground = Ground::new();
    let name = format!("/candor-{}", std::process::id());
    let seen = python(
        &ground,
        &format!(
            "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.mq_open(b'{name}', 66, 0o600, None)\nlibc.mq_unlink(b'{name}')"
        ),
    );
    let path = Path::new("/dev/mqueue").join(name.trim_start_matches('/'));
    assert!(seen.contains(&Doing::Creates { path: path.clone(), what: New::Queue }), "{seen:?}");
    assert!(seen.contains(&Doing::Removes { path }), "{seen:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_call_of_another_table_is_told_as_foreign() {
    let ground = Ground::new();
    // The bit that marks the other table; this kernel may have none, and it fails.
    let seen = python(&ground, "import ctypes\nctypes.CDLL(None).syscall(0x40000000 | 87, b'x')");
    assert!(seen.contains(&Doing::CallsForeign), "{seen:?}");
}

#[test]
fn a_program_that_does_nothing_leaves_no_event() {
    let ground = Ground::new();
    assert_eq!(doings(&ground, &["true"]), []);
}
