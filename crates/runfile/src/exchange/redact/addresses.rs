//! URLs without passwords and secret parameters.

use super::{STRUCK, Values, is_secret};

/// A URL without password and secret parameters.
pub fn address(url: &str) -> String {
    struck(url, &mut Values::default())
}

/// Likewise, with the values that were struck out.
pub(super) fn struck(url: &str, values: &mut Values) -> String {
    let (start, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None if url.starts_with("//") => ("//".to_owned(), &url[2..]),
        None => (String::new(), url),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(if start.is_empty() { 0 } else { end });
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            values.add(user.split_once(':').map_or(user, |(_, password)| password));
            format!("{STRUCK}@{host}")
        }
        None => authority.to_owned(),
    };
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (rest, None),
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let mut out = format!("{start}{authority}");
    // `/a;jsessionid=x/b`
    for (place, part) in path.split('/').enumerate() {
        if place > 0 {
            out.push('/');
        }
        out.push_str(&pairs(part, ';', values));
    }
    if let Some(query) = query {
        out.push('?');
        out.push_str(&pairs(query, '&', values));
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(&pairs(fragment, '&', values));
    }
    out
}

/// `a=1&password=x`, with the secrets struck out.
pub(super) fn pairs(text: &str, between: char, values: &mut Values) -> String {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_secret(name) => {
            values.add(value);
            format!("{name}={STRUCK}")
        }
        _ => pair.to_owned(),
    };
    text.split(between).map(pair).collect::<Vec<_>>().join(&between.to_string())
}

/// A text with the users and passwords of all URLs in it struck out.
pub(super) fn within(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let is_end = |c: char| c.is_whitespace() || "/?#\"'<>\\`,;)]}".contains(c);
        let end = after.find(is_end).unwrap_or(after.len());
        match after[..end].rsplit_once('@') {
            Some((_, host)) => {
                out.push_str(STRUCK);
                out.push('@');
                out.push_str(host);
            }
            None => out.push_str(&after[..end]),
        }
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}
