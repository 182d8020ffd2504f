use std::{
    net::{TcpListener, UdpSocket},
    os::unix::net::UnixListener,
};

use candor::verify::listener::{Contact, Doing, Whose};

use super::{Ground, python};

fn contacts(peer: &str, how: Contact, whose: Whose) -> Vec<Doing> {
    vec![Doing::Contacts { peer: peer.parse().unwrap(), how, whose }]
}

/// Never gets there: the sockets don't wait.
const SOCKETS: &str = "tcp = socket.socket(); tcp.setblocking(False)\n\
                       tcp6 = socket.socket(socket.AF_INET6); tcp6.setblocking(False)\n\
                       udp = socket.socket(type=socket.SOCK_DGRAM)\n\
                       def attempt(call, *words):\n    try: call(*words)\n    except OSError: pass\n";

#[test]
fn a_contact_elsewhere_is_told_with_its_address() {
    let ground = Ground::new();
    let (tcp, udp) = (Contact::Stream, Contact::Datagram);
    for (script, expected) in [
        ("attempt(tcp.connect, ('192.0.2.7', 9999))", contacts("192.0.2.7:9999", tcp, Whose::Elsewhere)),
        ("attempt(tcp6.connect, ('2001:db8::1', 80))", contacts("[2001:db8::1]:80", tcp, Whose::Elsewhere)),
        ("attempt(tcp6.connect, ('::ffff:192.0.2.8', 80))", contacts("192.0.2.8:80", tcp, Whose::Elsewhere)),
        ("attempt(udp.sendto, b'x', ('192.0.2.8', 514))", contacts("192.0.2.8:514", udp, Whose::Elsewhere)),
        ("attempt(udp.connect, ('192.0.2.9', 53))", contacts("192.0.2.9:53", udp, Whose::Elsewhere)),
        ("attempt(udp.sendmsg, [b'x'], [], 0, ('192.0.2.10', 7))", contacts("192.0.2.10:7", udp, Whose::Elsewhere)),
    ] {
        assert_eq!(python(&ground, &format!("{SOCKETS}{script}")), expected, "{script}");
    }
}

#[test]
fn every_datagram_of_one_call_is_told() {
    let ground = Ground::new();
    let script = "import ctypes\nlibc = ctypes.CDLL(None)\n\
        def address(last): return (2).to_bytes(2, 'little') + (9).to_bytes(2, 'big') + bytes([192, 0, 2, last]) + bytes(8)\n\
        names = [ctypes.create_string_buffer(address(last)) for last in (1, 2)]\n\
        messages = b''.join(ctypes.addressof(name).to_bytes(8, 'little') + (16).to_bytes(8, 'little') + bytes(48) for name in names)\n\
        libc.sendmmsg(udp.fileno(), ctypes.create_string_buffer(messages), 2, 0)";
    let seen = python(&ground, &format!("{SOCKETS}{script}"));
    let expected: Vec<Doing> = ["192.0.2.1:9", "192.0.2.2:9"]
        .into_iter()
        .flat_map(|peer| contacts(peer, Contact::Datagram, Whose::Elsewhere))
        .collect();
    assert!(seen.ends_with(&expected), "{seen:?}");
}

#[test]
fn on_this_machine_it_is_told_whose_service_is_contacted() {
    let ground = Ground::new();
    let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let foreign = tcp.local_addr().unwrap();
    let seen = python(&ground, &format!("{SOCKETS}attempt(tcp.connect, ('127.0.0.1', {}))", foreign.port()));
    assert_eq!(seen, contacts(&foreign.to_string(), Contact::Stream, Whose::Foreign));
    let foreign = udp.local_addr().unwrap();
    let seen = python(&ground, &format!("{SOCKETS}udp.sendto(b'x', ('127.0.0.1', {}))", foreign.port()));
    assert_eq!(seen, contacts(&foreign.to_string(), Contact::Datagram, Whose::Foreign));
    let seen = python(&ground, &format!("{SOCKETS}attempt(tcp.connect, ('127.0.0.1', 1))"));
    assert_eq!(seen, contacts("127.0.0.1:1", Contact::Stream, Whose::Nobody));

    let own =
        "own = socket.socket(); own.bind(('127.0.0.1', 0)); own.listen()\nattempt(tcp.connect, own.getsockname())";
    let seen = python(&ground, &format!("{SOCKETS}{own}"));
    assert!(matches!(seen.as_slice(), [Doing::Binds { .. }, Doing::Contacts { whose: Whose::Own, .. }]), "{seen:?}");
}

#[test]
fn sockets_with_names_are_told_unless_they_are_missing() {
    let ground = Ground::new();
    let _foreign = UnixListener::bind(ground.at("foreign")).unwrap();
    let local = "local = socket.socket(socket.AF_UNIX)\n";
    let seen = python(&ground, &format!("{local}local.connect('foreign')"));
    let name = ground.at("foreign").to_str().unwrap().to_owned();
    assert_eq!(seen, [Doing::ContactsSocket { name, whose: Whose::Foreign }]);
    let seen = python(&ground, &format!("{SOCKETS}{local}attempt(local.connect, '\\0candor-nobody')"));
    assert_eq!(seen, [Doing::ContactsSocket { name: "@candor-nobody".into(), whose: Whose::Foreign }]);
    let own = "own = socket.socket(socket.AF_UNIX); own.bind('own'); own.listen()\nlocal.connect('own')";
    let seen = python(&ground, &format!("{local}{own}"));
    let name = ground.at("own").to_str().unwrap().to_owned();
    assert_eq!(seen, [Doing::ContactsSocket { name, whose: Whose::Own }]);
    for missing in ["missing", "/var/run/nscd/socket"] {
        assert_eq!(python(&ground, &format!("{SOCKETS}{local}attempt(local.connect, '{missing}')")), [], "{missing}");
    }
}

#[test]
fn what_reaches_nobody_is_no_contact() {
    let ground = Ground::new();
    for script in [
        "udp.connect(('192.0.2.7', 0))",
        "one, other = socket.socketpair(); one.send(b'x'); one.sendmsg([b'x'])",
        "import ctypes\nctypes.CDLL(None).connect(udp.fileno(), bytes(16), 16)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).bind((0, 0))",
    ] {
        assert_eq!(python(&ground, &format!("{SOCKETS}{script}")), [], "{script}");
    }
}
