//! A database file as pages, by the file format (<https://www.sqlite.org/fileformat2.html>).
//!
//! Whatever does not look as the format says gives `None`: the caller then compares everything
//! through SQLite, which is slower and needs none of this.

use std::{
    collections::HashSet,
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

/// Bytes that are compared at a time; a multiple of every page size.
const CHUNK: usize = 1 << 16;
/// The page that holds this byte is never used: locks lie there.
const PENDING_BYTE: u64 = 0x4000_0000;

/// A file without a log beside it: recovered and checkpointed.
pub(super) struct Pages {
    file: File,
    /// Bytes in a page.
    size: u32,
    /// Bytes of a page that b-trees use.
    usable: u32,
    /// Pages in the file.
    count: u32,
    /// Whether some pages say whose child each page is.
    has_pointer_maps: bool,
    first_free_trunk: u32,
}

impl Pages {
    pub(super) fn open(file: &Path) -> Option<Self> {
        let mut file = File::open(file).ok()?;
        let mut header = [0; 100];
        file.read_exact(&mut header).ok()?;
        let size = match u16_at(&header, 16)? {
            1 => 65_536,
            size => u32::from(size),
        };
        let usable = size.checked_sub(u32::from(*header.get(20)?))?;
        let count = u32::try_from(file.metadata().ok()?.len() / u64::from(size)).ok()?;
        let is_sound = size.is_power_of_two() && size >= 512 && usable >= 480;
        is_sound.then_some(Self {
            size,
            usable,
            count,
            has_pointer_maps: u32_at(&header, 52)? != 0,
            first_free_trunk: u32_at(&header, 32)?,
            file,
        })
    }

    pub(super) fn usable(&self) -> u32 {
        self.usable
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Whether both files are cut into pages in the same way.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.size, self.usable, self.has_pointer_maps) == (other.size, other.usable, other.has_pointer_maps)
    }

    /// One page; the first has number 1.
    pub(super) fn read(&mut self, page: u32) -> Option<Vec<u8>> {
        let at = u64::from(page.checked_sub(1).filter(|_| page <= self.count)?) * u64::from(self.size);
        let mut bytes = vec![0; usize::try_from(self.size).ok()?];
        self.file.seek(SeekFrom::Start(at)).ok()?;
        self.file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The pages whose bytes differ, or that only one of the files has. Reads both files once.
    pub(super) fn difference(&mut self, other: &mut Self) -> Option<HashSet<u32>> {
        let size = usize::try_from(self.size).ok()?;
        let (mut ours, mut theirs) = (vec![0; CHUNK], vec![0; CHUNK]);
        self.file.rewind().ok()?;
        other.file.rewind().ok()?;
        let mut changed = HashSet::new();
        let mut page = 1_u32;
        loop {
            let ours = fill(&mut self.file, &mut ours)?;
            let theirs = fill(&mut other.file, &mut theirs)?;
            if ours != theirs {
                for at in (0..ours.len().max(theirs.len())).step_by(size) {
                    let part = |bytes: &[u8]| bytes.get(at..).map(|rest| rest.get(..size).unwrap_or(rest).to_vec());
                    if part(ours) != part(theirs) {
                        changed.insert(page + u32::try_from(at / size).ok()?);
                    }
                }
            }
            if ours.len().max(theirs.len()) < CHUNK {
                return Some(changed);
            }
            page = page.checked_add(u32::try_from(CHUNK / size).ok()?)?;
        }
    }

    /// Whether a page holds no content by its place alone: pointers to parents, or locks.
    pub(super) fn is_fixed(&self, page: u32) -> bool {
        let locks = u32::try_from(PENDING_BYTE / u64::from(self.size)).unwrap_or(u32::MAX) + 1;
        let covered = self.usable / 5 + 1;
        let map = |page: u32| match (page - 2) / covered * covered + 2 {
            map if map == locks => map + 1,
            map => map,
        };
        page == locks || (self.has_pointer_maps && page >= 2 && map(page) == page)
    }

    /// Each page on the list of free pages.
    pub(super) fn each_free(&mut self, mut tell: impl FnMut(u32)) -> Option<()> {
        let mut trunk = self.first_free_trunk;
        for _ in 0..self.count {
            if trunk == 0 {
                return Some(());
            }
            tell(trunk);
            let bytes = self.read(trunk)?;
            let leaves = usize::try_from(u32_at(&bytes, 4)?).ok()?;
            for leaf in 0..leaves {
                tell(u32_at(&bytes, leaf.checked_mul(4)?.checked_add(8)?)?);
            }
            trunk = u32_at(&bytes, 0)?;
        }
        (trunk == 0).then_some(())
    }

    /// Each page of a chain that holds the rest of a large value.
    pub(super) fn each_overflow(&mut self, first: u32, mut tell: impl FnMut(u32)) -> Option<()> {
        let mut page = first;
        for _ in 0..=self.count {
            if page == 0 {
                return Some(());
            }
            tell(page);
            page = u32_at(&self.read(page)?, 0)?;
        }
        None
    }
}

fn fill<'a>(file: &mut File, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest).ok()? {
            0 => break,
            read => filled += read,
        }
    }
    buffer.get(..filled)
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// A number of one to nine bytes, and where the next thing begins.
pub(super) fn varint_at(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for (byte, index) in bytes.get(at..)?.iter().zip(0..9) {
        if index == 8 {
            return Some((value << 8 | u64::from(*byte), at + 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + index + 1));
        }
    }
    None
}
