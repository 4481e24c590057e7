//! An exchange as a line for a shell.

use std::fmt::Write as _;

use super::{BODY_MAX, Exchange};

/// Bodies up to this length are in the line; of a longer one only its length is told.
pub(super) const BODY_SHOWN: usize = 8192;

/// Headers that curl writes by itself.
const OF_CURL: [&str; 4] = ["content-length", "host", "connection", "transfer-encoding"];

pub(super) fn line(exchange: &Exchange) -> String {
    let mut line = String::from("curl");
    match exchange.method.as_str() {
        "GET" => {}
        "HEAD" => line.push_str(" --head"),
        // Writing to a String can't fail.
        method => drop(write!(line, " -X {}", quoted(method))),
    }
    let host = exchange.url.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    for (name, value) in &exchange.request_headers {
        let lower = name.to_ascii_lowercase();
        let is_other_host = lower == "host" && value != host;
        if name.starts_with(':') || (OF_CURL.contains(&&*lower) && !is_other_host) {
            continue;
        }
        let header = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        let _ = write!(line, " -H {}", quoted(&header));
    }
    if exchange.url.contains(['[', ']', '{', '}']) {
        line.push_str(" --globoff");
    }
    let url = quoted(&exchange.url);
    let body = exchange.request_body.as_deref().unwrap_or_default();
    if body.is_empty() && exchange.request_size == 0 {
        return format!("{line} {url}");
    }
    let has_type = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
    if !exchange.request_headers.iter().any(has_type) {
        // Else curl says that it is a form.
        line.push_str(" -H Content-Type:");
    }
    match std::str::from_utf8(body) {
        // A word of a shell has no zero byte.
        Ok(text)
            if !text.is_empty()
                && !text.contains('\0')
                && body.len() <= BODY_SHOWN
                && exchange.request_size <= BODY_MAX as u64 =>
        {
            format!("{line} --data-raw {} {url}", quoted(text))
        }
        _ => format!("{line} {url} --data-binary @body # {} bytes", exchange.request_size),
    }
}

/// A text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_asks_the_same() {
        let exchange = Exchange {
            method: "POST".into(),
            url: "http://a.test/x?y=1&z=it's".into(),
            request_headers: vec![
                ("Host".into(), "a.test".into()),
                ("Content-Type".into(), "text/plain".into()),
                ("Content-Length".into(), "3".into()),
                ("X-Empty".into(), String::new()),
            ],
            request_body: Some(b"a 'b".to_vec()),
            request_size: 4,
            ..Exchange::default()
        };
        assert_eq!(
            exchange.curl(),
            r"curl -X POST -H 'Content-Type: text/plain' -H 'X-Empty;' --data-raw 'a '\''b' 'http://a.test/x?y=1&z=it'\''s'"
        );
        let plain =
            Exchange { method: "GET".into(), url: "http://a.test/".into(), ..Exchange::default() };
        assert_eq!(plain.curl(), "curl http://a.test/");
        let globs = Exchange { url: "http://a.test/?a[]=1".into(), ..plain };
        assert_eq!(globs.curl(), "curl --globoff 'http://a.test/?a[]=1'");
    }

    #[test]
    fn a_body_that_is_no_text_is_told_by_its_length() {
        let exchange = Exchange {
            method: "PUT".into(),
            url: "http://a.test/".into(),
            request_body: Some(vec![0xff, 0]),
            request_size: 2,
            ..Exchange::default()
        };
        assert_eq!(
            exchange.curl(),
            "curl -X PUT -H Content-Type: http://a.test/ --data-binary @body # 2 bytes"
        );
    }
}
