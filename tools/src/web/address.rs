//! Which addresses are out on the public internet.
//!
//! Ranges are those of the IANA special-purpose address registries (RFC 6890 and its updates),
//! multicast, and the one address of a cloud's host agent that looks public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const BLOCKED_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8),            // this host; 0.0.0.0 reaches loopback
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // shared by carriers; one cloud's metadata
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // loopback
    (Ipv4Addr::new(168, 63, 129, 16), 32), // host agent of a large cloud
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // link-local; most clouds' metadata
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),     // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),     // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),   // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),   // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),    // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24),  // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),   // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),      // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),      // reserved, broadcast
];

/// The only part of IPv6 that is routed between networks.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

const BLOCKED_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4 carries any IPv4 address
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// Whether an address belongs to the public internet, and to nothing nearer.
#[must_use]
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !BLOCKED_V4.iter().any(|&range| within_v4(ip, range)),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            // A socket for ::ffff:127.0.0.1 really connects to 127.0.0.1.
            Some(ip) => is_public(ip.into()),
            None => {
                within_v6(ip, GLOBAL_V6)
                    && !BLOCKED_V6.iter().any(|&range| within_v6(ip, range))
                    && tunnelled(ip).is_none_or(|inner| is_public(inner.into()))
            }
        },
    }
}

/// The IPv4 address at the end of an ISATAP interface identifier (RFC 5214, section 6.1).
fn tunnelled(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., flags, mark, high, low] = ip.segments();
    (flags & 0xfdff == 0 && mark == 0x5efe).then(|| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

fn within_v4(ip: Ipv4Addr, (network, prefix): (Ipv4Addr, u32)) -> bool {
    (ip.to_bits() ^ network.to_bits()) >> (32 - prefix) == 0
}

fn within_v6(ip: Ipv6Addr, (network, prefix): (Ipv6Addr, u32)) -> bool {
    (ip.to_bits() ^ network.to_bits()) >> (128 - prefix) == 0
}
