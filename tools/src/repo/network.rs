//! Changes at a remote behind the git protocol.

use std::{cell::RefCell, collections::BTreeMap};

use git2::{Direction, Error, Oid, PushOptions, Remote, RemoteCallbacks, Repository};

use super::{
    BranchName, CommitId, Repo, Start,
    direct::{clash, is_commit, keeps, moved, stands_on, start},
    fault::{refusal, unreachable},
    loss,
    policy::{self, Change},
};
use crate::{Question, ToolError, blocking::Caller, text::visible};

/// The branches of the remote at this moment.
struct Listed {
    heads: BTreeMap<String, Oid>,
    default: Option<String>,
}

impl Listed {
    fn now(remote: &mut Remote<'_>) -> Result<Self, Error> {
        let mut listed = Self { heads: BTreeMap::new(), default: None };
        remote.connect(Direction::Fetch)?;
        for head in remote.list()? {
            if let Some(name) = head.name().strip_prefix("refs/heads/") {
                listed.heads.insert(name.to_owned(), head.oid());
            } else if head.name() == "HEAD" {
                let target = head.symref_target().and_then(|name| name.strip_prefix("refs/heads/"));
                listed.default = target.map(str::to_owned);
            }
        }
        remote.disconnect()?;
        Ok(listed)
    }
}

pub(super) fn create(
    repo: &Repo,
    branch: &BranchName,
    from: Option<&Start>,
    caller: &Caller,
) -> Result<Oid, ToolError> {
    let clone = repo.fresh()?;
    policy::allows(repo, &clone, None, branch, Change::Create)?;
    let mut remote = clone.find_remote(&repo.remote_name).map_err(|error| refusal(&error))?;
    let listed = Listed::now(&mut remote).map_err(|error| unreachable(&error))?;
    clash(branch, listed.heads.keys().map(String::as_bytes))?;
    let at = |name: &str| listed.heads.get(name).copied();
    let commit = start(from, listed.default.as_deref(), at)?;
    is_commit(&clone, commit, "clone")?;
    let refspec = format!("{commit}:{}", branch.as_ref_name());
    let before = push(&clone, &mut remote, branch, &refspec, None, Some(commit), caller)?;
    if before.is_some() {
        return Err(ToolError::refused(format!(
            "branch `{branch}` already exists and was not changed; choose another name"
        )));
    }
    verify(&mut remote, branch, Some(commit))?;
    Ok(commit)
}

pub(super) fn delete(
    repo: &Repo,
    branch: &BranchName,
    expected: Option<CommitId>,
    consent: impl FnOnce(Question) -> Result<(), ToolError>,
    caller: &Caller,
) -> Result<Option<Oid>, ToolError> {
    let clone = repo.fresh()?;
    let mut remote = clone.find_remote(&repo.remote_name).map_err(|error| refusal(&error))?;
    let listed = Listed::now(&mut remote).map_err(|error| unreachable(&error))?;
    keeps(repo, branch, listed.default.as_deref(), &[])?;
    let Some(&tip) = listed.heads.get(branch.as_str()) else {
        return Ok(None);
    };
    policy::allows(repo, &clone, None, branch, Change::Delete)?;
    stands_on(branch, expected, tip)?;
    let others = listed.heads.iter().filter(|(name, _)| *name != branch.as_str());
    let others: Vec<Oid> = others.map(|(_, oid)| *oid).collect();
    if let Some(question) = loss::question(&clone, branch, tip, &others, repo.limits.counted_commits)? {
        consent(question)?;
    }
    let refspec = format!(":{}", branch.as_ref_name());
    match push(&clone, &mut remote, branch, &refspec, Some(tip), None, caller)? {
        Some(now) if now == tip => {}
        Some(now) => return Err(moved(branch, now)),
        None => return Ok(None),
    }
    verify(&mut remote, branch, None)?;
    Ok(Some(tip))
}

/// Push one update from `old` to `new` and return where the branch really stood. Pushes nothing
/// if that isn't `old`; the remote compares once more under its lock.
fn push(
    clone: &Repository,
    remote: &mut Remote<'_>,
    branch: &BranchName,
    refspec: &str,
    old: Option<Oid>,
    new: Option<Oid>,
    caller: &Caller,
) -> Result<Option<Oid>, ToolError> {
    let id = |oid: Option<Oid>| oid.unwrap_or(Oid::ZERO_SHA1);
    let name = branch.as_ref_name();
    // What the callbacks learn: where the branch stood, who stopped us, what the remote said.
    let stood = RefCell::new(None);
    let cancelled = RefCell::new(None);
    let answer = RefCell::new(None);
    let mut callbacks = RemoteCallbacks::new();
    callbacks.push_negotiation(|updates| {
        let [update] = updates else {
            return Err(Error::from_str("not one update"));
        };
        if update.dst_refname_bytes() != name.as_bytes() || update.dst() != id(new) {
            return Err(Error::from_str("not our update"));
        }
        *stood.borrow_mut() = Some(update.src());
        if update.src() != id(old) {
            return Err(Error::from_str("the branch moved"));
        }
        caller.still_waits().map_err(|error| {
            *cancelled.borrow_mut() = Some(error);
            Error::from_str("cancelled")
        })
    });
    callbacks.push_update_reference(|_, refused| {
        *answer.borrow_mut() = Some(refused.map(str::to_owned));
        Ok(())
    });
    let mut options = PushOptions::new();
    options.remote_callbacks(callbacks);
    let pushed = remote.push(&[refspec], Some(&mut options));
    drop(options);
    _ = remote.disconnect();

    if let Some(error) = cancelled.take() {
        return Err(error);
    }
    let stood = stood.take();
    if let Some(stood) = stood.filter(|&stood| stood != id(old)) {
        return Ok(Some(stood).filter(|oid| !oid.is_zero()));
    }
    // A refusal by the remote is known from its report alone, whatever the push itself returns.
    if let Some(Some(reason)) = answer.take() {
        return Err(ToolError::refused(format!(
            "the remote refused the change to `{branch}`, nothing was changed: \"{}\"; see `list_branches`, or ask the operator",
            visible(reason.as_bytes(), 120)
        )));
    }
    match (pushed, stood) {
        (Err(error), None) => Err(unreachable(&error)),
        (Err(error), Some(_)) => {
            // The change was sent, so it may have been made: the caller looks.
            tracing::warn!(%error, clone = ?clone.path(), "a push did not end as it should");
            Ok(old)
        }
        (Ok(()), _) => Ok(old),
    }
}

/// Ask the remote whether the branch now stands where it should. Only this makes a push a success.
fn verify(remote: &mut Remote<'_>, branch: &BranchName, expected: Option<Oid>) -> Result<(), ToolError> {
    let listed = Listed::now(remote).map_err(|error| {
        tracing::warn!(%error, "a change could not be verified");
        ToolError::refused(format!(
            "the change to `{branch}` was sent, but the remote cannot be asked whether it was made; look there before you repeat it"
        ))
    })?;
    if listed.heads.get(branch.as_str()).copied() == expected {
        return Ok(());
    }
    Err(ToolError::refused(format!(
        "the change to `{branch}` was sent, but the remote shows another state of it; look there before you repeat it"
    )))
}
