//! The system calls that have no safe door elsewhere, and all `unsafe` of the box.
#![expect(unsafe_code, reason = "each block calls the system with values that live longer than the call")]

use std::{
    ffi::CString,
    io, mem,
    net::{Ipv6Addr, SocketAddrV6},
    os::{
        fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd},
        unix::ffi::OsStrExt as _,
    },
    path::Path,
    ptr,
};

use libc::{c_int, c_void};
use rustix::{process::Pid, thread::UnshareFlags};

fn done(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Leave the namespaces named. File descriptors stay shared.
pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: no caller asks for a file table of its own.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Returns the child to the parent, and none to the child. Only for a process with one thread.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: with one thread no lock is held by another, so the child may go on as the parent did.
    Ok(Pid::from_raw(done(unsafe { libc::fork() })?))
}

/// Let nobody write through a mount, nor through those below it if `below`. Other flags stay.
pub(super) fn read_only(path: &Path, below: bool) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let attributes = [libc::MOUNT_ATTR_RDONLY, 0, 0, 0];
    let flags = if below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: a path that ends in zero, and four words as `struct mount_attr` has them.
    let result = unsafe {
        let size = mem::size_of_val(&attributes);
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path.as_ptr(), flags, attributes.as_ptr(), size)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Have all file descriptors from 3 on close when another program is run.
pub(super) fn close_on_exec() -> io::Result<()> {
    // SAFETY: numbers only.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The signals that a box waits for.
const SIGNALS: [c_int; 4] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// Hold back what a box waits for: a first process of a namespace gets no signal otherwise. Returns
/// what they are read from.
pub(super) fn signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is made by `sigemptyset` before it is read, and the descriptor is new.
    unsafe {
        let mut set = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in SIGNALS {
            libc::sigaddset(&raw mut set, signal);
        }
        done(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()))?;
        let fd = done(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Hold back no signal any more, and end at a broken pipe: as a program expects to be started.
pub(super) fn as_started() -> io::Result<()> {
    // SAFETY: as above.
    unsafe {
        let mut set = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        done(libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut())).map(drop)
    }
}

/// A descriptor of this process by its number; none if it isn't open.
pub(super) fn control(number: RawFd) -> Option<BorrowedFd<'static>> {
    // SAFETY: it is open, and the box never closes it: programs that it runs do.
    unsafe { (libc::fcntl(number, libc::F_GETFD) >= 0).then(|| BorrowedFd::borrow_raw(number)) }
}

/// Switch a network interface on.
pub(super) fn raise(socket: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    // SAFETY: zeros are a valid request; the name fits with a zero behind it.
    unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
            *to = libc::c_char::from_ne_bytes([from]);
        }
        request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
        done(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)).map(drop)
    }
}

/// Have a socket tell of each datagram which address it was sent to.
pub(super) fn tell_destination(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: c_int = 1;
    // SAFETY: a pointer to a number, and its size.
    unsafe {
        let size = libc::socklen_t::try_from(mem::size_of_val(&on)).unwrap_or_default();
        let value = (&raw const on).cast::<c_void>();
        let socket = socket.as_raw_fd();
        done(libc::setsockopt(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, value, size)).map(drop)
    }
}

/// A datagram, with who sent it and whom it was meant for.
pub(super) struct Datagram {
    pub(super) bytes: usize,
    pub(super) from: SocketAddrV6,
    pub(super) to: Ipv6Addr,
}

/// Room for the one control message that counts, aligned as its header is.
type Control = [u64; 16];

/// The head of a message with one buffer and room for control messages. The pointers are as good as
/// what is lent.
fn head(from: &mut libc::sockaddr_in6, buffer: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: zeros are a valid head.
    let mut head: libc::msghdr = unsafe { mem::zeroed() };
    head.msg_name = ptr::from_mut(from).cast();
    head.msg_namelen = libc::socklen_t::try_from(size_of::<libc::sockaddr_in6>()).unwrap_or_default();
    head.msg_iov = ptr::from_mut(buffer);
    head.msg_iovlen = 1;
    head.msg_control = control.as_mut_ptr().cast();
    head.msg_controllen = size_of::<Control>();
    head
}

/// Take a datagram without waiting for one.
pub(super) fn receive(socket: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<Datagram> {
    let mut control: Control = [0; 16];
    // SAFETY: every pointer in the head leads to a local of this function or to `into`, with its
    // size; the macros walk the control messages that the kernel wrote.
    unsafe {
        let mut from: libc::sockaddr_in6 = mem::zeroed();
        let mut buffer = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let mut head = head(&mut from, &mut buffer, &mut control);
        let bytes = libc::recvmsg(socket.as_raw_fd(), &raw mut head, libc::MSG_DONTWAIT);
        let bytes = usize::try_from(bytes).map_err(|_| io::Error::last_os_error())?;
        let mut to = Ipv6Addr::UNSPECIFIED;
        let mut message = libc::CMSG_FIRSTHDR(&raw const head);
        while !message.is_null() {
            if (*message).cmsg_level == libc::IPPROTO_IPV6 && (*message).cmsg_type == libc::IPV6_PKTINFO {
                let packet = ptr::read_unaligned(libc::CMSG_DATA(message).cast::<libc::in6_pktinfo>());
                to = Ipv6Addr::from(packet.ipi6_addr.s6_addr);
            }
            message = libc::CMSG_NXTHDR(&raw const head, message);
        }
        let address = Ipv6Addr::from(from.sin6_addr.s6_addr);
        let from = SocketAddrV6::new(address, u16::from_be(from.sin6_port), from.sin6_flowinfo, from.sin6_scope_id);
        Ok(Datagram { bytes, from, to })
    }
}

/// Answer a datagram from the address that it was sent to.
pub(super) fn answer(socket: BorrowedFd<'_>, to: &Datagram, bytes: &mut [u8]) -> io::Result<()> {
    let mut control: Control = [0; 16];
    // SAFETY: as in `receive`; there is room for one control message of this size.
    unsafe {
        let mut name: libc::sockaddr_in6 = mem::zeroed();
        name.sin6_family = libc::sa_family_t::try_from(libc::AF_INET6).unwrap_or_default();
        name.sin6_port = to.from.port().to_be();
        name.sin6_addr.s6_addr = to.from.ip().octets();
        name.sin6_scope_id = to.from.scope_id();
        let mut buffer = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let mut head = head(&mut name, &mut buffer, &mut control);
        // No interface: the way out is found by the address.
        let info = libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: to.to.octets() }, ipi6_ifindex: 0 };
        let size = u32::try_from(mem::size_of_val(&info)).unwrap_or_default();
        head.msg_controllen = libc::CMSG_SPACE(size) as usize;
        let message = libc::CMSG_FIRSTHDR(&raw const head);
        if !message.is_null() {
            (*message).cmsg_level = libc::IPPROTO_IPV6;
            (*message).cmsg_type = libc::IPV6_PKTINFO;
            (*message).cmsg_len = libc::CMSG_LEN(size) as usize;
            ptr::write_unaligned(libc::CMSG_DATA(message).cast(), info);
        }
        let sent = libc::sendmsg(socket.as_raw_fd(), &raw const head, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT);
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
