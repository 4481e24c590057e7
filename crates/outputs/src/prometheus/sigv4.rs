//! AWS Signature Version 4, for Amazon's managed Prometheus.

use std::fmt::Write as _;
use std::time::SystemTime;

use hmac::{Hmac, Mac as _};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::net::Post;

/// Its name in signatures.
const SERVICE: &str = "aps";

/// The account that signs.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    pub(super) region: String,
    pub(super) access: String,
    pub(super) secret: String,
}

impl Keys {
    /// Adds `X-Amz-Date` and `Authorization`.
    pub(super) fn sign(&self, post: Post, url: &Url, now: SystemTime) -> Post {
        let now = Timestamp::try_from(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let date = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let authorization = self.authorization(&post, url, &date, SERVICE);
        post.header("X-Amz-Date", &date).header("Authorization", &authorization)
    }

    fn authorization(&self, post: &Post, url: &Url, date: &str, service: &str) -> String {
        let day = &date[..8];
        let host = match (url.host_str().unwrap_or_default(), url.port()) {
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        };
        let mut query: Vec<&str> = url.query().unwrap_or_default().split('&').collect();
        query.sort_unstable();
        let query = query.join("&");
        let canonical = format!(
            "POST\n{}\n{query}\nhost:{host}\nx-amz-date:{date}\n\nhost;x-amz-date\n{}",
            url.path(),
            hex(&Sha256::digest(&post.body)),
        );
        let scope = format!("{day}/{}/{service}/aws4_request", self.region);
        let hash = hex(&Sha256::digest(canonical));
        let to_sign = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hash}");
        let mut key = hash_with(format!("AWS4{}", self.secret).as_bytes(), day);
        for part in [&*self.region, service, "aws4_request"] {
            key = hash_with(&key, part);
        }
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders=host;x-amz-date, Signature={}",
            self.access,
            hex(&hash_with(&key, &to_sign)),
        )
    }
}

fn hash_with(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        // A string takes everything.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The case `post-vanilla` of Amazon's test suite.
    #[test]
    fn a_signature_is_the_one_that_amazon_publishes() {
        let keys = Keys {
            region: "us-east-1".into(),
            access: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
        };
        let url = Url::parse("https://example.amazonaws.com/").unwrap();
        let post = Post::new("/", Vec::new());
        assert_eq!(
            keys.authorization(&post, &url, "20150830T123600Z", "service"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
    }
}
