//! Metadata of calls: headers and trailers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue};

/// Metadata that cannot be sent: the name of the entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("header key {0:?} or its value contains characters that HTTP/2 does not allow")]
pub struct InvalidMetadata(pub String);

/// What a call sends along.
#[derive(Clone, Debug, Default)]
pub struct Metadata(HeaderMap);

impl Metadata {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text. Names are of small letters on the wire.
    ///
    /// # Errors
    /// If HTTP/2 cannot carry it.
    pub fn text(&mut self, name: &str, value: &str) -> Result<(), InvalidMetadata> {
        self.put(name, value.as_bytes())
    }

    /// Adds bytes, which travel as Base64; the name must end in `-bin`.
    ///
    /// # Errors
    /// If HTTP/2 cannot carry the name.
    pub fn binary(&mut self, name: &str, value: &[u8]) -> Result<(), InvalidMetadata> {
        self.put(name, STANDARD_NO_PAD.encode(value).as_bytes())
    }

    fn put(&mut self, name: &str, value: &[u8]) -> Result<(), InvalidMetadata> {
        let invalid = || InvalidMetadata(name.to_owned());
        let key = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes());
        let key = key.map_err(|_| invalid())?;
        // Those are ours to say.
        if key.as_str().starts_with("grpc-") || matches!(key.as_str(), "te" | "content-type") {
            return Ok(());
        }
        self.0.append(key, HeaderValue::from_bytes(value).map_err(|_| invalid())?);
        Ok(())
    }

    pub(crate) fn as_map(&self) -> &HeaderMap {
        &self.0
    }
}

/// Headers as scripts see them: names with all their values, `-bin` ones decoded.
pub(crate) fn shown(map: &HeaderMap) -> Vec<(String, Vec<String>)> {
    let mut shown = Vec::with_capacity(map.keys_len());
    for name in map.keys() {
        let values = map.get_all(name).iter().map(|value| {
            let bytes = value.as_bytes();
            if name.as_str().ends_with("-bin")
                && let Ok(decoded) = STANDARD_NO_PAD.decode(
                    bytes
                        .trim_ascii_end()
                        .strip_suffix(b"=")
                        .map_or(bytes, |once| once.strip_suffix(b"=").unwrap_or(once)),
                )
            {
                return String::from_utf8_lossy(&decoded).into_owned();
            }
            String::from_utf8_lossy(bytes).into_owned()
        });
        shown.push((name.as_str().to_owned(), values.collect()));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_travel_as_text_and_come_back() {
        let mut metadata = Metadata::new();
        metadata.binary("X-Data-Bin", b"ab").unwrap();
        metadata.text("X-Text", "b").unwrap();
        metadata.text("x-text", "c").unwrap();
        assert_eq!(metadata.as_map()["x-data-bin"], "YWI");
        let shown = shown(metadata.as_map());
        assert_eq!(shown[0], ("x-data-bin".to_owned(), vec!["ab".to_owned()]));
        assert_eq!(shown[1].1, ["b", "c"]);
    }

    #[test]
    fn what_http_cannot_carry_is_refused() {
        let mut metadata = Metadata::new();
        assert_eq!(metadata.text("a b", "c"), Err(InvalidMetadata("a b".to_owned())));
        assert_eq!(metadata.text("a", "c\n"), Err(InvalidMetadata("a".to_owned())));
        metadata.text("grpc-status", "0").unwrap();
        assert!(metadata.as_map().is_empty());
    }
}
