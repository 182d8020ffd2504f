//! The named worlds of our own server. Each is the demo workspace with one thing about it that has
//! made a hint false somewhere.

mod repositories;

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{World, WorldError, databases};
use crate::serve::demo::{self, DemoWorkspace};

/// All of them.
#[must_use]
pub fn builders() -> Vec<World> {
    let mut worlds = vec![
        World::builder("demo", demo),
        World::builder("packed", packed),
        World::builder("hooks", hooks),
        World::builder("stale-index", stale_index),
        World::builder("protected", protected),
        World::builder("partial-clone", partial_clone),
        World::builder("odd-notes", odd_notes),
    ];
    worlds.extend(databases::BUILDERS.map(|(name, change)| {
        World::builder(name.replace(' ', "-"), move |dir| {
            let DemoWorkspace { database, .. } = demo::lay_out(dir)?;
            Ok(change(&database)?)
        })
    }));
    worlds.push(World { locked: Some("shop.db".into()), ..World::builder("locked", locked) });
    worlds.push(World { offline: true, ..World::builder("offline", demo) });
    worlds
}

/// A database in WAL mode, where a lock that somebody else holds keeps writers out and lets readers
/// go on: in other modes nobody could do anything.
fn locked(dir: &Path) -> Result<(), WorldError> {
    let DemoWorkspace { database, .. } = demo::lay_out(dir)?;
    Ok(databases::write_ahead_log(&database)?)
}

/// The demo workspace as it is.
fn demo(dir: &Path) -> Result<(), WorldError> {
    demo::lay_out(dir)?;
    Ok(())
}

/// All references of both repositories in `packed-refs`, none in a file of its own.
fn packed(dir: &Path) -> Result<(), WorldError> {
    let DemoWorkspace { repo, origin, .. } = demo::lay_out(dir)?;
    repositories::pack_references(&repo.join(".git"))?;
    repositories::pack_references(&origin)
}

/// Hooks, a file system monitor and an external diff, each of which appends its name to `ran.log`.
/// None may run: our own server, told to change branches although they are there, does so without.
fn hooks(dir: &Path) -> Result<(), WorldError> {
    let DemoWorkspace { repo, origin, .. } = demo::lay_out(dir)?;
    let git = repo.join(".git");
    repositories::add_hooks(&git, "../../../ran.log")?;
    repositories::add_hooks(&origin, "../../ran.log")?;
    let mut config = repositories::config(&git)?;
    config.set_str("core.fsmonitor", ".git/hooks/fsmonitor")?;
    config.set_str("diff.external", ".git/hooks/diff")?;
    Ok(())
}

/// A tracked file whose time moved since the index was written: git rewrites the index to note it.
fn stale_index(dir: &Path) -> Result<(), WorldError> {
    let DemoWorkspace { repo, .. } = demo::lay_out(dir)?;
    repositories::refresh_index(&repo)?;
    let file = fs::File::options().append(true).open(repo.join("README.md"))?;
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_772_600_000))?;
    Ok(())
}

/// Branches of `origin` that must stay: one that a linked working tree has checked out, and one
/// that it is rebasing.
fn protected(dir: &Path) -> Result<(), WorldError> {
    let DemoWorkspace { origin, .. } = demo::lay_out(dir)?;
    repositories::add_working_tree(&origin, &dir.join("review"), "experiment/cache", "feature/search")
}

/// The clone lacks all file contents but those that are checked out, and knows where to get them.
fn partial_clone(dir: &Path) -> Result<(), WorldError> {
    let DemoWorkspace { repo, .. } = demo::lay_out(dir)?;
    repositories::make_partial(&repo)
}

/// Notes among links, folders and files that may not be written to.
fn odd_notes(dir: &Path) -> Result<(), WorldError> {
    let DemoWorkspace { notes, .. } = demo::lay_out(dir)?;
    fs::create_dir(notes.join("archive"))?;
    fs::write(notes.join("archive/old.md"), "# Last year\n\nWe moved.\n")?;
    let locked = notes.join("locked.md");
    fs::write(&locked, "# Locked\n\nMay be read, not written.\n")?;
    let mut permissions = fs::metadata(&locked)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&locked, permissions)?;
    for (name, target) in [
        ("linked.md", PathBuf::from("welcome.md")),
        ("outside.md", Path::new("..").join("outside.md")),
        ("dangling.md", "nowhere.md".into()),
        ("here", ".".into()),
    ] {
        link(&target, &notes.join(name))?;
    }
    fs::write(dir.join("outside.md"), "# Outside\n\nNot a note.\n")?;
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Links take a privilege there that few have.
#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Ok(())
}
