//! The box from within: `candor __box ORDERS` becomes the box, starts the server in it, and ends with
//! the server's exit status.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{Mode, OFlags, open},
    mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount},
    process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, pivot_root, setsid, wait, waitpid},
    thread::{CapabilitySet, UnshareFlags, remove_capability_from_bounding_set},
};

use super::{
    Install,
    control::{self, CONTROL, Standing},
    network, places,
    skeleton::{Skeleton, at},
    spec::{Orders, Spec},
    sys,
};

/// By which the client finds the processes of its server again.
const MARK: &str = "CANDOR_SERVER";
/// The exit status of a box that couldn't be built; a shell uses the next two for programs that
/// can't be run.
const NO_BOX: u8 = 125;
/// What root keeps of its powers: those over files, users and processes of the box.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::SETFCAP);

/// Whether this process was started to become a box.
#[must_use]
pub fn is_wanted() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == super::WORD)
}

/// Become a box, as the program's arguments say. To be called first of all, while there is one thread.
/// `install` puts the server's system calls under a listener.
#[must_use]
pub fn enter(install: Install) -> ExitCode {
    let tell = |error: &io::Error| {
        let _ = writeln!(io::stderr(), "candor: no box: {error}");
        ExitCode::from(NO_BOX)
    };
    let orders = std::env::args_os().nth(2).map(PathBuf::from).ok_or_else(|| io::Error::other("no orders"));
    let (orders, line) = match orders.and_then(|path| read(&path)) {
        Ok(read) => read,
        Err(error) => return tell(&error),
    };
    match outside(&orders, &line, install) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let _ = control::send(&line, b'E', error.to_string().as_bytes(), &[]);
            tell(&error)
        }
    }
}

fn read(path: &Path) -> io::Result<(Orders, impl AsFd + use<>)> {
    let orders: Orders = serde_json::from_slice(&fs::read(path)?)?;
    fs::remove_file(path)?;
    let line = control::find(&orders.base)?;
    // Under the number that the filter of system calls knows.
    let line = rustix::io::fcntl_dupfd_cloexec(line, CONTROL)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&line);
    if number == CONTROL { Ok((orders, line)) } else { Err(io::Error::other("the descriptor of the line is taken")) }
}

/// Leave the namespaces, and wait for the first process of the new ones.
fn outside(orders: &Orders, line: &impl AsFd, install: Install) -> io::Result<u8> {
    let userns = leave()?;
    let signals = sys::signals()?;
    let Some(first) = sys::fork()? else { return first(orders, line, install, userns, &signals) };
    control::send(line, b'C', first.as_raw_nonzero().to_string().as_bytes(), &[])?;
    // Who holds them open keeps the client from seeing their ends.
    let_go()?;
    loop {
        match next(&signals)? {
            Signal::CHILD => {
                if let Some((_, status)) = waitpid(Some(first), WaitOptions::NOHANG)? {
                    return Ok(exit(status));
                }
            }
            signal => kill_process(first, signal)?,
        }
    }
}

/// Returns whether a namespace of users was needed.
fn leave() -> io::Result<bool> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let flags =
        UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    let refused = |error: &io::Error| {
        io::Error::new(error.kind(), format!("no namespaces: {error}; allow user namespaces, or run as root"))
    };
    if user.is_root() && sys::unshare(flags).is_ok() {
        return Ok(false);
    }
    sys::unshare(flags | UnshareFlags::NEWUSER).map_err(|error| refused(&error))?;
    // To itself: the server is nobody else than without a box, and loses all powers when it is run.
    let map = |name: &str, text: String| {
        let path = Path::new("/proc/self").join(name);
        fs::write(&path, text).map_err(|error| at(&path, &error))
    };
    map("setgroups", "deny".into())?;
    map("uid_map", format!("{user} {user} 1"))?;
    map("gid_map", format!("{group} {group} 1"))?;
    Ok(true)
}

/// The first process: builds the box, starts the server, and buries what it leaves.
fn first(orders: &Orders, line: &impl AsFd, install: Install, userns: bool, signals: &OwnedFd) -> io::Result<u8> {
    let Orders { base, spec } = orders;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let mut skeleton = Skeleton::build(base, userns)?;
    places::proc(&mut skeleton)?;
    places::sys(&skeleton)?;
    places::dev(&mut skeleton, base)?;
    places::worlds(&skeleton, &spec.worlds)?;
    places::hide(&mut skeleton, base)?;
    std::env::set_current_dir(skeleton.root())?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir(&spec.dir).map_err(|error| at(&spec.dir, &error))?;
    let mut problems = skeleton.problems;
    problems.extend(network::raise()?);
    let sockets = network::sockets(spec.allow.iter().filter_map(|allowed| allowed.port))?;
    let standing = serde_json::to_vec(&Standing { layers: skeleton.layers, problems })?;
    control::send(line, b'S', &standing, &sockets.iter().map(AsFd::as_fd).collect::<Vec<_>>())?;
    drop(sockets);
    match control::receive(line)? {
        Some(message) if message.tag == b'g' => {}
        _ => return Ok(NO_BOX),
    }
    let Some(server) = sys::fork()? else { return Err(serve(base, spec, install)) };
    let_go()?;
    watch(line, signals, server)
}

/// Until the server or the owner ends. The kernel kills what is left then.
fn watch(line: &impl AsFd, signals: &OwnedFd, server: Pid) -> io::Result<u8> {
    loop {
        let mut ready = [PollFd::new(signals, PollFlags::IN), PollFd::new(line, PollFlags::IN)];
        match poll(&mut ready, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let [signalled, told] = ready.map(|ready| !ready.revents().is_empty());
        if signalled {
            match next(signals)? {
                Signal::CHILD => {
                    // One signal may stand for several.
                    while let Ok(Some((ended, status))) = wait(WaitOptions::NOHANG) {
                        if ended == server {
                            return Ok(exit(status));
                        }
                    }
                }
                signal => kill_process(server, signal)?,
            }
        }
        if told {
            let Some(message) = control::receive(line)? else { return Ok(NO_BOX) };
            let Ok(bytes) = <[u8; 2]>::try_from(message.bytes) else { continue };
            let port = u16::from_be_bytes(bytes);
            let (tag, sockets) = match message.tag {
                b'p' => (b'P', network::port(port)),
                _ => (b'T', network::connect(port).into_iter().collect()),
            };
            control::send(line, tag, &bytes, &sockets.iter().map(AsFd::as_fd).collect::<Vec<_>>())?;
        }
    }
}

/// Become the server. Returns why not.
fn serve(base: &Path, spec: &Spec, install: Install) -> io::Error {
    let become_server = || -> io::Result<()> {
        for power in CapabilitySet::all().difference(KEPT).iter() {
            // The kernel may know fewer.
            let _ = remove_capability_from_bounding_set(power);
        }
        setsid()?;
        sys::close_on_exec()?;
        sys::as_started()?;
        let (program, arguments) = spec.command.split_first().ok_or_else(|| io::Error::other("no command"))?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment(base, spec));
        if spec.listener {
            let listener = install()?;
            let line = sys::control(CONTROL).ok_or_else(|| io::Error::other("the line is closed"))?;
            control::send(line, b'L', &[], &[listener.as_fd()])?;
        }
        Err(io::Error::other(format!("cannot start `{program}`: {}", command.exec())))
    };
    become_server().err().unwrap_or_else(|| io::Error::other("the server did not start"))
}

fn environment(base: &Path, spec: &Spec) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = spec.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    all.extend(std::env::var_os(MARK).map(|mark| (MARK.into(), mark)));
    all.extend(["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), places::temporary(base).into())));
    let quiet =
        [("PYTHONDONTWRITEBYTECODE", "1"), ("NO_UPDATE_NOTIFIER", "1"), ("npm_config_update_notifier", "false")];
    all.extend(quiet.map(|(name, value)| (name.into(), value.into())));
    all
}

/// Let go of the server's standard input and output.
fn let_go() -> io::Result<()> {
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}

/// The next signal that was held back.
fn next(signals: &OwnedFd) -> io::Result<Signal> {
    let mut information = [0; 128];
    loop {
        match rustix::io::read(signals, &mut information) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => break,
        }
    }
    let number = information.first().copied().map(i32::from).unwrap_or_default();
    Signal::from_named_raw(number).ok_or_else(|| io::Error::other("an unknown signal"))
}

/// As a shell tells it.
fn exit(status: WaitStatus) -> u8 {
    let killed = status.terminating_signal().map(|signal| 128 + signal);
    status.exit_status().or(killed).and_then(|status| u8::try_from(status).ok()).unwrap_or(NO_BOX)
}
