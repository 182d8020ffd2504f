use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Addresses that are remembered at once.
const ADDRESSES: usize = 4096;
const MINUTE: Duration = Duration::from_secs(60);

/// Who presented wrong tokens lately, by address. Right tokens are never held up: others may share
/// the address, and all callers do behind a proxy.
#[derive(Debug)]
pub(super) struct Guesses {
    per_minute: u32,
    /// When an address would be forgotten if no further guess came.
    until: Mutex<HashMap<IpAddr, Instant>>,
}

impl Guesses {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { per_minute, until: Mutex::default() }
    }

    /// Note a wrong token. `Err` with the time to wait if there were too many.
    pub(super) fn note(&self, address: IpAddr) -> Result<(), Duration> {
        let (now, address) = (Instant::now(), network(address));
        let mut known = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let after = known.get(&address).map_or(now, |until| (*until).max(now)) + MINUTE / self.per_minute;
        if after > now + MINUTE {
            return Err(after - (now + MINUTE));
        }
        if known.len() >= ADDRESSES && !known.contains_key(&address) {
            known.retain(|_, until| *until > now);
            if known.len() >= ADDRESSES {
                let nearest = known.iter().min_by_key(|(_, until)| **until).map(|(address, _)| *address);
                nearest.map(|address| known.remove(&address));
            }
        }
        known.insert(address, after);
        Ok(())
    }
}

/// Whoever has one IPv6 address has a whole /64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}
