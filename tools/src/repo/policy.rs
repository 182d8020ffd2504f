use std::{fs, path::Path};

use git2::{Config, Repository};

use super::{BranchName, Place, Repo, fault::refusal, remote::values};
use crate::ToolError;

/// What a change does to a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Create,
    Delete,
}

/// Refuse what the place's own settings and hooks forbid, or could forbid: git would have asked
/// them, and libgit2 doesn't.
pub(super) fn allows(
    repo: &Repo,
    clone: &Repository,
    place: Option<&Repository>,
    branch: &BranchName,
    change: Change,
) -> Result<(), ToolError> {
    if !repo.trust_hooks {
        let pushed = (clone, [PRE_PUSH].as_slice());
        let own = |place| (place, [TRANSACTION].as_slice());
        let received = |place| (place, [PRE_RECEIVE, UPDATE, PROC_RECEIVE, TRANSACTION].as_slice());
        let asked = match (&repo.place, place) {
            (Place::Own(_), place) => vec![own(place.unwrap_or(clone))],
            (Place::Local(_), place) => vec![pushed, received(place.unwrap_or(clone))],
            (Place::Network, _) => vec![pushed],
        };
        for (place, hooks) in asked {
            if let Some(hook) = installed(place, hooks)? {
                return Err(ToolError::refused(format!(
                    "the repository has a `{hook}` hook that could forbid this, and hooks are not run here, so nothing was changed; use git itself, or ask the operator to trust the hooks"
                )));
            }
        }
    }
    let (Place::Local(_), Some(place)) = (&repo.place, place) else {
        return Ok(());
    };
    let config = place.config().map_err(|error| refusal(&error))?;
    if change == Change::Delete && config.get_bool("receive.denyDeletes").unwrap_or(false) {
        return Err(ToolError::refused(
            "the remote forbids deletions (`receive.denyDeletes`), nothing was changed; ask the operator",
        ));
    }
    if Hidden::read(&config, "receive")?.hides(branch.as_str().as_bytes()) {
        return Err(ToolError::refused(format!(
            "the remote hides `{branch}` (`hideRefs`) and takes no changes to it; ask the operator"
        )));
    }
    Ok(())
}

const PRE_PUSH: &str = "pre-push";
const PRE_RECEIVE: &str = "pre-receive";
const UPDATE: &str = "update";
const PROC_RECEIVE: &str = "proc-receive";
const TRANSACTION: &str = "reference-transaction";

/// The first of these hooks that git would run, as a file or by configuration.
fn installed(place: &Repository, hooks: &[&'static str]) -> Result<Option<&'static str>, ToolError> {
    let config = place.config().map_err(|error| refusal(&error))?;
    let mut dirs = vec![place.commondir().join("hooks")];
    if let Ok(path) = config.get_path("core.hooksPath") {
        // Relative to where git runs the hook: the top of a working tree, or the git directory.
        dirs = vec![place.path().join(&path)];
        dirs.extend(place.workdir().map(|top| top.join(&path)));
    }
    let file = |hook: &&str| dirs.iter().any(|dir| runs(&dir.join(hook)));
    if let Some(hook) = hooks.iter().copied().find(file) {
        return Ok(Some(hook));
    }
    let mut configured = None;
    config
        .entries(Some(r"^hook\..*\.event$"))
        .and_then(|entries| {
            entries.for_each(|entry| {
                let event = |hook: &&&str| hook.as_bytes() == entry.value_bytes();
                configured = configured.or(hooks.iter().find(event).copied());
            })
        })
        .map_err(|error| refusal(&error))?;
    Ok(configured)
}

/// Whether git would run this file.
fn runs(file: &Path) -> bool {
    let Ok(metadata) = fs::metadata(file) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}

/// References that a remote keeps out of sight: `git help config`, `transfer.hideRefs`.
pub(super) struct Hidden(Vec<String>);

impl Hidden {
    /// What readers of this place don't see: nothing is hidden from the repository itself.
    pub(super) fn from_readers(repo: &Repo, place: &Repository) -> Result<Self, ToolError> {
        match repo.place {
            Place::Local(_) => Self::read(&place.config().map_err(|error| refusal(&error))?, "uploadpack"),
            Place::Own(_) | Place::Network => Ok(Self(Vec::new())),
        }
    }

    fn read(config: &Config, service: &str) -> Result<Self, ToolError> {
        let mut rules = values(config, "transfer.hideRefs").map_err(ToolError::internal)?;
        rules.extend(values(config, &format!("{service}.hideRefs")).map_err(ToolError::internal)?);
        Ok(Self(rules))
    }

    /// The last rule that matches decides. A rule names a reference or a folder of them; `!` turns
    /// it around, and `^` means the name before namespaces, of which we have none.
    pub(super) fn hides(&self, branch: &[u8]) -> bool {
        let covers = |rule: &str| {
            let name = [b"refs/heads/", branch].concat();
            let rule = rule.trim_end_matches('/').as_bytes();
            name.strip_prefix(rule).is_some_and(|rest| rest.first().is_none_or(|&b| b == b'/'))
        };
        let verdict = |rule: &String| {
            let (shown, rule) = rule.strip_prefix('!').map_or((false, rule.as_str()), |rule| (true, rule));
            covers(rule.strip_prefix('^').unwrap_or(rule)).then_some(!shown)
        };
        self.0.iter().rev().find_map(verdict).unwrap_or(false)
    }
}

/// Branches that a working tree of this repository stands on, rebases or bisects.
///
/// Read from git's own files, so that a linked working tree counts whose directory is away.
pub(super) fn in_use(place: &Repository) -> Vec<String> {
    let git_dir = place.commondir();
    let linked = fs::read_dir(git_dir.join("worktrees")).into_iter().flatten().flatten();
    let main = (!place.is_bare()).then(|| git_dir.to_owned());
    let trees = linked.map(|tree| tree.path()).chain(main);
    let branch = |tree: &Path, file: &str| {
        let text = fs::read_to_string(tree.join(file)).ok()?;
        let text = text.trim().trim_start_matches("ref:").trim();
        let name = text.strip_prefix("refs/heads/");
        // A bisection notes the bare name.
        name.or_else(|| (file == "BISECT_START").then_some(text)).map(str::to_owned)
    };
    let files = ["HEAD", "rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];
    trees.flat_map(|tree| files.map(|file| branch(&tree, file))).flatten().collect()
}
