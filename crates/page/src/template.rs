//! The page without data, and how it is filled.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use serde_json::Value;

/// The pieces of the page between its places: before the title, the config, the data, and behind them.
const PIECES: [&str; 4] = [
    include_str!(concat!(env!("OUT_DIR"), "/page.0.html")),
    include_str!(concat!(env!("OUT_DIR"), "/page.1.html")),
    include_str!(concat!(env!("OUT_DIR"), "/page.2.html")),
    include_str!(concat!(env!("OUT_DIR"), "/page.3.html")),
];

/// Bytes of the page without data.
pub(crate) fn weight() -> u64 {
    PIECES.iter().map(|piece| piece.len() as u64).sum()
}

/// Writes the page. `data`: a document, packed with gzip; empty for a live page.
pub(crate) fn write(
    out: &mut dyn Write,
    title: &str,
    config: &Value,
    data: &[u8],
) -> io::Result<()> {
    let [first, second, third, last] = PIECES;
    out.write_all(first.as_bytes())?;
    out.write_all(escaped(title).as_bytes())?;
    out.write_all(second.as_bytes())?;
    // No name in it can end the element.
    out.write_all(config.to_string().replace('<', "\\u003c").as_bytes())?;
    out.write_all(third.as_bytes())?;
    let mut encoder = EncoderWriter::new(&mut *out, &STANDARD);
    encoder.write_all(data)?;
    encoder.finish()?;
    drop(encoder);
    out.write_all(last.as_bytes())
}

/// As text of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(title: &str, config: &Value, data: &[u8]) -> String {
        let mut page = Vec::new();
        write(&mut page, title, config, data).expect("memory takes all");
        String::from_utf8(page).expect("the page is text")
    }

    #[test]
    fn names_stay_text() {
        let page = filled("</title><b>", &json!({ "a": "</script><i>" }), b"data");
        assert!(page.contains("<title>&lt;/title&gt;&lt;b&gt;</title>"));
        assert!(page.contains(r#"{"a":"\u003c/script>\u003ci>"}"#));
        assert!(page.contains(">ZGF0YQ==</script>"));
        assert!(!page.contains("__BRUNT_") && page.trim_end().ends_with("</html>"));
    }

    #[test]
    fn the_page_makes_no_request() {
        let page = filled("", &json!({}), b"");
        for outside in
            ["src=\"http", "href=\"http", "@import", "url(http", "<link rel=\"stylesheet"]
        {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("default-src 'none'"));
        assert_eq!(page.len() as u64, weight() + 2);
    }
}
