//! Standard input and output as asynchronous streams, without switching the descriptors that the
//! process was given to non-blocking: that flag would leak to whoever shares them.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

#[cfg(not(target_os = "linux"))]
pub(super) fn open() -> io::Result<(Input, Output)> {
    Ok((Box::new(tokio::io::stdin()), Box::new(tokio::io::stdout())))
}

/// A pipe is opened anew, which gives it flags of its own; a socket is told with each operation
/// not to wait; anything else (a terminal, a file) is read and written by a blocking thread.
#[cfg(target_os = "linux")]
pub(super) fn open() -> io::Result<(Input, Output)> {
    use rustix::fs::{FileType, fstat};
    use tokio::net::unix::pipe;

    let kind = |fd| io::Result::Ok(FileType::from_raw_mode(fstat(fd)?.st_mode));
    let input: Input = match kind(rustix::stdio::stdin())? {
        FileType::Fifo => match pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdin()), // no /proc, or a pipe of another user
        },
        FileType::Socket => Box::new(socket::Socket::new(rustix::stdio::stdin())?),
        _ => Box::new(tokio::io::stdin()),
    };
    let output: Output = match kind(rustix::stdio::stdout())? {
        FileType::Fifo => match pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdout()),
        },
        FileType::Socket => Box::new(socket::Socket::new(rustix::stdio::stdout())?),
        _ => Box::new(tokio::io::stdout()),
    };
    Ok((input, output))
}

#[cfg(target_os = "linux")]
mod socket {
    use std::{
        io,
        os::fd::{BorrowedFd, OwnedFd},
        pin::Pin,
        task::{Context, Poll, ready},
    };

    use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, unix::AsyncFd};

    /// Node gives its children socket pairs.
    pub(super) struct Socket(AsyncFd<OwnedFd>);

    impl Socket {
        #[expect(deprecated, reason = "sound for an OwnedFd, which keeps its descriptor; what replaces it is unsafe")]
        pub(super) fn new(fd: BorrowedFd<'_>) -> io::Result<Self> {
            Ok(Self(AsyncFd::new(fd.try_clone_to_owned()?)?))
        }
    }

    impl AsyncRead for Socket {
        fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            loop {
                let mut ready = ready!(self.0.poll_read_ready(cx))?;
                let room = into.initialize_unfilled();
                match ready.try_io(|fd| Ok(recv(fd.get_ref(), room, RecvFlags::DONTWAIT)?.0)) {
                    Ok(Ok(count)) => {
                        into.advance(count);
                        return Poll::Ready(Ok(()));
                    }
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(Err(error)) => return Poll::Ready(Err(error)),
                    Err(_would_block) => {}
                }
            }
        }
    }

    impl AsyncWrite for Socket {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            loop {
                let mut ready = ready!(self.0.poll_write_ready(cx))?;
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                match ready.try_io(|fd| Ok(send(fd.get_ref(), bytes, flags)?)) {
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(result) => return Poll::Ready(result),
                    Err(_would_block) => {}
                }
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(shutdown(self.0.get_ref(), Shutdown::Write)?))
        }
    }
}
