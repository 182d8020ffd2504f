//! The worlds of a run, and whether they can be used.

use std::path::{Path, PathBuf};

use candor_tools::shown;
use git2::{Config, Repository};

use super::{Failure, Options, rung::Rung};
use crate::verify::{Finding, Level, Rule, World, builders};

/// Our worlds by name, for messages.
fn ours() -> String {
    builders::builders().into_iter().map(|world| world.name).collect::<Vec<_>>().join(", ")
}

impl Options {
    /// The worlds that are asked for, not built yet.
    pub(super) fn worlds(&self) -> Result<Vec<World>, Failure> {
        let needs_none = self.lint && !self.is_ours() && self.world.is_empty();
        if self.url.is_some() || needs_none {
            return Ok(vec![World::builder("empty", |_| Ok(()))]);
        }
        let outside = self.served.outside();
        if !outside.is_empty() {
            return match outside.iter().find(|(_, place)| !Path::new(place).exists()) {
                _ if !self.world.is_empty() => Err("the server would work on the original: with --world, write \
                                                    {world}/… where its resources lie in the copy"
                    .into()),
                Some((name, place)) if *name != "reports.db" => {
                    Err(format!("`{}` is not there, and is to be copied", shown(place, 300)).into())
                }
                _ => Ok(vec![World::parts("yours", &outside)]),
            };
        }
        if self.world.is_empty() {
            return if self.is_ours() { Ok(builders::builders()) } else { self.on_the_command_line() };
        }
        let mut worlds: Vec<World> = Vec::new();
        for name in &self.world {
            if worlds.iter().any(|world| world.name == *name) {
                return Err(format!("--world `{}` is named twice", shown(name, 300)).into());
            }
            worlds.push(world(name)?);
        }
        Ok(worlds)
    }

    /// The directory that a server of somebody else is told of. A box shows a copy of it in its place;
    /// without a box, the server would work on the original.
    fn on_the_command_line(&self) -> Result<Vec<World>, Failure> {
        let mut found: Vec<PathBuf> = Vec::new();
        for word in self.command.iter().skip(1) {
            // `--option=DIR` names one, too.
            let place = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            let path = Path::new(place).canonicalize().ok().filter(|path| path.is_dir());
            found.extend(path.filter(|path| !found.contains(path)));
        }
        match found.as_slice() {
            _ if !matches!(self.climb()?.rung, Rung::Box { .. }) => Err("a server without a box needs a world to run \
                in: name a directory with --world DIR, and write {world} where its command takes that directory"
                .into()),
            [] => Ok(vec![World::builder("empty", |_| Ok(()))]),
            [dir] => {
                let name = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
                let mut world = World::directory(name, dir);
                world.shown_at = Some(dir.clone());
                Ok(vec![world])
            }
            several => {
                let names = several.iter().map(|dir| shown(&dir.to_string_lossy(), 100)).collect::<Vec<_>>();
                Err(format!(
                    "the command names {} directories, {}; say which is the world with --world DIR, and write \
                     {{world}} in its place; the others are shown as they are",
                    several.len(),
                    names.join(" and ")
                )
                .into())
            }
        }
    }

    /// The worlds of which all copies are equal, and what is wrong with the others.
    ///
    /// # Errors
    ///
    /// If none is left.
    pub(super) async fn usable(&self, worlds: Vec<World>) -> Result<(Vec<World>, Vec<Finding>), Failure> {
        let repo = self.is_ours().then(|| self.served.repository()).flatten();
        let checks = worlds.into_iter().map(|world| {
            let repo = repo.clone();
            tokio::task::spawn_blocking(move || {
                let checked = check(&world, repo.as_deref());
                (world, checked)
            })
        });
        let (mut usable, mut findings) = (Vec::new(), Vec::new());
        for check in checks.collect::<Vec<_>>() {
            match check.await? {
                (world, Ok(())) => usable.push(world),
                (world, Err(why)) => findings.push(Finding {
                    id: format!("server/{}/{}", Rule::World.name(), shown(&world.name, 60)),
                    tool: None,
                    rule: Rule::World,
                    level: Level::Warning,
                    text: shown(&format!("the world {} is not used: {why}", world.name), 600),
                }),
            }
        }
        match findings.first() {
            Some(Finding { text, .. }) if usable.is_empty() => Err(text.clone().into()),
            _ => Ok((usable, findings)),
        }
    }
}

fn world(name: &str) -> Result<World, Failure> {
    let (path, told) = (PathBuf::from(name), shown(name, 300));
    if path.is_dir() {
        return Ok(World::directory(name, &path));
    }
    if path.is_file() {
        return if may_run(&path) {
            Ok(World::script(name, &path))
        } else {
            Err(format!("--world `{told}` is a file that may not be run; make it executable, or name a directory")
                .into())
        };
    }
    let known = builders::builders().into_iter().find(|world| world.name == name);
    known
        .ok_or_else(|| format!("--world `{told}` is no directory and no program, and our worlds are {}", ours()).into())
}

#[cfg(unix)]
fn may_run(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn may_run(_: &Path) -> bool {
    true
}

/// `repo` is the repository of our own server.
fn check(world: &World, repo: Option<&str>) -> Result<(), String> {
    world.check_reset().map_err(|error| error.to_string())?;
    repo.map_or(Ok(()), |repo| keeps_inside(world, repo))
}

/// Our server deletes branches where a remote is, so that must lie in the copy.
fn keeps_inside(world: &World, repo: &str) -> Result<(), String> {
    let copy = world.fresh().map_err(|error| error.to_string())?;
    let dir = PathBuf::from(repo.replace("{world}", &copy.path().to_string_lossy()));
    if !dir.exists() {
        return Ok(()); // the server will say so
    }
    for url in remotes(&dir).map_err(|error| format!("the repository `{repo}`: {error}"))? {
        // A relative one begins at the working tree, or at a bare repository itself.
        let inside = Path::new(&url).is_relative()
            && dir.join(&url).canonicalize().is_ok_and(|target| target.starts_with(copy.path()));
        if !inside {
            return Err(format!(
                "the repository `{repo}` has the remote `{}`, which all copies would share; copy both into one \
                 directory, name the remote there by a relative path, and name that directory with --world",
                shown(&url, 200)
            ));
        }
    }
    Ok(())
}

/// The addresses of a repository's remotes, as its own configuration says.
fn remotes(dir: &Path) -> Result<Vec<String>, git2::Error> {
    let repository = Repository::open(dir)?;
    let config = Config::open(&repository.commondir().join("config"))?;
    let mut urls = Vec::new();
    let mut entries = config.entries(Some("^remote\\..*\\.(url|pushurl)$"))?;
    while let Some(entry) = entries.next() {
        urls.extend(entry?.value().map(str::to_owned));
    }
    Ok(urls)
}
