//! Questions to a name server (RFC 1035): every name has an IPv4 address and nothing else.

use std::net::Ipv4Addr;

const HEADER: usize = 12;
/// Seconds for which an answer may be kept.
const LIFETIME: u32 = 5;

/// The first question of a message.
pub(super) struct Question {
    /// In lower case, without the last dot.
    pub(super) name: String,
    kind: u16,
    class: u16,
    /// Where it ends in the message.
    end: usize,
}

impl Question {
    /// None if the message is no question.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let flags = *message.get(2)?;
        let count = number(message, 4)?;
        if flags & 0xf8 != 0 || count != 1 {
            return None;
        }
        let mut at = HEADER;
        let mut labels = Vec::new();
        loop {
            let length = usize::from(*message.get(at)?);
            at += 1;
            match length {
                0 => break,
                1..=63 => {
                    let label = message.get(at..at + length)?;
                    labels.push(label.escape_ascii().to_string().to_lowercase());
                    at += length;
                }
                // A question has nothing before it that it could point to.
                _ => return None,
            }
        }
        Some(Self { name: labels.join("."), kind: number(message, at)?, class: number(message, at + 2)?, end: at + 4 })
    }

    /// The type of the record asked for.
    pub(super) fn record(&self) -> String {
        match self.kind {
            1 => "A".into(),
            5 => "CNAME".into(),
            12 => "PTR".into(),
            15 => "MX".into(),
            16 => "TXT".into(),
            28 => "AAAA".into(),
            33 => "SRV".into(),
            65 => "HTTPS".into(),
            other => other.to_string(),
        }
    }

    pub(super) fn wants_ipv4(&self) -> bool {
        self.kind == 1 && self.class == 1
    }

    /// An answer without error to the message that this was read from.
    pub(super) fn answer(&self, message: &[u8], address: Option<Ipv4Addr>) -> Vec<u8> {
        let mut answer: Vec<u8> = message.iter().take(self.end).copied().collect();
        // An answer, as recursive as was asked for, without error.
        let recursive = message.get(2).copied().unwrap_or_default() & 1;
        let records = u8::from(address.is_some());
        for (at, byte) in [0x80 | recursive, 0x80, 0, 1, 0, records, 0, 0, 0, 0].into_iter().enumerate() {
            if let Some(place) = answer.get_mut(2 + at) {
                *place = byte;
            }
        }
        if let Some(address) = address {
            // The name is the one at the head of the question.
            answer.extend([0xc0, 12, 0, 1, 0, 1]);
            answer.extend(LIFETIME.to_be_bytes());
            answer.extend([0, 4]);
            answer.extend(address.octets());
        }
        answer
    }
}

fn number(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?))
}
