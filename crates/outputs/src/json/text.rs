//! Strings and tags in JSON.

use brunt_metrics::TagSet;

/// Tags as an object, `<`, `>` and `&` as escapes.
pub(super) fn push_tags(out: &mut Vec<u8>, tags: &TagSet) {
    out.push(b'{');
    for (index, (key, value)) in tags.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_html_safe(out, key);
        out.push(b':');
        push_html_safe(out, value);
    }
    out.push(b'}');
}

/// A string in quotes, with `<`, `>` and `&` as escapes, as Go does by default.
pub(super) fn push_html_safe(out: &mut Vec<u8>, text: &str) {
    push(out, text, true);
}

/// A string in quotes.
pub(super) fn push_plain(out: &mut Vec<u8>, text: &str) {
    push(out, text, false);
}

fn push(out: &mut Vec<u8>, text: &str, html_safe: bool) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            b'<' if html_safe => b"\\u003c",
            b'>' if html_safe => b"\\u003e",
            b'&' if html_safe => b"\\u0026",
            0..=0x1f => b"\\u00",
            // Line and paragraph separator, U+2028 and U+2029: no JavaScript string may hold them.
            0xe2 if matches!(bytes[index..], [_, 0x80, 0xa8 | 0xa9, ..]) => b"\\u202",
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied..index]);
        out.extend_from_slice(escape);
        copied = index + 1;
        match byte {
            0xe2 => {
                out.push(if bytes[index + 2] == 0xa8 { b'8' } else { b'9' });
                copied = index + 3;
            }
            0..=0x1f if escape.len() == 4 => {
                let digits = b"0123456789abcdef";
                out.push(digits[usize::from(byte >> 4)]);
                out.push(digits[usize::from(byte & 15)]);
            }
            _ => {}
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn html_safe(text: &str) -> String {
        let mut out = Vec::new();
        push_html_safe(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_escaped_as_k6_does() {
        assert_eq!(
            html_safe("<&>\u{8}\u{c}\u{0}\u{2029}é\\/\"\n\u{2028}\u{2030}\u{7f}"),
            "\"\\u003c\\u0026\\u003e\\u0008\\u000c\\u0000\\u2029é\\\\/\\\"\\n\\u2028\u{2030}\u{7f}\""
        );
    }

    proptest! {
        #[test]
        fn every_string_reads_back(text: String) {
            prop_assert_eq!(&serde_json::from_str::<String>(&html_safe(&text)).unwrap(), &text);
            let mut out = Vec::new();
            push_plain(&mut out, &text);
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
