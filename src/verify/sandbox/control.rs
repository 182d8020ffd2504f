//! The line between a box and its owner: messages of one tag, some bytes and some file descriptors.
//!
//! | tag | from | what |
//! |---|---|---|
//! | `C` | the outer process | the number of the box's first process, as the owner sees it |
//! | `S` | the box | it stands: [`Standing`] as JSON, with the sink's sockets |
//! | `g` | the owner | it has looked at the layers: the server may start |
//! | `L` | the server's process | the listener of its system calls |
//! | `p` | the owner | a port is wanted, in two bytes |
//! | `P` | the box | that port, with its sockets |
//! | `E` | any | why there is no box, in words |

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, recvmsg, sendmsg, socket_with,
    },
};
use serde::{Deserialize, Serialize};

/// The number of the line within a box: the filter of system calls lets messages on it through.
pub(super) const CONTROL: RawFd = 1019;

/// The longest message, in bytes.
const LONGEST: usize = 192 << 10;
/// The most file descriptors in a message.
const MOST: usize = 64;

/// What a box tells when it stands.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Standing {
    /// From the top down, `/` first.
    pub(super) layers: Vec<Layer>,
    /// What is not as it should be, in words.
    pub(super) problems: Vec<String>,
}

/// Where the changes to a directory are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layer {
    /// The directory, as the server sees it.
    pub(super) at: PathBuf,
    /// Where its changes are.
    pub(super) upper: PathBuf,
    /// Whether the directory of the same path on the host lies below, unchanged.
    pub(super) lower: bool,
}

/// One message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) tag: u8,
    pub(super) bytes: Vec<u8>,
    pub(super) fds: Vec<OwnedFd>,
}

/// Wait for a box at this directory.
pub(super) fn open(base: &Path) -> io::Result<OwnedFd> {
    let socket = seqpacket()?;
    at(base, |address| bind(&socket, address))?;
    listen(&socket, 1)?;
    Ok(socket)
}

/// Find the owner who waits at this directory.
pub(super) fn find(base: &Path) -> io::Result<OwnedFd> {
    let socket = seqpacket()?;
    at(base, |address| connect(&socket, address))?;
    Ok(socket)
}

fn seqpacket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// An address may have a hundred characters or so; a directory's path any number.
fn at(base: &Path, act: impl FnOnce(&SocketAddrUnix) -> rustix::io::Result<()>) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let dir = openat(CWD, base, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let address = SocketAddrUnix::new(format!("/proc/self/fd/{}/control", dir.as_raw_fd()))?;
    Ok(act(&address)?)
}

pub(super) fn send(line: impl AsFd, tag: u8, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many sockets for one message"));
    }
    sendmsg(line, &[IoSlice::new(&[tag]), IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Wait for a message; none at the end of the line.
pub(super) fn receive(line: impl AsFd) -> io::Result<Option<Message>> {
    let mut buffer = vec![0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let length = loop {
        let flags = RecvFlags::CMSG_CLOEXEC;
        match recvmsg(&line, &mut [IoSliceMut::new(&mut buffer)], &mut ancillary, flags) {
            Ok(message) => break message.bytes,
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CONNRESET) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    };
    let mut fds = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            fds.extend(sent);
        }
    }
    buffer.truncate(length);
    let Some((tag, bytes)) = buffer.split_first() else { return Ok(None) };
    Ok(Some(Message { tag: *tag, bytes: bytes.to_vec(), fds }))
}
