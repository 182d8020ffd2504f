//! The text lens: lines that came, and lines that went.

/// Whether all old lines are still there, in order. None if one of the two is no text.
pub(super) fn keeps_all_lines(before: &[u8], after: &[u8]) -> Option<bool> {
    let (before, after) = (text(before)?, text(after)?);
    Some(is_within(before.lines(), after.lines(), |old, new| old == new))
}

/// Valid UTF-8 without a zero byte: a page of zeros is no text.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Whether each item of the first is matched by one of the second, in the same order. Taking the
/// first match each time leaves the most for the rest.
pub(super) fn is_within<T, U>(
    old: impl IntoIterator<Item = T>,
    new: impl IntoIterator<Item = U>,
    matches: impl Fn(&T, &U) -> bool,
) -> bool {
    let mut new = new.into_iter();
    old.into_iter().all(|old| new.any(|new| matches(&old, &new)))
}
