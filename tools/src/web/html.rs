//! HTML becomes readable text, in bounded time and memory: `html2text` renders what
//! [`reduce`](super::reduce) leaves of a page.

use std::{
    io::{self, Read},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use html2text::config;
use url::Url;

use super::{
    reduce::{Reduced, reduce},
    text::cut,
};

/// Columns of the rendered text.
const WIDTH: usize = 100;
/// Bytes between two looks at the clock.
pub(super) const STEP: usize = 1024;

/// When to stop working on a page.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    pub(super) deadline: Instant,
    /// The caller has gone.
    pub(super) abandoned: &'a AtomicBool,
    /// Bytes of reduced HTML.
    pub(super) max_bytes: usize,
}

impl Budget<'_> {
    pub(super) fn is_spent(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// A page as text.
pub(super) struct Rendered {
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// The page was too long, too deep or too costly to be shown whole.
    pub(super) truncated: bool,
}

/// Render a page whose links are relative to `base`.
///
/// # Errors
///
/// Whatever makes `html2text` give up.
pub(super) fn render(html: &str, base: &Url, budget: Budget<'_>) -> Result<Rendered, html2text::Error> {
    let Reduced { html, mut title, mut truncated, .. } = reduce(html, base, budget);
    let mut reader = Paced { rest: html.as_bytes(), budget, stopped: false };
    let config = config::plain().no_table_borders().allow_width_overflow();
    let dom = config.parse_html(&mut reader)?;
    truncated |= reader.stopped;
    let text = config.render_to_string(config.dom_to_render_tree(&dom)?, WIDTH)?;
    title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&mut title, 300);
    let title = (!title.is_empty()).then_some(title);
    let lines: Vec<_> = text.trim().lines().map(str::trim_end).collect();
    Ok(Rendered { title, text: lines.join("\n"), truncated })
}

/// Ends early when the budget is spent: a page cut short is better than none.
struct Paced<'a> {
    rest: &'a [u8],
    budget: Budget<'a>,
    stopped: bool,
}

impl Read for Paced<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.rest.is_empty() && self.budget.is_spent() {
            self.stopped = true;
            return Ok(0);
        }
        let length = buffer.len().min(STEP);
        self.rest.read(buffer.get_mut(..length).unwrap_or_default())
    }
}
