//! Which system calls can have an effect, and where their arguments say what on.

use libc::c_long;

/// Where the arguments of a call name a file.
#[derive(Clone, Copy)]
pub(super) enum Named {
    /// This one is a path.
    Path(usize),
    /// A path from the directory that another one holds: directory, path.
    At(usize, usize),
    /// This one is a file descriptor.
    Open(usize),
}

/// Where the arguments of a call hold the flags of an opening.
#[derive(Clone, Copy)]
pub(super) enum Flags {
    /// Here.
    In(usize),
    /// At the beginning of the structure that this one points to.
    Behind(usize),
    /// The call says them by its name.
    #[cfg(target_arch = "x86_64")]
    Fixed(i32),
}

/// What a call does, and where its arguments are.
#[derive(Clone, Copy)]
pub(super) enum Call {
    Open(Named, Flags),
    Directory(Named),
    Node(Named),
    /// The new name.
    Link(Named),
    SymbolicLink(Named),
    Remove(Named),
    Rename {
        from: Named,
        to: Named,
        flags: Option<usize>,
    },
    Size(Named),
    Mode(Named),
    Owner(Named),
    /// Times of a file: nothing that counts, and the path may be missing.
    Times(Named),
    Attribute(Named),
    Execute(Named),
    /// Socket, address, length.
    Connect,
    Bind,
    /// The datagram has an address of its own.
    SendTo,
    SendMessage,
    SendMessages,
    /// Process (or group), signal.
    Kill,
    /// Process, and the thread in it; signal.
    KillThread {
        process: Option<usize>,
        thread: usize,
        signal: usize,
    },
    KillOpen,
    Trace,
    Mount(usize),
    /// Of the system as a whole; what it changes.
    System(&'static str),
    Namespaces,
    Queue {
        opens: bool,
    },
    Ring,
}

use Call::{
    Attribute, Bind, Connect, Directory, Execute, Kill, KillOpen, KillThread, Link, Mode, Mount, Namespaces, Node,
    Open, Owner, Queue, Remove, Rename, Ring, SendMessage, SendMessages, SendTo, Size, SymbolicLink, System, Times,
    Trace,
};
use Named::{At, Open as Fd, Path};

/// Since Linux 6.13 and 6.17; libc does not name them yet.
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;
const FCHMODAT2: c_long = 452;
/// Of aarch64; libc has it for some systems only.
#[cfg(not(target_arch = "x86_64"))]
const RENAMEAT: c_long = 38;

/// Calls that wait for an answer if their flags can have an effect.
pub(super) const OPENAT: (c_long, Call) = (libc::SYS_openat, Open(At(0, 1), Flags::In(2)));
/// Likewise.
#[cfg(target_arch = "x86_64")]
pub(super) const OPEN: (c_long, Call) = (libc::SYS_open, Open(Path(0), Flags::In(1)));
/// If it has an address.
pub(super) const SENDTO: (c_long, Call) = (libc::SYS_sendto, SendTo);
/// On any socket but the control socket.
pub(super) const SENDMSG: (c_long, Call) = (libc::SYS_sendmsg, SendMessage);

/// Calls that always wait for an answer.
pub(super) const ALWAYS: &[(c_long, Call)] = &[
    (libc::SYS_openat2, Open(At(0, 1), Flags::Behind(2))),
    (libc::SYS_unlinkat, Remove(At(0, 1))),
    (libc::SYS_mkdirat, Directory(At(0, 1))),
    (libc::SYS_mknodat, Node(At(0, 1))),
    (libc::SYS_renameat2, Rename { from: At(0, 1), to: At(2, 3), flags: Some(4) }),
    (libc::SYS_linkat, Link(At(2, 3))),
    (libc::SYS_symlinkat, SymbolicLink(At(1, 2))),
    (libc::SYS_truncate, Size(Path(0))),
    (libc::SYS_ftruncate, Size(Fd(0))),
    (libc::SYS_fallocate, Size(Fd(0))),
    (libc::SYS_fchmod, Mode(Fd(0))),
    (libc::SYS_fchmodat, Mode(At(0, 1))),
    (FCHMODAT2, Mode(At(0, 1))),
    (FILE_SETATTR, Mode(At(0, 1))),
    (libc::SYS_fchown, Owner(Fd(0))),
    (libc::SYS_fchownat, Owner(At(0, 1))),
    (libc::SYS_utimensat, Times(At(0, 1))),
    (libc::SYS_setxattr, Attribute(Path(0))),
    (libc::SYS_lsetxattr, Attribute(Path(0))),
    (libc::SYS_fsetxattr, Attribute(Fd(0))),
    (libc::SYS_removexattr, Attribute(Path(0))),
    (libc::SYS_lremovexattr, Attribute(Path(0))),
    (libc::SYS_fremovexattr, Attribute(Fd(0))),
    (SETXATTRAT, Attribute(At(0, 1))),
    (REMOVEXATTRAT, Attribute(At(0, 1))),
    (libc::SYS_execve, Execute(Path(0))),
    (libc::SYS_execveat, Execute(At(0, 1))),
    (libc::SYS_connect, Connect),
    (libc::SYS_bind, Bind),
    (libc::SYS_sendmmsg, SendMessages),
    (libc::SYS_kill, Kill),
    (libc::SYS_tkill, KillThread { process: None, thread: 0, signal: 1 }),
    (libc::SYS_tgkill, KillThread { process: Some(0), thread: 1, signal: 2 }),
    (libc::SYS_rt_sigqueueinfo, Kill),
    (libc::SYS_rt_tgsigqueueinfo, KillThread { process: Some(0), thread: 1, signal: 2 }),
    (libc::SYS_pidfd_send_signal, KillOpen),
    (libc::SYS_ptrace, Trace),
    (libc::SYS_mount, Mount(1)),
    (libc::SYS_umount2, Mount(0)),
    (libc::SYS_move_mount, Mount(3)),
    (libc::SYS_mount_setattr, Mount(1)),
    (libc::SYS_fsopen, System("a filesystem to mount")),
    (libc::SYS_pivot_root, System("the root directory")),
    (libc::SYS_open_by_handle_at, System("a file by its number")),
    (libc::SYS_bpf, System("programs in the kernel")),
    (libc::SYS_init_module, System("modules of the kernel")),
    (libc::SYS_finit_module, System("modules of the kernel")),
    (libc::SYS_delete_module, System("modules of the kernel")),
    (libc::SYS_reboot, System("whether the machine runs")),
    (libc::SYS_sethostname, System("the host name")),
    (libc::SYS_setdomainname, System("the domain name")),
    (libc::SYS_settimeofday, System("the clock")),
    (libc::SYS_clock_settime, System("the clock")),
    (libc::SYS_setns, Namespaces),
    (libc::SYS_unshare, Namespaces),
    (libc::SYS_mq_open, Queue { opens: true }),
    (libc::SYS_mq_unlink, Queue { opens: false }),
    (libc::SYS_io_uring_setup, Ring),
];

/// Calls that only the older architecture has; they always wait for an answer.
#[cfg(target_arch = "x86_64")]
pub(super) const OLD: &[(c_long, Call)] = &[
    (libc::SYS_creat, Open(Path(0), Flags::Fixed(libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC))),
    (libc::SYS_unlink, Remove(Path(0))),
    (libc::SYS_rmdir, Remove(Path(0))),
    (libc::SYS_mkdir, Directory(Path(0))),
    (libc::SYS_mknod, Node(Path(0))),
    (libc::SYS_rename, Rename { from: Path(0), to: Path(1), flags: None }),
    (libc::SYS_renameat, Rename { from: At(0, 1), to: At(2, 3), flags: None }),
    (libc::SYS_link, Link(Path(1))),
    (libc::SYS_symlink, SymbolicLink(Path(1))),
    (libc::SYS_chmod, Mode(Path(0))),
    (libc::SYS_chown, Owner(Path(0))),
    (libc::SYS_lchown, Owner(Path(0))),
    (libc::SYS_utime, Times(Path(0))),
    (libc::SYS_utimes, Times(Path(0))),
    (libc::SYS_futimesat, Times(At(0, 1))),
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OLD: &[(c_long, Call)] = &[(RENAMEAT, Rename { from: At(0, 1), to: At(2, 3), flags: None })];

/// What the call with this number does, if it is one of those that wait.
pub(super) fn find(number: i64) -> Option<Call> {
    let by_flags = [
        OPENAT,
        SENDTO,
        SENDMSG,
        #[cfg(target_arch = "x86_64")]
        OPEN,
    ];
    let mut all = by_flags.iter().chain(ALWAYS).chain(OLD);
    all.find(|(known, _)| *known == number).map(|(_, call)| *call)
}

/// Whether the last part of the path is followed if it is a symbolic link. A call that may do
/// either by a flag is taken at its default.
pub(super) fn follows(number: i64) -> bool {
    number != libc::SYS_lsetxattr && number != libc::SYS_lremovexattr && !is_lchown(number)
}

#[cfg(target_arch = "x86_64")]
fn is_lchown(number: i64) -> bool {
    number == libc::SYS_lchown
}

#[cfg(not(target_arch = "x86_64"))]
fn is_lchown(_: i64) -> bool {
    false
}
