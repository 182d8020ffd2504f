//! From the bytes of a response to text that is safe to show.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// What a `Content-Type` header promises, with nothing of the header left that could carry text.
#[derive(Debug, Clone)]
pub(super) struct Media {
    /// `type/subtype` in lower case; `None` without a valid header.
    pub(super) name: Option<String>,
    pub(super) kind: Kind,
    charset: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Xml,
    Text,
    /// Nothing that can be delivered as text.
    Other,
}

impl Media {
    /// Read the value of a `Content-Type` header (RFC 9110, section 8.3).
    pub(super) fn of(header: &str) -> Self {
        let mut parts = header.split(';').map(str::trim);
        let name = parts.next().map(str::to_ascii_lowercase).filter(|name| is_media_type(name));
        let charset = parts
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(key, _)| key.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, label)| label.trim().trim_matches('"').to_owned());
        let kind = name.as_deref().map_or(Kind::Other, kind);
        Self { name, kind, charset }
    }

    /// The text of a body, and whether something in it could not be read. `None` if its charset is
    /// unknown: guessing would turn bytes into whatever somebody wants them to be.
    pub(super) fn decode(&self, body: &[u8], truncated: bool) -> Option<(String, bool)> {
        let label = match (&self.charset, self.kind) {
            (Some(label), _) => Some(label.clone()),
            (None, Kind::Html) => declared(body, "charset"),
            (None, Kind::Xml) => declared(body, "encoding"),
            (None, _) => None,
        };
        let mut encoding = match &label {
            Some(label) => Encoding::for_label_no_replacement(label.as_bytes())?,
            None => UTF_8,
        };
        // A declaration that was read as ASCII can't be right about UTF-16.
        if self.charset.is_none() && [UTF_16BE, UTF_16LE].contains(&encoding) {
            encoding = UTF_8;
        }
        let mut decoder = encoding.new_decoder();
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(body.len())?);
        // A character cut in half at the size limit is not a fault of the text.
        let (.., lossy) = decoder.decode_to_string(body, &mut text, !truncated);
        Some((text, lossy))
    }
}

fn is_media_type(name: &str) -> bool {
    let is_token = |part: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        !part.is_empty() && part.len() <= 64 && part.bytes().all(is_part)
    };
    name.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

fn kind(name: &str) -> Kind {
    match name {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "text/xml" | "application/xml" => Kind::Xml,
        "application/json" | "application/x-ndjson" | "application/jsonl" => Kind::Text,
        _ if name.ends_with("+xml") => Kind::Xml,
        _ if name.ends_with("+json") || name.starts_with("text/") => Kind::Text,
        _ => Kind::Other,
    }
}

/// The charset that a document names in its first kilobyte: `charset=…` in HTML,
/// `encoding="…"` in XML.
fn declared(body: &[u8], key: &str) -> Option<String> {
    let start = body.get(..1024).unwrap_or(body);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let (_, rest) = start.split_once(key)?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|char: char| !(char.is_ascii_alphanumeric() || "-_:.".contains(char)));
    value.get(..end?).filter(|label| !label.is_empty()).map(str::to_owned)
}

/// Text without the characters that a reader can't see but a model or a terminal acts on:
/// controls, direction overrides, tags, and all else that Unicode calls default-ignorable, except
/// joiners, which real words need, and the two selectors of emoji. Line ends become `\n`.
pub(super) fn visible(text: &str) -> String {
    let unified = text.replace("\r\n", "\n");
    let mapped = unified.chars().map(|char| match char {
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        char => char,
    });
    mapped.filter(|&char| !is_hidden(char)).collect()
}

fn is_hidden(char: char) -> bool {
    (char.is_control() && !matches!(char, '\n' | '\t'))
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Cut a text to a number of bytes; says whether anything was lost.
pub(super) fn cut(text: &mut String, max_bytes: usize) -> bool {
    if text.len() <= max_bytes {
        return false;
    }
    let end = (0..=max_bytes).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or_default());
    true
}
