//! The system calls of the listener for which there is no safe door.
#![expect(unsafe_code, reason = "seccomp and process_vm_readv are reached through libc alone")]

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    ptr,
};

use libc::{c_ulong, c_void, iovec, seccomp_notif, seccomp_notif_resp, seccomp_notif_sizes, sock_filter, sock_fprog};

/// A system call that waits for an answer.
pub(super) struct Notification {
    /// Names it in the answer.
    pub(super) id: u64,
    /// The thread that made it, as the reader's `/proc` numbers it.
    pub(super) thread: u32,
    pub(super) architecture: u32,
    pub(super) number: i64,
    pub(super) arguments: [u64; 6],
}

/// What a waiting call is told.
pub(super) enum Answer {
    /// It goes on, as if nobody had looked.
    GoOn,
    /// It fails with this error number.
    Fail(i32),
}

/// Put every later system call of this thread and of what it starts under a filter.
pub(super) fn filter(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    // The kernel only reads it, whatever the type says.
    let program = sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    let install = |flags: c_ulong| {
        // SAFETY: `program` points to as many instructions as it says, and outlives the call.
        let result =
            unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, ptr::from_ref(&program)) };
        i32::try_from(result).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)
    };
    let listen = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Without the second flag (before Linux 5.19) a signal makes a waiting call start anew, and it is
    // seen twice.
    let fd = match install(listen | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => install(listen),
        result => result,
    }?;
    // SAFETY: the kernel has just made it, for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Whether this kernel speaks of notifications in the shape that we know.
pub(super) fn is_known() -> bool {
    let mut sizes = seccomp_notif_sizes { seccomp_notif: 0, seccomp_notif_resp: 0, seccomp_data: 0 };
    // SAFETY: it writes the three numbers and nothing else.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_NOTIF_SIZES, 0 as c_ulong, ptr::from_mut(&mut sizes))
    };
    result == 0
        && usize::from(sizes.seccomp_notif) <= size_of::<seccomp_notif>()
        && usize::from(sizes.seccomp_notif_resp) <= size_of::<seccomp_notif_resp>()
}

/// The next waiting call. `ENOENT` if its thread was killed meanwhile.
pub(super) fn receive(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    // SAFETY: plain numbers, for which zero is a value; the kernel demands it.
    let mut received: seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one notification, whose size is part of the request's number.
    let result =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, ptr::from_mut(&mut received)) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let seccomp_notif { id, pid, data, .. } = received;
    Ok(Notification { id, thread: pid, architecture: data.arch, number: i64::from(data.nr), arguments: data.args })
}

/// Whether the call still waits, and so what was read of its thread's memory was that thread's.
pub(super) fn still_waits(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one number.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, ptr::from_ref(&id)) == 0 }
}

/// Let a waiting call go. One that is gone needs no answer, so there is nothing to fail.
pub(super) fn answer(listener: BorrowedFd<'_>, id: u64, answer: &Answer) {
    let (error, flags) = match answer {
        Answer::GoOn => (0, 1),
        Answer::Fail(number) => (-number, 0),
    };
    let response = seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the kernel reads one response.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, ptr::from_ref(&response)) };
}

/// Read from the memory of another thread, as far as it can be read. Returns how many bytes.
pub(super) fn read(thread: u32, address: u64, into: &mut [u8]) -> usize {
    let (Ok(thread), Ok(address)) = (libc::pid_t::try_from(thread), usize::try_from(address)) else { return 0 };
    let local = iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = iovec { iov_base: ptr::without_provenance_mut::<c_void>(address), iov_len: into.len() };
    // SAFETY: it writes to `into`, no more than its length; the other address is not of this process.
    let count = unsafe { libc::process_vm_readv(thread, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(count).unwrap_or(0)
}
