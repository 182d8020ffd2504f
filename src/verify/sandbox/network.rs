//! The network of a box: every address of the world is its own, and the sockets that wait there are
//! handed to the owner.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddrV6, TcpStream},
    os::fd::{AsFd as _, OwnedFd},
    time::Duration,
};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, listen, recv, send, socket_with, sockopt,
};

use super::sys;

/// Kept open from the start: connections through a ring are seen nowhere else.
const TCP: [u16; 3] = [53, 80, 443];
const UDP: [u16; 1] = [53];

/// Bring the network up. IPv6 may be missing.
pub(super) fn raise() -> io::Result<Vec<String>> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::raise(socket.as_fd(), "lo")?;
    lead_here(AddressFamily::INET)?;
    Ok(match lead_here(AddressFamily::INET6) {
        Ok(()) => Vec::new(),
        Err(error) => vec![format!("there is no IPv6: {error}")],
    })
}

/// `ip route add local default dev lo`: whatever is sent to any address arrives here.
fn lead_here(family: AddressFamily) -> io::Result<()> {
    const NEW_ROUTE: u16 = 24;
    /// A request, to be acknowledged, that creates.
    const FLAGS: u16 = 0x1 | 0x4 | 0x400;
    let family = u8::try_from(family.as_raw()).map_err(io::Error::other)?;
    let mut request = Vec::with_capacity(36);
    request.extend(36_u32.to_ne_bytes());
    request.extend(NEW_ROUTE.to_ne_bytes());
    request.extend(FLAGS.to_ne_bytes());
    request.extend(1_u32.to_ne_bytes());
    request.extend(0_u32.to_ne_bytes());
    // No prefixes; the table of local routes, made by hand, for this host, of local addresses.
    request.extend([family, 0, 0, 0, 255, 4, 254, 2]);
    request.extend(0_u32.to_ne_bytes());
    // Out by the first interface, which is the loopback of a new namespace.
    request.extend(8_u16.to_ne_bytes());
    request.extend(4_u16.to_ne_bytes());
    request.extend(1_u32.to_ne_bytes());
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &request, SendFlags::empty())?;
    let mut reply = [0; 512];
    let (length, _) = recv(&socket, reply.as_mut_slice(), RecvFlags::empty())?;
    let code = reply.get(16..20).filter(|_| length >= 20).and_then(|code| <[u8; 4]>::try_from(code).ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::other("no reply from the kernel's routing")),
    }
}

/// The sockets that wait from the start.
pub(super) fn sockets(more: impl Iterator<Item = u16>) -> io::Result<Vec<OwnedFd>> {
    let mut ports: Vec<u16> = TCP.into_iter().chain(more).collect();
    ports.sort_unstable();
    ports.dedup();
    let tcp = ports.into_iter().map(|port| wait(port, SocketType::STREAM));
    tcp.chain(UDP.into_iter().map(|port| wait(port, SocketType::DGRAM))).collect()
}

/// The sockets of one port; those that can be had.
pub(super) fn port(port: u16) -> Vec<OwnedFd> {
    [SocketType::STREAM, SocketType::DGRAM].into_iter().filter_map(|kind| wait(port, kind).ok()).collect()
}

/// A connection to a server of the box, if one listens there.
pub(super) fn connect(port: u16) -> Option<OwnedFd> {
    let stream = TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), Duration::from_secs(1));
    stream.ok().map(OwnedFd::from)
}

fn wait(port: u16, kind: SocketType) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET6, kind, flags, None)?;
    sockopt::set_ipv6_v6only(&socket, false)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if kind == SocketType::DGRAM {
        sys::tell_destination(socket.as_fd())?;
    }
    bind(&socket, &SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0))?;
    if kind == SocketType::STREAM {
        listen(&socket, 128)?;
    }
    Ok(socket)
}
