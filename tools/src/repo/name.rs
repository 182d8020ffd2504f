use std::{borrow::Cow, fmt};

use git2::{Branch, Oid};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::text::{is_device, quoted};

/// A branch name that means one thing to every program: no option, path, revision expression,
/// abbreviated commit or device, and the same bytes to every eye.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BranchName(String);

/// The longest branch name, in bytes; `/refs/heads/` and `.lock` have to fit beside it.
const LONGEST: usize = 200;

impl BranchName {
    /// The name without `refs/heads/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with `refs/heads/`.
    pub(super) fn as_ref_name(&self) -> String {
        format!("refs/heads/{self}")
    }

    /// Whether a branch that is there already has a name that these tools would take.
    pub(super) fn fits(name: &[u8]) -> bool {
        std::str::from_utf8(name).is_ok_and(|name| fault(name).is_none())
    }
}

impl TryFrom<String> for BranchName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match fault(&name) {
            None => Ok(Self(name)),
            Some(fault) => Err(format!(
                "invalid branch name {}: {fault}; use letters, digits and `.`, `_`, `-`, `/`, as in `fix/login-page`",
                quoted(&name)
            )),
        }
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for BranchName {
    fn schema_name() -> Cow<'static, str> {
        "BranchName".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$" })
    }
}

/// What is wrong with a branch name.
fn fault(name: &str) -> Option<&'static str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'/');
    if name.len() > LONGEST {
        return Some("it is longer than 200 bytes");
    }
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some("it doesn't start with a letter or digit");
    }
    if !name.bytes().all(plain) {
        return Some("it holds other characters than are allowed");
    }
    if !Branch::name_is_valid(name).unwrap_or(false) {
        return Some("git doesn't allow it");
    }
    // Git itself would take the rest, and then read them as something else.
    let first = name.split('/').next().unwrap_or_default().to_ascii_lowercase();
    if ["refs", "heads", "tags", "remotes"].contains(&first.as_str()) {
        return Some("it reads as a full reference; leave the prefix out");
    }
    let upper = name.to_ascii_uppercase();
    if upper == "HEAD" || upper.ends_with("_HEAD") {
        return Some("git uses such names itself");
    }
    if (7..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Some("it reads as a commit");
    }
    name.split('/').find_map(|part| match part {
        part if part.ends_with('.') => Some("a part of it ends in a dot"),
        part if is_device(part) => Some("a part of it is the name of a device on Windows"),
        _ => None,
    })
}

/// A commit by all forty digits of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct CommitId(pub(super) Oid);

impl TryFrom<String> for CommitId {
    type Error = String;

    fn try_from(hex: String) -> Result<Self, String> {
        let full = hex.len() == 40;
        let oid = Oid::from_str(&hex).ok().filter(|oid| full && !oid.is_zero());
        oid.map(Self).ok_or_else(|| format!("{} is no commit id; give all forty hexadecimal digits", quoted(&hex)))
    }
}

impl JsonSchema for CommitId {
    fn schema_name() -> Cow<'static, str> {
        "CommitId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-fA-F]{40}$" })
    }
}

/// Where a new branch starts: a branch or a commit. Never a revision expression.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Start {
    /// The newest commit of this branch.
    Branch(BranchName),
    /// This commit.
    Commit(CommitId),
}

impl TryFrom<String> for Start {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Ok(commit) = CommitId::try_from(text.clone()) {
            return Ok(Self::Commit(commit));
        }
        BranchName::try_from(text.clone()).map(Self::Branch).map_err(|_| {
            format!(
                "invalid start {}; name a branch as `list_branches` returns it, or a commit by all forty digits of its id",
                quoted(&text)
            )
        })
    }
}

impl JsonSchema for Start {
    fn schema_name() -> Cow<'static, str> {
        "Start".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // A commit id fits the pattern of a branch name too.
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$" })
    }
}
