//! A server under the listener without a box: a program that puts itself under the filter, hands
//! the listener out, and becomes the server.

use std::{
    ffi::OsString,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::{
            net::{UnixListener, UnixStream},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{fcntl_dupfd_cloexec, retry_on_intr},
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        recvmsg, sendmsg,
    },
    process::{getpid, set_child_subreaper},
};
use tempfile::TempDir;

use super::{CONTROL, Listener, MARK, Rings, install};

/// Where the listener of one server arrives.
#[derive(Debug)]
pub struct Door {
    socket: UnixListener,
    path: PathBuf,
    /// Holds the socket, and is removed with it.
    _dir: TempDir,
}

impl Door {
    /// Make one. From now on this process is the parent of whatever its servers leave behind, so
    /// that it can be seen and ended.
    ///
    /// # Errors
    ///
    /// If there is no room for a socket.
    pub fn open() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("listener");
        Ok(Self { socket: UnixListener::bind(&path)?, path, _dir: dir })
    }

    /// The command that starts a server so that its listener comes in here. `candor` is the program
    /// whose `__listen` is [`enter`].
    #[must_use]
    pub fn command(&self, candor: &Path, server: &[String]) -> Vec<String> {
        let [candor, socket] = [candor, &self.path].map(|path| path.to_string_lossy().into_owned());
        [candor, "__listen".into(), socket, "--".into()].into_iter().chain(server.iter().cloned()).collect()
    }

    /// Wait for the listener of the server that was started. The server waits meanwhile.
    ///
    /// # Errors
    ///
    /// If none comes within this time.
    pub fn wait(&self, most: Duration, rings: Rings) -> io::Result<Listener> {
        readable(self.socket.as_fd(), most)?;
        let (stream, _) = self.socket.accept()?;
        readable(stream.as_fd(), most)?;
        Listener::new(receive(stream.as_fd())?, rings)
    }
}

/// What `candor __listen SOCKET -- COMMAND…` does: put this process under the filter, send the
/// listener to the socket, and become the command. Returns only if that fails.
#[must_use]
pub fn enter(socket: &Path, command: &[OsString]) -> io::Error {
    let Some((program, arguments)) = command.split_first() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no command to run");
    };
    match hand_out(socket) {
        Ok(()) => Command::new(program).args(arguments).env(MARK, "listener").exec(),
        Err(error) => error,
    }
}

fn hand_out(socket: &Path) -> io::Result<()> {
    let stream = UnixStream::connect(socket)?;
    let unfit = || io::Error::other(format!("file descriptor {CONTROL} is taken, or above the limit of open files"));
    let control = fcntl_dupfd_cloexec(&stream, CONTROL).map_err(|_| unfit())?;
    if control.as_raw_fd() != CONTROL {
        return Err(unfit());
    }
    let listener = install()?;
    send(control.as_fd(), listener.as_fd())
}

/// Send a handle and one byte.
fn send(socket: BorrowedFd<'_>, handle: BorrowedFd<'_>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    let handles = [handle];
    with.push(SendAncillaryMessage::ScmRights(&handles));
    sendmsg(socket, &[IoSlice::new(b"L")], &mut with, SendFlags::empty())?;
    Ok(())
}

fn receive(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut with, RecvFlags::CMSG_CLOEXEC)?;
    let mut handles = with.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
        _ => None,
    });
    handles.next().ok_or_else(|| io::Error::other("the server ended before it could be listened to"))
}

fn readable(socket: BorrowedFd<'_>, most: Duration) -> io::Result<()> {
    let most = Timespec::try_from(most).map_err(io::Error::other)?;
    match retry_on_intr(|| poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&most)))? {
        0 => Err(io::Error::new(io::ErrorKind::TimedOut, "no listener came from the server")),
        _ => Ok(()),
    }
}
