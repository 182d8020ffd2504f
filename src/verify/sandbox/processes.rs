//! The processes of a box, as the owner sees them.

use std::{fs, path::Path};

/// All that descend from a process, itself included. What loses its parent in the box becomes a
/// child of the first process, so nothing gets out of this tree.
pub(super) fn tree(first: i32) -> Vec<i32> {
    let mut found = vec![first];
    let mut at = 0;
    while let Some(process) = found.get(at).copied() {
        at += 1;
        for thread in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
        }
    }
    found
}

/// Memory that no other process shares, in bytes.
pub(super) fn memory(process: i32) -> u64 {
    let table = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let mut pages = table.split_whitespace().skip(1).map(|number| number.parse::<u64>().unwrap_or_default());
    let (resident, shared) = (pages.next().unwrap_or_default(), pages.next().unwrap_or_default());
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}

/// What files take up below a directory, in bytes: holes don't count.
pub(super) fn size(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let mut bytes = 0;
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        bytes += metadata.blocks() * 512;
        if metadata.is_dir() {
            bytes += size(&entry.path());
        }
    }
    bytes
}
