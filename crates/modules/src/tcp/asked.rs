//! The arguments of a socket: its address, and the bytes to write.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use brunt_quickjs::{Call, JsResult};

use crate::extension::OwnTags;

/// Where to.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_secure: bool,
    pub(super) tags: OwnTags,
}

impl Destination {
    /// `(port, host?)` or `(options)`; the inner error is what is wrong with them.
    pub(super) fn read<'js>(call: &Call<'js>) -> JsResult<'js, Result<Self, String>> {
        let first = call.argument(0);
        let (port, host, options) = if first.is_number() || first.is_string() {
            (first, call.argument(1), None)
        } else if first.is_object() && !first.is_function() {
            (first.get("port")?, first.get("host")?, Some(first))
        } else {
            return Ok(Err("connect needs a port and a host, or an object of options".to_owned()));
        };
        let host = if host.is_nullish() { "localhost".to_owned() } else { host.to_string_lossy()? };
        let number = port.to_number()?;
        if !(number.fract() == 0.0 && (0.0..=65535.0).contains(&number)) {
            let shown = port.to_string_lossy()?;
            return Ok(Err(format!("the port {shown} is not a number from 0 to 65535")));
        }
        let (is_secure, tags) = match &options {
            Some(options) => (options.get("tls")?.truthy(), OwnTags::read(call.ctx(), options)?),
            None => (false, OwnTags::default()),
        };
        Ok(Ok(Self { host, port: number as u16, is_secure, tags }))
    }
}

/// The bytes to write.
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) bytes: Vec<u8>,
    pub(super) tags: OwnTags,
}

impl Writing {
    /// `(data, options?)`; the inner error is what is wrong with them.
    pub(super) fn read<'js>(call: &Call<'js>) -> JsResult<'js, Result<Self, String>> {
        let (data, options) = (call.argument(0), call.argument(1));
        let tags = OwnTags::read(call.ctx(), &options)?;
        if let Some(bytes) = data.with_bytes(<[u8]>::to_vec) {
            return Ok(Ok(Self { bytes, tags }));
        }
        if !data.is_string() {
            return Ok(Err("write needs a string, an ArrayBuffer or a typed array".to_owned()));
        }
        let encoding =
            if options.is_object() { options.get("encoding")? } else { call.ctx().undefined() };
        let encoding =
            if encoding.is_nullish() { String::new() } else { encoding.to_string_lossy()? };
        let bytes = decoded(&data.to_string_lossy()?, &encoding);
        Ok(bytes.map(|bytes| Self { bytes, tags }))
    }
}

/// The bytes of a text in an encoding.
fn decoded(text: &str, encoding: &str) -> Result<Vec<u8>, String> {
    let wrong = |why: String| format!("the data is not {encoding}: {why}");
    match encoding {
        "" | "utf8" | "utf-8" | "ascii" => Ok(text.as_bytes().to_vec()),
        "base64" => STANDARD
            .decode(text)
            .or_else(|_| STANDARD_NO_PAD.decode(text))
            .map_err(|error| wrong(error.to_string())),
        "base64url" => URL_SAFE_NO_PAD
            .decode(text)
            .or_else(|_| URL_SAFE.decode(text))
            .map_err(|error| wrong(error.to_string())),
        "hex" => unhex(text).ok_or_else(|| wrong("it has no pairs of hex digits".to_owned())),
        other => Err(format!(
            "unknown encoding \"{other}\"; there are utf8, ascii, base64, base64url and hex"
        )),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_in_their_encoding() {
        for (text, encoding, expected) in [
            ("h\u{e9}", "", "h\u{e9}".as_bytes()),
            ("SGVsbG8=", "base64", b"Hello"),
            ("SGVsbG8", "base64", b"Hello"),
            ("-_8", "base64url", &[0xfb, 0xff]),
            ("48656C6c6f", "hex", b"Hello"),
        ] {
            assert_eq!(decoded(text, encoding).unwrap(), expected, "{text}");
        }
        for (text, encoding) in [("a", "latin1"), ("abc", "hex"), ("zz", "hex"), ("*", "base64")] {
            assert!(decoded(text, encoding).is_err(), "{text} {encoding}");
        }
    }
}
