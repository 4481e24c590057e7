//! The last resort: a text is looked for in bodies as it is, where no structure gives it.

use brunt_traffic::Headers;

use crate::reply::Reply;
use crate::request::is_static;
use crate::session::Session;
use crate::sources::{Draft, Origin, is_constant};
use crate::values::Strength;

/// Bytes that are searched for one recording, at the most; later texts are not looked for.
const SEARCHED_MAX: usize = 2 << 30;

/// Shorter texts are not looked for.
const TEXT_MIN: usize = 8;

impl Session<'_> {
    /// Looks for a text in all bodies, once. A text in a response that caches keep for everybody is a constant of the
    /// application.
    pub(crate) fn search(&mut self, id: usize) {
        let wanted = &self.wanted.all[id];
        if wanted.strength != Strength::Strong
            || wanted.text.len() < TEXT_MIN
            || !self.sources.by_text[id].is_empty()
            || !self.searched.insert(id)
        {
            return;
        }
        let finder = memchr::memmem::Finder::new(wanted.text.as_bytes());
        for (index, exchange) in self.recording.exchanges.iter().enumerate() {
            let Some(response) = &exchange.response else { continue };
            let is_shared = is_static(exchange) && is_shared_script(&response.headers);
            if !self.chains.is_seen(index) || is_static(exchange) && !is_shared {
                continue;
            }
            let size =
                usize::try_from(response.body.size().unwrap_or_default()).unwrap_or(usize::MAX);
            if self.searched_size.saturating_add(size) > SEARCHED_MAX {
                return;
            }
            self.searched_size += size;
            let Some(reply) = Reply::without_cookies(self.recording, index) else { continue };
            let Some(at) = finder.find(reply.body.as_bytes()) else { continue };
            if is_shared {
                self.constants.insert(id);
                continue;
            }
            let draft = Draft::Literal(at, wanted.text.len());
            self.sources.by_text[id].push(Origin::of_body(index, draft));
        }
    }
}

/// Whether it is a script that caches may keep.
fn is_shared_script(headers: &Headers) -> bool {
    headers.media_type().contains("javascript") && is_constant(headers)
}
