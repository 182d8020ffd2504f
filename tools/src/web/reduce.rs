//! A page reduced to the elements that matter for reading, to a bounded size and depth.
//!
//! A full HTML tree builder copies unclosed formatting elements into every paragraph and searches
//! its whole stack at every tag, so that a megabyte of hostile HTML could cost gigabytes and
//! minutes. A tokenizer doesn't, and what it lets through costs the tree builder little.

use std::{cell::RefCell, fmt::Write as _};

use html5ever::{
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states::RawKind,
    },
};
use url::Url;

use super::{
    html::{Budget, STEP},
    text::cut,
};

/// Elements within each other that are kept; real pages stay far below.
const MAX_DEPTH: usize = 64;
/// Tables within each other that are kept; pages laid out in tables need a few.
const MAX_TABLES: usize = 6;

/// Reduce a page whose links are relative to `base`.
pub(super) fn reduce(html: &str, base: &Url, budget: Budget<'_>) -> Reduced {
    let sink = Reducer(RefCell::new(Reduced::new(base.clone(), budget.max_bytes)));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut rest = html;
    let mut stopped = false;
    while !rest.is_empty() && !stopped {
        let step = (STEP..rest.len()).find(|&end| rest.is_char_boundary(end));
        let (chunk, after) = rest.split_at(step.unwrap_or(rest.len()));
        queue.push_back(StrTendril::from_slice(chunk));
        // It pauses after each script, which runs nowhere here.
        while !queue.is_empty() {
            let _ = tokenizer.feed(&queue);
        }
        rest = after;
        stopped = budget.is_spent();
    }
    tokenizer.end();
    let mut reduced = tokenizer.sink.0.into_inner();
    reduced.truncated |= !rest.is_empty();
    reduced
}

struct Reducer(RefCell<Reduced>);

impl TokenSink for Reducer {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                page.open(&tag);
                return match &*tag.name {
                    "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
                    "script" => TokenSinkResult::RawData(RawKind::ScriptData),
                    "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
                    "plaintext" => TokenSinkResult::Plaintext,
                    _ => TokenSinkResult::Continue,
                };
            }
            Token::TagToken(tag) => page.close(&tag.name),
            Token::CharacterTokens(text) => page.text(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// The page so far, in the few elements that are kept.
pub(super) struct Reduced {
    pub(super) html: String,
    pub(super) title: String,
    /// Some of the page is missing.
    pub(super) truncated: bool,
    base: Url,
    max_bytes: usize,
    /// Open containers, outermost first.
    open: Vec<&'static str>,
    /// The element whose content is left out, and how often it is open.
    hidden: Option<(String, usize)>,
    in_title: bool,
}

impl Reduced {
    fn new(base: Url, max_bytes: usize) -> Self {
        let (html, title) = (String::new(), String::new());
        let (truncated, in_title) = (false, false);
        Self { html, title, truncated, base, max_bytes, open: Vec::new(), hidden: None, in_title }
    }

    fn open(&mut self, tag: &Tag) {
        let name = &*tag.name;
        if let Some((hidden, times)) = &mut self.hidden {
            *times += usize::from(hidden == name && !tag.self_closing);
            return;
        }
        match name {
            "script" | "style" | "template" | "svg" | "iframe" | "noembed" | "noframes" | "textarea" => {
                if !tag.self_closing || name != "svg" {
                    self.hidden = Some((name.to_owned(), 1));
                }
            }
            "title" => self.in_title = self.title.is_empty(),
            "base" => {
                if let Some(base) = attribute(tag, "href").and_then(|href| self.base.join(href).ok()) {
                    self.base = base;
                }
            }
            "a" => match attribute(tag, "href").and_then(|href| self.base.join(href).ok()) {
                Some(link) if matches!(link.scheme(), "http" | "https" | "mailto") => {
                    self.write("<a href=\"");
                    self.write_escaped(link.as_str());
                    self.write("\">");
                }
                _ => {}
            },
            "img" => {
                if let Some(alternative) = attribute(tag, "alt").filter(|text| !text.is_empty()) {
                    self.write_escaped(&format!("[{alternative}]"));
                }
            }
            _ => match (container(name), kept(name)) {
                (Some(container), _) => self.enter(container),
                (None, Some(kept)) => self.write_tag("<", kept),
                (None, None) => {}
            },
        }
    }

    fn enter(&mut self, container: &'static str) {
        let tables = self.open.iter().filter(|open| **open == "table").count();
        if self.open.len() < MAX_DEPTH && (container != "table" || tables < MAX_TABLES) {
            self.open.push(container);
            self.write_tag("<", container);
        } else {
            self.write("<br>");
        }
    }

    fn close(&mut self, name: &str) {
        if let Some((hidden, times)) = &mut self.hidden {
            *times -= usize::from(hidden == name);
            if *times == 0 {
                self.hidden = None;
            }
        } else if name == "title" {
            self.in_title = false;
        } else if let Some(container) = container(name) {
            if let Some(at) = self.open.iter().rposition(|open| *open == container) {
                self.open.truncate(at);
                self.write_tag("</", container);
            }
        } else if let Some(kept) = kept(name) {
            self.write_tag("</", kept);
        } else if name == "a" {
            self.write("</a>");
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.hidden.is_none() {
            self.write_escaped(text);
        }
    }

    fn write_tag(&mut self, opening: &str, name: &str) {
        let _ = write!(self.html, "{opening}{name}>");
        self.limit();
    }

    fn write(&mut self, html: &str) {
        self.html.push_str(html);
        self.limit();
    }

    fn write_escaped(&mut self, text: &str) {
        for char in text.chars() {
            match char {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '"' => self.html.push_str("&quot;"),
                char => self.html.push(char),
            }
        }
        self.limit();
    }

    fn limit(&mut self) {
        self.truncated |= cut(&mut self.html, self.max_bytes);
    }
}

fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|found| &*found.value)
}

/// Elements that hold others until they are closed, under the name that is kept.
fn container(name: &str) -> Option<&'static str> {
    Some(match name {
        "table" => "table",
        "ul" | "menu" | "dir" => "ul",
        "ol" => "ol",
        "dl" => "dl",
        "blockquote" => "blockquote",
        "pre" | "listing" | "xmp" | "plaintext" => "pre",
        "div" | "section" | "article" | "main" | "header" | "footer" | "nav" | "aside" | "form" | "figure"
        | "figcaption" | "address" | "details" | "summary" | "fieldset" | "legend" | "center" | "dialog" | "search"
        | "hgroup" => "div",
        _ => return None,
    })
}

/// Elements that are kept and that the next of their kind closes.
fn kept(name: &str) -> Option<&'static str> {
    const KEPT: [&str; 18] = [
        "p", "br", "hr", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "h1", "h2", "h3", "h4", "h5",
        "h6",
    ];
    KEPT.into_iter().find(|kept| *kept == name)
}
