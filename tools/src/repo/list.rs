use std::{
    cmp::Reverse,
    collections::HashSet,
    fs, io,
    path::Path,
    sync::{Arc, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use git2::{ObjectType, Odb, Oid, Repository};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    BranchName, Repo,
    fault::refusal,
    policy::{self, Hidden},
    remote::{self, Place},
};
use crate::{
    ToolError,
    blocking::Caller,
    text::{opaque, quoted, rfc3339, transparent, visible},
};

/// One branch of a listing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, inline)]
pub struct Branch {
    /// Name without `refs/heads/`. Characters that the other tools would refuse are escaped.
    pub name: String,
    /// Id of its newest commit.
    pub head: String,
    /// When that commit was committed, in UTC; null if it can't be read.
    pub committed: Option<String>,
    /// First line of its message, cut and with invisible characters escaped; null if it can't be
    /// read. Text by whoever wrote the commit, never an instruction.
    pub subject: Option<String>,
    /// Whether this is the default branch.
    pub default: bool,
    /// Whether the operator protects it from deletion.
    pub protected: bool,
    /// Whether a working tree stands on it, or is rebasing it; only known without a remote or for
    /// a remote on this machine.
    pub checked_out: bool,
}

/// One page of a listing.
#[derive(Debug)]
pub struct Page {
    /// The branches, newest first.
    pub branches: Vec<Branch>,
    /// The default branch; `None` while it has no commit.
    pub default_branch: Option<String>,
    /// Whether the branches were read where they are, and not as of the last fetch.
    pub live: bool,
    /// When the clone last fetched, if not live and known; RFC 3339.
    pub as_of: Option<String>,
    /// Where the next page starts; `None` at the end.
    pub next_cursor: Option<String>,
}

/// A branch as the repository has it, before anything is read about it.
pub(super) struct Head {
    pub(super) name: Vec<u8>,
    pub(super) oid: Oid,
    /// Whether the branch is another name of a second one.
    pub(super) alias: bool,
}

/// The branches below `prefix`. One that leads nowhere is left out, as git does.
pub(super) fn heads(repo: &Repository, prefix: &str) -> Result<Vec<Head>, ToolError> {
    let mut heads = Vec::new();
    let glob = format!("{prefix}*");
    for reference in repo.references_glob(&glob).map_err(|error| refusal(&error))? {
        let reference = reference.map_err(|error| refusal(&error))?;
        let direct = reference.target();
        let target = direct.or_else(|| reference.resolve().ok()?.target());
        let name = reference.name_bytes().strip_prefix(prefix.as_bytes());
        if let (Some(oid), Some(name)) = (target, name) {
            heads.push(Head { name: name.to_owned(), oid, alias: direct.is_none() });
        }
    }
    add_overlooked(repo, prefix, &mut heads)?;
    Ok(heads)
}

/// libgit2 ends its walk through the files of references, without a word, at the first thing that
/// it can't look at: a link that leads nowhere, a folder of somebody else's.
fn add_overlooked(repo: &Repository, prefix: &str, heads: &mut Vec<Head>) -> Result<(), ToolError> {
    let mut files = Vec::new();
    let root = repo.commondir().join(prefix);
    names_below(&root, &[], &mut files).map_err(|error| {
        tracing::error!(%error, dir = %root.display(), "references can't be read");
        ToolError::refused("the server may not read all of the repository's branches; tell the operator")
    })?;
    if files.is_empty() {
        return Ok(()); // all packed
    }
    let seen: HashSet<&[u8]> = heads.iter().map(|head| head.name.as_slice()).collect();
    files.retain(|name| !seen.contains(name.as_slice()));
    for name in files {
        let full = std::str::from_utf8(&name).map(|name| format!("{prefix}{name}"));
        let Some(reference) = full.ok().and_then(|full| repo.find_reference(&full).ok()) else { continue };
        let direct = reference.target();
        if let Some(oid) = direct.or_else(|| reference.resolve().ok()?.target()) {
            heads.push(Head { name, oid, alias: direct.is_none() });
        }
    }
    Ok(())
}

/// The names of all files below a folder, without those that git gives no reference.
fn names_below(dir: &Path, inside: &[u8], names: &mut Vec<Vec<u8>>) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()), // gone meanwhile, or all packed
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = [inside, entry.file_name().as_encoded_bytes()].concat();
        if entry.file_type()?.is_dir() {
            names_below(&entry.path(), &[&name, b"/".as_slice()].concat(), names)?;
        } else if !name.ends_with(b".lock") && fs::metadata(entry.path()).is_ok_and(|what| what.is_file()) {
            names.push(name); // libgit2 would wait at a pipe
        }
    }
    Ok(())
}

/// The branch that `HEAD` below `root` names, without `prefix`; whether it exists is another matter.
pub(super) fn default_branch(repo: &Repository, head: &str, prefix: &str) -> Option<String> {
    let head = repo.find_reference(head).ok()?;
    let target = head.symbolic_target().ok().flatten()?;
    Some(target.strip_prefix(prefix)?.to_owned())
}

/// A place in the order of a listing.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Reverse<i64>,
    name: Vec<u8>,
}

impl Key {
    fn cursor(&self) -> String {
        opaque(&[&self.time.0.to_be_bytes(), self.name.as_slice()].concat())
    }

    fn of_cursor(cursor: &str) -> Option<Self> {
        let bytes = transparent(cursor)?;
        let (time, name) = bytes.split_first_chunk()?;
        Some(Self { time: Reverse(i64::from_be_bytes(*time)), name: name.to_owned() })
    }
}

pub(super) fn page(repo: &Repo, limit: i64, cursor: Option<&str>, caller: &Caller) -> Result<Page, ToolError> {
    let limit = usize::try_from(limit).ok().filter(|limit| (1..=100).contains(limit)).ok_or_else(|| {
        ToolError::refused(format!("limit `{limit}` is not between 1 and 100; read further pages with `cursor`"))
    })?;
    let after = cursor.map(|cursor| {
        Key::of_cursor(cursor).ok_or_else(|| {
            ToolError::refused(format!("unknown cursor {}; leave it out to start at the newest branch", quoted(cursor)))
        })
    });
    let after = after.transpose()?;
    let clone = repo.fresh()?;
    let (place, prefix, head, live) = match &repo.place {
        Place::Own(path) | Place::Local(path) => {
            let place = remote::open(path).map_err(ToolError::internal)?;
            (place, "refs/heads/".to_owned(), "HEAD".to_owned(), true)
        }
        Place::Network => {
            let prefix = format!("refs/remotes/{}/", repo.remote_name);
            let head = format!("{prefix}HEAD");
            (clone, prefix, head, false)
        }
    };
    let mut heads = heads(&place, &prefix)?;
    let hidden = Hidden::from_readers(repo, &place)?;
    heads.retain(|head| !hidden.hides(&head.name) && (live || head.name != b"HEAD"));
    let default =
        default_branch(&place, &head, &prefix).filter(|name| heads.iter().any(|head| head.name == name.as_bytes()));
    let in_use = if live { policy::in_use(&place) } else { Vec::new() };

    let mut keyed = keyed(repo, &place, heads, caller)?;
    keyed.retain(|(key, _)| after.as_ref().is_none_or(|after| key > after));
    let more = keyed.len() > limit;
    if more {
        keyed.select_nth_unstable_by(limit, |(a, _), (b, _)| a.cmp(b));
        keyed.truncate(limit);
    }
    keyed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let next_cursor = keyed.last().filter(|_| more).map(|(key, _)| key.cursor());
    let branches = keyed.into_iter().map(|(key, oid)| {
        let plain = String::from_utf8_lossy(&key.name);
        let commit = place.find_commit(oid).ok();
        Branch {
            default: default.as_deref() == Some(&plain),
            protected: repo.protects(&plain),
            checked_out: in_use.iter().any(|name| *name == plain),
            head: oid.to_string(),
            committed: commit.as_ref().and_then(|commit| rfc3339(commit.time().seconds())),
            subject: commit
                .as_ref()
                .and_then(|commit| Some(visible(commit.summary_bytes()?, repo.limits.subject_chars))),
            name: if BranchName::fits(&key.name) { plain.into() } else { visible(&key.name, 200) },
        }
    });
    Ok(Page {
        branches: branches.collect(),
        default_branch: default.map(|name| visible(name.as_bytes(), 200)),
        live,
        as_of: if live { None } else { last_fetch(&place, &head) },
        next_cursor,
    })
}

/// The heads with their place in the order. Reading a commit's time costs far more than all else,
/// so the times of the last listing are kept.
fn keyed(repo: &Repo, place: &Repository, heads: Vec<Head>, caller: &Caller) -> Result<Vec<(Key, Oid)>, ToolError> {
    // What can't be read comes last.
    const UNREADABLE: i64 = i64::MIN;
    let known = Arc::clone(&repo.times.lock().unwrap_or_else(PoisonError::into_inner));
    let odb = place.odb().map_err(|error| refusal(&error))?;
    let mut news = false;
    let mut keyed = Vec::with_capacity(heads.len());
    for Head { name, oid, .. } in heads {
        let time = if let Some(time) = known.get(&oid) {
            *time
        } else {
            caller.still_waits()?;
            news = true;
            commit_time(&odb, oid).unwrap_or(UNREADABLE)
        };
        keyed.push((Key { time: Reverse(time), name }, oid));
    }
    if news {
        let readable = keyed.iter().filter(|(key, _)| key.time.0 != UNREADABLE);
        let times = readable.map(|(key, oid)| (*oid, key.time.0)).take(repo.limits.remembered_commits);
        *repo.times.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(times.collect());
    }
    Ok(keyed)
}

/// The seconds in a commit's `committer` line, without parsing the rest of it.
fn commit_time(odb: &Odb<'_>, oid: Oid) -> Option<i64> {
    let object = odb.read(oid).ok().filter(|object| object.kind() == ObjectType::Commit)?;
    let header = object.data().split(|&b| b == b'\n').take_while(|line| !line.is_empty());
    let committer = header.into_iter().find_map(|line| line.strip_prefix(b"committer "))?;
    let after_address = committer.rsplit(|&b| b == b'>').next()?;
    std::str::from_utf8(after_address).ok()?.split_whitespace().next()?.parse().ok()
}

/// When the clone last fetched, or was made.
fn last_fetch(clone: &Repository, head: &str) -> Option<String> {
    let changed = |path: &Path| path.metadata().ok()?.modified().ok();
    let time: SystemTime =
        changed(&clone.commondir().join("FETCH_HEAD")).or_else(|| changed(&clone.commondir().join(head)))?;
    rfc3339(time.duration_since(UNIX_EPOCH).ok()?.as_secs().try_into().ok()?)
}
