//! Turns the [`history`](super::history) into a bare repository and a clone of it.

use std::{collections::HashMap, fs, path::Path};

use git2::{
    Commit, Config, FileMode, Index, ObjectType, Oid, Repository, RepositoryInitOptions, Signature, Time,
    build::TreeUpdateBuilder,
};

use super::history::{AUTHORS, CHECKED_OUT, HISTORY, Step, TAG};

/// Monday, 2 March 2026, 09:00 UTC. Each step comes five hours after the one before.
const START: i64 = 1_772_442_000;
const PAUSE: i64 = 5 * 60 * 60;

type Failure = Box<dyn std::error::Error>;

/// Make both repositories.
pub(super) fn lay_out(clone: &Path, origin: &Path) -> Result<(), Failure> {
    let bare = init(origin, true)?;
    let branches = write_history(&bare)?;
    for (branch, commit) in &branches {
        bare.reference(&format!("refs/heads/{branch}"), *commit, false, "")?;
    }

    let repo = init(clone, false)?;
    // The same content makes the same objects, so writing it again is as good as fetching it.
    write_history(&repo)?;
    for (branch, commit) in &branches {
        repo.reference(&format!("refs/remotes/origin/{branch}"), *commit, false, "")?;
    }
    repo.reference_symbolic("refs/remotes/origin/HEAD", "refs/remotes/origin/main", false, "")?;
    repo.remote("origin", "../origin.git")?;
    for branch in ["main", CHECKED_OUT] {
        let commit = branches.get(branch).ok_or("no such branch")?;
        repo.reference(&format!("refs/heads/{branch}"), *commit, false, "")?;
        let mut config = repo.config()?;
        config.set_str(&format!("branch.{branch}.remote"), "origin")?;
        config.set_str(&format!("branch.{branch}.merge"), &format!("refs/heads/{branch}"))?;
    }
    check_out(&repo, CHECKED_OUT)?;
    for repo in [&bare, &repo] {
        repo.config()?.remove("core.logallrefupdates")?;
        pack(repo)?;
    }
    Ok(())
}

/// Put all objects into one pack, as a clone would have them: a world is copied for every trial, and
/// that takes as long as it has files.
fn pack(repo: &Repository) -> Result<(), Failure> {
    let mut objects = Vec::new();
    repo.odb()?.foreach(|id| {
        objects.push(*id);
        true
    })?;
    objects.sort_unstable();
    let mut pack = repo.packbuilder()?;
    pack.set_threads(1); // the same bytes each time
    for id in objects {
        pack.insert_object(id, None)?;
    }
    let folder = repo.path().join("objects");
    pack.write(&folder.join("pack"), 0o444)?;
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        if entry.file_name().len() == 2 {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// An empty repository that knows nothing of the user's git configuration or templates.
fn init(path: &Path, bare: bool) -> Result<Repository, Failure> {
    let mut options = RepositoryInitOptions::new();
    options.bare(bare).no_reinit(true).mkpath(true).external_template(false);
    let repo = Repository::init_opts(path, options.initial_head("main"))?;
    repo.set_config(&Config::open(&repo.path().join("config"))?)?;
    // A reflog holds the time of writing, which is never the same.
    repo.config()?.set_bool("core.logallrefupdates", false)?;
    Ok(repo)
}

/// A branch while the history is being written.
#[derive(Clone)]
struct Line {
    head: Oid,
    /// What it changed since it began.
    changes: Vec<(&'static str, Oid)>,
}

/// Write all commits and the tag; returns the branches. Moves no branch.
fn write_history(repo: &Repository) -> Result<HashMap<&'static str, Oid>, Failure> {
    let mut lines: HashMap<&str, Line> = HashMap::new();
    for (at, step) in (0..).zip(HISTORY) {
        let time = Time::new(START + at * PAUSE, 0);
        match *step {
            Step::Branch { name, from } => {
                let head = lines.get(from).ok_or("no such branch")?.head;
                lines.insert(name, Line { head, changes: Vec::new() });
            }
            Step::Commit { on, by, message, files } => {
                let changes = files
                    .iter()
                    .map(|(path, text)| Ok((*path, repo.blob(text.as_bytes())?)))
                    .collect::<Result<Vec<_>, git2::Error>>()?;
                let parent = lines.get(on).map(|line| repo.find_commit(line.head)).transpose()?;
                let parents: Vec<_> = parent.iter().collect();
                let head = commit(repo, by, time, message, &parents, &changes)?;
                let line = lines.entry(on).or_insert(Line { head, changes: Vec::new() });
                line.head = head;
                line.changes.extend(changes);
            }
            Step::Merge { branch, into, by } => {
                let merged = lines.get(branch).ok_or("no such branch")?.clone();
                let target = lines.get_mut(into).ok_or("no such branch")?;
                let parents = [repo.find_commit(target.head)?, repo.find_commit(merged.head)?];
                let message = format!("Merge branch '{branch}'");
                let parents: Vec<_> = parents.iter().collect();
                target.head = commit(repo, by, time, &message, &parents, &merged.changes)?;
                target.changes.extend(merged.changes);
            }
            Step::Tag { on, by } => {
                let head = lines.get(on).ok_or("no such branch")?.head;
                let target = repo.find_object(head, Some(ObjectType::Commit))?;
                repo.tag(TAG, &target, &signature(by, time)?, &format!("Release {TAG}"), false)?;
            }
        }
    }
    Ok(lines.into_iter().map(|(name, line)| (name, line.head)).collect())
}

/// A commit whose tree is that of its first parent with these changes.
fn commit(
    repo: &Repository,
    by: usize,
    time: Time,
    message: &str,
    parents: &[&Commit<'_>],
    changes: &[(&str, Oid)],
) -> Result<Oid, Failure> {
    let before = match parents.first() {
        Some(parent) => parent.tree()?,
        None => repo.find_tree(repo.treebuilder(None)?.write()?)?,
    };
    let mut update = TreeUpdateBuilder::new();
    for (path, blob) in changes {
        update.upsert(*path, *blob, FileMode::Blob);
    }
    let tree = repo.find_tree(update.create_updated(repo, &before)?)?;
    let author = signature(by, time)?;
    Ok(repo.commit(None, &author, &author, message, &tree, parents)?)
}

fn signature(by: usize, time: Time) -> Result<Signature<'static>, Failure> {
    let (name, email) = AUTHORS.get(by).ok_or("no such author")?;
    Ok(Signature::new(name, email, &time)?)
}

/// Fill the index and the working tree without libgit2's checkout, which would convert line ends
/// as the machine is configured.
fn check_out(repo: &Repository, branch: &str) -> Result<(), Failure> {
    repo.set_head(&format!("refs/heads/{branch}"))?;
    let mut index: Index = repo.index()?;
    index.read_tree(&repo.head()?.peel_to_tree()?)?;
    index.write()?;
    let root = repo.workdir().ok_or("no working tree")?;
    for entry in index.iter() {
        let path = root.join(std::str::from_utf8(&entry.path)?);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, repo.find_blob(entry.id)?.content())?;
    }
    Ok(())
}
