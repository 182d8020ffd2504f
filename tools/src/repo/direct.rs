//! Changes in a repository on this machine.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::Path,
};

use git2::{ErrorCode, ObjectType, Oid, Repository};

use super::{
    BranchName, CommitId, Repo, Start,
    fault::refusal,
    heads::heads,
    list::default_branch,
    loss,
    policy::{self, Change},
    remote,
};
use crate::{Question, ToolError, blocking::Caller};

const HEADS: &str = "refs/heads/";

pub(super) fn create(
    repo: &Repo,
    path: &Path,
    branch: &BranchName,
    from: Option<&Start>,
    caller: &Caller,
) -> Result<Oid, ToolError> {
    let clone = repo.fresh()?;
    let place = remote::open(path).map_err(ToolError::internal)?;
    policy::allows(repo, &clone, Some(&place), branch, Change::Create)?;
    let heads = heads(&place, HEADS)?;
    clash(branch, heads.iter().map(|head| head.name.as_slice()))?;
    let default = default_branch(&place, "HEAD", HEADS);
    let hidden = policy::Hidden::from_readers(repo, &place)?;
    let shown = |name: &str| heads.iter().find(|head| head.name == name.as_bytes() && !hidden.hides(&head.name));
    let at = |name: &str| shown(name).map(|head| head.oid);
    let commit = start(from, default.as_deref(), at)?;
    is_commit(&place, commit, "repository")?;

    let name = branch.as_ref_name();
    can_be_read(&place, &name)?;
    let message = format!("branch: created at {commit}");
    caller.still_waits()?;
    // Under its lock the reference must still have no value, so a branch that another program
    // made since we looked is not moved.
    place.reference_matching(&name, commit, false, Oid::ZERO_SHA1, &message).map_err(|error| match error.code() {
        ErrorCode::Exists | ErrorCode::Modified => taken(branch),
        ErrorCode::Directory => conflicting(branch, None),
        _ => refusal(&error),
    })?;
    sync(place.commondir(), &name).map_err(ToolError::internal)?;
    match value(path, &name)? {
        Some(now) if now == commit => Ok(commit),
        _ => Err(ToolError::refused(format!(
            "another program changed `{branch}` right after it was created; see `list_branches`"
        ))),
    }
}

pub(super) fn delete(
    repo: &Repo,
    path: &Path,
    branch: &BranchName,
    expected: Option<CommitId>,
    consent: impl FnOnce(Question) -> Result<(), ToolError>,
    caller: &Caller,
) -> Result<Option<Oid>, ToolError> {
    let clone = repo.fresh()?;
    let place = remote::open(path).map_err(ToolError::internal)?;
    let default = default_branch(&place, "HEAD", HEADS);
    keeps(repo, branch, default.as_deref(), &policy::in_use(&place))?;
    let name = branch.as_ref_name();
    let Some(tip) = value(path, &name)? else {
        return Ok(None);
    };
    policy::allows(repo, &clone, Some(&place), branch, Change::Delete)?;
    stands_on(branch, expected, tip)?;
    let others = heads(&place, HEADS)?;
    let others = others.iter().filter(|head| !head.alias && head.name != branch.as_str().as_bytes());
    let others: Vec<Oid> = others.map(|head| head.oid).collect();
    if let Some(question) = loss::question(&place, branch, tip, &others, repo.limits.counted_commits)? {
        consent(question)?;
    }

    // Compared again under the reference's lock. libgit2's own deletion of a branch would drop its
    // reflog and settings before it compares, and so when it then deletes nothing.
    let mut transaction = place.transaction().map_err(|error| refusal(&error))?;
    transaction.lock_ref(&name).map_err(|error| refusal(&error))?;
    match value(path, &name)? {
        Some(now) if now == tip => {}
        Some(now) => return Err(moved(branch, now)),
        None => return Ok(None),
    }
    transaction.remove(&name).map_err(|error| refusal(&error))?;
    caller.still_waits()?;
    transaction.commit().map_err(|error| refusal(&error))?;
    match place.reflog_delete(&name) {
        Err(error) if error.code() != ErrorCode::NotFound => {
            tracing::warn!(%error, "the reflog of a deleted branch stays");
        }
        _ => {}
    }
    sync(place.commondir(), &name).map_err(ToolError::internal)?;
    match value(path, &name)? {
        None => Ok(Some(tip)),
        Some(_) => Err(ToolError::refused(format!(
            "`{branch}` is there again, made by another program right after its deletion; see `list_branches`"
        ))),
    }
}

/// Refuse what libgit2 would wait at for ever, such as a pipe.
fn can_be_read(place: &Repository, name: &str) -> Result<(), ToolError> {
    let kind = fs::metadata(place.commondir().join(name));
    if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
        return Err(ToolError::refused(
            "what stands in the place of this branch is no file, so nothing was changed; tell the operator",
        ));
    }
    Ok(())
}

/// Where a branch stands now, seen by a handle that remembers nothing.
fn value(path: &Path, name: &str) -> Result<Option<Oid>, ToolError> {
    let place = remote::open(path).map_err(ToolError::internal)?;
    can_be_read(&place, name)?;
    match place.find_reference(name) {
        Ok(reference) => reference.target().map(Some).ok_or_else(|| {
            ToolError::refused(
                "this branch is another name of a second branch, which these tools don't change; use git itself",
            )
        }),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(refusal(&error)),
    }
}

/// Refuse a name that is taken, or that would be on a file system without letter case, or that is
/// a folder of another name.
pub(super) fn clash<'a>(branch: &BranchName, names: impl Iterator<Item = &'a [u8]>) -> Result<(), ToolError> {
    let wanted = branch.as_str().as_bytes();
    let below = |folder: &[u8], name: &[u8]| match name.split_at_checked(folder.len()) {
        Some((start, [b'/', ..])) => start.eq_ignore_ascii_case(folder),
        _ => false,
    };
    for name in names {
        if name == wanted {
            return Err(taken(branch));
        }
        if name.eq_ignore_ascii_case(wanted) || below(name, wanted) || below(wanted, name) {
            return Err(conflicting(branch, Some(name)));
        }
    }
    Ok(())
}

fn taken(branch: &BranchName) -> ToolError {
    ToolError::refused(format!("branch `{branch}` already exists and was not changed; choose another name"))
}

fn conflicting(branch: &BranchName, other: Option<&[u8]>) -> ToolError {
    let other = other.map_or_else(String::new, |name| format!(" `{}`", crate::text::visible(name, 60)));
    ToolError::refused(format!(
        "`{branch}` conflicts with existing branch{other}; choose a name that differs in more than letter case and is no folder of another"
    ))
}

/// The commit that a new branch starts at.
pub(super) fn start(
    from: Option<&Start>,
    default: Option<&str>,
    at: impl Fn(&str) -> Option<Oid>,
) -> Result<Oid, ToolError> {
    let name = match from {
        Some(Start::Commit(CommitId(oid))) => return Ok(*oid),
        Some(Start::Branch(name)) => Some(name.as_str()),
        None => default,
    };
    match name {
        Some(name) => at(name).ok_or_else(|| {
            ToolError::refused(format!(
                "there is no branch {} to start from; see `list_branches`, or name a commit in `from`",
                crate::text::quoted(name)
            ))
        }),
        None => {
            Err(ToolError::refused("there is no default branch to start from; name a branch or a commit in `from`"))
        }
    }
}

/// Refuse a start that is missing, or a tag, a tree or a file.
pub(super) fn is_commit(place: &Repository, oid: Oid, whereabouts: &str) -> Result<(), ToolError> {
    let odb = place.odb().map_err(|error| refusal(&error))?;
    match odb.read_header(oid) {
        Ok((_, ObjectType::Commit)) => Ok(()),
        Ok((_, kind)) => Err(ToolError::refused(format!(
            "`{oid}` is a {kind} and not a commit; name a branch or a commit in `from`"
        ))),
        Err(error) if error.code() == ErrorCode::NotFound => {
            Err(ToolError::refused(format!("the {whereabouts} has no commit `{oid}`; see `list_branches` for commits")))
        }
        Err(error) => Err(refusal(&error)),
    }
}

/// Refuse to delete what has to stay whatever the user says.
pub(super) fn keeps(
    repo: &Repo,
    branch: &BranchName,
    default: Option<&str>,
    in_use: &[String],
) -> Result<(), ToolError> {
    let is = |name: &str| name.eq_ignore_ascii_case(branch.as_str());
    let why = if default.is_some_and(is) {
        "is the default branch"
    } else if in_use.iter().any(|name| is(name)) {
        "is checked out in a working tree"
    } else if repo.protects(branch.as_str()) {
        "is protected by the operator"
    } else {
        return Ok(());
    };
    Err(ToolError::refused(format!("`{branch}` {why} and is not deleted; choose another branch")))
}

pub(super) fn stands_on(branch: &BranchName, expected: Option<CommitId>, tip: Oid) -> Result<(), ToolError> {
    match expected {
        Some(CommitId(oid)) if oid != tip => Err(moved(branch, tip)),
        _ => Ok(()),
    }
}

pub(super) fn moved(branch: &BranchName, now: Oid) -> ToolError {
    ToolError::refused(format!(
        "conflict: `{branch}` now stands on `{now}` and was not deleted; look at it again before you repeat this with another `expected_head`"
    ))
}

/// Wait until what a change to `name` may have touched is on the disk.
fn sync(git_dir: &Path, name: &str) -> io::Result<()> {
    let reference = git_dir.join(name);
    let folders = reference.ancestors().skip(1).take_while(|folder| folder.starts_with(git_dir));
    let files = [reference.as_path(), &git_dir.join("packed-refs")];
    for path in files.into_iter().chain(folders) {
        match File::open(path).and_then(|file| file.sync_all()) {
            // The branch is gone, or its folder with it.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            done => done?,
        }
    }
    Ok(())
}
