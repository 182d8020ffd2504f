//! Whom a socket is about to talk to.

use std::{
    ffi::OsString,
    fs,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use rustix::net::{SocketType, sockopt::socket_type};

use super::{
    Contact, Doing, Whose,
    family::Family,
    place::{self, Kind},
    task::Task,
};

/// What is read of an address: none is longer.
const LONGEST: u64 = 128;
/// Messages of one call that are looked at, as many as the system takes.
const MOST_MESSAGES: u64 = 1024;
/// A `msghdr`, and the same with a count in a row of several.
const MESSAGE: u64 = 64;
/// Asked for users and hosts by every program that has such a service; it only answers.
const NAME_SERVICE: [&str; 2] = ["/var/run/nscd/socket", "/run/nscd/socket"];

/// How the socket is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Connects,
    Sends,
}

/// What a call with this address in the thread's memory is about to do.
pub(super) fn contact(
    task: &Task,
    family: &Family,
    how: Use,
    number: i32,
    address: u64,
    length: u64,
) -> Result<Option<Doing>, ()> {
    let length = usize::try_from(length.min(LONGEST)).unwrap_or_default();
    let bytes = task.bytes(address, length);
    if bytes.len() < length {
        return Err(());
    }
    Ok(match parse(&bytes) {
        Address::None => None,
        Address::Other(family) => Some(Doing::ContactsOtherwise { family }),
        Address::Local(name) => local(task, family, name),
        Address::Internet(peer) => internet(task, family, how, number, peer),
    })
}

/// What several messages, or one, are about to do.
pub(super) fn messages(task: &Task, family: &Family, number: i32, address: u64, count: u64) -> Result<Vec<Doing>, ()> {
    let mut doings = Vec::new();
    for index in 0..count.min(MOST_MESSAGES) {
        let at = address.wrapping_add(index * MESSAGE);
        let name = task.word(at).ok_or(())?;
        let length = task.array(at.wrapping_add(8)).map(u32::from_ne_bytes).ok_or(())?;
        // Without an address it goes where the socket is connected to.
        if name != 0 && length != 0 {
            doings.extend(contact(task, family, Use::Sends, number, name, length.into())?);
        }
    }
    Ok(doings)
}

/// The internet address that a socket is about to serve at.
pub(super) fn bound(task: &Task, address: u64, length: u64) -> Option<Doing> {
    let length = usize::try_from(length.min(LONGEST)).ok()?;
    match parse(&task.bytes(address, length)) {
        Address::Internet(address) => Some(Doing::Binds { address }),
        _ => None,
    }
}

enum Address {
    /// No peer: disconnecting, talking to the kernel, taking a name at random.
    None,
    Internet(SocketAddr),
    /// A path, or a zero and a name.
    Local(Vec<u8>),
    Other(u16),
}

fn parse(bytes: &[u8]) -> Address {
    let Some((family, rest)) = bytes.split_first_chunk().map(|(family, rest)| (u16::from_ne_bytes(*family), rest))
    else {
        return Address::None;
    };
    let port = || rest.first_chunk().map(|port| u16::from_be_bytes(*port));
    let internet = |address: Option<IpAddr>| match (address, port()) {
        (Some(address), Some(port)) => Address::Internet(SocketAddr::new(address.to_canonical(), port)),
        // Too short: the call fails.
        _ => Address::None,
    };
    match i32::from(family) {
        libc::AF_UNSPEC | libc::AF_NETLINK | libc::AF_ALG => Address::None,
        libc::AF_INET => internet(rest.get(2..6).and_then(|four| Some(IpAddr::from(*four.first_chunk::<4>()?)))),
        libc::AF_INET6 => {
            internet(rest.get(6..22).and_then(|bytes| Some(Ipv6Addr::from(*bytes.first_chunk::<16>()?).into())))
        }
        libc::AF_UNIX if rest.first() == Some(&0) => Address::Local(rest.into()),
        libc::AF_UNIX => Address::Local(rest.iter().copied().take_while(|byte| *byte != 0).collect()),
        _ => Address::Other(family),
    }
}

fn internet(task: &Task, family: &Family, how: Use, number: i32, peer: SocketAddr) -> Option<Doing> {
    let kind = task.handle(number).and_then(|socket| socket_type(socket).ok());
    let how = match kind {
        Some(SocketType::STREAM | SocketType::SEQPACKET) => Contact::Stream,
        // A raw socket has no ports.
        Some(_) if how == Use::Sends || kind == Some(SocketType::RAW) => Contact::Datagram,
        // To ask which of one's own addresses leads there. Nothing is sent.
        Some(_) if peer.port() == 0 => return None,
        Some(_) => Contact::Datagram,
        None if how == Use::Sends => Contact::Datagram,
        None => Contact::Stream,
    };
    // A connection to no address at all goes to this machine.
    let is_here = peer.ip().is_loopback() || peer.ip().is_unspecified();
    let whose = if is_here { on_loopback(task, family, how, peer.port()) } else { Whose::Elsewhere };
    Some(Doing::Contacts { peer, how, whose })
}

/// Who serves at a port of this machine, from the tables of the thread's network.
fn on_loopback(task: &Task, family: &Family, how: Contact, port: u16) -> Whose {
    let tables = if how == Contact::Stream { ["tcp", "tcp6"] } else { ["udp", "udp6"] };
    let mut serving = Vec::new();
    for table in tables {
        let table = fs::read_to_string(format!("/proc/{}/net/{table}", task.thread)).unwrap_or_default();
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, local, _, state, _, _, _, _, _, node, ..] = fields.as_slice() else { continue };
            let at = local.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
            // Waiting for connections; datagrams know no such state.
            if at == Some(port) && (how == Contact::Datagram || *state == "0A") {
                serving.push((*node).to_owned());
            }
        }
    }
    if serving.is_empty() { Whose::Nobody } else { owner(family, &serving) }
}

fn local(task: &Task, family: &Family, name: Vec<u8>) -> Option<Doing> {
    let table = || fs::read_to_string(format!("/proc/{}/net/unix", task.thread)).unwrap_or_default();
    let serving = |names: &[&str]| -> Vec<String> {
        let matching = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let name = fields.get(7)?;
            names.contains(name).then(|| fields.get(6).map(|node| (*node).to_owned()))?
        };
        table().lines().filter_map(matching).collect()
    };
    if let Some(abstract_name) = name.strip_prefix(&[0]) {
        if abstract_name.is_empty() {
            return None;
        }
        let name = format!("@{}", String::from_utf8_lossy(abstract_name).escape_debug());
        return Some(Doing::ContactsSocket { whose: owner(family, &serving(&[&name])), name });
    }
    let path = PathBuf::from(OsString::from_vec(name));
    if path.as_os_str().is_empty() {
        return None;
    }
    let found = place::resolve(task, libc::AT_FDCWD, &path, true);
    let real = match found {
        Ok(place) if place.kind == Kind::Nothing => return None,
        Ok(place) => place.path,
        Err(place::Nowhere::Missing) => return None,
        Err(place::Nowhere::Unreadable) => path.clone(),
    };
    if NAME_SERVICE.iter().any(|known| real == Path::new(known) || path == Path::new(known)) {
        return None;
    }
    let (name, text) = (real.to_string_lossy().into_owned(), path.to_string_lossy());
    Some(Doing::ContactsSocket { whose: owner(family, &serving(&[&name, &text])), name })
}

/// Whose sockets with these numbers are.
fn owner(family: &Family, nodes: &[String]) -> Whose {
    let links: Vec<PathBuf> = nodes.iter().map(|node| format!("socket:[{node}]").into()).collect();
    let holds = |process: &u32| {
        let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|link| links.contains(&link))
    };
    if !links.is_empty() && family.living().iter().any(holds) { Whose::Own } else { Whose::Foreign }
}
