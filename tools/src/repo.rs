//! One git repository, opened with libgit2, and its branches.
//!
//! The tools act on one place that the operator chose: the configured remote where there is one,
//! the repository itself otherwise.
//!
//! - A remote on this machine is opened directly. libgit2's local push would delete the default
//!   branch, ignore the remote's policy and compare nothing.
//! - A network remote (`git://`) is pushed to, with the expected old value checked by us during
//!   the negotiation and by the remote under its lock.
//!
//! Each call opens the repository afresh: a long-lived libgit2 handle believes stale references.
//! A listing remembers what can't have changed: times of commits, and packed branches for as long as
//! their file is the same.
//! No program and no hook is run. Where the place has a hook or a setting that could forbid a
//! change, the change is refused.
//!
//! Before its first thread, a program should turn off user and system configuration
//! (`git2::opts::set_search_path`), bound network waits
//! (`git2::opts::set_server_timeout_in_milliseconds`) and turn on libgit2's own `fsync`; those
//! doors are `unsafe` and so are not opened here. What a change touches is synced here anyway.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use git2::{Oid, Repository};
use tokio::sync::Semaphore;

use crate::{
    OpenError, Question, ToolError,
    blocking::{self, Caller},
};

mod direct;
mod fault;
mod glob;
mod heads;
mod list;
mod loss;
mod name;
mod network;
mod policy;
mod remote;

pub use list::{Branch, Page};
pub use name::{BranchName, CommitId, Start};

use glob::Glob;
use heads::Packed;
use remote::{Pin, Place};

/// Which repository the branch tools act on, and how far they may go.
#[derive(Clone, Debug, Default)]
pub struct RepoConfig {
    /// The repository: its working tree or its git directory, and nothing below.
    pub dir: PathBuf,
    /// The remote that is acted on; it has to exist. `None` takes `origin` where there is one and
    /// the repository itself otherwise.
    pub remote: Option<String>,
    /// Branches that are never deleted: `*` stands for any characters, `/` too, `?` for one.
    /// Letter case doesn't matter.
    pub protect: Vec<String>,
    /// Change branches although the place has hooks that could forbid it. They are not run.
    pub trust_hooks: bool,
    /// Bounds on work and memory.
    pub limits: RepoLimits,
}

/// Bounds on what the branch tools use.
#[derive(Clone, Debug)]
pub struct RepoLimits {
    /// Listings that run at once; further ones wait.
    pub concurrent_listings: usize,
    /// Commits whose times are remembered between listings, 28 bytes each, and packed branches, some
    /// 60 bytes each.
    pub remembered_commits: usize,
    /// Characters of a commit's subject that are shown.
    pub subject_chars: usize,
    /// Commits that are counted before a question says "at least".
    pub counted_commits: usize,
}

impl Default for RepoLimits {
    fn default() -> Self {
        Self { concurrent_listings: 4, remembered_commits: 100_000, subject_chars: 120, counted_commits: 1_000 }
    }
}

/// The repository whose branches the tools list, create and delete.
#[derive(Debug)]
pub struct Repo {
    dir: PathBuf,
    remote_name: String,
    pin: Option<Pin>,
    place: Place,
    protect: Vec<Glob>,
    trust_hooks: bool,
    limits: RepoLimits,
    /// One change at a time.
    changes: Arc<Semaphore>,
    listings: Arc<Semaphore>,
    /// Commit times of the heads of the last listing. A commit never changes its time.
    times: Mutex<Arc<HashMap<Oid, i64>>>,
    packed: Packed,
}

impl Repo {
    /// Open the repository and fix what its remote is for as long as the server runs.
    ///
    /// # Errors
    ///
    /// No repository in exactly this directory, one of another owner or of an unsupported format,
    /// a remote that is missing, ambiguous, of an unsupported kind or not bare, a pattern that
    /// matches no branch name.
    pub fn open(config: RepoConfig) -> Result<Self, OpenError> {
        let RepoConfig { dir, remote, protect, trust_hooks, limits } = config;
        let fail = |cause: &str| remote::start_up(&dir, cause);
        let repo = remote::open(&dir).map_err(|cause| fail(&cause))?;
        let remote_name = remote.clone().unwrap_or_else(|| "origin".into());
        let at_remote = |cause: String| fail(&format!("remote `{remote_name}`: {cause}"));
        let pin = Pin::read(&repo, &remote_name).map_err(at_remote)?;
        let place = match &pin {
            Some(pin) => {
                let base = repo.workdir().unwrap_or(repo.path());
                Place::of(&pin.url, base).map_err(at_remote)?
            }
            None if remote.is_some() => return Err(at_remote("it does not exist".into())),
            None => Place::Own(repo.commondir().to_owned()),
        };
        let protect = protect.iter().map(|glob| Glob::new(glob)).collect::<Result<_, _>>();
        Ok(Self {
            protect: protect.map_err(|cause: String| fail(&cause))?,
            dir: repo.path().to_owned(),
            remote_name,
            pin,
            place,
            trust_hooks,
            changes: Arc::new(Semaphore::new(1)),
            listings: Arc::new(Semaphore::new(limits.concurrent_listings.max(1))),
            limits,
            times: Mutex::default(),
            packed: Packed::default(),
        })
    }

    /// The directories on this machine that the tools act on. No other tool may reach into them.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let place = match &self.place {
            Place::Own(path) | Place::Local(path) => Some(path.as_path()),
            Place::Network => None,
        };
        std::iter::once(self.dir.as_path()).chain(place)
    }

    /// The repository as it is now, with the remote still the one of the start.
    fn fresh(&self) -> Result<Repository, ToolError> {
        let repo = remote::open(&self.dir).map_err(ToolError::internal)?;
        match Pin::read(&repo, &self.remote_name) {
            Ok(pin) if pin == self.pin => Ok(repo),
            changed => {
                tracing::warn!(?changed, remote = self.remote_name, "the remote is not what it was");
                Err(ToolError::refused(format!(
                    "unknown remote: the configuration of `{}` changed since the server started, so nothing was done; tell the operator, who can undo the change or restart the server",
                    self.remote_name
                )))
            }
        }
    }

    fn protects(&self, branch: &str) -> bool {
        self.protect.iter().any(|glob| glob.matches(branch))
    }
}

/// Take one of `permits`, then do blocking work with it.
async fn with<T: Send + 'static>(
    repo: &Arc<Repo>,
    permits: &Arc<Semaphore>,
    work: impl FnOnce(&Repo, &Caller) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(ToolError::internal)?;
    let repo = Arc::clone(repo);
    blocking::run(permit, move |caller| work(&repo, caller)).await
}

/// Lists branches; changes nothing.
#[derive(Debug)]
pub struct RepoReader(Arc<Repo>);

impl RepoReader {
    /// A handle on this repository.
    #[must_use]
    pub fn new(inner: Arc<Repo>) -> Self {
        Self(inner)
    }

    /// One page of branches, newest commit first, then by name.
    ///
    /// `limit` is 1 to 100. A cursor stands for a place in that order and not for a number of
    /// branches, so none is skipped or repeated when others come and go between two pages.
    ///
    /// # Errors
    ///
    /// Refuses a limit out of range, a cursor that isn't ours, a repository that can't be read.
    pub async fn list(&self, limit: i64, cursor: Option<String>) -> Result<Page, ToolError> {
        with(&self.0, &self.0.listings, move |repo, caller| list::page(repo, limit, cursor.as_deref(), caller)).await
    }
}

/// Creates branches; changes none that exist.
#[derive(Debug)]
pub struct RepoAdder(Arc<Repo>);

impl RepoAdder {
    /// A handle on this repository.
    #[must_use]
    pub fn new(inner: Arc<Repo>) -> Self {
        Self(inner)
    }

    /// Create a branch and return its commit. Starts at the default branch if `from` is `None`.
    ///
    /// # Errors
    ///
    /// Refuses a name that is taken or clashes with another, a start that doesn't exist, and what
    /// the place forbids.
    pub async fn create(&self, branch: BranchName, from: Option<Start>) -> Result<String, ToolError> {
        let created = with(&self.0, &self.0.changes, move |repo, caller| match &repo.place {
            Place::Own(path) | Place::Local(path) => direct::create(repo, path, &branch, from.as_ref(), caller),
            Place::Network => network::create(repo, &branch, from.as_ref(), caller),
        });
        Ok(created.await?.to_string())
    }
}

/// Deletes branches.
#[derive(Debug)]
pub struct RepoWriter(Arc<Repo>);

impl RepoWriter {
    /// A handle on this repository.
    #[must_use]
    pub fn new(inner: Arc<Repo>) -> Self {
        Self(inner)
    }

    /// Delete a branch and return the commit that it stood on; `None` if there was no such branch.
    ///
    /// `consent` is asked exactly when commits would be lost, before anything changes.
    ///
    /// # Errors
    ///
    /// What `consent` answers. Refuses the default branch, checked-out and protected ones, a
    /// branch that doesn't stand on `expected`, and what the place forbids.
    pub async fn delete(
        &self,
        branch: BranchName,
        expected: Option<CommitId>,
        consent: impl FnOnce(Question) -> Result<(), ToolError> + Send + 'static,
    ) -> Result<Option<String>, ToolError> {
        let deleted = with(&self.0, &self.0.changes, move |repo, caller| match &repo.place {
            Place::Own(path) | Place::Local(path) => direct::delete(repo, path, &branch, expected, consent, caller),
            Place::Network => network::delete(repo, &branch, expected, consent, caller),
        });
        Ok(deleted.await?.map(|oid| oid.to_string()))
    }
}
