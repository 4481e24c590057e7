//! Metadata of calls: headers and trailers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue};

/// The metadata of a call. Entries that HTTP/2 cannot carry are left out, and [`Metadata::complaint`] says so.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    map: HeaderMap,
    complaint: Option<String>,
}

impl Metadata {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text. Names are of small letters on the wire.
    pub fn text(&mut self, name: &str, value: &str) {
        if value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            self.put(name, value.as_bytes());
        } else {
            let name = name.to_ascii_lowercase();
            self.complain(format!(
                "header key {name:?} contains value with non-printable ASCII characters"
            ));
        }
    }

    /// Adds bytes, which travel as Base64; the name must end in `-bin`.
    pub fn binary(&mut self, name: &str, value: &[u8]) {
        self.put(name, STANDARD_NO_PAD.encode(value).as_bytes());
    }

    /// The first entry that cannot be sent, in the words of gRPC for Go, which ends such calls with them and the status
    /// `INTERNAL`.
    pub fn complaint(&self) -> Option<&str> {
        self.complaint.as_deref()
    }

    fn complain(&mut self, told: String) {
        self.complaint.get_or_insert(told);
    }

    fn put(&mut self, name: &str, value: &[u8]) {
        let name = name.to_ascii_lowercase();
        let key = HeaderName::from_bytes(name.as_bytes());
        let (Ok(key), Ok(value)) = (key, HeaderValue::from_bytes(value)) else {
            let told = if name.is_empty() {
                "there is an empty key in the header".to_owned()
            } else {
                format!("header key {name:?} contains illegal characters not in [0-9a-z-_.]")
            };
            return self.complain(told);
        };
        // Those are ours to say.
        if !key.as_str().starts_with("grpc-") && !matches!(key.as_str(), "te" | "content-type") {
            self.map.append(key, value);
        }
    }

    pub(crate) fn as_map(&self) -> &HeaderMap {
        &self.map
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
        metadata.binary("X-Data-Bin", b"ab");
        metadata.text("X-Text", "b");
        metadata.text("x-text", "c");
        assert_eq!(metadata.as_map()["x-data-bin"], "YWI");
        let shown = shown(metadata.as_map());
        assert_eq!(shown[0], ("x-data-bin".to_owned(), vec!["ab".to_owned()]));
        assert_eq!(shown[1].1, ["b", "c"]);
    }

    #[test]
    fn what_http_cannot_carry_is_told() {
        let mut metadata = Metadata::new();
        metadata.text("grpc-status", "0");
        assert_eq!((metadata.as_map().len(), metadata.complaint()), (0, None));
        metadata.text("A", "ä");
        metadata.text("a b", "c");
        let told = "header key \"a\" contains value with non-printable ASCII characters";
        assert_eq!((metadata.as_map().len(), metadata.complaint()), (0, Some(told)));
    }
}
