use std::io::{self, ErrorKind, Read, Write};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use rustix::io::Errno;

use super::{NoteName, Notes, list};
use crate::{ToolError, blocking::Caller};

/// Where a new text is written before it gets its name. No note can be called so, and there is
/// only one because its writer holds the lock.
pub(super) const TEMPORARY: &str = ".candor-note.tmp";

/// Remove what a crash left behind.
pub(super) fn sweep(dir: &Dir) -> io::Result<()> {
    match dir.remove_file(TEMPORARY) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // A directory that may only be read refuses to remove even what isn't there.
        Err(_) if dir.symlink_metadata(TEMPORARY).is_err_and(|error| error.kind() == ErrorKind::NotFound) => Ok(()),
        done => done,
    }
}

/// Whether this is a file with one name. A second name may be anywhere, so what is read or written
/// through the first would leave the directory.
pub(super) fn is_plain(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    let names = cap_std::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    let names = 1;
    metadata.is_file() && names == 1
}

pub(super) fn read(notes: &Notes, name: &NoteName, caller: &Caller) -> Result<String, ToolError> {
    let _lock = notes.shared(caller)?;
    let (file, _) = open(notes, name, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    let limit = notes.limits.note_bytes;
    // One byte more than is allowed, so that a file that grows meanwhile is noticed.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| failed(name, &error))?;
    if bytes.len() as u64 > limit {
        return Err(ToolError::refused(format!(
            "note `{name}` is longer than {limit} bytes and was not read; tell the operator"
        )));
    }
    String::from_utf8(bytes)
        .map_err(|_| ToolError::refused(format!("`{name}` is not UTF-8 text and was not read; choose another note")))
}

pub(super) fn create(notes: &Notes, name: &NoteName, text: &str, caller: &Caller) -> Result<(), ToolError> {
    fits(notes, name, text.len() as u64)?;
    let lock = notes.exclusive(caller)?;
    is_new(notes, name)?;
    caller.still_waits()?;
    let created = write_temporary(&notes.dir, text, None)
        // Unlike renaming, this fails if anything has the name, whoever made it.
        .and_then(|()| notes.dir.hard_link(TEMPORARY, &notes.dir, name.as_str()));
    let swept = sweep(&notes.dir);
    created.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => taken(name),
        _ => failed(name, &error),
    })?;
    swept.and_then(|()| lock.sync()).map_err(ToolError::internal)
}

pub(super) fn append(notes: &Notes, name: &NoteName, text: &str, caller: &Caller) -> Result<u64, ToolError> {
    let _lock = notes.exclusive(caller)?;
    let (mut file, metadata) = open(notes, name, OpenOptions::new().append(true))?;
    let before = metadata.len();
    let after = before.saturating_add(text.len() as u64);
    fits(notes, name, after)?;
    caller.still_waits()?;
    // The system adds at the end, wherever that is by then: nothing that is there can be touched.
    let mut rest = text.as_bytes();
    let added = loop {
        match file.write(rest) {
            Ok(_) if rest.is_empty() => break file.sync_all(),
            Ok(0) => break Err(ErrorKind::StorageFull.into()),
            Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = added {
        // Take back the part that was written before the disk was full, if that is all that came.
        let part = file.metadata().is_ok_and(|now| now.len() == after - rest.len() as u64);
        let undone = part && file.set_len(before).and_then(|()| file.sync_all()).is_ok();
        return Err(if undone {
            failed(name, &error)
        } else {
            ToolError::internal(format!("`{name}` may have got a part of a text: {error}"))
        });
    }
    Ok(after)
}

pub(super) fn replace(notes: &Notes, name: &NoteName, text: &str, caller: &Caller) -> Result<u64, ToolError> {
    fits(notes, name, text.len() as u64)?;
    let lock = notes.exclusive(caller)?;
    let old = match notes.dir.symlink_metadata(name.as_str()) {
        Ok(metadata) if is_plain(&metadata) => Some(metadata),
        Ok(_) => return Err(not_plain(name)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            is_new(notes, name)?;
            None
        }
        Err(error) => return Err(failed(name, &error)),
    };
    caller.still_waits()?;
    let replaced = write_temporary(&notes.dir, text, old.as_ref())
        .and_then(|()| notes.dir.rename(TEMPORARY, &notes.dir, name.as_str()));
    if let Err(error) = replaced {
        sweep(&notes.dir).map_err(ToolError::internal)?;
        return Err(failed(name, &error));
    }
    lock.sync().map_err(ToolError::internal)?;
    Ok(old.map_or(0, |old| old.len()))
}

/// Open a note. Never waits for the other end of a pipe, and never follows a link: what stands
/// under the name may change between the two looks at it.
fn open(notes: &Notes, name: &NoteName, options: &mut OpenOptions) -> Result<(File, Metadata), ToolError> {
    let missing = |error: &io::Error| match (error.kind(), Errno::from_io_error(error)) {
        (ErrorKind::NotFound, _) => {
            ToolError::refused(format!("there is no note `{name}`; see `list_notes`, or use `create_note`"))
        }
        // How a link, a pipe or socket without another end, and a folder answer.
        (_, Some(Errno::LOOP | Errno::NXIO | Errno::ISDIR)) => not_plain(name),
        _ => failed(name, error),
    };
    // A device is not even opened: that alone can have an effect.
    let listed = notes.dir.symlink_metadata(name.as_str()).map_err(|error| missing(&error))?;
    if !is_plain(&listed) {
        return Err(not_plain(name));
    }
    let options = options.follow(FollowSymlinks::No).nonblock(true);
    let file = notes.dir.open_with(name.as_str(), options).map_err(|error| missing(&error))?;
    let metadata = file.metadata().map_err(ToolError::internal)?;
    if is_plain(&metadata) { Ok((file, metadata)) } else { Err(not_plain(name)) }
}

/// Write a whole text beside the notes, with the permissions of the note that it will replace.
fn write_temporary(dir: &Dir, text: &str, old: Option<&Metadata>) -> io::Result<()> {
    sweep(dir)?;
    let mut file = dir.open_with(TEMPORARY, OpenOptions::new().write(true).create_new(true))?;
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Refuse a name that is taken, in another letter case too, and one note too many.
fn is_new(notes: &Notes, name: &NoteName) -> Result<(), ToolError> {
    if notes.dir.symlink_metadata(name.as_str()).is_ok() {
        return Err(taken(name));
    }
    let (found, _) = list::all(notes)?;
    let mut others = found.iter().map(|(other, _)| other.as_str());
    if let Some(other) = others.find(|other| other.eq_ignore_ascii_case(name.as_str())) {
        return Err(ToolError::refused(format!(
            "`{name}` differs from note `{other}` in letter case alone; choose another name"
        )));
    }
    if found.len() >= notes.limits.notes {
        return Err(ToolError::refused(format!(
            "there are {} notes already, which is the limit; add to an existing note with `append_note`",
            found.len()
        )));
    }
    Ok(())
}

fn fits(notes: &Notes, name: &NoteName, bytes: u64) -> Result<(), ToolError> {
    let limit = notes.limits.note_bytes;
    if bytes <= limit {
        return Ok(());
    }
    Err(ToolError::refused(format!(
        "note `{name}` would have {bytes} bytes, and the limit is {limit}; nothing was changed, use a shorter text or several notes"
    )))
}

fn taken(name: &NoteName) -> ToolError {
    ToolError::refused(format!(
        "note `{name}` already exists and was not changed; choose another name, or use `append_note`"
    ))
}

fn not_plain(name: &NoteName) -> ToolError {
    ToolError::refused(format!(
        "`{name}` is no plain file (a folder, link, pipe or device) and so no note; see `list_notes`"
    ))
}

/// What the file system says, for the model where it can act on it. Nothing was changed.
fn failed(name: &NoteName, error: &io::Error) -> ToolError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ToolError::refused(format!(
            "there is no room on the disk for `{name}`, nothing was changed; tell the operator"
        )),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ToolError::refused(format!(
            "the server may not do this to `{name}`, nothing was changed; tell the operator"
        )),
        _ => ToolError::internal(error),
    }
}
