//! The filter: which calls wait for an answer, as a program for the kernel.
//!
//! Reading, writing and looking never wait, nor does opening to read: the start of a server makes
//! thousands of those, and a few dozen that can have an effect.

use libc::{c_long, sock_filter};

use super::{
    CONTROL,
    calls::{self, ALWAYS, OLD},
};

/// The one architecture whose calls can be read; others are recorded as foreign.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xC000_00B7;
/// From here on, numbers belong to another table of calls (x32).
pub(super) const FOREIGN: u32 = 0x4000_0000;

/// Flags of an opening that can have an effect. `O_TMPFILE` always comes with one of them.
pub(super) const WRITES: i32 = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;

// Offsets in what the kernel shows of a call. An argument has eight bytes, the low half first.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_ANY_BIT: u16 = 0x45;
const IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

const fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Skip as many steps as it says, if so and if not.
const fn branch(code: u16, k: u32, if_so: u8, if_not: u8) -> sock_filter {
    sock_filter { code, jt: if_so, jf: if_not, k }
}

const WAIT: sock_filter = step(RETURN, libc::SECCOMP_RET_USER_NOTIF);
const PASS: sock_filter = step(RETURN, libc::SECCOMP_RET_ALLOW);

/// The whole program. Jumps are short, so each call has steps of its own.
pub(super) fn program() -> Vec<sock_filter> {
    let mut program = vec![
        step(LOAD, ARCH),
        branch(IF_EQUAL, ARCHITECTURE, 1, 0),
        WAIT,
        step(LOAD, NUMBER),
        branch(IF_AT_LEAST, FOREIGN, 0, 1),
        WAIT,
    ];
    let mut on = |call: c_long, steps: &[sock_filter]| {
        let past = u8::try_from(steps.len()).unwrap_or(u8::MAX);
        program.push(branch(IF_EQUAL, low(call), 0, past));
        program.extend_from_slice(steps);
    };
    let opening = |flags| [step(LOAD, argument(flags)), branch(IF_ANY_BIT, WRITES.cast_unsigned(), 0, 1), WAIT, PASS];
    #[cfg(target_arch = "x86_64")]
    on(calls::OPEN.0, &opening(1));
    on(calls::OPENAT.0, &opening(2));
    // Has an address: either half of the pointer isn't zero.
    let address = argument(4);
    on(
        calls::SENDTO.0,
        &[
            step(LOAD, address),
            branch(IF_EQUAL, 0, 0, 2),
            step(LOAD, address + 4),
            branch(IF_EQUAL, 0, 1, 0),
            WAIT,
            PASS,
        ],
    );
    // The listener's own handle leaves by this call: nobody could answer it yet.
    on(calls::SENDMSG.0, &[step(LOAD, argument(0)), branch(IF_EQUAL, CONTROL.cast_unsigned(), 1, 0), WAIT, PASS]);
    for (call, _) in ALWAYS.iter().chain(OLD) {
        on(*call, &[WAIT]);
    }
    program.push(PASS);
    program
}

/// Numbers of calls are small; what isn't could not match.
fn low(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}
