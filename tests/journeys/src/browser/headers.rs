//! The headers that Chrome adds.

use brunt_traffic::Resource;
use url::Url;

use super::Ask;
use crate::wire;

const AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
     Chrome/140.0.0.0 Safari/537.36";
const BRANDS: &str = r#""Chromium";v="140", "Not=A?Brand";v="24""#;
const DOCUMENT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,\
     image/webp,image/apng,*/*;q=0.8";

/// The headers of a request for a resource, but for its cookies, from the page at `current`.
pub(super) fn of(ask: &Ask, resource: Resource, current: Option<&Url>) -> Vec<(String, String)> {
    let is_document = resource == Resource::Document;
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: &str| all.push((name.to_owned(), value.to_owned()));
    add("Host", &wire::host(&ask.url));
    add("Connection", "keep-alive");
    if !ask.body.is_empty() || matches!(ask.method.as_str(), "POST" | "PUT" | "PATCH") {
        add("Content-Length", &ask.body.len().to_string());
    }
    if is_document && ask.method == "POST" {
        add("Cache-Control", "max-age=0");
    }
    add("sec-ch-ua-platform", r#""Linux""#);
    add("User-Agent", AGENT);
    add("sec-ch-ua", BRANDS);
    add("sec-ch-ua-mobile", "?0");
    let is_cross = current.is_some_and(|page| page.origin() != ask.url.origin());
    if let Some(page) = current.filter(|_| ask.method != "GET" || is_cross && !is_document) {
        add("Origin", &page.origin().ascii_serialization());
    }
    if is_document {
        add("Upgrade-Insecure-Requests", "1");
    }
    for (name, value) in &ask.headers {
        add(name, value);
    }
    let has_accept = ask.headers.iter().any(|(name, _)| name == "Accept");
    let (accept, mode, dest) = match resource {
        Resource::Document => (DOCUMENT, "navigate", "document"),
        Resource::Stylesheet => ("text/css,*/*;q=0.1", "no-cors", "style"),
        Resource::Image => ("image/avif,image/webp,image/*,*/*;q=0.8", "no-cors", "image"),
        Resource::Script => ("*/*", "no-cors", "script"),
        _ => ("*/*", "cors", "empty"),
    };
    if !has_accept {
        add("Accept", accept);
    }
    let site = match current {
        None => "none",
        Some(_) if is_cross => "same-site",
        Some(_) => "same-origin",
    };
    add("Sec-Fetch-Site", site);
    add("Sec-Fetch-Mode", mode);
    if is_document {
        add("Sec-Fetch-User", "?1");
    }
    add("Sec-Fetch-Dest", dest);
    if let Some(page) = current {
        add("Referer", &referer(page, is_cross));
    }
    add("Accept-Encoding", "gzip, deflate, br, zstd");
    add("Accept-Language", "en-GB,en;q=0.9");
    all
}

/// The headers of a handshake.
pub(super) fn socket(url: &Url, current: Option<&Url>, key: &str) -> Vec<(String, String)> {
    let origin = current.map_or_else(String::new, |page| page.origin().ascii_serialization());
    let all = [
        ("Host", wire::host(url)),
        ("Connection", "Upgrade".to_owned()),
        ("Pragma", "no-cache".to_owned()),
        ("Cache-Control", "no-cache".to_owned()),
        ("User-Agent", AGENT.to_owned()),
        ("Upgrade", "websocket".to_owned()),
        ("Origin", origin),
        ("Sec-WebSocket-Version", "13".to_owned()),
        ("Accept-Encoding", "gzip, deflate, br, zstd".to_owned()),
        ("Accept-Language", "en-GB,en;q=0.9".to_owned()),
        ("Sec-WebSocket-Key", key.to_owned()),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// As `strict-origin-when-cross-origin` wants it.
fn referer(page: &Url, is_cross: bool) -> String {
    if is_cross {
        return format!("{}/", page.origin().ascii_serialization());
    }
    let mut page = page.clone();
    page.set_fragment(None);
    page.into()
}
