//! Bodies of HAR files: texts, base64, lists of fields, files beside them, and what is left of the rest.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;

use super::model::{Content, Param, PostData};
use crate::{Body, Headers, charset, coding, form, multipart};

/// A body that the file has packed is unpacked up to this size; a larger one stays packed.
const UNPACKED_MAX: u64 = 256 << 20;

/// No more bytes are put in the place of missing files.
const FILL_MAX: u64 = 64 << 20;

const MISSING: &str = "bodies of requests that the HAR file lacks: the script sends none";
const DAMAGED: &str = "bodies of requests that the HAR file has only in part";
const FILLED: &str =
    "uploads whose files the HAR file lacks: as many letters x are sent in their place";

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of base64 with line ends or without; `None` for other text.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    if text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        let text: String = text.split_ascii_whitespace().collect();
        return BASE64.decode(text).ok();
    }
    BASE64.decode(text).ok()
}

/// The body of a request.
pub(super) struct Sent {
    pub(super) body: Body,
    /// If bytes are missing, or were replaced when the file was written: how, for the user.
    pub(super) damage: Option<&'static str>,
}

/// The body of a request. `size` is the one that its headers or its `bodySize` tell.
pub(super) fn of_request(
    data: &PostData,
    headers: &mut Headers,
    size: Option<u64>,
    folder: Option<&Path>,
) -> Sent {
    if headers.get("content-type").is_none() && !data.media_type.is_empty() {
        headers.0.push(("Content-Type".to_owned(), data.media_type.as_str().to_owned()));
    }
    if !data.file.is_empty() {
        return Sent { body: beside(data.file.as_str(), size, folder), damage: None };
    }
    let text = data.text.as_ref().filter(|text| !text.is_empty());
    if let Some(text) = text {
        let text = text.as_str();
        let says_base64 = data.is_base64.0
            || data.says_base64.0
            || [&data.encoding, &data.own_encoding]
                .iter()
                .any(|e| e.as_str().eq_ignore_ascii_case("base64"));
        if let Some(bytes) = says_base64.then(|| from_base64(text)).flatten() {
            return Sent { body: in_memory(bytes), damage: None };
        }
        let mut sent = of_text(text, size);
        if let (Some(boundary), Some(size)) =
            (headers.get("content-type").and_then(multipart::boundary), size)
        {
            fill(&mut sent, &boundary, size);
        }
        return sent;
    }
    let is_form = headers.media_type() == "application/x-www-form-urlencoded";
    let params = &data.params.0;
    match size {
        _ if params.is_empty() => {}
        _ if is_form => return Sent { body: fields(params, size), damage: None },
        _ => return parts(params, headers, size),
    }
    match size {
        Some(size) if size > 0 => Sent {
            body: absent("the HAR file has no body for it", Some(size)),
            damage: Some(MISSING),
        },
        _ => Sent { body: Body::Empty, damage: None },
    }
}

/// The bytes of a text. Exporters that take bytes for letters (U+0000 to U+00FF) are known by the size that was sent.
fn of_text(text: &str, size: Option<u64>) -> Sent {
    let whole = |bytes: Vec<u8>| Sent { body: in_memory(bytes), damage: None };
    let Some(size) = size.filter(|size| *size != text.len() as u64) else {
        return whole(text.as_bytes().to_vec());
    };
    if !text.is_ascii() {
        let letters = text.chars().map(|sign| u8::try_from(u32::from(sign)));
        if let Ok(bytes) = letters.collect::<Result<Vec<u8>, _>>()
            && bytes.len() as u64 == size
        {
            return whole(bytes);
        }
    }
    // A size of 0 beside a text is no size.
    let is_damaged = size > 0 && (text.contains('\u{fffd}') || (text.len() as u64) < size);
    Sent { damage: is_damaged.then_some(DAMAGED), ..whole(text.as_bytes().to_vec()) }
}

/// Browsers export the files of an upload as empty parts. As many bytes as are missing are put in their place, so that the
/// script sends what the recording sent in size.
fn fill(sent: &mut Sent, boundary: &str, size: u64) {
    let Body::Bytes(bytes) = &sent.body else { return };
    let Some(missing) =
        size.checked_sub(bytes.len() as u64).filter(|missing| (1..=FILL_MAX).contains(missing))
    else {
        return;
    };
    let is_emptied = |part: &multipart::Part| {
        part.range.is_empty() && part.file_name.as_ref().is_some_and(|name| !name.is_empty())
    };
    let places: Vec<usize> = multipart::parts(bytes, boundary)
        .iter()
        .filter(|part| is_emptied(part))
        .map(|part| part.range.start)
        .collect();
    let Some((last, others)) = places.split_last() else { return };
    let each = missing / places.len() as u64;
    let mut filled = Vec::with_capacity(size as usize);
    let mut from = 0;
    for place in others {
        filled.extend_from_slice(&bytes[from..*place]);
        filled.resize(filled.len() + each as usize, b'x');
        from = *place;
    }
    filled.extend_from_slice(&bytes[from..*last]);
    filled.resize(filled.len() + (missing - each * others.len() as u64) as usize, b'x');
    filled.extend_from_slice(&bytes[*last..]);
    *sent = Sent { body: in_memory(filled), damage: Some(FILLED) };
}

/// A form of its fields. Some exporters write their values as they were sent, others decoded; the size tells.
fn fields(params: &[Param], size: Option<u64>) -> Body {
    let encoded =
        form::encode(params.iter().map(|param| (param.name.as_str(), param.value.as_str())));
    if size.is_some_and(|size| size != encoded.len() as u64) {
        let pairs = params.iter().map(|param| format!("{}={}", param.name.0, param.value.0));
        let as_they_are = pairs.collect::<Vec<_>>().join("&");
        if size == Some(as_they_are.len() as u64) {
            return in_memory(as_they_are.into_bytes());
        }
    }
    in_memory(encoded.into_bytes())
}

/// The parts of a multipart body, written anew.
fn parts(params: &[Param], headers: &mut Headers, size: Option<u64>) -> Sent {
    let boundary = headers.get("content-type").and_then(multipart::boundary);
    let boundary = boundary.unwrap_or_else(|| {
        let boundary = "----WebKitFormBoundaryOfTheRecording".to_owned();
        headers.0.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        let value = format!("multipart/form-data; boundary={boundary}");
        headers.0.push(("Content-Type".to_owned(), value));
        boundary
    });
    let quoted = |name: &str| name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let mut body = String::new();
    for param in params {
        let name = quoted(param.name.as_str());
        let _ = write!(body, "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"");
        if let Some(file) = &param.file_name {
            let _ = write!(body, "; filename=\"{}\"", quoted(file.as_str()));
        }
        if !param.content_type.is_empty() {
            let _ = write!(body, "\r\nContent-Type: {}", param.content_type.0);
        }
        let _ = write!(body, "\r\n\r\n{}\r\n", param.value.0);
    }
    let _ = write!(body, "--{boundary}--\r\n");
    let mut sent = of_text(&body, size);
    if let Some(size) = size {
        fill(&mut sent, &boundary, size);
    }
    sent
}

/// The body of a response.
pub(super) fn of_response(
    content: &Content,
    status: u16,
    is_head: bool,
    body_size: Option<u64>,
    headers: &Headers,
    folder: Option<&Path>,
) -> Body {
    if let Some(text) = content.text.as_ref().filter(|text| !text.is_empty()) {
        if content.encoding.as_str().eq_ignore_ascii_case("base64") {
            return match from_base64(text.as_str()) {
                Some(bytes) => in_memory(unpacked(bytes, headers)),
                None => absent("its base64 in the HAR file is damaged", content.size.size()),
            };
        }
        return in_memory(in_charset(text.as_str(), headers));
    }
    if !content.file.is_empty() {
        return beside(content.file.as_str(), content.size.size(), folder);
    }
    let is_bodiless = is_head || status < 200 || matches!(status, 204 | 205 | 304);
    let told = headers.get("content-length").and_then(|value| value.trim().parse().ok());
    let size = content.size.size().filter(|size| *size > 0).or(body_size).or(told);
    let has_text = content.text.is_some();
    match size {
        _ if is_bodiless => Body::Empty,
        Some(0) => Body::Empty,
        None if has_text || (300..400).contains(&status) => Body::Empty,
        // An exporter that writes `text` for all of its bodies.
        Some(_) if has_text && content.size.size() == Some(0) => Body::Empty,
        size if content.comment.is_empty() => absent("the HAR file has no body for it", size),
        size => absent(&format!("the HAR file says: {}", content.comment.0), size),
    }
}

/// The bytes of a text in the charset that the headers or the page itself name, so that they are read as the text again.
fn in_charset(text: &str, headers: &Headers) -> Vec<u8> {
    if text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    let encoding = charset::encoding(text.as_bytes(), headers);
    if encoding == encoding_rs::UTF_8 {
        return text.as_bytes().to_vec();
    }
    let (bytes, used, is_lossy) = encoding.encode(text);
    if is_lossy || used != encoding {
        // The mark outranks what the headers say.
        return [b"\xef\xbb\xbf", text.as_bytes()].concat();
    }
    bytes.into_owned()
}

/// Most exporters undo content codings. Bytes that begin as packed ones do, and unpack, were left as they came.
fn unpacked(bytes: Vec<u8>, headers: &Headers) -> Vec<u8> {
    let coding = headers.get("content-encoding").unwrap_or_default().trim().to_ascii_lowercase();
    let is_packed = match coding.as_str() {
        "gzip" | "x-gzip" => bytes.starts_with(b"\x1f\x8b"),
        "zstd" => bytes.starts_with(b"\x28\xb5\x2f\xfd"),
        "br" | "deflate" => !bytes.starts_with(b"<") && std::str::from_utf8(&bytes).is_err(),
        _ => false,
    };
    if !is_packed {
        return bytes;
    }
    let bytes = Bytes::from(bytes);
    coding::undo(&coding, &bytes, UNPACKED_MAX).unwrap_or(bytes).to_vec()
}

/// A file beside the HAR file, as Playwright keeps bodies when it is told to attach them.
fn beside(name: &str, size: Option<u64>, folder: Option<&Path>) -> Body {
    let is_plain = !name.contains(['/', '\\', '\0']) && name != ".." && name != ".";
    let path = folder.filter(|_| is_plain).map(|folder| folder.join(name));
    match path.and_then(|path| Some((std::fs::metadata(&path).ok()?, path))) {
        Some((about, path)) if about.is_file() => Body::File { size: about.len(), path },
        _ => absent(
            &format!("its body is in the file {name:?}, which is not beside the HAR file"),
            size,
        ),
    }
}

fn absent(why: &str, size: Option<u64>) -> Body {
    Body::Absent { why: why.to_owned(), size }
}

fn in_memory(bytes: Vec<u8>) -> Body {
    if bytes.is_empty() { Body::Empty } else { Body::Bytes(Bytes::from(bytes)) }
}
