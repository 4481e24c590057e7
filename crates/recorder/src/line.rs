//! The lines that a recorder tells while it runs.

use std::fmt::Write as _;
use std::time::Duration;

use url::Url;

/// A line for the user.
#[derive(Debug, Clone)]
pub enum Line {
    /// An exchange.
    Exchange(Told),
    /// Something that the user should know: a refused certificate, a client that does not trust the authority.
    Notice(String),
}

/// An exchange, as far as a line shows it.
#[derive(Debug, Clone)]
pub struct Told {
    /// Its number in the recording.
    pub number: usize,
    /// Of its life.
    pub moment: Moment,
    /// `GET`.
    pub method: String,
    /// Whole: [`shown_url`] hides what others should not see.
    pub url: Url,
    /// `None`: no response came.
    pub status: Option<u16>,
    /// Bytes of the response's body as they came.
    pub size: u64,
    /// Since it was sent.
    pub elapsed: Duration,
    /// Why no response came, or why it broke off.
    pub failure: Option<String>,
}

/// A moment in the life of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It is over.
    Done,
    /// A stream of events has begun.
    EventsBegin,
    /// A WebSocket is open.
    SocketOpens,
    /// A WebSocket was closed.
    SocketCloses,
}

/// Longer values of a query are cut: they may be tokens.
const VALUE_MAX: usize = 24;

/// Characters of a long value that are shown.
const VALUE_SHOWN: usize = 4;

/// Longer URLs are cut.
const URL_MAX: usize = 300;

/// Parts of names whose values are never shown in full.
const SECRET: [&str; 12] = [
    "token",
    "pass",
    "pwd",
    "secret",
    "key",
    "auth",
    "code",
    "session",
    "sid",
    "sig",
    "ticket",
    "credential",
];

/// The URL as it may be shown: without a user's name and password, and without whole tokens in its query.
pub fn shown_url(url: &Url) -> String {
    let mut text = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    if let Some(port) = url.port() {
        // Writing to a String can't fail.
        let _ = write!(text, ":{port}");
    }
    text.push_str(url.path());
    for (index, pair) in url.query().into_iter().flat_map(|query| query.split('&')).enumerate() {
        text.push(if index == 0 { '?' } else { '&' });
        let Some((name, value)) = pair.split_once('=') else {
            text.push_str(&cut(pair, pair.len() > VALUE_MAX));
            continue;
        };
        let lower = name.to_ascii_lowercase();
        let is_secret = SECRET.iter().any(|part| lower.contains(part));
        text.push_str(name);
        text.push('=');
        text.push_str(&cut(value, is_secret && !value.is_empty() || value.len() > VALUE_MAX));
    }
    if text.chars().count() > URL_MAX {
        text = text.chars().take(URL_MAX).collect();
        text.push('…');
    }
    text
}

/// A value, or its beginning. Of a short secret not even that is shown.
fn cut(value: &str, is_cut: bool) -> String {
    match (is_cut, value.chars().count() > 2 * VALUE_SHOWN) {
        (false, _) => value.to_owned(),
        (true, true) => value.chars().take(VALUE_SHOWN).chain(['…']).collect(),
        (true, false) => "…".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_passwords_are_not_shown() {
        for (url, shown) in [
            ("https://me:sesame@shop.test/a?b=c", "https://shop.test/a?b=c"),
            (
                "http://127.0.0.1:8080/?page=2&csrf_token=abcdefghijk",
                "http://127.0.0.1:8080/?page=2&csrf_token=abcd…",
            ),
            ("https://a.test/cb?code=abc&state=", "https://a.test/cb?code=…&state="),
            ("https://a.test/?q=abcdefghijklmnopqrstuvwxyz", "https://a.test/?q=abcd…"),
            ("https://a.test/?abcdefghijklmnopqrstuvwxyz", "https://a.test/?abcd…"),
            ("wss://a.test/?", "wss://a.test/?"),
        ] {
            assert_eq!(shown_url(&Url::parse(url).unwrap()), shown);
        }
    }

    #[test]
    fn a_long_url_is_cut_between_characters() {
        let url = Url::parse(&format!("https://a.test/{}", "ä".repeat(500))).unwrap();
        assert_eq!(shown_url(&url).chars().count(), URL_MAX + 1);
    }
}
