/// A pattern for branch names, blind to letter case.
#[derive(Debug)]
pub(super) struct Glob(Vec<u8>);

impl Glob {
    /// # Errors
    ///
    /// A pattern that could match no branch name, which would protect nothing.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let possible = |c: char| c.is_ascii_alphanumeric() || "._-/*?".contains(c);
        let starts = pattern.starts_with(|c: char| c.is_ascii_alphanumeric() || "*?".contains(c));
        if !starts || pattern.ends_with('/') || !pattern.chars().all(possible) {
            return Err(format!(
                "the pattern `{pattern}` matches no branch name; use a name with `*` and `?`, as in `release/*`"
            ));
        }
        Ok(Self(pattern.to_ascii_lowercase().into_bytes()))
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        matches(&self.0, name.to_ascii_lowercase().as_bytes())
    }
}

/// The last `*` is retried at each later place, so the time is the product of the lengths at most.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut rest, mut left) = (pattern, name);
    let mut star: Option<(&[u8], &[u8])> = None;
    loop {
        match (rest, left) {
            ([b'*', after @ ..], _) => {
                star = Some((after, left));
                rest = after;
            }
            ([b'?', after @ ..], [_, behind @ ..]) => (rest, left) = (after, behind),
            ([p, after @ ..], [n, behind @ ..]) if p == n => (rest, left) = (after, behind),
            ([], []) => return true,
            _ => match star {
                Some((after, [_, behind @ ..])) => {
                    star = Some((after, behind));
                    (rest, left) = (after, behind);
                }
                _ => return false,
            },
        }
    }
}
