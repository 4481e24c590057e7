//! Strikes out what is secret, before anything is kept.
//!
//! Known by name: headers, parameters of URLs, fields of forms and of JSON whose names speak of passwords, tokens, keys. Known by
//! value: whatever the caller's veil knows.

use super::{BODY_MAX, Exchange};

/// In place of a secret.
const STRUCK: &str = "***SECRET_REDACTED***";

/// Headers that are secret whatever they hold.
const HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Parts of names (small letters, without `-` and `_`) of which the value is secret.
const NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "sessionid",
    "signature",
];

pub(super) fn exchange(exchange: &mut Exchange, veil: &dyn Fn(&str) -> Option<String>) {
    let hide = |text: &mut String| {
        if let Some(clean) = veil(text) {
            *text = clean;
        }
    };
    exchange.url = url(&exchange.url);
    exchange.name = url(&exchange.name);
    for text in [&mut exchange.url, &mut exchange.name, &mut exchange.scenario] {
        hide(text);
    }
    exchange.error.iter_mut().for_each(hide);
    for (name, value) in exchange.request_headers.iter_mut().chain(&mut exchange.response_headers) {
        let lower = name.to_ascii_lowercase();
        if HEADERS.contains(&&*lower) || is_secret(name) {
            STRUCK.clone_into(value);
        } else if matches!(&*lower, "location" | "referer" | "content-location") {
            *value = url(value);
        }
        hide(name);
        hide(value);
    }
    for part in [&mut exchange.request_body, &mut exchange.response_body].into_iter().flatten() {
        body(part, veil);
    }
}

/// A body without its secrets, cut. Bytes that are no text are searched for known values alone.
fn body(bytes: &mut Vec<u8>, veil: &dyn Fn(&str) -> Option<String>) {
    // A secret across the cut would be unknown on both sides of it: the search sees a little more.
    const MORE: usize = 16 << 10;
    bytes.truncate(BODY_MAX + MORE);
    let end = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        // A letter that was cut.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => {
            if let Some(clean) = veil(&String::from_utf8_lossy(bytes)) {
                *bytes = clean.into_bytes();
            }
            bytes.truncate(BODY_MAX);
            return;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..end]);
    let known = veil(&text);
    let text = known.as_deref().unwrap_or(&text);
    let clean = fields(text);
    let cut = clean.floor_char_boundary(BODY_MAX);
    *bytes = clean.as_bytes()[..cut].to_vec();
}

/// Whether the value of that name is secret.
fn is_secret(name: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    NAMES.iter().any(|secret| plain.contains(secret))
}

/// A URL without password and secret parameters.
fn url(url: &str) -> String {
    let (start, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(if start.is_empty() { 0 } else { end });
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{STRUCK}@{host}"),
        None => authority.to_owned(),
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    let query = query.map_or(String::new(), |query| format!("?{}", pairs(query)));
    format!("{start}{authority}{path}{query}")
}

/// `a=1&password=x`, with the secrets struck out.
fn pairs(text: &str) -> String {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_secret(name) => format!("{name}={STRUCK}"),
        _ => pair.to_owned(),
    };
    text.split('&').map(pair).collect::<Vec<_>>().join("&")
}

/// A text with the fields struck out that are secret: of JSON, of a form, of a multipart form.
fn fields(text: &str) -> String {
    let start = text.trim_start();
    if start.starts_with("--") && text.contains("Content-Disposition") {
        return multipart(text);
    }
    let is_form = !start.starts_with(['{', '[', '<', '"']) && !text.contains('\n');
    if is_form && text.contains('=') {
        return pairs(text);
    }
    json(text)
}

/// In any text: each `"name": "value"` or `"name": 123` of which the name is secret. The text need not be whole.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        let Some(length) = string_end(&rest[open + 1..]) else { break };
        let close = open + 1 + length;
        let name = &rest[open + 1..close];
        let behind = &rest[close + 1..];
        let value = behind.trim_start().strip_prefix(':').map(str::trim_start);
        let Some(value) = value.filter(|_| is_secret(name)) else {
            out.push_str(&rest[..=close]);
            rest = behind;
            continue;
        };
        let at = rest.len() - value.len();
        out.push_str(&rest[..at]);
        let length = match value.as_bytes().first() {
            // Cut off within the value: all of it.
            Some(b'"') => string_end(&value[1..]).map_or(value.len(), |end| end + 2),
            Some(b'{' | b'[') | None => 0,
            Some(_) => value.find([',', '}', ']', '\n']).unwrap_or(value.len()),
        };
        let is_plain = matches!(value[..length].trim(), "" | "null" | "true" | "false" | "\"\"");
        if is_plain {
            out.push_str(&value[..length]);
        } else {
            out.extend(["\"", STRUCK, "\""]);
        }
        rest = &value[length..];
    }
    out.push_str(rest);
    out
}

/// The place of the quote that ends a string; `text` begins behind the one that opens it.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(place),
            _ => {}
        }
    }
    None
}

/// Each part of which the name is secret, without what it holds.
fn multipart(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    let part = |part: &str| {
        let (head, _) = part.split_once("\r\n\r\n").or_else(|| part.split_once("\n\n"))?;
        let name = head.split("name=\"").nth(1)?.split('"').next()?;
        is_secret(name).then(|| format!("{head}\r\n\r\n{STRUCK}\r\n"))
    };
    let parts = text.split(line).map(|text| part(text).unwrap_or_else(|| text.to_owned()));
    parts.collect::<Vec<_>>().join(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        body(&mut bytes, &|text| text.contains("hunter2").then(|| text.replace("hunter2", "•")));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn fields_that_are_called_so_are_struck_out() {
        for (text, clean) in [
            ("user=a&password=b&x=", "user=a&password=***SECRET_REDACTED***&x="),
            (
                r#"{"user":"a","Pass_Word" : "b\"c","n":1}"#,
                r#"{"user":"a","Pass_Word" : "***SECRET_REDACTED***","n":1}"#,
            ),
            (
                r#"{"access_token":123,"b":"token"}"#,
                r#"{"access_token":"***SECRET_REDACTED***","b":"token"}"#,
            ),
            (
                r#"{"token":null,"tokens":{"secret":"x"}}"#,
                r#"{"token":null,"tokens":{"secret":"***SECRET_REDACTED***"}}"#,
            ),
            (r#"{"secret":"cut of"#, r#"{"secret":"***SECRET_REDACTED***""#),
            ("I say hunter2", "I say •"),
            ("nothing = \"here\"\n", "nothing = \"here\"\n"),
            (
                "--X\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nsesame\r\n--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--X--",
                "--X\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***SECRET_REDACTED***\r\n--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--X--",
            ),
        ] {
            assert_eq!(cleaned(text), clean);
        }
    }

    #[test]
    fn urls_and_headers_too() {
        let mut seen = Exchange {
            url: "https://u:p@h.test/a?api_key=1&b=2#x".into(),
            request_headers: vec![
                ("Authorization".into(), "Bearer x".into()),
                ("X-Auth-Token".into(), "y".into()),
                ("Accept".into(), "hunter2".into()),
            ],
            response_headers: vec![("Set-Cookie".into(), "a=b".into())],
            ..Exchange::default()
        };
        seen.clean(|text| text.contains("hunter2").then(|| "•".to_owned()));
        assert_eq!(seen.url, format!("https://{STRUCK}@h.test/a?api_key={STRUCK}&b=2#x"));
        let values: Vec<&str> = seen.request_headers.iter().map(|(_, value)| &**value).collect();
        assert_eq!(values, [STRUCK, STRUCK, "•"]);
        assert_eq!(seen.response_headers[0].1, STRUCK);
        assert_eq!(url("relative?token=a"), format!("relative?token={STRUCK}"));
    }

    #[test]
    fn bodies_are_cut_where_a_letter_ends() {
        let long = "é".repeat(BODY_MAX);
        let clean = cleaned(&long);
        assert_eq!(clean.len(), BODY_MAX);
        let mut odd = vec![0xff; BODY_MAX * 2];
        body(&mut odd, &|_| None);
        assert_eq!(odd.len(), BODY_MAX);
    }
}
