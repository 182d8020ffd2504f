//! Text of others, made fit to be shown: control, bidirectional and invisible characters escaped.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

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

/// Seconds since 1970 as RFC 3339 in UTC; `None` beyond the four-digit years.
pub(crate) fn rfc3339(seconds: i64) -> Option<String> {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that begin in March put the leap day last, so months have fixed starts; 400 of them
    // have 146,097 days. Day 0 is 0000-03-01, 719,468 days before 1970.
    let since_march = days.checked_add(719_468)?;
    let (era, day) = (since_march.div_euclid(146_097), since_march.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era.checked_mul(400)?.checked_add(year + next)?;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    (0..=9_999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
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
