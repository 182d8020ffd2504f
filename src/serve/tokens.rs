//! Who may call over HTTP: the tokens file. It holds digests, so reading it gives nobody a token.

use std::{fmt::Write, fs, path::Path};

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::Args;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Grant, digest};

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
    /// A fresh token of 256 random bits, and what to add to the tokens file.
    ///
    /// # Errors
    ///
    /// If the system gives no random bytes.
    pub fn make(&self) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let token = format!("candor_{}", digest::hex(&bytes));
        let scopes: Vec<_> = self.scopes.iter().map(|scope| format!("\"{scope}\"")).collect();
        let mut text = format!(
            "# The token, shown only now:\n# {token}\n\n# Append this to the file that --tokens names:\n[[token]]\n"
        );
        let _ = writeln!(text, "name = \"{}\"", self.name);
        let _ = writeln!(text, "sha256 = \"{}\"", digest::hex(&Sha256::digest(&token)));
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

/// Read a tokens file.
///
/// # Errors
///
/// Naming the file, the entry and the field that is wrong. A file without tokens is wrong too.
pub fn read(path: &Path) -> Result<Vec<Token>, String> {
    let place = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("tokens file `{place}`: {error}"))?;
    let file: File = toml::from_str(&text).map_err(|error| format!("tokens file `{place}`: {error}"))?;
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

fn token(entry: Entry) -> Result<Token, String> {
    let expires = match entry.expires {
        None => None,
        Some(toml::Value::Datetime(moment_)) => Some(moment(&moment_.to_string())?),
        Some(toml::Value::String(text)) => Some(moment(&text)?),
        Some(other) => return Err(format!("`expires` is `{other}`; write a date such as 2027-01-31")),
    };
    Ok(Token {
        name: name(&entry.name)?,
        sha256: unhex(&entry.sha256).ok_or("`sha256` is not 64 hexadecimal digits; `candor token new` prints it")?,
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

fn unhex(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks(2).filter_map(|pair| Some(pair.first()? << 4 | pair.get(1)?)).collect();
    if text.len() == 64 { bytes.try_into().ok() } else { None }
}
