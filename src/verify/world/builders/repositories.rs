//! What happens to git repositories in the wild, done by hand and by libgit2: no git is needed.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use git2::{Config, ObjectType, Oid, Repository, TreeWalkMode, TreeWalkResult};

use crate::verify::WorldError;

/// The repository's own configuration and nobody else's.
pub(super) fn config(git: &Path) -> Result<Config, WorldError> {
    Ok(Config::open(&git.join("config"))?)
}

fn open(path: &Path) -> Result<Repository, WorldError> {
    let repository = Repository::open(path)?;
    repository.set_config(&config(repository.path())?)?;
    Ok(repository)
}

/// Move every reference that names an object into `packed-refs`, as `git pack-refs --all` does.
pub(super) fn pack_references(git: &Path) -> Result<(), WorldError> {
    let repository = open(git)?;
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    let mut loose: Vec<PathBuf> = Vec::new();
    for reference in repository.references()? {
        let reference = reference?;
        let (Ok(name), Some(id)) = (reference.name(), reference.target()) else { continue };
        let mut line = format!("{id} {name}\n");
        let peeled = reference.peel(ObjectType::Any)?.id();
        if peeled != id {
            let _ = writeln!(line, "^{peeled}");
        }
        loose.push(git.join(name));
        lines.insert(name.to_owned(), line);
    }
    let lines: String = lines.into_values().collect();
    fs::write(git.join("packed-refs"), format!("# pack-refs with: peeled fully-peeled sorted \n{lines}"))?;
    for path in loose {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Everything that git may run by itself.
const HOOKS: [&str; 14] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor",
    "diff",
    "post-checkout",
    "post-commit",
    "post-receive",
    "post-update",
    "pre-commit",
    "pre-push",
    "pre-receive",
    "reference-transaction",
    "update",
    "post-index-change",
];

/// Programs that note in a log, named as seen from their own directory, that they were run.
pub(super) fn add_hooks(git: &Path, log: &str) -> Result<(), WorldError> {
    fs::create_dir_all(git.join("hooks"))?;
    for name in HOOKS {
        let path = git.join("hooks").join(name);
        fs::write(&path, format!("#!/bin/sh\necho {name} >> \"$(dirname \"$0\")/{log}\"\n"))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// Let the index know size and time of each file.
pub(super) fn refresh_index(repo: &Path) -> Result<(), WorldError> {
    let repository = open(repo)?;
    let mut index = repository.index()?;
    let paths: Vec<Vec<u8>> = index.iter().map(|entry| entry.path).collect();
    for path in paths {
        index.add_path(Path::new(&*String::from_utf8_lossy(&path)))?;
    }
    Ok(index.write()?)
}

/// A linked working tree with one branch checked out and another being rebased. All paths between
/// the two are relative, so that copies work.
pub(super) fn add_working_tree(git: &Path, tree: &Path, branch: &str, rebased: &str) -> Result<(), WorldError> {
    let repository = open(git)?;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let own = git.join("worktrees").join(name(tree));
    fs::create_dir_all(own.join("rebase-merge"))?;
    fs::create_dir(tree)?;
    fs::write(tree.join(".git"), format!("gitdir: ../{}/worktrees/{}\n", name(git), name(tree)))?;
    fs::write(own.join("commondir"), "../..\n")?;
    fs::write(own.join("gitdir"), format!("../../../{}/.git\n", name(tree)))?;
    // Older git looks for a relative path elsewhere, and would take the working tree for removed.
    fs::write(own.join("locked"), "")?;
    fs::write(own.join("HEAD"), format!("ref: refs/heads/{branch}\n"))?;
    fs::write(own.join("rebase-merge/head-name"), format!("refs/heads/{rebased}\n"))?;
    let mut index = git2::Index::open(&own.join("index"))?;
    let commit = repository.find_reference(&format!("refs/heads/{branch}"))?.peel_to_commit()?;
    index.read_tree(&commit.tree()?)?;
    index.write()?;
    for entry in index.iter() {
        let path = tree.join(&*String::from_utf8_lossy(&entry.path));
        fs::create_dir_all(path.parent().unwrap_or(tree))?;
        fs::write(path, repository.find_blob(entry.id)?.content())?;
    }
    Ok(())
}

/// Put all objects into one pack that `origin` promises the rest of: commits, trees and tags, and
/// of the files those that are checked out, as `git clone --filter=blob:none` leaves it.
pub(super) fn make_partial(repo: &Path) -> Result<(), WorldError> {
    let repository = open(repo)?;
    let git = repository.path().to_owned();
    let (mut kept, mut all): (Vec<Oid>, Vec<Oid>) = (Vec::new(), Vec::new());
    repository.head()?.peel_to_tree()?.walk(TreeWalkMode::PreOrder, |_, entry| {
        kept.push(entry.id());
        TreeWalkResult::Ok
    })?;
    let odb = repository.odb()?;
    odb.foreach(|id| {
        all.push(*id);
        true
    })?;
    let mut pack = repository.packbuilder()?;
    for id in &all {
        if odb.read_header(*id)?.1 != ObjectType::Blob || kept.contains(id) {
            pack.insert_object(*id, None)?;
        }
    }
    let folder = git.join("objects/pack");
    // The demo workspace keeps all objects in packs.
    for entry in fs::read_dir(&folder)? {
        fs::remove_file(entry?.path())?;
    }
    pack.write(&folder, 0)?;
    let name = pack.name()?.unwrap_or_default().to_owned();
    fs::write(folder.join(format!("pack-{name}.promisor")), "")?;
    let mut config = config(&git)?;
    config.set_bool("remote.origin.promisor", true)?;
    config.set_str("remote.origin.partialclonefilter", "blob:none")?;
    Ok(())
}
