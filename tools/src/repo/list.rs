use std::{
    cmp::Reverse,
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
    heads::Head,
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

/// The branch that `HEAD` below `root` names, without `prefix`; whether it exists is another matter.
pub(super) fn default_branch(repo: &Repository, head: &str, prefix: &str) -> Option<String> {
    let head = repo.find_reference(head).ok()?;
    let target = head.symbolic_target().ok().flatten()?;
    Some(target.strip_prefix(prefix)?.to_owned())
}

/// A place in the order of a listing.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    time: Reverse<i64>,
    name: &'a [u8],
}

impl<'a> Key<'a> {
    fn cursor(&self) -> String {
        opaque(&[&self.time.0.to_be_bytes(), self.name].concat())
    }

    fn of_cursor(bytes: &'a [u8]) -> Option<Self> {
        let (time, name) = bytes.split_first_chunk()?;
        Some(Self { time: Reverse(i64::from_be_bytes(*time)), name })
    }
}

pub(super) fn page(repo: &Repo, limit: i64, cursor: Option<&str>, caller: &Caller) -> Result<Page, ToolError> {
    let limit = usize::try_from(limit).ok().filter(|limit| (1..=100).contains(limit)).ok_or_else(|| {
        ToolError::refused(format!("limit `{limit}` is not between 1 and 100; read further pages with `cursor`"))
    })?;
    let bytes = cursor.and_then(transparent);
    let after = bytes.as_deref().and_then(Key::of_cursor);
    if let Some(cursor) = cursor.filter(|_| after.is_none()) {
        let cursor = quoted(cursor);
        return Err(ToolError::refused(format!("unknown cursor {cursor}; leave it out to start at the newest branch")));
    }
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
    let heads = repo.packed.heads(&place, &prefix, repo.limits.remembered_commits)?;
    let hidden = Hidden::from_readers(repo, &place)?;
    let shown = |head: &&Head| !hidden.hides(&head.name) && (live || head.name != b"HEAD");
    let shown: Vec<&Head> = heads.iter().filter(shown).collect();
    let default =
        default_branch(&place, &head, &prefix).filter(|name| shown.iter().any(|head| head.name == name.as_bytes()));
    let in_use = if live { policy::in_use(&place) } else { Vec::new() };

    let mut keyed = keyed(repo, &place, shown, caller)?;
    keyed.retain(|(key, _)| after.as_ref().is_none_or(|after| key > after));
    let more = keyed.len() > limit;
    if more {
        keyed.select_nth_unstable_by(limit, |(a, _), (b, _)| a.cmp(b));
        keyed.truncate(limit);
    }
    keyed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let next_cursor = keyed.last().filter(|_| more).map(|(key, _)| key.cursor());
    let branches = keyed.into_iter().map(|(key, oid)| {
        let plain = String::from_utf8_lossy(key.name);
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
            name: if BranchName::fits(key.name) { plain.into() } else { visible(key.name, 200) },
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
fn keyed<'a>(
    repo: &Repo,
    place: &Repository,
    heads: Vec<&'a Head>,
    caller: &Caller,
) -> Result<Vec<(Key<'a>, Oid)>, ToolError> {
    // What can't be read comes last.
    const UNREADABLE: i64 = i64::MIN;
    let known = Arc::clone(&repo.times.lock().unwrap_or_else(PoisonError::into_inner));
    let odb = place.odb().map_err(|error| refusal(&error))?;
    let mut news = false;
    let mut keyed = Vec::with_capacity(heads.len());
    for &Head { ref name, oid, .. } in heads {
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
