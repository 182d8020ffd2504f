use glob::{MatchOptions, Pattern};

/// A pattern for branch names, blind to letter case; `*` stands for any characters, `/` too.
#[derive(Debug)]
pub(super) struct Glob(Pattern);

impl Glob {
    /// # Errors
    ///
    /// A pattern that could match no branch name, which would protect nothing.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let possible = |c: char| c.is_ascii_alphanumeric() || "._-/*?".contains(c);
        let starts = pattern.starts_with(|c: char| c.is_ascii_alphanumeric() || "*?".contains(c));
        let valid = starts && !pattern.ends_with('/') && pattern.chars().all(possible);
        match Pattern::new(pattern) {
            Ok(glob) if valid => Ok(Self(glob)),
            _ => Err(format!(
                "the pattern `{pattern}` matches no branch name; use a name with `*` and `?`, as in `release/*`"
            )),
        }
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        let options = MatchOptions { case_sensitive: false, ..MatchOptions::new() };
        self.0.matches_with(name, options)
    }
}
