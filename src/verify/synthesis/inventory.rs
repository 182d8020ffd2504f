//! What a world holds that an argument could name.

mod database;

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use git2::{Config, Repository, RepositoryOpenFlags};
use serde_json::{Map, Value, json};

pub(super) use self::database::quoted;
use super::record::Record;

/// Names found in a world. Everything is only read, and capped: a world may be large, and an
/// argument needs few examples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// Branches of all its repositories, each name once; those that a HEAD names last, since a
    /// tool seldom lets go of them.
    pub branches: Vec<Branch>,
    /// Tables of all its SQLite databases.
    pub tables: Vec<Table>,
    /// Files, relative to the world, with `/` on every platform; without databases.
    pub files: Vec<String>,
    /// Directories, likewise.
    pub directories: Vec<String>,
    /// Repositories, likewise; one with a working tree by that.
    pub repositories: Vec<String>,
    /// SQLite databases, likewise.
    pub databases: Vec<String>,
    /// What is there and couldn't be read, with the reason.
    pub unread: Vec<String>,
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its name without `refs/heads/`.
    pub name: String,
    /// The commit that it stands on, in hexadecimal.
    pub head: String,
}

/// A table of a SQLite database.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The database, as in [`Inventory::databases`].
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Some of its rows, as far as they are short texts and numbers.
    pub rows: Vec<Map<String, Value>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type as declared.
    pub declared: String,
    /// Whether a new row must say its value: not null, and without default.
    pub needed: bool,
    /// Whether its values are unique.
    pub key: Key,
    /// Whether SQLite computes it.
    pub generated: bool,
    /// The table and column that it refers to.
    pub references: Option<(String, String)>,
}

/// What a column is for the keys of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// In none.
    None,
    /// In a unique key, alone or with others.
    Unique,
    /// The whole primary key, and SQLite numbers it by itself.
    Rowid,
}

/// Entries looked at in one world, and how deep.
const ENTRIES: usize = 20_000;
const DEPTH: usize = 16;
/// Of each kind kept.
const KEPT: usize = 200;

impl Inventory {
    /// Look through a world. Opens repositories without the user's git configuration as far as
    /// libgit2 lets one, runs nothing that is configured in them, and reads databases in a copy.
    ///
    /// # Errors
    ///
    /// If the directory itself can't be listed. What can't be read inside is named in
    /// [`Self::unread`].
    pub fn of(world: &Path) -> io::Result<Self> {
        let mut found = Self::default();
        let mut left = ENTRIES;
        let mut heads = Vec::new();
        found.directory(world, "", &mut left, &mut heads)?;
        found.branches.sort_by_key(|branch| heads.contains(&branch.name));
        found.branches.truncate(KEPT);
        found.tables.truncate(KEPT);
        Ok(found)
    }

    fn directory(&mut self, dir: &Path, place: &str, left: &mut usize, heads: &mut Vec<String>) -> io::Result<()> {
        if is_git(dir) {
            self.repository(dir, place, heads);
            return Ok(());
        }
        let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        if entries.iter().any(|entry| entry.file_name() == ".git") && is_git(&dir.join(".git")) {
            self.repository(dir, place, heads);
        }
        for entry in entries {
            if *left == 0 {
                self.unread.push(format!("`{place}`: the world has more than {ENTRIES} entries"));
                return Ok(());
            }
            *left -= 1;
            let Ok(name) = entry.file_name().into_string() else { continue }; // no argument can name it
            let inner = if place.is_empty() { name.clone() } else { format!("{place}/{name}") };
            // A link may lead out of the world.
            let kind = entry.file_type()?;
            if kind.is_dir() && name != ".git" {
                keep(&mut self.directories, &inner);
                if inner.matches('/').count() < DEPTH
                    && let Err(error) = self.directory(&entry.path(), &inner, left, heads)
                {
                    self.unread.push(format!("`{inner}`: {error}"));
                }
            } else if kind.is_file() {
                self.file(&entry.path(), &inner);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, place: &str) {
        let mut header = [0; 16];
        let is_database = File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok()
            && header == *b"SQLite format 3\0";
        if !is_database {
            let sidecar = ["-wal", "-shm", "-journal"].iter().any(|end| place.ends_with(end));
            if !sidecar {
                keep(&mut self.files, place);
            }
            return;
        }
        keep(&mut self.databases, place);
        match database::tables(path, place, KEPT) {
            Ok(tables) => self.tables.extend(tables),
            Err(error) => self.unread.push(format!("`{place}`: {error}")),
        }
    }

    fn repository(&mut self, dir: &Path, place: &str, heads: &mut Vec<String>) {
        keep(&mut self.repositories, place);
        match branches(dir) {
            Ok((branches, head)) => {
                heads.extend(head);
                for branch in branches {
                    if !self.branches.iter().any(|known| known.name == branch.name) {
                        self.branches.push(branch);
                    }
                }
            }
            Err(error) => self.unread.push(format!("`{place}`: {}", error.message())),
        }
    }

    /// What belongs together.
    pub(super) fn records(&self) -> Vec<Record> {
        let text = |key: &str, value: &str| (key.to_owned(), Value::from(value));
        let record = |container: &str, members| Record { container: container.to_owned(), members };
        let branches = self.branches.iter().map(|branch| {
            let head = ["head", "sha", "commit", "oid"].map(|key| text(key, &branch.head));
            record("branches", [vec![text("name", &branch.name)], head.to_vec()].concat())
        });
        let tables = self.tables.iter().map(|table| record("tables", vec![text("name", &table.name)]));
        let columns = self.tables.iter().flat_map(|table| {
            let columns = table.columns.iter();
            columns.map(|column| record("columns", vec![text("name", &column.name), text("table", &table.name)]))
        });
        let files = self.files.iter().map(|place| {
            let (parents, name) = place.rsplit_once('/').unwrap_or(("files", place));
            let parent = parents.rsplit('/').next().unwrap_or(parents);
            record(parent, vec![text("name", name)])
        });
        let rows = self
            .tables
            .iter()
            .flat_map(|table| table.rows.iter().map(|row| record(&table.name, row.clone().into_iter().collect())));
        branches.chain(tables).chain(columns).chain(files).chain(rows).collect()
    }

    /// Paths of what can be named: inside the copy, and relative to it.
    pub(super) fn paths(places: &[String]) -> impl Iterator<Item = Value> {
        let whole = places.iter().map(|place| json!(format!("{{world}}/{place}")));
        let relative = places.iter().map(|place| json!(place));
        whole.take(2).chain(relative.take(1))
    }
}

fn keep(list: &mut Vec<String>, place: &str) {
    if list.len() < KEPT {
        list.push(place.to_owned());
    }
}

/// Whether a directory is what git keeps a repository in (gitrepository-layout(5)).
fn is_git(dir: &Path) -> bool {
    let is = |name: &str| fs::symlink_metadata(dir.join(name)).ok();
    is("HEAD").is_some_and(|head| head.is_file())
        && ["objects", "refs"].iter().all(|name| is(name).is_some_and(|inner| inner.is_dir()))
}

/// The branches of a repository, by name, and the one that its HEAD names.
fn branches(dir: &Path) -> Result<(Vec<Branch>, Option<String>), git2::Error> {
    let nowhere: [&std::ffi::OsStr; 0] = [];
    let repo = Repository::open_ext(dir, RepositoryOpenFlags::NO_SEARCH, nowhere)?;
    // From here on nothing but its own configuration counts.
    repo.set_config(&Config::open(&repo.commondir().join("config"))?)?;
    let mut branches = Vec::new();
    for reference in repo.references_glob("refs/heads/*")? {
        let reference = reference?;
        let name = reference.name().ok().and_then(|name| name.strip_prefix("refs/heads/"));
        if let (Some(name), Some(head)) = (name, reference.target()) {
            branches.push(Branch { name: name.to_owned(), head: head.to_string() });
        }
        if branches.len() == KEPT {
            break;
        }
    }
    branches.sort_by(|one, other| one.name.cmp(&other.name));
    let head = repo.find_reference("HEAD")?;
    let head = head.symbolic_target().ok().flatten().and_then(|name| name.strip_prefix("refs/heads/"));
    Ok((branches, head.map(str::to_owned)))
}
