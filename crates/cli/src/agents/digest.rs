//! Digests: of the archive, and of the options that leader and agents must agree on.

use brunt_options::Consolidated;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Options in which an agent differs from its leader.
const OF_EACH: [&str; 3] = ["executionSegment", "executionSegmentSequence", "tags"];

/// SHA-256 in hexadecimal digits.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The name of the file of an archive. Leaders that want the same run have archives of their own.
pub(super) fn archive_name(sha256: &str) -> String {
    format!("archive-{}", sha256.get(..16).unwrap_or(sha256))
}

/// The digest of the options of all layers, but for those that are each agent's own and for thresholds, which are the leader's.
pub(super) fn of_options(consolidated: &Consolidated) -> String {
    let mut all = consolidated.to_archive_json();
    if let Value::Object(all) = &mut all {
        for key in OF_EACH.into_iter().chain(["thresholds"]) {
            all.shift_remove(key);
        }
    }
    of_bytes(all.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of_bytes(b""), empty);
    }
}
