//! The argument of `--traces-output`.

use url::Url;

/// k6's address: a collector on this machine, by gRPC.
const USUAL: &str = "http://127.0.0.1:4317";

/// Where spans go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceTarget {
    /// With the path of HTTP.
    pub(super) url: Url,
    pub(super) is_grpc: bool,
    pub(super) headers: Vec<(String, String)>,
    /// Attributes of the resource beside the usual ones.
    pub(super) resource: Vec<(String, String)>,
}

impl TraceTarget {
    /// Reads `none`, or `otel[=http://host:port[/path]][,proto=grpc|http][,header.NAME=value]`.
    ///
    /// # Errors
    /// A sentence: what makes no sense.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let (kind, rest) = match text.find([',', '=']) {
            Some(end) => (&text[..end], &text[end..]),
            None => (text, ""),
        };
        match kind {
            "none" if rest.is_empty() => return Ok(None),
            "otel" => {}
            _ => return Err(format!("invalid traces output \"{text}\"")),
        }
        let (mut address, mut is_grpc, mut headers) = (USUAL, true, Vec::new());
        let mut parts = rest.split(',');
        if let Some(first) = parts.next().and_then(|first| first.strip_prefix('=')) {
            if first.is_empty() {
                return Err("--traces-output: otel= is followed by no address".to_owned());
            }
            address = first;
        }
        for part in parts {
            match part.split_once('=') {
                Some(("proto", "grpc")) => is_grpc = true,
                Some(("proto", "http")) => is_grpc = false,
                Some(("proto", other)) => {
                    return Err(format!(
                        "couldn't parse the otel proto: invalid protocol: \"{other}\""
                    ));
                }
                Some((key, value)) if key.starts_with("header.") => {
                    let name = key.trim_start_matches("header.");
                    if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
                        return Err(format!("couldn't parse the otel header name \"{name}\""));
                    }
                    headers.push((name.to_owned(), value.to_owned()));
                }
                Some((key, _)) => return Err(format!("unknown otel config key {key}")),
                None => return Err(format!("unknown otel config key {part}")),
            }
        }
        let mut url = Url::parse(address)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                format!("couldn't parse the otel URL: \"{address}\" is not http://host:port or https://host:port")
            })?;
        if !is_grpc && matches!(url.path(), "" | "/") {
            url.set_path("/v1/traces");
        }
        Ok(Some(Self { url, is_grpc, headers, resource: Vec::new() }))
    }

    /// With an attribute of the resource: spans of several processes are told apart by it.
    #[must_use]
    pub fn with_resource(mut self, key: &str, value: &str) -> Self {
        self.resource.push((key.to_owned(), value.to_owned()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> TraceTarget {
        TraceTarget::parse(text).unwrap().unwrap()
    }

    #[test]
    fn what_is_left_out_is_as_in_k6() {
        assert_eq!(TraceTarget::parse("none"), Ok(None));
        let usual = target("otel");
        assert_eq!((usual.url.as_str(), usual.is_grpc), ("http://127.0.0.1:4317/", true));
        assert_eq!(target("otel,proto=http").url.as_str(), "http://127.0.0.1:4317/v1/traces");
        let other = target("otel=https://c:1/x,proto=http,header.A=b,header.C=");
        assert_eq!(other.url.as_str(), "https://c:1/x");
        assert_eq!(other.headers, [("A".into(), "b".into()), ("C".into(), String::new())]);
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for (text, said) in [
            ("zip", "invalid traces output \"zip\""),
            ("", "invalid traces output \"\""),
            ("none=x", "invalid traces output \"none=x\""),
            ("otel=", "otel= is followed by no address"),
            ("otel=zz", "couldn't parse the otel URL"),
            ("otel=127.0.0.1:4317", "couldn't parse the otel URL"),
            ("otel=ftp://x", "couldn't parse the otel URL"),
            ("otel=http://x,proto=foo", "invalid protocol: \"foo\""),
            ("otel,foo=1", "unknown otel config key foo"),
            ("otel,foo", "unknown otel config key foo"),
            ("otel,header. =1", "otel header name"),
        ] {
            assert!(TraceTarget::parse(text).unwrap_err().contains(said), "{text}");
        }
    }
}
