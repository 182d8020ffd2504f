//! Text of others, made fit to be shown: control, bidirectional and invisible characters escaped.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, Datelike, SecondsFormat};

/// The first `max` characters of `bytes` on one line, with every character escaped that a reader
/// couldn't see or that could change how the rest is seen.
pub(crate) fn visible(bytes: &[u8], max: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let cut = match text.char_indices().nth(max) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => text,
    };
    // Quotes are no danger, and an escaped one is hard to read. A backslash stays doubled.
    let escaped = cut.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"");
    let mut shown = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        match c {
            // Variation selectors can carry hidden text; the one of emoji carries none.
            '\u{fe00}'..='\u{fe0e}' | '\u{e0100}'..='\u{e01ef}' => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// A value inside a refusal: visible, short, and without the backticks that enclose it.
pub(crate) fn quoted(value: &str) -> String {
    format!("`{}`", visible(value.as_bytes(), 60).replace('`', "'"))
}

/// A text from elsewhere inside a message: on one line, with every character escaped that a reader
/// couldn't see or that could change how the rest is seen; at most `max` characters before that, and
/// if it is cut, by how much.
#[must_use]
pub fn shown(text: &str, max: usize) -> String {
    let visible = visible(text.as_bytes(), max);
    match text.chars().count().checked_sub(max) {
        None | Some(0) => visible,
        Some(more) => format!("{visible} ({more} more characters)"),
    }
}

/// Seconds since 1970 as RFC 3339 in UTC; `None` beyond the four-digit years.
pub(crate) fn rfc3339(seconds: i64) -> Option<String> {
    let time = DateTime::from_timestamp(seconds, 0).filter(|time| (0..=9_999).contains(&time.year()))?;
    Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// A cursor that says nothing to its reader.
pub(crate) fn opaque(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// What [`opaque`] hid; `None` if it is none of ours.
pub(crate) fn transparent(cursor: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()
}

/// Whether Windows takes a file of this name for a device, whatever its extension.
pub(crate) fn is_device(file: &str) -> bool {
    let stem = file.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    match stem.as_bytes() {
        b"con" | b"prn" | b"aux" | b"nul" => true,
        [b'c', b'o', b'm', digit] | [b'l', b'p', b't', digit] => digit.is_ascii_digit(),
        _ => false,
    }
}
