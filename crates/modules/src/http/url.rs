//! `` http.url`…` ``: URLs that are told apart by their literal parts only.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::LazyLock;

use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name};

use crate::reading::{Room, length_of, text_or_empty};

static NAME: Name = Name::new("name");
static URL: Name = Name::new("url");
static CLEAN_URL: Name = Name::new("clean_url");

/// The object that the tag returns.
pub(super) struct UrlTemplate {
    pub(super) url: String,
    /// With `${}` for each substitution.
    pub(super) name: String,
}

impl Class for UrlTemplate {
    const NAME: &'static std::ffi::CStr = c"URL";
    const EXOTIC: bool = true;

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().method(c"toString", 0, |call| {
                match call.this().instance::<UrlTemplate>() {
                    Some(template) => call.ctx().string(&template.url),
                    None => Ok(call.ctx().undefined()),
                }
            })
        });
        &MEMBERS
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        let text = if key.is(&NAME) {
            self.name.clone()
        } else if key.is(&URL) {
            self.url.clone()
        } else if key.is(&CLEAN_URL) {
            mask(&self.url).into_owned()
        } else {
            return Ok(Own::None);
        };
        Ok(Own::Once(ctx.string(&text)?))
    }

    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 3] = [&NAME, &URL, &CLEAN_URL];
        &NAMES
    }
}

pub(super) fn tag(call: Call<'_>) -> JsResult<'_> {
    let ctx = call.ctx();
    let literals = call.argument(0);
    if let Some(text) = literals.as_str() {
        // Called as a function.
        return ctx.instance(UrlTemplate { url: text.to_string(), name: text.to_string() });
    }
    let (mut url, mut name) = (String::new(), String::new());
    let mut room = Room::new();
    for index in 0..length_of(&literals)? {
        let literal = room.text(&literals.get_index(index)?)?;
        url.push_str(&literal);
        name.push_str(&literal);
        if (index as usize) + 1 < call.len() {
            let between = text_or_empty(&call.argument(index as usize + 1))?;
            room.take(ctx, between.len())?;
            url.push_str(&between);
            name.push_str("${}");
        }
    }
    ctx.instance(UrlTemplate { url, name })
}

/// The URL with credentials masked, as tags show it.
pub(super) fn mask(url: &str) -> Cow<'_, str> {
    match userinfo(url) {
        Some(info) => format!("{}****:****@{}", &url[..info.start], &url[info.end..]).into(),
        None => url.into(),
    }
}

/// The URL without credentials.
pub(super) fn without_userinfo(url: &str) -> Cow<'_, str> {
    match userinfo(url) {
        Some(info) => format!("{}{}", &url[..info.start], &url[info.end..]).into(),
        None => url.into(),
    }
}

/// Where a URL has its credentials, with the `@` behind them.
fn userinfo(url: &str) -> Option<Range<usize>> {
    let start = url.find("://")? + 3;
    let rest = &url[start..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    Some(start..start + authority.rfind('@')? + 1)
}

/// The bytes that Go encodes in a path. Control characters are left alone, since they make the URL invalid.
static ENCODED: [bool; 256] = {
    let mut encoded = [false; 256];
    let mut byte = 0x80;
    while byte < 256 {
        encoded[byte] = true;
        byte += 1;
    }
    let special = b" \"<>\\^`{|}";
    let mut index = 0;
    while index < special.len() {
        encoded[special[index] as usize] = true;
        index += 1;
    }
    encoded
};

/// The same, and where a path ends: one look at each byte for most URLs.
static STOPS: [bool; 256] = {
    let mut stops = ENCODED;
    stops[b'?' as usize] = true;
    stops[b'#' as usize] = true;
    stops
};

/// The URL with its path percent-encoded where Go encodes it, which is how `res.url` and tags show it.
pub(crate) fn escape_path(mut url: String) -> String {
    let is_plain = |byte: u8| !ENCODED[byte as usize];
    if url.as_bytes().first().is_some_and(u8::is_ascii_uppercase)
        && let Some(end) = url.find("://")
    {
        url[..end].make_ascii_lowercase();
    }
    let odd = url.bytes().position(|byte| STOPS[byte as usize]);
    // Nearly all URLs end here.
    let Some(at) = odd else { return url };
    let rest = &url.as_bytes()[at..];
    if is_plain(rest[0]) {
        return match memchr::memchr(b'#', rest) {
            None => url,
            Some(hash) => escape_fragment(url, at + hash),
        };
    }
    let path_end = url.find(['?', '#']).unwrap_or(url.len());
    let start = url.find("://").map_or(0, |at| at + 3);
    let path_start = url[start..path_end].find('/').map_or(path_end, |at| start + at);
    let Some(path) = decoded(&url.as_bytes()[path_start..path_end]) else { return url };
    let mut out = url[..path_start].to_owned();
    // As soon as one must be encoded, Go encodes all that it may: brackets and quotes, too.
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            out.push(byte as char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out.push_str(&url[path_end..]);
    match out[path_start..].find('#') {
        None => out,
        Some(hash) => escape_fragment(out, path_start + hash),
    }
}

/// A path without its percent-encoding; `None` if that is broken.
fn decoded(path: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digits = after.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit))?;
        out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = &after[2..];
    }
    Some(out)
}

/// The same for what follows the `#` at this place; an empty fragment is none.
fn escape_fragment(url: String, hash: usize) -> String {
    let fragment = &url.as_bytes()[hash + 1..];
    if !fragment.is_empty() && fragment.iter().all(|&byte| !ENCODED[byte as usize]) {
        return url;
    }
    let mut out = url[..hash].to_owned();
    for (index, &byte) in fragment.iter().enumerate() {
        if index == 0 {
            out.push('#');
        }
        if ENCODED[byte as usize] {
            let _ = write!(out, "%{byte:02X}");
        } else {
            out.push(byte as char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_show_an_encoded_path_and_their_query_as_it_is() {
        let escaped = |url: &str| escape_path(url.to_owned());
        assert_eq!(escaped("http://h/a b/\u{e9}?c d#e f"), "http://h/a%20b/%C3%A9?c d#e%20f");
        assert_eq!(escaped("HTTP://h/A?b#"), "http://h/A?b");
        assert_eq!(escaped("http://h/#x"), "http://h/#x");
        assert_eq!(escaped("http://h?x y"), "http://h?x y");
        assert_eq!(escaped("http://h/?\u{e9}"), "http://h/?\u{e9}");
        assert_eq!(escaped("http://h/\n"), "http://h/\n");
        assert_eq!(escaped("http://h/%20"), "http://h/%20");
        assert_eq!(escaped("http://h/[a](b)!*'"), "http://h/[a](b)!*'");
        assert_eq!(escaped("http://h/[a] (b)!*'"), "http://h/%5Ba%5D%20%28b%29%21%2A%27");
        assert_eq!(escaped("http://h/%2Fa%25 b"), "http://h//a%25%20b");
        assert_eq!(escaped("http://h/%zz b"), "http://h/%zz b");
        assert_eq!(without_userinfo("http://u:p@h/x@y"), "http://h/x@y");
    }

    #[test]
    fn credentials_are_masked() {
        assert_eq!(mask("http://u:p@h/x@y"), "http://****:****@h/x@y");
        assert_eq!(mask("http://u@h"), "http://****:****@h");
        assert_eq!(mask("http://h/a@b"), "http://h/a@b");
        assert_eq!(mask("nonsense"), "nonsense");
    }
}
