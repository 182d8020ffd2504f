//! What a response turns into.

use std::{sync::atomic::AtomicBool, time::Instant};

use url::Url;

use super::{
    WebConfig,
    html::{Budget, render},
    text::{Kind, Media, cut, visible},
};
use crate::ToolError;

/// A fetched page. All of it comes from outside and deserves no trust.
#[derive(Debug)]
pub struct Page {
    /// Where it was found in the end.
    pub url: String,
    /// HTTP status; an error status is a page like any other.
    pub status: u16,
    /// `type/subtype` in lower case, without parameters.
    pub content_type: Option<String>,
    /// The title of an HTML page.
    pub title: Option<String>,
    /// The text, without invisible characters; `None` if it is no text.
    pub text: Option<String>,
    /// A limit was reached and the text is not whole.
    pub truncated: bool,
    /// Some bytes were not valid in the text's charset and were replaced.
    pub lossy: bool,
    /// Redirects that were followed.
    pub redirects: u32,
}

/// A response before its body is understood.
pub(super) struct Answer {
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) media: Media,
    pub(super) body: Vec<u8>,
    pub(super) truncated: bool,
    pub(super) redirects: u32,
}

impl Answer {
    /// Turn the body into text. Takes its time; `abandoned` ends it early.
    ///
    /// # Errors
    ///
    /// Internal, if the renderer gives up.
    pub(super) fn read(self, config: &WebConfig, abandoned: &AtomicBool) -> Result<Page, ToolError> {
        let mut page = Page {
            url: self.url.to_string(),
            status: self.status,
            content_type: self.media.name.clone(),
            title: None,
            text: None,
            truncated: self.truncated,
            lossy: false,
            redirects: self.redirects,
        };
        if self.media.kind == Kind::Other {
            return Ok(page);
        }
        let Some((mut text, lossy)) = self.media.decode(&self.body, self.truncated) else {
            return Ok(page);
        };
        if self.media.kind == Kind::Html {
            let budget = Budget {
                deadline: Instant::now() + config.render_timeout,
                abandoned,
                max_bytes: config.max_body_bytes,
            };
            let rendered = render(&text, &self.url, budget).map_err(ToolError::internal)?;
            page.title = rendered.title.map(|title| visible(&title));
            page.truncated |= rendered.truncated;
            text = rendered.text;
        }
        text = visible(&text);
        page.truncated |= cut(&mut text, config.max_text_bytes);
        page.lossy = lossy;
        page.text = Some(text);
        Ok(page)
    }
}
