//! `multipart/form-data` (RFC 7578) as browsers write it, and read: the entries of a form.

use std::rc::Rc;

use brunt_http::{Payload, Piece, Shared};
use memchr::memmem;
use url::form_urlencoded;

use super::blob::{BlobData, NamedBlob, now_ms};

/// A name with a value.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) value: EntryValue,
}

impl Entry {
    /// Its bytes, but for those of a file.
    pub(super) fn weight(&self) -> usize {
        let own = match &self.value {
            EntryValue::Text(text) => text.len(),
            EntryValue::File(file) => size_of::<NamedBlob>() + file.name.len(),
        };
        size_of::<Self>() + self.name.len() + own
    }
}

pub(super) enum EntryValue {
    Text(String),
    File(Rc<NamedBlob>),
}

/// Letters that a boundary ends with: enough that no content has it by chance.
const RANDOM: usize = 20;

/// A new boundary, of this seed.
pub(super) fn boundary(seed: u64) -> String {
    let mut boundary = "----BruntFormBoundary".to_owned();
    let mut random = fastrand::Rng::with_seed(seed);
    boundary.extend(std::iter::repeat_with(|| random.alphanumeric()).take(RANDOM));
    boundary
}

/// A boundary, and the content type that tells it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Boundary {
    pub(crate) text: String,
    pub(crate) content_type: String,
}

impl Boundary {
    /// A new one; or, if a script gives a `Content-Type` of a form by hand, the one in it. If it has none, a new one
    /// is added. A new one is of this seed.
    ///
    /// # Errors
    /// A sentence, if there is one that RFC 2046 does not allow.
    pub(crate) fn of(given: Option<&str>, seed: u64) -> Result<Self, String> {
        let Some(given) = given.filter(|given| is_form(given)) else {
            let text = boundary(seed);
            return Ok(Self {
                content_type: format!("multipart/form-data; boundary={text}"),
                text,
            });
        };
        let parameters = given.split_once(';').map_or("", |(_, parameters)| parameters);
        match parameter(parameters, "boundary") {
            None => {
                let text = boundary(seed);
                Ok(Self { content_type: format!("{given}; boundary={text}"), text })
            }
            Some(text) if is_boundary(&text) => {
                let content_type = given.replacen(&format!("={text}"), &format!("=\"{text}\""), 1);
                let stands_bare = needs_quotes(&text) && !given.contains(&format!("\"{text}\""));
                let content_type = if stands_bare { content_type } else { given.to_owned() };
                Ok(Self { text, content_type })
            }
            Some(text) => Err(format!(
                "the header \"Content-Type\" says {given:?}, but {text:?} is not a boundary: that is 1 to 70 letters, digits, \
                 blanks and '()+_,-./:=? with no blank at the end; leave the header out, and there will be one"
            )),
        }
    }
}

/// Whether a content type given by hand is that of a form with parts.
fn is_form(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("multipart/form-data")
}

/// RFC 2046 §5.1.1.
fn is_boundary(text: &str) -> bool {
    (1..=70).contains(&text.len())
        && !text.ends_with(' ')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte))
}

/// RFC 2045 §5.1: a text that is not a token is quoted.
fn needs_quotes(text: &str) -> bool {
    text.bytes().any(|byte| b"()<>@,;:\\\"/[]?= ".contains(&byte))
}

/// The body: one buffer of heads and texts, with the files' pieces in between, which stay where they are.
pub(super) fn encode(entries: &[Entry], boundary: &str) -> Payload {
    let mut text = Vec::with_capacity(entries.len() * 192 + boundary.len() + 8);
    let mut files: Vec<(usize, &BlobData)> = Vec::new();
    for entry in entries {
        text.extend_from_slice(b"--");
        text.extend_from_slice(boundary.as_bytes());
        text.extend_from_slice(b"\r\nContent-Disposition: form-data; name=\"");
        escape(&with_crlf(&entry.name), &mut text);
        text.push(b'"');
        match &entry.value {
            EntryValue::Text(value) => {
                text.extend_from_slice(b"\r\n\r\n");
                text.extend_from_slice(with_crlf(value).as_bytes());
            }
            EntryValue::File(file) => {
                text.extend_from_slice(b"; filename=\"");
                escape(&file.name, &mut text);
                text.extend_from_slice(b"\"\r\nContent-Type: ");
                let kind = file.data.kind();
                let kind = if kind.is_empty() { "application/octet-stream" } else { kind };
                // A type of `http.file()` may say anything: it ends neither the line nor the head.
                text.extend(kind.bytes().filter(|byte| !byte.is_ascii_control()));
                text.extend_from_slice(b"\r\n\r\n");
                files.push((text.len(), &file.data));
            }
        }
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"--");
    text.extend_from_slice(boundary.as_bytes());
    text.extend_from_slice(b"--\r\n");

    let text = Shared::from(text);
    let mut pieces: Vec<Piece> = Vec::with_capacity(files.len() * 2 + 1);
    let mut start = 0;
    for (end, file) in files {
        pieces.push(text.slice(start..end).into());
        pieces.extend(file.payload().pieces().iter().cloned());
        start = end;
    }
    pieces.push(text.slice(start..text.as_slice().len()).into());
    pieces.into_iter().collect()
}

/// Every line end as CRLF.
fn with_crlf(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(['\r', '\n']) {
        return text.into();
    }
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n").into()
}

/// Within the quotes of a header: what would end them or the line is percent-encoded.
fn escape(text: &str, out: &mut Vec<u8>) {
    for &byte in text.as_bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"%22"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'\n' => out.extend_from_slice(b"%0A"),
            _ => out.push(byte),
        }
    }
}

/// The entries of a body of this content type.
///
/// # Errors
/// A sentence: another type, no boundary, or a body that is not what the type says.
pub(super) fn parse(body: &Shared, content_type: &str) -> Result<Vec<Entry>, String> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    match kind.trim().to_ascii_lowercase().as_str() {
        "application/x-www-form-urlencoded" => Ok(form_urlencoded::parse(body.as_slice())
            .map(|(name, value)| Entry {
                name: name.into_owned(),
                value: EntryValue::Text(value.into_owned()),
            })
            .collect()),
        "multipart/form-data" => {
            let boundary = parameter(parameters, "boundary")
                .ok_or("the content type multipart/form-data has no boundary")?;
            parse_multipart(body, &boundary)
        }
        _ => Err(format!("a body of the content type \"{content_type}\" is not a form")),
    }
}

/// A parameter of a header's value, its quotes taken off.
fn parameter(parameters: &str, wanted: &str) -> Option<String> {
    let mut rest = parameters.trim_start_matches([';', ' ', '\t']);
    while let Some((name, after)) = rest.split_once('=') {
        let (value, tail) = if let Some(quoted) = after.strip_prefix('"') {
            // Without an end, with its quote: nothing allowed has one.
            quoted.split_once('"').unwrap_or((after, ""))
        } else {
            let (value, tail) = after.split_once(';').unwrap_or((after, ""));
            (value.trim_end(), tail)
        };
        // Parameters without a value stand before it.
        let name = name.rsplit(';').next().unwrap_or(name);
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value.to_owned());
        }
        rest = tail.trim_start_matches([';', ' ', '\t']);
    }
    None
}

fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    memmem::find(bytes.get(from..)?, wanted).map(|at| at + from)
}

fn parse_multipart(body: &Shared, boundary: &str) -> Result<Vec<Entry>, String> {
    let bytes = body.as_slice();
    let broken = |at: usize| format!("the multipart body is broken at byte {at}");
    let delimiter = format!("\r\n--{boundary}");
    let mut entries = Vec::new();
    let first = &delimiter.as_bytes()[2..];
    let mut at = if bytes.starts_with(first) {
        first.len()
    } else {
        find(bytes, delimiter.as_bytes(), 0).ok_or_else(|| broken(0))? + delimiter.len()
    };
    loop {
        let after = &bytes[at..];
        if after.starts_with(b"--") {
            return Ok(entries);
        }
        if !after.starts_with(b"\r\n") {
            return Err(broken(at));
        }
        // The blank line that ends the head may come at once.
        let head_end = find(bytes, b"\r\n\r\n", at).ok_or_else(|| broken(at))?;
        let start = head_end + 4;
        let end = find(bytes, delimiter.as_bytes(), start).ok_or_else(|| broken(start))?;
        let head = String::from_utf8_lossy(bytes.get(at + 2..head_end).unwrap_or_default());
        let entry = entry(&head, body.slice(start..end)).ok_or_else(|| broken(at + 2))?;
        entries.push(entry);
        at = end + delimiter.len();
    }
}

/// An entry of a part's head and content; `None` if it has no name.
fn entry(head: &str, content: Shared) -> Option<Entry> {
    let header = |wanted: &str| {
        head.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    let (kind, parameters) = header("content-disposition")?.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return None;
    }
    let unescape =
        |text: String| text.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n");
    let name = unescape(parameter(parameters, "name")?);
    let value = match parameter(parameters, "filename") {
        None => EntryValue::Text(String::from_utf8_lossy(content.as_slice()).into_owned()),
        Some(filename) => {
            let kind = header("content-type").unwrap_or("text/plain");
            let data = BlobData::new(content.into(), kind);
            let name = unescape(filename);
            EntryValue::File(Rc::new(NamedBlob { data, name, last_modified: now_ms() }))
        }
    };
    Some(Entry { name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, kind: &str, bytes: &[u8]) -> EntryValue {
        let data = BlobData::new(Shared::from(bytes).into(), kind);
        EntryValue::File(Rc::new(NamedBlob { data, name: name.to_owned(), last_modified: 0.0 }))
    }

    fn entries() -> Vec<Entry> {
        vec![
            Entry {
                name: "a\"\nb".to_owned(),
                value: EntryValue::Text("1\r2\n3\r\n4é".to_owned()),
            },
            Entry {
                name: "f".to_owned(),
                value: file("x \"y\".png", "image/png", &[0, 255, 13, 10]),
            },
            Entry { name: "g".to_owned(), value: file("", "", b"") },
        ]
    }

    #[test]
    fn parts_are_written_as_browsers_write_them() {
        let payload = encode(&entries(), "B");
        let bytes = payload.in_memory().unwrap();
        let expected: Vec<u8> = [
            "--B\r\nContent-Disposition: form-data; name=\"a%22%0D%0Ab\"\r\n\r\n1\r\n2\r\n3\r\n4é\r\n".as_bytes(),
            b"--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x %22y%22.png\"\r\n",
            b"Content-Type: image/png\r\n\r\n\0\xff\r\n\r\n",
            b"--B\r\nContent-Disposition: form-data; name=\"g\"; filename=\"\"\r\n",
            b"Content-Type: application/octet-stream\r\n\r\n\r\n--B--\r\n",
        ]
        .concat();
        assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&expected));
        assert_eq!(bytes.len() as u64, payload.len().unwrap());
    }

    #[test]
    fn a_type_stays_on_its_line() {
        let entry = Entry { name: "a".to_owned(), value: file("b", "x/y\r\nZ: z", b"1") };
        let payload = encode(&[entry], "B");
        let text = String::from_utf8(payload.in_memory().unwrap().into_owned()).unwrap();
        assert!(text.contains("\r\nContent-Type: x/yZ: z\r\n\r\n1\r\n"), "{text:?}");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let body = encode(&entries(), "B").in_memory().unwrap().into_owned();
        let read = parse(&body.into(), "Multipart/Form-Data; charset=x; Boundary=\"B\"").unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0].name, "a\"\r\nb");
        assert!(matches!(&read[0].value, EntryValue::Text(text) if text == "1\r\n2\r\n3\r\n4é"));
        let EntryValue::File(file) = &read[1].value else { panic!("a file") };
        assert_eq!((file.name.as_str(), file.data.kind()), ("x \"y\".png", "image/png"));
        let bytes = file.data.payload().in_memory().unwrap();
        assert_eq!(*bytes, [0, 255, 13, 10]);
        let EntryValue::File(file) = &read[2].value else { panic!("a file") };
        assert!(file.name.is_empty() && file.data.payload().is_empty());
    }

    #[test]
    fn a_broken_body_says_where() {
        let error = |body: &str, kind: &str| {
            parse(&Shared::from(body), kind).map(|entries| entries.len()).unwrap_err()
        };
        let kind = "multipart/form-data; boundary=B";
        assert_eq!(error("x", kind), "the multipart body is broken at byte 0");
        assert_eq!(
            error("--B\r\nno name\r\n\r\n\r\n--B--", kind),
            "the multipart body is broken at byte 5"
        );
        assert_eq!(
            error("--B\r\nContent-Disposition: form-data; name=a\r\n\r\ncut", kind),
            "the multipart body is broken at byte 47"
        );
        assert_eq!(error("--B", kind), "the multipart body is broken at byte 3");
        assert_eq!(
            error("", "multipart/form-data"),
            "the content type multipart/form-data has no boundary"
        );
        assert_eq!(
            error("", "text/html"),
            "a body of the content type \"text/html\" is not a form"
        );
        assert_eq!(parse(&Shared::from("--B--"), kind).map(|entries| entries.len()), Ok(0));
    }

    #[test]
    fn a_boundary_that_is_given_by_hand_is_used() {
        let of = |given: &str| Boundary::of(Some(given), 1).map(|it| (it.text, it.content_type));
        let given = "Multipart/Form-Data; charset=x; boundary=\"a b\"";
        assert_eq!(of(given), Ok(("a b".to_owned(), given.to_owned())));
        let (text, content_type) = of("multipart/form-data").unwrap();
        assert_eq!(content_type, format!("multipart/form-data; boundary={text}"));
        let (text, content_type) = of("image/png").unwrap();
        assert_eq!(content_type, format!("multipart/form-data; boundary={text}"));
        for wrong in ["\"\"", "é", "a@b", &"x".repeat(71)] {
            let told = of(&format!("multipart/form-data; boundary={wrong}"));
            assert!(told.is_err(), "{wrong}: {told:?}");
        }
    }

    #[test]
    fn boundaries_differ_and_need_no_quotes() {
        let (a, b) = (boundary(1), boundary(2));
        assert_ne!(a, b);
        assert!(a.starts_with("----BruntFormBoundary") && a.len() == 41 && a.len() <= 70);
        assert!(a.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    }
}
