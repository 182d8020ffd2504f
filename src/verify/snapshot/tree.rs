//! All paths below a directory at one moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Metadata},
    io,
    iter::Peekable,
    ops::Bound,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::state::{Content, Kind, State, attributes, read};

/// How far a file may be taken for unchanged without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is read in any case.
    Nothing,
    /// Device, inode, time of change and size are the same.
    Stamps,
    /// The size is the same: for a copy that was just made from what is compared with.
    Sizes,
}

/// What gets each file that had to be read and is not what it was, with its bytes if they are few
/// enough for a lens.
pub(crate) type Seen<'a> = dyn FnMut(&Path, &Content, Option<Vec<u8>>) -> io::Result<()> + 'a;

/// Paths relative to the top, in the order of their components, with what is there.
///
/// A tree that was made from an earlier one by looking at some paths alone shares the rest with it:
/// neither making it nor comparing the two costs more for a larger world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    walked: Arc<Vec<(PathBuf, State)>>,
    /// What is otherwise now; none stands for a path that is gone.
    since: BTreeMap<PathBuf, Option<State>>,
    /// Directories that are git repositories, bare or `.git`.
    pub(crate) repositories: BTreeSet<PathBuf>,
}

/// One path that differs between two trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) path: &'a Path,
    pub(crate) before: Option<&'a State>,
    pub(crate) after: Option<&'a State>,
}

impl Change<'_> {
    /// Whether there is any difference at all.
    fn is_one(&self) -> bool {
        match (self.before, self.after) {
            (Some(before), Some(after)) => {
                let same = before.same_matter(after) && before.same_rights(after);
                !same || before.modified != after.modified || self.is_another()
            }
            (before, after) => before.is_some() || after.is_some(),
        }
    }

    /// Whether another file stands at the path than before.
    pub(crate) fn is_another(&self) -> bool {
        let inode = |state: &State| state.stamp.map(|stamp| stamp.inode);
        matches!((self.before, self.after), (Some(before), Some(after)) if inode(before) != inode(after))
    }

    /// Whether it is a directory of which only the time moved.
    pub(crate) fn is_time_of_directory(&self) -> bool {
        let (Some(before), Some(after)) = (self.before, self.after) else { return false };
        let same = before.same_matter(after) && before.same_rights(after);
        before.kind == Kind::Directory && same && !self.is_another()
    }
}

impl Tree {
    /// Look at everything below `root`, reading what is not proved to be as before.
    pub(crate) fn read(root: &Path, before: &Self, trust: Trust, seen: &mut Seen<'_>) -> io::Result<Self> {
        let mut walk = Walk::new(root, before.iter(), trust, seen);
        walk.directory(Path::new(""))?;
        Ok(Self { walked: Arc::new(walk.entries), since: BTreeMap::new(), repositories: walk.repositories })
    }

    /// Look at `paths`, and at everything below the directories `whole`; the rest is as before.
    pub(crate) fn revisit(
        &self,
        root: &Path,
        paths: &BTreeSet<PathBuf>,
        whole: &BTreeSet<PathBuf>,
        seen: &mut Seen<'_>,
    ) -> io::Result<Self> {
        let mut now = self.clone();
        for path in paths.union(whole).filter(|path| !path.as_os_str().is_empty()) {
            // What lies below one that is walked was seen with it.
            if path.ancestors().skip(1).any(|above| whole.contains(above)) {
                continue;
            }
            // Never through a link that took the place of a directory.
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if parent.is_some_and(|parent| now.get(parent).is_none_or(|state| state.kind != Kind::Directory)) {
                continue;
            }
            let mut walk = Walk::new(root, self.below(path), Trust::Stamps, seen);
            let state = match fs::symlink_metadata(root.join(path)) {
                Ok(metadata) => walk.state(path, &metadata, self.get(path))?,
                Err(error) if gone(&error) => None,
                Err(error) => return Err(named(&root.join(path), &error)),
            };
            let is_directory = state.as_ref().is_some_and(|state| state.kind == Kind::Directory);
            let was_directory = self.get(path).is_some_and(|state| state.kind == Kind::Directory);
            if is_directory && whole.contains(path) {
                walk.directory(path)?;
            }
            let Walk { entries, repositories, .. } = walk;
            if whole.contains(path) || (was_directory && !is_directory) {
                now.repositories.retain(|dir| !dir.starts_with(path));
                for (path, _) in self.below(path) {
                    now.set(path, None);
                }
            }
            now.set(path, state);
            for (path, state) in entries {
                now.set(&path, Some(state));
            }
            now.repositories.extend(repositories);
        }
        let parts = paths.iter().filter(|path| REPOSITORY.iter().any(|name| path.file_name() == Some(name.as_ref())));
        for dir in parts.filter_map(|path| path.parent()) {
            let [head, objects, refs] = REPOSITORY.map(|name| now.get(&dir.join(name)).map(|state| state.kind));
            let directory = Some(Kind::Directory);
            if head.is_some() && head != directory && objects == directory && refs == directory {
                now.repositories.insert(dir.into());
            } else {
                now.repositories.remove(dir);
            }
        }
        Ok(now)
    }

    /// Look once more at files that may have been written to though nobody told of it.
    pub(crate) fn again<'a>(
        mut self,
        root: &Path,
        files: impl IntoIterator<Item = &'a PathBuf>,
        trust: Trust,
        seen: &mut Seen<'_>,
    ) -> io::Result<Self> {
        for path in files {
            let Some(state) = self.get(path).filter(|state| state.kind == Kind::File) else { continue };
            let state = match fs::symlink_metadata(root.join(path)) {
                Ok(metadata) => Walk::new(root, std::iter::empty(), trust, seen).state(path, &metadata, Some(state))?,
                Err(error) if gone(&error) => continue,
                Err(error) => return Err(named(&root.join(path), &error)),
            };
            self.set(path, state);
        }
        Ok(self)
    }

    fn set(&mut self, path: &Path, state: Option<State>) {
        if state.is_none() && self.walked(path).is_none() {
            self.since.remove(path);
        } else {
            self.since.insert(path.into(), state);
        }
    }

    fn walked(&self, path: &Path) -> Option<&State> {
        let at = self.walked.binary_search_by(|(entry, _)| entry.as_path().cmp(path)).ok()?;
        self.walked.get(at).map(|(_, state)| state)
    }

    /// Of paths in the order of their components.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(entries: Vec<(PathBuf, State)>) -> Self {
        Self { walked: Arc::new(entries), ..Self::default() }
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&State> {
        self.since.get(path).map_or_else(|| self.walked(path), Option::as_ref)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &State)> {
        self.from(0, Bound::Unbounded)
    }

    /// Everything below a directory, itself left out.
    pub(crate) fn below(&self, dir: &Path) -> impl Iterator<Item = (&Path, &State)> {
        let start = self.walked.partition_point(|(path, _)| path.as_path() <= dir);
        self.from(start, Bound::Excluded(dir)).take_while(move |(path, _)| path.starts_with(dir))
    }

    /// Directories, the top left out.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.iter().filter(|(_, state)| state.kind == Kind::Directory).map(|(path, _)| path)
    }

    /// Files that have other names, too.
    pub(crate) fn several_names(&self) -> impl Iterator<Item = &Path> {
        self.iter().filter(|(_, state)| state.shared).map(|(path, _)| path)
    }

    fn from(&self, start: usize, since: Bound<&Path>) -> impl Iterator<Item = (&Path, &State)> {
        let walked = self.walked.get(start..).unwrap_or_default();
        let mut walked = walked.iter().map(|(path, state)| (path.as_path(), Some(state))).peekable();
        let since = self.since.range::<Path, _>((since, Bound::Unbounded));
        let mut since = since.map(|(path, state)| (path.as_path(), state.as_ref())).peekable();
        let next = move || {
            let Some(newer) = since.peek().map(|(path, _)| *path) else { return walked.next() };
            match walked.peek().map(|(path, _)| (*path).cmp(newer)) {
                Some(std::cmp::Ordering::Less) => walked.next(),
                Some(std::cmp::Ordering::Equal) => {
                    walked.next();
                    since.next()
                }
                _ => since.next(),
            }
        };
        std::iter::from_fn(next).filter_map(|(path, state)| Some((path, state?)))
    }

    /// All paths whose states differ in anything that this file's callers judge.
    pub(crate) fn changes<'a>(&'a self, after: &'a Self) -> Vec<Change<'a>> {
        if Arc::ptr_eq(&self.walked, &after.walked) {
            let paths: BTreeSet<&PathBuf> = self.since.keys().chain(after.since.keys()).collect();
            let change = |path: &'a PathBuf| Change { path, before: self.get(path), after: after.get(path) };
            return paths.into_iter().map(change).filter(Change::is_one).collect();
        }
        let mut changes = Vec::new();
        let (mut old, mut new) = (self.iter().peekable(), after.iter().peekable());
        loop {
            let change = match (old.peek().copied(), new.peek().copied()) {
                (Some((path, before)), other) if other.is_none_or(|(after, _)| path < after) => {
                    old.next();
                    Change { path, before: Some(before), after: None }
                }
                (Some((path, before)), Some((same, after))) if path == same => {
                    old.next();
                    new.next();
                    Change { path, before: Some(before), after: Some(after) }
                }
                (_, Some((path, after))) => {
                    new.next();
                    Change { path, before: None, after: Some(after) }
                }
                _ => return changes,
            };
            changes.extend(Some(change).filter(Change::is_one));
        }
    }
}

/// What makes a directory a git repository: a file, and two directories.
const REPOSITORY: [&str; 3] = ["HEAD", "objects", "refs"];

struct Walk<'a, 's, I: Iterator<Item = (&'a Path, &'a State)>> {
    root: &'a Path,
    /// What is left of the tree before; this walk meets paths in the same order.
    before: Peekable<I>,
    trust: Trust,
    seen: &'a mut Seen<'s>,
    entries: Vec<(PathBuf, State)>,
    repositories: BTreeSet<PathBuf>,
}

impl<'a, 's, I: Iterator<Item = (&'a Path, &'a State)>> Walk<'a, 's, I> {
    fn new(root: &'a Path, before: I, trust: Trust, seen: &'a mut Seen<'s>) -> Self {
        let before = before.peekable();
        Self { root, before, trust, seen, entries: Vec::new(), repositories: BTreeSet::new() }
    }

    fn directory(&mut self, dir: &Path) -> io::Result<()> {
        let path = self.root.join(dir);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if gone(&error) && dir != Path::new("") => return Ok(()),
            Err(error) => return Err(named(&path, &error)),
        };
        let mut entries = entries.collect::<io::Result<Vec<_>>>().map_err(|error| named(&path, &error))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let (mut head, mut objects, mut refs) = (false, false, false);
        for entry in entries {
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(error) if gone(&error) => continue,
                Err(error) => return Err(named(&entry.path(), &error)),
            };
            let name = entry.file_name();
            head |= name == "HEAD" && !metadata.is_dir();
            objects |= name == "objects" && metadata.is_dir();
            refs |= name == "refs" && metadata.is_dir();
            let path = dir.join(name);
            let before = self.earlier(&path);
            let Some(state) = self.state(&path, &metadata, before)? else { continue };
            self.entries.push((path.clone(), state));
            if metadata.is_dir() {
                self.directory(&path)?;
            }
        }
        if head && objects && refs {
            self.repositories.insert(dir.into());
        }
        Ok(())
    }

    /// None if it is gone meanwhile.
    fn state(&mut self, path: &Path, metadata: &Metadata, before: Option<&State>) -> io::Result<Option<State>> {
        let mut state = State::of(metadata);
        let known = before.filter(|old| old.kind == state.kind).filter(|old| match self.trust {
            Trust::Nothing => false,
            Trust::Stamps => old.proves(&state),
            Trust::Sizes => old.size == state.size,
        });
        if let Some(old) = known {
            state.target.clone_from(&old.target);
            state.attributes = old.attributes;
            state.content = old.content;
            if state.kind != Kind::File || state.content.is_some() {
                return Ok(Some(state));
            }
        }
        let full = self.root.join(path);
        state.attributes = attributes(&full);
        match state.kind {
            Kind::Link => match fs::read_link(&full) {
                Ok(target) => state.target = Some(target),
                Err(error) if gone(&error) => return Ok(None),
                Err(error) => return Err(named(&full, &error)),
            },
            Kind::File => match read(&full, before.filter(|old| old.kind == Kind::File).map(|old| old.size)) {
                Ok((content, bytes)) => {
                    state.content = Some(content);
                    if before.and_then(State::digest) != Some(content.digest) {
                        (self.seen)(path, &content, bytes)?;
                    }
                }
                Err(error) if gone(&error) => return Ok(None),
                Err(_) => {}
            },
            _ => {}
        }
        Ok(Some(state))
    }

    fn earlier(&mut self, path: &Path) -> Option<&'a State> {
        while self.before.next_if(|(first, _)| *first < path).is_some() {}
        self.before.next_if(|(first, _)| *first == path).map(|(_, state)| state)
    }
}

fn gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}
