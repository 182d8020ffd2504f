//! The way from outside to a server that serves in a box: each connection to a Unix socket becomes
//! one that the box makes to its own loopback.

use std::{
    io,
    os::fd::{AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use rustix::fs::{CWD, Mode, OFlags, openat};
use tokio::{
    io::copy_bidirectional,
    net::{TcpStream, UnixListener, UnixStream},
    task,
};

use super::keeper::Keeper;

#[derive(Debug)]
pub(super) struct Served {
    /// The directory of the socket: its path may be longer than an address.
    dir: OwnedFd,
}

impl Served {
    pub(super) fn start(base: &Path, port: u16, keeper: &Arc<Keeper>) -> io::Result<Self> {
        let dir = openat(CWD, base, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let served = Self { dir };
        let listener = std::os::unix::net::UnixListener::bind(served.path())?;
        listener.set_nonblocking(true)?;
        // The keeper owns the thread that this runs on.
        keeper.sink.spawn(accept(listener, port, Arc::downgrade(keeper)));
        Ok(served)
    }

    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}/served", self.dir.as_raw_fd()).into()
    }
}

async fn accept(listener: std::os::unix::net::UnixListener, port: u16, keeper: Weak<Keeper>) {
    let Ok(listener) = UnixListener::from_std(listener) else { return };
    while let Ok((stream, _)) = listener.accept().await {
        task::spawn(lead(stream, port, keeper.clone()));
    }
}

async fn lead(mut from: UnixStream, port: u16, keeper: Weak<Keeper>) -> Option<()> {
    let connect = move || keeper.upgrade()?.connect(port);
    let stream = std::net::TcpStream::from(task::spawn_blocking(connect).await.ok()??);
    stream.set_nonblocking(true).ok()?;
    stream.set_nodelay(true).ok()?;
    copy_bidirectional(&mut from, &mut TcpStream::from_std(stream).ok()?).await.ok().map(drop)
}
