use std::path::{Path, PathBuf};

use git2::{Config, ErrorCode, Repository, RepositoryOpenFlags};

use crate::OpenError;

/// A remote as the configuration of the repository described it when the server started.
///
/// Whoever can change that configuration later must not be able to lead a tool elsewhere, so a
/// remote that differs from this is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    pub(super) name: String,
    /// The one URL that git reads from and writes to.
    pub(super) url: String,
}

impl Pin {
    /// The remote's present configuration; `None` where there is no such remote.
    ///
    /// # Errors
    ///
    /// What makes its address ambiguous: several URLs, a push URL of its own, a rewriting.
    pub(super) fn read(repo: &Repository, name: &str) -> Result<Option<Self>, String> {
        let remote = match repo.find_remote(name) {
            Ok(remote) => remote,
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(error.message().to_owned()),
        };
        let config = repo.config().map_err(|error| error.message().to_owned())?;
        let urls = values(&config, &format!("remote.{name}.url"))?;
        let [url] = urls.as_slice() else {
            return Err(format!("it has {} URLs instead of one", urls.len()));
        };
        if values(&config, &format!("remote.{name}.pushurl"))?.iter().any(|push| push != url) {
            return Err("it has a `pushurl` that differs from its `url`".into());
        }
        let resolved = |address: &[u8]| address == url.as_bytes();
        if !resolved(remote.url_bytes()) || !remote.pushurl_bytes().is_none_or(resolved) {
            return Err("an `insteadOf` or `pushInsteadOf` setting rewrites its URL".into());
        }
        Ok(Some(Self { name: name.to_owned(), url: url.clone() }))
    }
}

/// All values of a setting, in the order of the configuration.
pub(super) fn values(config: &Config, name: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut odd = false;
    let collect = |entry: &git2::ConfigEntry<'_>| match entry.value() {
        Ok(value) => found.push(value.to_owned()),
        Err(_) => odd = true,
    };
    let read = config.multivar(name, None).and_then(|entries| entries.for_each(collect));
    match read {
        Ok(()) if odd => Err(format!("`{name}` is not UTF-8")),
        Ok(()) => Ok(found),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(found),
        Err(error) => Err(error.message().to_owned()),
    }
}

/// Where branches are read and changed.
#[derive(Debug)]
pub(super) enum Place {
    /// In the repository itself, which has no remote. Holds the directory with its `HEAD`.
    Own(PathBuf),
    /// In a bare repository on this machine, which is opened and not pushed to.
    Local(PathBuf),
    /// Behind the git protocol: pushed to, and listed as of the last fetch.
    Network,
}

impl Place {
    /// Where a URL leads. Relative paths start at `base`, as git has it.
    pub(super) fn of(url: &str, base: &Path) -> Result<Self, String> {
        let path = match url.split_once("://") {
            Some(("git", _)) => return Ok(Self::Network),
            Some(("file", _)) => url::Url::parse(url)
                .ok()
                .and_then(|url| url.to_file_path().ok())
                .ok_or("its `file://` URL names no path of this machine")?,
            // `host:path` and `helper::address` hold a colon before any slash.
            None if !url.starts_with('-') && !url.split('/').next().unwrap_or(url).contains(':') => base.join(url),
            _ => {
                return Err("this kind of URL is not supported; use a path, a `file://` or a `git://` URL".into());
            }
        };
        let repo = open(&path)?;
        if !repo.is_bare() {
            return Err("it is a repository with a working tree; only bare ones are changed from outside".into());
        }
        Ok(Self::Local(repo.path().to_owned()))
    }
}

/// Open exactly this repository, checking its owner, and none above it.
pub(super) fn open(path: &Path) -> Result<Repository, String> {
    let nowhere: [&std::ffi::OsStr; 0] = [];
    Repository::open_ext(path, RepositoryOpenFlags::NO_SEARCH, nowhere).map_err(|error| match error.code() {
        ErrorCode::NotFound => "there is no git repository".into(),
        ErrorCode::Owner => "it belongs to another user".into(),
        _ if ["unsupported", "unknown"].iter().any(|word| error.message().contains(word)) => {
            format!("unsupported repository format: {}", error.message())
        }
        _ => error.message().to_owned(),
    })
}

/// A message for the operator, who may see paths.
pub(super) fn start_up(path: &Path, cause: &str) -> OpenError {
    OpenError(format!("cannot serve the repository `{}`: {cause}", path.display()))
}
