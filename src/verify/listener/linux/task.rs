//! One thread of the server that waits in a call: its process, its memory, its files.

use std::{fs, os::fd::OwnedFd, path::PathBuf};

use rustix::{
    fs::{Mode, OFlags, open},
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};

use super::sys;

/// What is read of a path or a name, in bytes: no path is longer.
const LONGEST: usize = 4096;
/// A page is as large as this or larger.
const PAGE: u64 = 4096;

/// A thread that waits.
pub(super) struct Task {
    pub(super) thread: u32,
    /// The process that it belongs to.
    pub(super) process: u32,
}

impl Task {
    /// The thread with this number, if it is still there.
    pub(super) fn find(thread: u32) -> Option<Self> {
        Some(Self { thread, process: number(thread, "Tgid:")? })
    }

    /// As many bytes of its memory as can be read. Never reads across the border of a page in one
    /// piece: what is asked for may end just before it, and nothing be behind it.
    pub(super) fn bytes(&self, address: u64, length: usize) -> Vec<u8> {
        self.bytes_until(address, length, |_| false)
    }

    fn bytes_until(&self, address: u64, length: usize, enough: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let Some(at) = address.checked_add(bytes.len() as u64) else { break };
            let to_border = usize::try_from(PAGE - at % PAGE).unwrap_or(1);
            let mut piece = vec![0; to_border.min(length - bytes.len())];
            let count = sys::read(self.thread, at, &mut piece);
            piece.truncate(count);
            bytes.extend_from_slice(&piece);
            if count == 0 || enough(&piece) {
                break;
            }
        }
        bytes
    }

    /// Exactly so many bytes.
    pub(super) fn array<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        self.bytes(address, N).try_into().ok()
    }

    /// A number of eight bytes.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        self.array(address).map(u64::from_ne_bytes)
    }

    /// The bytes up to the first zero. None if that can't be read.
    pub(super) fn text(&self, address: u64) -> Option<Vec<u8>> {
        let mut bytes = self.bytes_until(address, LONGEST, |piece| piece.contains(&0));
        let end = bytes.iter().position(|byte| *byte == 0)?;
        bytes.truncate(end);
        Some(bytes)
    }

    /// Where one of the links that the system keeps for it leads, such as `cwd` or `fd/3`.
    pub(super) fn link(&self, name: &str) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/{name}", self.thread)).ok()
    }

    /// The directory that is its root.
    pub(super) fn root(&self) -> Option<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        open(format!("/proc/{}/root", self.thread), flags, Mode::empty()).ok()
    }

    /// A handle of ours for one of its open files.
    pub(super) fn handle(&self, number: i32) -> Option<OwnedFd> {
        let process = Pid::from_raw(self.process.cast_signed())?;
        let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
        pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()
    }

    /// Another process, by the number that it has in the namespace of this one.
    pub(super) fn neighbour(&self, number: u32) -> Option<u32> {
        let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
        let inside = namespace(&self.thread.to_string())?;
        if Some(&inside) == namespace("self").as_ref() {
            return fs::exists(format!("/proc/{number}/status")).is_ok_and(|there| there).then_some(number);
        }
        everybody().find(|process| {
            namespace(&process.to_string()).as_ref() == Some(&inside)
                && self::number(*process, "NSpid:") == Some(number)
        })
    }
}

/// Every process that this system shows.
pub(super) fn everybody() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The last number on a line of what the system says about a process.
pub(super) fn number(process: u32, line: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|text| text.strip_prefix(line))?.split_whitespace().next_back()?.parse().ok()
}
