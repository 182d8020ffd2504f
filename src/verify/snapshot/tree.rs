//! All paths below a directory at one moment.

use std::{
    collections::BTreeSet,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
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
#[derive(Debug, Default)]
pub(crate) struct Tree {
    entries: Vec<(PathBuf, State)>,
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
        let mut walk = Walk { root, before: &before.entries, trust, seen, tree: Self::default() };
        walk.directory(Path::new(""))?;
        Ok(walk.tree)
    }

    /// Of paths in the order of their components.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(entries: Vec<(PathBuf, State)>) -> Self {
        Self { entries, repositories: BTreeSet::new() }
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&State> {
        let at = self.entries.binary_search_by(|(entry, _)| entry.as_path().cmp(path)).ok()?;
        self.entries.get(at).map(|(_, state)| state)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &State)> {
        self.entries.iter().map(|(path, state)| (path.as_path(), state))
    }

    /// Everything below a directory, itself left out.
    pub(crate) fn below(&self, dir: &Path) -> impl Iterator<Item = (&Path, &State)> {
        let start = self.entries.partition_point(|(path, _)| path.as_path() <= dir);
        self.iter().skip(start).take_while(move |(path, _)| path.starts_with(dir))
    }

    /// All paths whose states differ in anything that this file's callers judge.
    pub(crate) fn changes<'a>(&'a self, after: &'a Self) -> Vec<Change<'a>> {
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
                    let change = Change { path, before: Some(before), after: Some(after) };
                    let same = before.same_matter(after) && before.same_rights(after);
                    if same && before.modified == after.modified && !change.is_another() {
                        continue;
                    }
                    change
                }
                (_, Some((path, after))) => {
                    new.next();
                    Change { path, before: None, after: Some(after) }
                }
                _ => return changes,
            };
            changes.push(change);
        }
    }
}

struct Walk<'a> {
    root: &'a Path,
    /// What is left of the tree before; this walk meets paths in the same order.
    before: &'a [(PathBuf, State)],
    trust: Trust,
    seen: &'a mut Seen<'a>,
    tree: Tree,
}

impl<'a> Walk<'a> {
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
            let Some(state) = self.state(&path, &metadata)? else { continue };
            self.tree.entries.push((path.clone(), state));
            if metadata.is_dir() {
                self.directory(&path)?;
            }
        }
        if head && objects && refs {
            self.tree.repositories.insert(dir.into());
        }
        Ok(())
    }

    /// None if it is gone meanwhile.
    fn state(&mut self, path: &Path, metadata: &Metadata) -> io::Result<Option<State>> {
        let before = self.earlier(path);
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
        while let Some(((first, state), rest)) = self.before.split_first() {
            match first.as_path().cmp(path) {
                std::cmp::Ordering::Less => self.before = rest,
                std::cmp::Ordering::Equal => {
                    self.before = rest;
                    return Some(state);
                }
                std::cmp::Ordering::Greater => return None,
            }
        }
        None
    }
}

fn gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}
