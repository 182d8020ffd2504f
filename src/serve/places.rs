use std::{
    io,
    path::{Path, PathBuf},
};

/// A file or directory that the server was given, and by which option.
#[derive(Debug)]
pub(super) struct Place {
    option: &'static str,
    /// Absolute, without links.
    path: PathBuf,
}

impl Place {
    /// # Errors
    ///
    /// If the directory that holds the path isn't there.
    pub(super) fn new(option: &'static str, path: &Path) -> io::Result<Self> {
        let resolved = path.canonicalize().or_else(|_| {
            // A file that the server will create.
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            Ok(parent.unwrap_or(Path::new(".")).canonicalize()?.join(name))
        });
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{option} `{}`: {error}", path.display()));
        Ok(Self { option, path: resolved.map_err(named)? })
    }
}

/// No tool may reach what belongs to another, or the server's own files: notes in a repository
/// could be hooks, an audit file among the notes could be rewritten.
///
/// # Errors
///
/// Naming the two options whose places touch.
pub(super) fn must_be_apart(places: &[Place]) -> Result<(), String> {
    for (at, one) in places.iter().enumerate() {
        for other in places.iter().skip(at + 1) {
            // The parts of one resource may lie inside one another.
            let touch = one.path.starts_with(&other.path) || other.path.starts_with(&one.path);
            if touch && one.option != other.option {
                return Err(format!(
                    "{} `{}` and {} `{}` must lie apart, neither inside the other; choose another place for one of them",
                    one.option,
                    one.path.display(),
                    other.option,
                    other.path.display()
                ));
            }
        }
    }
    Ok(())
}
