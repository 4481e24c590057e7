//! An answer that is ready to be sent, again and again.

use bytes::Bytes;
use hyper::header::{
    ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use sha2::{Digest, Sha256};

use super::codec::Product;

/// A date in HTTP, as RFC 9110 §5.6.7 wants it.
const DATE: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// Bytes, their type, and what conditional requests compare.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Bytes,
    pub(crate) content_type: &'static str,
    etag: HeaderValue,
    modified: HeaderValue,
    /// Seconds since 1970.
    modified_s: i64,
}

impl Answer {
    pub(crate) fn new(bytes: Bytes, content_type: &'static str) -> Self {
        let hash = Sha256::digest(&bytes);
        let (head, _) = hash.split_first_chunk::<8>().expect("SHA-256 has 32 bytes");
        let tag = format!("\"{:016x}\"", u64::from_be_bytes(*head));
        let now = jiff::Timestamp::now();
        let header = |text| HeaderValue::try_from(text).expect("tag and date are visible ASCII");
        Self {
            content_type,
            etag: header(tag),
            modified: header(now.strftime(DATE).to_string()),
            modified_s: now.as_second(),
            bytes,
        }
    }

    /// A value as JSON.
    pub(super) fn json(value: &serde_json::Value) -> Self {
        Self::new(value.to_string().into(), "application/json")
    }

    /// Writes the headers that conditional requests need.
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        headers.insert(ETAG, self.etag.clone());
        headers.insert(LAST_MODIFIED, self.modified.clone());
    }

    /// Whether the asking client has just this. A tag counts more than a date (RFC 9110 §13.2.2).
    pub(crate) fn is_known_by(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        if let Some(tags) = text(IF_NONE_MATCH) {
            let mut tags = tags.split(',').map(str::trim);
            return tags.any(|tag| tag == "*" || tag.trim_start_matches("W/") == self.etag);
        }
        text(IF_MODIFIED_SINCE)
            .and_then(|date| jiff::civil::DateTime::strptime(DATE, date).ok())
            .and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC).ok())
            .is_some_and(|since| self.modified_s <= since.timestamp().as_second())
    }
}

impl From<Product> for Answer {
    fn from(product: Product) -> Self {
        Self::new(product.bytes, product.content_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_has_it_is_recognised() {
        let answer = Answer::new(Bytes::from_static(b"x"), "image/png");
        let mut described = HeaderMap::new();
        answer.describe(&mut described);
        let known = |name, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::try_from(value).unwrap());
            answer.is_known_by(&headers)
        };
        let tag = described[ETAG].to_str().unwrap();
        assert!(known(IF_NONE_MATCH, tag));
        assert!(known(IF_NONE_MATCH, &format!("\"other\", W/{tag}")));
        assert!(known(IF_NONE_MATCH, "*"));
        assert!(!known(IF_NONE_MATCH, "\"other\""));
        assert!(known(IF_MODIFIED_SINCE, described[LAST_MODIFIED].to_str().unwrap()));
        assert!(!known(IF_MODIFIED_SINCE, "Thu, 01 Jan 1970 00:00:00 GMT"));
        assert!(!known(IF_MODIFIED_SINCE, "yesterday"));
        assert!(!answer.is_known_by(&HeaderMap::new()));
    }
}
