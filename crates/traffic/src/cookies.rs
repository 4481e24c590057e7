//! Cookies in headers: `Cookie` and `Set-Cookie` (RFC 6265 §4, §5.2).

use crate::Headers;

/// A cookie that a response sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetCookie<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value as written; quotes around it are part of it, as browsers have it.
    pub value: &'a str,
    /// `Domain`, without a leading dot.
    pub domain: Option<&'a str>,
    /// `Path`.
    pub path: Option<&'a str>,
    /// Whether it takes the cookie away: `Max-Age` of 0 or less, or an `Expires` of 1970.
    pub is_removal: bool,
}

/// The cookies that a response sets, in order.
pub fn set(headers: &Headers) -> impl Iterator<Item = SetCookie<'_>> {
    // Some HAR files join several headers of this name by line ends.
    headers.all("set-cookie").flat_map(str::lines).filter_map(parse_set)
}

/// A `Set-Cookie`; `None` if it has no name.
pub fn parse_set(line: &str) -> Option<SetCookie<'_>> {
    let mut parts = line.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let mut cookie = SetCookie {
        name: name.trim(),
        value: value.trim(),
        domain: None,
        path: None,
        is_removal: false,
    };
    for attribute in parts {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "domain" => cookie.domain = Some(value.trim_start_matches('.')),
            "path" => cookie.path = Some(value),
            "max-age" => cookie.is_removal = value.parse::<i64>().is_ok_and(|age| age <= 0),
            "expires" => cookie.is_removal |= value.contains("1970"),
            _ => {}
        }
    }
    (!cookie.name.is_empty()).then_some(cookie)
}

/// Names and values of the cookies that a request sends, in order.
pub fn sent(headers: &Headers) -> impl Iterator<Item = (&str, &str)> {
    headers.all("cookie").flat_map(|line| line.split(';')).filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name, value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_read_from_both_headers() {
        let headers = Headers(vec![
            ("Cookie".into(), "a=1; b=\"x=y\"; ; c".into()),
            ("cookie".into(), "d=".into()),
            ("Set-Cookie".into(), "s=1; Path=/x; HttpOnly; Domain=.a.test\nt=; Max-Age=0".into()),
            ("set-cookie".into(), "u=1; expires=Thu, 01-Jan-1970 00:00:00 GMT".into()),
            ("set-cookie".into(), "novalue; Path=/".into()),
        ]);
        let sent: Vec<_> = sent(&headers).collect();
        assert_eq!(sent, [("a", "1"), ("b", "\"x=y\""), ("d", "")]);
        let set: Vec<_> = set(&headers).collect();
        assert_eq!(set.len(), 3);
        assert_eq!((set[0].name, set[0].path, set[0].domain), ("s", Some("/x"), Some("a.test")));
        assert_eq!((set[1].name, set[1].value, set[1].is_removal), ("t", "", true));
        assert!(set[2].is_removal && !set[0].is_removal);
    }
}
