//! One state of a database, opened: its files, settings and schema.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, OpenFlags, Result,
    config::DbConfig::{
        SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE,
        SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    },
    limits::Limit,
    types::ValueRef,
};

/// How long one state may keep SQLite busy: a schema of others can hold expressions that never end.
const TIME: Duration = Duration::from_secs(120);
/// Virtual machine steps between two looks at the clock.
const STEPS: i32 = 10_000;
/// The largest value that is read, in bytes.
const MAX_VALUE: i32 = 1 << 28;
/// What a rollback journal that names another file ends with.
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// What lies beside a database and belongs to it.
pub(super) const SIDECARS: [&str; 3] = ["-wal", "-journal", "-shm"];

/// What is defined in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    /// `table`, `index`, `view` or `trigger`.
    pub(super) kind: String,
    /// The definition; none for what SQLite makes by itself.
    pub(super) sql: Option<String>,
    /// The first page of its b-tree, 0 without one.
    root: u32,
}

/// A state that SQLite can read.
pub(super) struct Store {
    pub(super) connection: Connection,
    /// Tables, indexes and views.
    pub(super) objects: BTreeMap<String, Object>,
    /// A trigger may have the name of a table.
    pub(super) triggers: BTreeMap<String, Object>,
    /// `user_version` and `application_id`.
    pub(super) settings: [(&'static str, i64); 2],
}

impl Store {
    /// Open a copy. What a crash or a log left to do is done in it: afterwards the main file is
    /// the whole state.
    pub(super) fn open(file: &Path) -> Result<Self, String> {
        if names_another_file(&beside(file, "-journal")).map_err(|error| error.to_string())? {
            // SQLite would look for that file, and might remove it.
            return Err("its journal names a file elsewhere".into());
        }
        Self::read(file).map_err(|error| error.to_string())
    }

    fn read(file: &Path) -> Result<Self> {
        let access = if is_whole(file) { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        for (option, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, true),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
            (SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        ] {
            connection.set_db_config(option, value)?;
        }
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
        let end = Instant::now() + TIME;
        connection.progress_handler(STEPS, Some(move || Instant::now() > end))?;
        // Nothing is lost if the copy is: no need to wait for a disk.
        connection.execute_batch("PRAGMA synchronous = OFF")?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        let setting = |name| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        let settings = ["user_version", "application_id"];
        let [version, id] = settings.map(setting);
        let settings = [("user_version", version?), ("application_id", id?)];
        let (triggers, objects) =
            objects(&connection)?.into_iter().partition(|(_, object): &(String, Object)| object.kind == "trigger");
        Ok(Self { connection, objects, triggers, settings })
    }

    /// The first page of each b-tree.
    pub(super) fn roots(&self) -> BTreeMap<String, u32> {
        let own = self.objects.iter().map(|(name, object)| (name.clone(), object.root)).filter(|(_, root)| *root != 0);
        own.chain([("sqlite_schema".into(), 1)]).collect()
    }
}

fn objects(connection: &Connection) -> Result<Vec<(String, Object)>> {
    let mut statement = connection.prepare("SELECT name, type, sql, rootpage FROM main.sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut objects = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| -> Result<Option<String>> {
            Ok(match row.get_ref(column)? {
                ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
                _ => None,
            })
        };
        let object = Object {
            kind: text(1)?.unwrap_or_default(),
            sql: text(2)?,
            root: row.get::<_, Option<u32>>(3)?.unwrap_or_default(),
        };
        objects.push((text(0)?.unwrap_or_default(), object));
    }
    Ok(objects)
}

/// Whether a main file is the whole state by itself, so that nothing is ever written to read it: it
/// keeps no log, by its header, and no log or journal lies beside it.
pub(crate) fn is_whole(file: &Path) -> bool {
    let mut header = [0; 20];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut header));
    let keeps_no_log = read.is_ok() && header.ends_with(&[1, 1]);
    keeps_no_log && ["-wal", "-journal"].iter().all(|suffix| !beside(file, suffix).exists())
}

/// The path of a sidecar.
pub(super) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether a rollback journal belongs to a change of several databases at once.
fn names_another_file(journal: &Path) -> io::Result<bool> {
    let mut file = match File::open(journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let mut end = [0; JOURNAL_MAGIC.len()];
    if file.metadata()?.len() < 16 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut end)?;
    Ok(end == JOURNAL_MAGIC)
}

/// Whether two files hold the same bytes; none is equal to none.
pub(super) fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let size = |path: &Path| match fs::metadata(path) {
        Ok(data) => Ok(Some(data.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let sizes = (size(one)?, size(other)?);
    if sizes.0 != sizes.1 || sizes.0.is_none() {
        return Ok(sizes.0 == sizes.1);
    }
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut ours, mut theirs) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = one.read(&mut ours)?;
        if read == 0 {
            return Ok(true);
        }
        let (ours, theirs) = (ours.get(..read).unwrap_or_default(), theirs.get_mut(..read).unwrap_or_default());
        other.read_exact(theirs)?;
        if ours != theirs {
            return Ok(false);
        }
    }
}
