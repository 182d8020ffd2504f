use std::time::UNIX_EPOCH;

use cap_std::fs::Metadata;
use schemars::JsonSchema;
use serde::Serialize;

use super::{NoteName, Notes, file};
use crate::{
    ToolError,
    blocking::Caller,
    text::{opaque, quoted, rfc3339, transparent},
};

/// One note of a listing.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, inline)]
pub struct Note {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// When its text last changed, in UTC; null if the file system doesn't say.
    pub modified: Option<String>,
}

/// One page of a listing.
#[derive(Debug)]
pub struct Listing {
    /// The notes, in the order of their names.
    pub notes: Vec<Note>,
    /// Entries of the whole directory that are no notes: folders, links, other names.
    pub other_entries: u64,
    /// Where the next page starts; `None` at the end.
    pub next_cursor: Option<String>,
}

/// Every note in the directory, and the number of entries that are none.
pub(super) fn all(notes: &Notes) -> Result<(Vec<(NoteName, Metadata)>, u64), ToolError> {
    let mut found = Vec::new();
    let mut others = 0;
    for entry in notes.dir.entries().map_err(ToolError::internal)? {
        let entry = entry.map_err(ToolError::internal)?;
        let file_name = entry.file_name();
        if file_name == file::TEMPORARY {
            continue;
        }
        let name = file_name.into_string().ok().and_then(|name| NoteName::try_from(name).ok());
        // An entry can go while we look.
        let metadata = notes.dir.symlink_metadata(entry.file_name()).ok().filter(file::is_plain);
        match name.zip(metadata) {
            Some(note) => found.push(note),
            None => others += 1,
        }
    }
    Ok((found, others))
}

pub(super) fn page(notes: &Notes, cursor: Option<&str>, caller: &Caller) -> Result<Listing, ToolError> {
    let after = cursor.map(|cursor| {
        let name = transparent(cursor).and_then(|name| String::from_utf8(name).ok());
        name.and_then(|name| NoteName::try_from(name).ok()).ok_or_else(|| {
            ToolError::refused(format!("unknown cursor {}; leave it out to start at the first note", quoted(cursor)))
        })
    });
    let after = after.transpose()?;
    let _lock = notes.shared(caller)?;
    let (mut found, other_entries) = all(notes)?;
    found.retain(|(name, _)| after.as_ref().is_none_or(|after| name > after));
    found.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let more = found.len() > notes.limits.page.max(1);
    found.truncate(notes.limits.page.max(1));
    let next_cursor = found.last().filter(|_| more).map(|(name, _)| opaque(name.as_str().as_bytes()));
    let note = |(name, metadata): (NoteName, Metadata)| Note {
        name: name.to_string(),
        bytes: metadata.len(),
        modified: modified(&metadata),
    };
    Ok(Listing { notes: found.into_iter().map(note).collect(), other_entries, next_cursor })
}

fn modified(metadata: &Metadata) -> Option<String> {
    let time = metadata.modified().ok()?.into_std();
    rfc3339(time.duration_since(UNIX_EPOCH).ok()?.as_secs().try_into().ok()?)
}
