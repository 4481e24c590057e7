//! URLs whose changing parts have become placeholders.

use crate::part;

/// The longest route, in bytes: all parts have bounds.
pub const LENGTH_MAX: usize = 2048;
/// Segments of a path that are told; the place of more is taken by `…`.
const SEGMENTS_MAX: usize = 12;
/// Pairs of a query that are told, likewise.
const PAIRS_MAX: usize = 8;
/// The longest host with its port; of a longer one the beginning is kept.
const HOST_MAX: usize = 128;
/// The longest scheme.
const SCHEME_MAX: usize = 16;
/// In place of parts that are not told.
pub(crate) const MORE: &str = "…";

/// The route of a URL: `http://host/users/{id}?page={id}` for `http://me:secret@host/users/17?page=2#top`.
///
/// Folding a route again changes nothing. It never fails: a text that is no URL is a path.
pub fn fold(url: &str) -> String {
    let mut route = String::new();
    fold_into(&mut route, url);
    route
}

/// The same into a text that is there, which is emptied first.
pub(crate) fn fold_into(out: &mut String, url: &str) {
    out.clear();
    let url = url.split('#').next().unwrap_or_default();
    let rest = push_origin(out, url);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    push_path(out, path);
    push_query(out, query);
}

/// The scheme and the host with its port, and the part of the URL behind them.
pub(crate) fn origin_of(url: &str) -> (&str, &str, &str) {
    let Some(at) = url.find("://").filter(|at| *at <= SCHEME_MAX && *at > 0) else {
        return ("", "", url);
    };
    if !url.as_bytes()[..at].iter().all(u8::is_ascii_alphanumeric) {
        return ("", "", url);
    }
    let (scheme, rest) = url.split_at(at + 3);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    (scheme, host, rest)
}

/// Writes the origin; the rest of the URL.
pub(crate) fn push_origin<'a>(out: &mut String, url: &'a str) -> &'a str {
    let (scheme, host, rest) = origin_of(url);
    out.push_str(scheme);
    if host.len() > HOST_MAX {
        out.push_str(&host[..host.floor_char_boundary(HOST_MAX - MORE.len())]);
        out.push_str(MORE);
    } else {
        out.push_str(host);
    }
    if !scheme.is_empty() && !rest.starts_with('/') {
        out.push('/');
    }
    rest
}

fn push_path(out: &mut String, path: &str) {
    for (index, segment) in path.split('/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        if index > SEGMENTS_MAX {
            out.push_str(MORE);
            return;
        }
        part::push(out, segment);
    }
}

fn push_query(out: &mut String, query: &str) {
    let mut last = 0..0;
    let mut count = 0;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let mark = if count == 0 { '?' } else { '&' };
        let start = out.len();
        out.push(mark);
        let from = out.len();
        if count == PAIRS_MAX {
            out.push_str(MORE);
            return;
        }
        match pair.split_once('=') {
            Some((key, value)) => {
                part::push(out, key);
                out.push('=');
                part::push(out, value);
            }
            None => part::push(out, pair),
        }
        // `ids=1&ids=2` is one list, however long.
        if out[from..] == out[last.clone()] {
            out.truncate(start);
            continue;
        }
        last = from..out.len();
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changing_parts_become_placeholders() {
        for (url, route) in [
            ("http://a.test/users/17", "http://a.test/users/{id}"),
            ("http://a.test", "http://a.test/"),
            ("http://a.test?x=1", "http://a.test/?x={id}"),
            ("https://me:pw@a.test:8443/x#top", "https://a.test:8443/x"),
            ("http://a/users/6ba7b810-9dad-11d1-80b4-00c04fd430c8/", "http://a/users/{uuid}/"),
            ("http://a/c/da39a3ee5e6b4b0d3255bfef95601890afd80709", "http://a/c/{hash}"),
            ("http://a/u/jane.doe@example.org", "http://a/u/{email}"),
            ("http://a/u/jane%40example.org", "http://a/u/{email}"),
            (
                "http://a/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
                "http://a/t/{token}",
            ),
            ("http://a/t/dGhpcyBpcyBhIHRlc3Q=", "http://a/t/{token}"),
            ("http://a/days/2026-11-27", "http://a/days/{date}"),
            ("http://a/at/2026-11-27T10:00:00Z", "http://a/at/{date}"),
            ("http://a/orders/order-12345/items", "http://a/orders/order-{id}/items"),
            ("http://a/files/17.json", "http://a/files/{id}.json"),
            ("http://a/static/app.3f2a9c1b.js", "http://a/static/app.{hash}.js"),
            ("http://a/api/v2/users", "http://a/api/v2/users"),
            ("http://a/api/v1.2/users", "http://a/api/v1.2/users"),
            ("http://a/s?q=shoes&page=2&sort=asc", "http://a/s?q=shoes&page={id}&sort=asc"),
            ("http://a/s?ids=1&ids=2&ids=3", "http://a/s?ids={id}"),
            ("http://a/s?1699999999", "http://a/s?{id}"),
            ("http://a/s?q=red%20shoes", "http://a/s?q={text}"),
            ("http://a/s?q=red+shoes", "http://a/s?q={text}"),
            ("http://a/s?box=1.5,-2,3.25", "http://a/s?box={id}"),
            ("http://a/x;jsessionid=0A1B2C3D", "http://a/x;…"),
            ("http://a/how-to-learn-rust", "http://a/how-to-learn-rust"),
            ("/users/17", "/users/{id}"),
            ("", ""),
            ("http://a/users/user1234", "http://a/users/user{id}"),
            ("http://a/p//17", "http://a/p//{id}"),
        ] {
            assert_eq!(fold(url), route, "{url}");
        }
    }

    #[test]
    fn words_stay_as_they_are() {
        for path in [
            "/users",
            "/facade",
            "/h2",
            "/mp3",
            "/deadline",
            "/defaced",
            "/utf8",
            "/",
            "/a_b",
            "/get-user.json",
        ] {
            assert_eq!(fold(path), path);
        }
    }

    #[test]
    fn a_million_urls_are_few_routes() {
        let mut routes = std::collections::BTreeSet::new();
        for n in 0..10_000_u64 {
            let hash = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            routes.insert(fold(&format!("http://a/users/{n}/posts/{hash:016x}?t={hash}")));
        }
        // A hash of digits alone is a number.
        assert!(routes.len() <= 2, "{routes:?}");
    }

    #[test]
    fn hostile_urls_have_bounded_routes() {
        let many = "/x".repeat(10_000);
        let keys: Vec<String> = (0..1000).map(|n| format!("&k{n}=w{n}w")).collect();
        let keys = keys.concat();
        let braces = "{".repeat(5000);
        for url in [
            format!("http://a{many}"),
            format!("http://a/?{keys}"),
            format!("http://{}/", "h".repeat(5000)),
            format!("http://a/{braces}"),
            format!("http://a/{}", "é".repeat(3000)),
            format!("{}://x", "s".repeat(3000)),
            "http://a/\u{202e}\0\n%%%zz?=&==&&?".to_owned(),
            "://".to_owned(),
            "http://".to_owned(),
            "http://@/".to_owned(),
        ] {
            let route = fold(&url);
            assert!(route.len() <= LENGTH_MAX, "{} bytes", route.len());
            assert_eq!(fold(&route), route, "{url}");
        }
    }

    proptest! {
        #[test]
        fn folding_again_changes_nothing(url in ".{0,200}") {
            let route = fold(&url);
            prop_assert!(route.len() <= LENGTH_MAX);
            prop_assert_eq!(fold(&route), route);
        }

        #[test]
        fn folding_urls_again_changes_nothing(
            url in "(https?://[a-z.:@0-9]{0,12})?(/[a-zA-Z0-9._;{}%@=+-]{0,40}){0,16}(\\?([a-z0-9{]{0,4}=?[a-zA-Z0-9._{}%@=+-]{0,40}&?){0,12})?"
        ) {
            let route = fold(&url);
            prop_assert!(route.len() <= LENGTH_MAX);
            prop_assert_eq!(fold(&route), route);
        }
    }
}
