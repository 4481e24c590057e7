//! Bodies of `multipart/form-data` (RFC 7578), written.

use std::fmt::Write as _;

/// A part with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The field's.
    pub(crate) name: String,
    /// If it is a file.
    pub(crate) filename: Option<String>,
    /// Its media type, if the source tells.
    pub(crate) kind: Option<String>,
    /// Other headers, `Name: value`.
    pub(crate) headers: Vec<String>,
    pub(crate) data: Vec<u8>,
}

/// A boundary that is in none of the parts.
pub(crate) fn boundary(parts: &[Part]) -> String {
    let mut number = 0_u64;
    loop {
        let boundary = format!("----brunt-boundary-{number:016}");
        let bytes = boundary.as_bytes();
        let is_in = |part: &Part| part.data.windows(bytes.len()).any(|window| window == bytes);
        if !parts.iter().any(is_in) {
            return boundary;
        }
        number += 1;
    }
}

/// The body. Quotes and line ends of names are written as browsers write them.
pub(crate) fn body(parts: &[Part], boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let escape = |text: &str| text.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22");
    for part in parts {
        out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", escape(&part.name));
        if let Some(filename) = &part.filename {
            let _ = write!(head, "; filename=\"{}\"", escape(filename));
        }
        head.push_str("\r\n");
        if let Some(kind) = &part.kind {
            let _ = writeln!(head, "Content-Type: {}\r", kind.replace(['\r', '\n'], " "));
        }
        for header in &part.headers {
            let _ = writeln!(head, "{}\r", header.replace(['\r', '\n'], " "));
        }
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&part.data);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// The media type of a file by the ending of its name.
pub(crate) fn kind_of(path: &str) -> &'static str {
    let end = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match end.as_str() {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "webp" => "image/webp",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "js" => "text/javascript",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}
