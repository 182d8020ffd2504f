use git2::{ErrorCode, ObjectType, Oid, Repository};

use super::{BranchName, fault::refusal};
use crate::{Question, ToolError, text::visible};

/// What the user is asked before the deletion of a branch at `tip`; `None` where every commit of
/// it stays on one of `others`.
///
/// Where `repo` has no copy of the branch's commits nobody can tell, so the user is asked.
pub(super) fn question(
    repo: &Repository,
    branch: &BranchName,
    tip: Oid,
    others: &[Oid],
    counted: usize,
) -> Result<Option<Question>, ToolError> {
    if others.contains(&tip) {
        return Ok(None);
    }
    let text = if is_commit(repo, tip) {
        // What isn't here can't be followed; it may keep a commit, so the user is rather asked.
        let here: Vec<Oid> = others.iter().copied().filter(|&oid| is_commit(repo, oid)).collect();
        if reaches(repo, &here, tip)? {
            return Ok(None);
        }
        let lost = count(repo, tip, &here, counted)?;
        let (least, commits) = match lost {
            1 => ("", "commit is"),
            _ if lost > counted => ("at least ", "commits are"),
            _ => ("", "commits are"),
        };
        let newest = repo.find_commit(tip).map_err(|error| refusal(&error))?;
        let subject = visible(newest.summary_bytes().unwrap_or_default(), 72);
        let lost = lost.min(counted);
        format!(
            "Delete branch `{branch}`? {least}{lost} {commits} on no other branch and may be lost. Newest: \"{subject}\" ({tip})"
        )
    } else {
        format!(
            "Delete branch `{branch}` at {tip}? This clone has no copy of its commits, so they may be on no other branch and may be lost."
        )
    };
    Ok(Some(Question { subject: format!("{branch}@{tip}"), text }))
}

fn is_commit(repo: &Repository, oid: Oid) -> bool {
    let header = repo.odb().and_then(|odb| odb.read_header(oid));
    header.is_ok_and(|(_, kind)| kind == ObjectType::Commit)
}

/// Whether `tip` is an ancestor of one of `heads`: then it is the best ancestor that it has in
/// common with all of them together.
fn reaches(repo: &Repository, heads: &[Oid], tip: Oid) -> Result<bool, ToolError> {
    if heads.is_empty() {
        return Ok(false);
    }
    match repo.merge_base_many(&[&[tip], heads].concat()) {
        Ok(base) => Ok(base == tip),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(false),
        Err(error) => Err(refusal(&error)),
    }
}

/// How many commits `tip` alone reaches; stops at one more than `most`.
fn count(repo: &Repository, tip: Oid, others: &[Oid], most: usize) -> Result<usize, ToolError> {
    let walk = || {
        let mut walk = repo.revwalk()?;
        walk.push(tip)?;
        for &other in others {
            walk.hide(other)?;
        }
        Ok::<_, git2::Error>(walk.take(most.saturating_add(1)).count())
    };
    walk().map_err(|error| refusal(&error))
}
