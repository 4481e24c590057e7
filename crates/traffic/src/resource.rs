//! The purpose of a response, where the source does not tell it.

use crate::{Exchange, Resource};

impl Resource {
    /// The source's word for it, or the best guess: by the media type of the response, by the `Accept` and `X-Requested-With`
    /// of the request, by the end of the path.
    pub fn of(exchange: &Exchange) -> Self {
        if let Some(resource) = exchange.resource {
            return resource;
        }
        let request = &exchange.request;
        if matches!(request.url.scheme(), "ws" | "wss") {
            return Self::WebSocket;
        }
        let asks_first = request.headers.get("access-control-request-method").is_some();
        if request.method == "OPTIONS" && asks_first {
            return Self::Preflight;
        }
        if request.headers.get("x-requested-with").is_some() {
            return Self::Fetch;
        }
        let media_type = exchange.response.as_ref().map(|response| response.headers.media_type());
        let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
        let by_type = media_type.as_deref().and_then(of_media_type);
        let by_end = || of_path(request.url.path()).filter(|_| is_read);
        by_type.or_else(by_end).unwrap_or_else(|| match request.headers.get("accept") {
            Some(accept) if accept.contains("text/html") => Self::Document,
            Some(accept) if accept.starts_with("image/") => Self::Image,
            Some(accept) if accept.starts_with("text/css") => Self::Stylesheet,
            _ => Self::Other,
        })
    }

    /// Whether it is a static part of pages: a style, a script, a picture, a font, sound or film.
    pub fn is_static(self) -> bool {
        matches!(self, Self::Stylesheet | Self::Script | Self::Image | Self::Font | Self::Media)
    }
}

fn of_media_type(media_type: &str) -> Option<Resource> {
    let (family, kind) = media_type.split_once('/')?;
    Some(match (family, kind) {
        ("text", "html") | ("application", "xhtml+xml") => Resource::Document,
        ("text", "css") => Resource::Stylesheet,
        ("text" | "application", "javascript" | "ecmascript" | "x-javascript" | "wasm") => {
            Resource::Script
        }
        ("text", "event-stream") => Resource::EventSource,
        ("image", _) => Resource::Image,
        ("font", _) => Resource::Font,
        ("application", kind) if kind.contains("font") => Resource::Font,
        ("audio" | "video", _) => Resource::Media,
        ("application", "json" | "xml" | "graphql-response+json") => Resource::Fetch,
        ("application", kind) if kind.ends_with("+json") => Resource::Fetch,
        _ => return None,
    })
}

fn of_path(path: &str) -> Option<Resource> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let (_, end) = name.rsplit_once('.')?;
    Some(match end.to_ascii_lowercase().as_str() {
        "css" => Resource::Stylesheet,
        "js" | "mjs" | "wasm" => Resource::Script,
        "avif" | "bmp" | "gif" | "ico" | "jpeg" | "jpg" | "png" | "svg" | "webp" => Resource::Image,
        "eot" | "otf" | "ttf" | "woff" | "woff2" => Resource::Font,
        "m4a" | "mp3" | "mp4" | "ogg" | "vtt" | "wav" | "webm" => Resource::Media,
        "htm" | "html" | "xhtml" => Resource::Document,
        _ => return None,
    })
}
