//! Who may call over HTTP: the tokens file. It holds digests, so reading it gives nobody a token.

use std::{
    fmt::Write,
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::Args;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::Grant;

/// The options of `candor token new`.
#[derive(Args, Clone, Debug)]
pub struct New {
    /// Who the token speaks for
    #[arg(value_parser = name)]
    name: String,
    /// What it allows: `all`, `read`, or scopes with commas between
    scopes: Grant,
    /// When it ends: a date (its first moment, in UTC) or a time such as 2027-01-31T12:00:00Z
    #[arg(long, value_name = "DATE", value_parser = moment)]
    expires: Option<DateTime<Utc>>,
}

impl New {
    /// A token that does not end.
    #[must_use]
    pub fn lasting(name: &str, scopes: Grant) -> Self {
        Self { name: name.into(), scopes, expires: None }
    }

    /// A fresh token of 256 random bits, and what to add to the tokens file.
    ///
    /// # Errors
    ///
    /// If the system gives no random bytes.
    pub fn make(&self) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let token = format!("candor_{}", hex::encode(bytes));
        let scopes: Vec<_> = self.scopes.iter().map(|scope| format!("\"{scope}\"")).collect();
        let mut text = format!(
            "# The token, shown only now:\n# {token}\n\n# Append this to the file that --tokens names:\n[[token]]\n"
        );
        let _ = writeln!(text, "name = \"{}\"", self.name);
        let _ = writeln!(text, "sha256 = \"{}\"", hex::encode(Sha256::digest(&token)));
        let _ = writeln!(text, "scopes = [{}]", scopes.join(", "));
        if let Some(end) = self.expires {
            let _ = writeln!(text, "expires = {}", end.format("%Y-%m-%dT%H:%M:%SZ"));
        }
        Ok(text)
    }
}

/// One entry of the file.
#[derive(Clone, Debug)]
pub struct Token {
    /// Who it speaks for. Several tokens may share a name, so that they can be changed in turn.
    pub name: String,
    /// SHA-256 of the token.
    pub sha256: [u8; 32],
    /// What it allows.
    pub grant: Grant,
    /// When it ends; never, if absent.
    pub expires: Option<DateTime<Utc>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    token: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    sha256: String,
    scopes: Vec<String>,
    expires: Option<toml::Value>,
}

/// Bytes of a tokens file: some thousands of entries.
const FILE_BYTES: u64 = 1 << 20;

/// Read a tokens file.
///
/// # Errors
///
/// Naming the file, the entry and the field that is wrong. A file without tokens is wrong too.
pub fn read(path: &Path) -> Result<Vec<Token>, String> {
    let place = path.display();
    let at = |error: &dyn std::fmt::Display| format!("tokens file `{place}`: {error}");
    if !fs::metadata(path).map_err(|error| at(&error))?.is_file() {
        return Err(at(&"not a file")); // opening a pipe would wait
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| at(&error))?;
    let bytes = file.take(FILE_BYTES + 1).read_to_string(&mut text).map_err(|error| at(&error))?;
    if bytes as u64 > FILE_BYTES {
        return Err(at(&format!("larger than {FILE_BYTES} bytes")));
    }
    let file: File = toml::from_str(&text).map_err(|error| {
        // Not the error's own text, which quotes the file: someone may have put a token there.
        let line =
            error.span().map_or(0, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
        at(&format!("line {line}: {}", error.message()))
    })?;
    if file.token.is_empty() {
        return Err(format!("tokens file `{place}` holds no `[[token]]`; `candor token new NAME SCOPES` makes one"));
    }
    let tokens: Result<Vec<Token>, String> = file
        .token
        .into_iter()
        .map(|entry| {
            let label = entry.name.clone();
            token(entry).map_err(|error| format!("tokens file `{place}`: token of `{label}`: {error}"))
        })
        .collect();
    let tokens = tokens?;
    for (at, token) in tokens.iter().enumerate() {
        if tokens.iter().skip(at + 1).any(|other| other.sha256 == token.sha256) {
            return Err(format!("tokens file `{place}`: the token of `{}` stands there twice", token.name));
        }
    }
    Ok(tokens)
}

/// A tokens file, and which state of it was read last.
#[derive(Debug)]
pub(super) struct Watched {
    path: PathBuf,
    read: Option<Stamp>,
}

/// What changes with a file's content.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    changed: SystemTime,
    bytes: u64,
    #[cfg(unix)]
    inode: (u64, u64),
}

/// A file that was written so shortly before it was read may be written again without showing it:
/// file systems count time in ticks of some milliseconds, some of them of seconds.
const UNSETTLED: Duration = Duration::from_secs(2);

impl Watched {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, read: None }
    }

    /// What the file holds, if it may have changed since it was read last.
    pub(super) fn news(&mut self) -> Option<Result<Vec<Token>, String>> {
        let stamp = fs::metadata(&self.path).ok().map(|metadata| Stamp::of(&metadata));
        if stamp.is_some() && stamp == self.read {
            return None;
        }
        self.read = stamp.filter(|stamp| stamp.changed.elapsed().is_ok_and(|age| age > UNSETTLED));
        Some(read(&self.path))
    }
}

impl Stamp {
    #[cfg(unix)]
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        // Not `mtime`, which copying with attributes sets back.
        let seconds = Duration::from_secs(metadata.ctime().try_into().unwrap_or_default());
        let nanos = Duration::from_nanos(metadata.ctime_nsec().try_into().unwrap_or_default());
        Self {
            changed: SystemTime::UNIX_EPOCH + seconds + nanos,
            bytes: metadata.len(),
            inode: (metadata.dev(), metadata.ino()),
        }
    }

    #[cfg(not(unix))]
    fn of(metadata: &fs::Metadata) -> Self {
        Self { changed: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), bytes: metadata.len() }
    }
}

fn token(entry: Entry) -> Result<Token, String> {
    let expires = match entry.expires {
        None => None,
        Some(toml::Value::Datetime(moment_)) => Some(moment(&moment_.to_string())?),
        Some(toml::Value::String(text)) => Some(moment(&text)?),
        Some(other) => return Err(format!("`expires` is `{other}`; write a date such as 2027-01-31")),
    };
    Ok(Token {
        name: name(&entry.name)?,
        sha256: sha256(&entry.sha256)?,
        grant: entry.scopes.join(",").parse()?,
        expires,
    })
}

fn name(text: &str) -> Result<String, String> {
    let fits = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte));
    if fits {
        Ok(text.into())
    } else {
        Err(format!("`{}` is no name for a caller; use up to 64 of a-z A-Z 0-9 . _ @ -", text.escape_debug()))
    }
}

fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Ok(date.and_time(NaiveTime::MIN).and_utc());
    }
    match DateTime::parse_from_rfc3339(text) {
        Ok(time) => Ok(time.to_utc()),
        Err(_) => Err(format!("`{text}` is neither a date such as 2027-01-31 nor a time such as 2027-01-31T12:00:00Z")),
    }
}

fn sha256(text: &str) -> Result<[u8; 32], String> {
    let mut digest = [0; 32];
    match hex::decode_to_slice(text, &mut digest) {
        Ok(()) => Ok(digest),
        Err(_) => Err("`sha256` is not 64 hexadecimal digits; `candor token new` prints it".into()),
    }
}
