//! A clone with a bare `origin`, made with the real git.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use candor_tools::{
    OpenError, Question, ToolError,
    repo::{BranchName, CommitId, Page, Repo, RepoAdder, RepoConfig, RepoReader, RepoWriter, Start},
};
use tempfile::TempDir;

pub(super) struct World {
    dir: TempDir,
}

impl World {
    /// `main` at `origin` with two commits, and `merged` on the first of them.
    pub(super) fn new() -> Self {
        let world = Self::empty();
        let first = world.commit("main", "first");
        world.commit("main", "second");
        world.set("merged", &first);
        world
    }

    /// A clone and its `origin` without any commit.
    pub(super) fn empty() -> Self {
        let world = Self { dir: TempDir::new().unwrap() };
        world.run(world.path(), &["init", "-q", "--bare", "-b", "main", "origin.git"]);
        world.run(world.path(), &["init", "-q", "-b", "main", "clone"]);
        world.run(&world.clone(), &["remote", "add", "origin", "../origin.git"]);
        world
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn clone(&self) -> PathBuf {
        self.path().join("clone")
    }

    pub(super) fn origin(&self) -> PathBuf {
        self.path().join("origin.git")
    }

    /// git, with nobody's configuration but the repository's.
    pub(super) fn command(&self, dir: &Path, args: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.args(args).current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        git.env("HOME", self.path()).env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
            git.env(format!("GIT_{who}_DATE"), "@1700000000 +0100");
        }
        git
    }

    /// Run git, which has to succeed, and return what it printed.
    pub(super) fn run(&self, dir: &Path, args: &[&str]) -> String {
        let output = self.command(dir, args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// git at `origin`.
    pub(super) fn at_origin(&self, args: &[&str]) -> String {
        self.run(&self.origin(), args)
    }

    /// Feed git at `origin`.
    pub(super) fn feed(&self, args: &[&str], input: &[u8]) {
        let mut git = self.command(&self.origin(), args);
        let mut child = git.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        assert!(child.wait().unwrap().success(), "git {args:?}");
    }

    /// A further commit on a branch of `origin`; a new branch starts from nothing.
    pub(super) fn commit(&self, branch: &str, subject: &str) -> String {
        self.commit_at(branch, subject, 1_700_000_000)
    }

    pub(super) fn commit_at(&self, branch: &str, subject: &str, time: i64) -> String {
        let tree = self.at_origin(&["hash-object", "-w", "-t", "tree", "/dev/null"]);
        let name = format!("refs/heads/{branch}");
        let tip = self.command(&self.origin(), &["rev-parse", "-q", "--verify", &name]).output().unwrap();
        let tip = String::from_utf8(tip.stdout).unwrap();
        let mut args = vec!["commit-tree", "-m", subject, &tree];
        if !tip.is_empty() {
            args.extend(["-p", tip.trim()]);
        }
        let mut git = self.command(&self.origin(), &args);
        git.env("GIT_COMMITTER_DATE", format!("@{time} +0100"));
        let commit = String::from_utf8(git.output().unwrap().stdout).unwrap().trim().to_owned();
        self.set(branch, &commit);
        commit
    }

    /// Make or move a branch of `origin`.
    pub(super) fn set(&self, branch: &str, commit: &str) {
        self.at_origin(&["update-ref", &format!("refs/heads/{branch}"), commit]);
    }

    /// A branch with commits that no other branch has.
    pub(super) fn unmerged(&self, branch: &str, commits: usize) -> String {
        self.set(branch, &self.head("main"));
        for n in 0..commits {
            self.commit(branch, &format!("only on {branch} {n}"));
        }
        self.head(branch)
    }

    pub(super) fn head(&self, branch: &str) -> String {
        self.at_origin(&["rev-parse", &format!("refs/heads/{branch}")])
    }

    /// Every reference of `origin` with its value.
    pub(super) fn refs(&self) -> String {
        self.at_origin(&["for-each-ref", "--format=%(refname) %(objectname) %(symref)"])
    }

    pub(super) fn exists(&self, branch: &str) -> bool {
        self.refs().lines().any(|line| line.starts_with(&format!("refs/heads/{branch} ")))
    }

    /// An executable hook that leaves a file behind, and would forbid everything.
    pub(super) fn hook(&self, git_dir: &Path, name: &str) {
        let script = format!("#!/bin/sh\ntouch '{}'\nexit 1\n", self.path().join("ran").display());
        fs::create_dir_all(git_dir.join("hooks")).unwrap();
        fs::write(git_dir.join("hooks").join(name), script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(git_dir.join("hooks").join(name), mode).unwrap();
    }

    pub(super) fn a_hook_ran(&self) -> bool {
        self.path().join("ran").exists()
    }

    pub(super) fn config(&self) -> RepoConfig {
        RepoConfig { dir: self.clone(), ..RepoConfig::default() }
    }

    pub(super) fn open(&self) -> Tools {
        Tools::open(self.config()).unwrap()
    }
}

/// The three handles on one repository.
pub(super) struct Tools(pub(super) Arc<Repo>);

impl Tools {
    pub(super) fn open(config: RepoConfig) -> Result<Self, OpenError> {
        Repo::open(config).map(|repo| Self(Arc::new(repo)))
    }

    pub(super) async fn list(&self, limit: i64, cursor: Option<String>) -> Result<Page, ToolError> {
        RepoReader::new(Arc::clone(&self.0)).list(limit, cursor).await
    }

    /// The first hundred branches by name.
    pub(super) async fn names(&self) -> Vec<String> {
        let page = self.list(100, None).await.unwrap();
        page.branches.into_iter().map(|branch| branch.name).collect()
    }

    pub(super) async fn create(&self, branch: &str, from: Option<&str>) -> Result<String, ToolError> {
        let from = from.map(|from| Start::try_from(from.to_owned()).unwrap());
        RepoAdder::new(Arc::clone(&self.0)).create(name(branch), from).await
    }

    /// Delete, with a user who agrees to everything.
    pub(super) async fn delete(&self, branch: &str) -> Result<Option<String>, ToolError> {
        self.delete_asking(branch, None, |_| Ok(())).await
    }

    /// Delete, with a user who is asked only if that would be a fault.
    pub(super) async fn delete_unasked(&self, branch: &str) -> Result<Option<String>, ToolError> {
        self.delete_asking(branch, None, |question| panic!("asked: {question:?}")).await
    }

    pub(super) async fn delete_asking(
        &self,
        branch: &str,
        expected: Option<&str>,
        user: impl FnOnce(Question) -> Result<(), ToolError> + Send + 'static,
    ) -> Result<Option<String>, ToolError> {
        let expected = expected.map(|hex| CommitId::try_from(hex.to_owned()).unwrap());
        RepoWriter::new(Arc::clone(&self.0)).delete(name(branch), expected, user).await
    }

    /// The question that a deletion puts to the user, who doesn't answer.
    pub(super) async fn question(&self, branch: &str) -> Question {
        match self.delete_asking(branch, None, |question| Err(ToolError::Confirm(question))).await {
            Err(ToolError::Confirm(question)) => question,
            other => panic!("not asked: {other:?}"),
        }
    }
}

pub(super) fn name(branch: &str) -> BranchName {
    BranchName::try_from(branch.to_owned()).unwrap()
}

/// The text of a refusal.
#[track_caller]
pub(super) fn refusal<T: std::fmt::Debug>(result: Result<T, ToolError>) -> String {
    match result {
        Err(ToolError::Refused(text)) => text,
        other => panic!("not refused: {other:?}"),
    }
}

#[track_caller]
pub(super) fn assert_refused<T: std::fmt::Debug>(result: Result<T, ToolError>, part: &str) {
    let text = refusal(result);
    assert!(text.contains(part), "`{part}` is not in: {text}");
}
