//! A response's head: found, checked, and reduced to what framing needs.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use brunt_net::Excerpt;
use httparse::{Header, ParserConfig, Response, Status};

use super::malformed::Malformed;
use crate::headers::{canonical_name, is_token};

/// Header lines that are indexed on the stack; more go to the heap.
const FEW: usize = 48;

/// The most header lines we index. Go has no such limit, but its 10 MiB of head hold no more.
const MANY: usize = 32 * 1024;

/// How a response's body ends (RFC 9112 §6.3).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// There is no body, whatever the headers say: HEAD, 1xx, 204, 304.
    None,
    /// This many bytes.
    Exactly(u64),
    /// Chunks tell.
    Chunked,
    /// The end of the connection.
    UntilClose,
}

/// The head of a response, still lying in the bytes it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// The status code, three digits.
    pub status: u16,
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    pub minor: u8,
    /// The server lets the connection live on.
    pub keep_alive: bool,
    /// How the body ends.
    pub length: Length,
    /// There is at least one `Set-Cookie`.
    pub has_cookies: bool,
    /// There is a `Content-Encoding`.
    pub has_encoding: bool,
    /// The text after the status code on its line: `OK`. May be empty, may hold any bytes.
    pub reason: &'a [u8],
    /// The header lines, each `name: value` and a line end; folded lines are unfolded.
    pub lines: Cow<'a, [u8]>,
}

/// Parses a head at the front of `input`: the head and its length in bytes; `None` when it isn't
/// there whole.
pub(crate) fn parse(
    input: &[u8],
    to_head_request: bool,
) -> Result<Option<(Head<'_>, usize)>, Malformed> {
    let mut few = [const { MaybeUninit::<Header<'_>>::uninit() }; FEW];
    match parse_with(input, to_head_request, &mut few) {
        Err(Malformed::TooManyHeaders) => {
            let mut many = vec![MaybeUninit::<Header<'_>>::uninit(); MANY];
            parse_with(input, to_head_request, &mut many)
        }
        result => result,
    }
}

fn parse_with<'i>(
    input: &'i [u8],
    to_head_request: bool,
    slots: &mut [MaybeUninit<Header<'i>>],
) -> Result<Option<(Head<'i>, usize)>, Malformed> {
    let mut config = ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    config.allow_multiple_spaces_in_response_status_delimiters(true);
    // `Name : value`: wrong, but servers do it, and k6 takes it.
    config.allow_spaces_after_header_name_in_responses(true);
    let mut response = Response::new(&mut []);
    let size = match config.parse_response_with_uninit_headers(&mut response, input, slots) {
        Ok(Status::Complete(size)) => size,
        Ok(Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Malformed::TooManyHeaders),
        Err(_) => return Err(diagnose(input)),
    };
    let status = response.code.unwrap_or_default();
    if status == 0 {
        // The code of an answer without a head.
        return Err(Malformed::StatusCode(Excerpt::new(b"000")));
    }
    let minor = response.version.unwrap_or_default();
    let facts = Facts::gather(response.headers)?;
    let length = facts.length(status, minor, to_head_request)?;
    let (reason, lines) = texts(&input[..size]);
    let head = Head {
        status,
        minor,
        keep_alive: facts.keep_alive(minor) && status != 101,
        length,
        has_cookies: facts.has_cookies,
        has_encoding: facts.has_encoding,
        reason,
        lines: if facts.is_folded { Cow::Owned(unfold(lines)) } else { Cow::Borrowed(lines) },
    };
    Ok(Some((head, size)))
}

/// The facts about framing in the headers.
#[derive(Default)]
struct Facts<'i> {
    content_length: Option<u64>,
    transfer_encoding: Option<&'i [u8]>,
    has_two_codings: bool,
    says_close: bool,
    says_keep_alive: bool,
    has_cookies: bool,
    has_encoding: bool,
    is_folded: bool,
}

impl<'i> Facts<'i> {
    fn gather(headers: &[Header<'i>]) -> Result<Self, Malformed> {
        let mut facts = Self::default();
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            // The length tells most names apart without looking at them.
            match header.name.len() {
                10 if is("Connection") => {
                    for token in header.value.split(|&byte| byte == b',') {
                        let token = token.trim_ascii();
                        facts.says_close |= token.eq_ignore_ascii_case(b"close");
                        facts.says_keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                    }
                }
                10 if is("Set-Cookie") => facts.has_cookies = true,
                14 if is("Content-Length") => {
                    let length = content_length(header.value)?;
                    if let Some(other) = facts.content_length.filter(|other| *other != length) {
                        return Err(Malformed::ContentLengths(other, length));
                    }
                    facts.content_length = Some(length);
                }
                16 if is("Content-Encoding") => facts.has_encoding = true,
                17 if is("Transfer-Encoding") => {
                    let before = facts.transfer_encoding.replace(header.value);
                    facts.has_two_codings |= before.is_some();
                }
                _ => {}
            }
            facts.is_folded |= memchr::memchr(b'\n', header.value).is_some();
        }
        Ok(facts)
    }

    fn length(&self, status: u16, minor: u8, to_head_request: bool) -> Result<Length, Malformed> {
        // HTTP/1.0 knows no transfer codings: the header means nothing there.
        let coding = self.transfer_encoding.filter(|_| minor >= 1);
        if let Some(coding) = coding
            && (self.has_two_codings || !coding.trim_ascii().eq_ignore_ascii_case(b"chunked"))
        {
            return Err(Malformed::TransferEncoding(Excerpt::new(coding)));
        }
        if to_head_request || matches!(status, 100..=199 | 204 | 304) {
            return Ok(Length::None);
        }
        if coding.is_some() {
            return Ok(Length::Chunked);
        }
        Ok(self.content_length.map_or(Length::UntilClose, Length::Exactly))
    }

    fn keep_alive(&self, minor: u8) -> bool {
        !self.says_close && (minor >= 1 || self.says_keep_alive)
    }
}

/// Digits only: no sign, no list, no blank.
fn content_length(value: &[u8]) -> Result<u64, Malformed> {
    let bad = || Malformed::ContentLength(Excerpt::new(value));
    let digits = value.trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(bad());
    }
    // Go counts in i64: a larger length is refused there too.
    let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<i64>().ok());
    number.map(|number| number as u64).ok_or_else(bad)
}

/// The reason and the header lines of a head that parsed.
fn texts(head: &[u8]) -> (&[u8], &[u8]) {
    let line_end = memchr::memchr(b'\n', head).unwrap_or(head.len() - 1);
    let line = head[..line_end].strip_suffix(b"\r").unwrap_or(&head[..line_end]);
    // `HTTP/1.1`, spaces, three digits, then perhaps a space and the reason.
    let code = line[8..].iter().position(|byte| *byte != b' ').map_or(line.len(), |at| 8 + at);
    let reason = line.get(code + 3..).unwrap_or_default();
    let reason = reason.strip_prefix(b" ").unwrap_or(reason);
    let lines = &head[line_end + 1..];
    let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
    (reason, lines.strip_suffix(b"\r").unwrap_or(lines))
}

/// Joins folded lines with one space, as Go does.
#[cold]
fn unfold(lines: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(lines.len());
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            out.truncate(out.trim_ascii_end().len());
            out.push(b' ');
            out.extend_from_slice(line.trim_ascii());
            out.extend_from_slice(b"\r\n");
        } else {
            out.extend_from_slice(line);
        }
    }
    out
}

/// Says what is wrong with a whole head that httparse refused.
#[cold]
fn diagnose(head: &[u8]) -> Malformed {
    let mut lines =
        head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = lines.next().unwrap_or_default();
    let Some(space) = memchr::memchr(b' ', first) else {
        return Malformed::StatusLine(Excerpt::new(first));
    };
    let (version, rest) = first.split_at(space);
    let rest = rest.trim_ascii_start();
    let code = rest.split(|&byte| byte == b' ').next().unwrap_or_default();
    if code.len() != 3 || !code.iter().all(u8::is_ascii_digit) {
        return Malformed::StatusCode(Excerpt::new(code));
    }
    if version != b"HTTP/1.1" && version != b"HTTP/1.0" {
        return Malformed::Version(Excerpt::new(version));
    }
    for (number, line) in lines.take_while(|line| !line.is_empty()).enumerate() {
        if number == 0 && line.starts_with(b" ") {
            return Malformed::InitialLine(Excerpt::new(line));
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let Some(colon) = memchr::memchr(b':', line) else {
            return Malformed::NoColon(Excerpt::new(line));
        };
        let name_is_bad = colon == 0 || !line[..colon].iter().all(|&byte| is_token(byte));
        let value_is_bad =
            line[colon..].iter().any(|&byte| byte < 32 && byte != b'\t' || byte == 127);
        if name_is_bad {
            return Malformed::HeaderLine(Excerpt::new(line));
        }
        if value_is_bad {
            // Go shows the name in its usual spelling.
            let name = canonical_name(&String::from_utf8_lossy(&line[..colon]));
            let line = [name.as_bytes(), &line[colon..]].concat();
            return Malformed::HeaderLine(Excerpt::new(&line));
        }
    }
    Malformed::StatusLine(Excerpt::new(first))
}

/// Where the head at the front of `bytes` ends: the offset after its empty line. Looks from
/// `*scanned` on and moves it, so that bytes which come one by one are looked at once.
pub(crate) fn end(bytes: &[u8], scanned: &mut usize) -> Option<usize> {
    while let Some(at) = memchr::memchr(b'\n', &bytes[*scanned..]) {
        let after = *scanned + at + 1;
        match (bytes.get(after), bytes.get(after + 1)) {
            (Some(b'\n'), _) => return Some(after + 1),
            (Some(b'\r'), Some(b'\n')) => return Some(after + 2),
            (None, _) | (Some(b'\r'), None) => {
                *scanned += at;
                return None;
            }
            _ => *scanned = after,
        }
    }
    *scanned = bytes.len();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head<'_>, Malformed> {
        parse(text.as_bytes(), false).map(|found| found.unwrap().0)
    }

    #[test]
    fn a_plain_head_gives_status_reason_lines_and_length() {
        let text = "HTTP/1.1 200 Very OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello";
        let (head, size) = parse(text.as_bytes(), false).unwrap().unwrap();
        assert_eq!(size, text.len() - 5);
        assert_eq!((head.status, head.minor, head.keep_alive), (200, 1, true));
        assert_eq!(head.reason, b"Very OK");
        assert_eq!(head.length, Length::Exactly(5));
        assert_eq!(head.lines.as_ref(), b"Server: x\r\nContent-Length: 5\r\n");
    }

    #[test]
    fn spaces_before_the_colon_are_overlooked() {
        let odd = head("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n").unwrap();
        assert_eq!(odd.length, Length::Exactly(5));
    }

    #[test]
    fn no_reason_no_headers_and_bare_newlines_are_fine() {
        let bare = head("HTTP/1.0 404\n\n").unwrap();
        assert_eq!((bare.reason, bare.lines.as_ref()), (&b""[..], &b""[..]));
        assert_eq!((bare.length, bare.keep_alive), (Length::UntilClose, false));
        assert_eq!(head("HTTP/1.1  200  x\r\n\r\n").unwrap().reason, b" x");
    }

    #[test]
    fn some_statuses_and_head_requests_have_no_body() {
        for status in [100, 103, 204, 304] {
            let text = format!("HTTP/1.1 {status} x\r\nContent-Length: 5\r\n\r\n");
            assert_eq!(head(&text).unwrap().length, Length::None);
        }
        let text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(parse(text, true).unwrap().unwrap().0.length, Length::None);
        assert_eq!(parse(text, false).unwrap().unwrap().0.length, Length::Chunked);
    }

    #[test]
    fn chunks_win_over_a_length_and_mean_nothing_in_http_1_0() {
        let both = "Content-Length: 3\r\nTransfer-Encoding: Chunked\r\n\r\n";
        assert_eq!(head(&format!("HTTP/1.1 200 x\r\n{both}")).unwrap().length, Length::Chunked);
        assert_eq!(head(&format!("HTTP/1.0 200 x\r\n{both}")).unwrap().length, Length::Exactly(3));
    }

    #[test]
    fn connection_tokens_decide_over_the_version() {
        let keep = |text: &str| head(text).unwrap().keep_alive;
        assert!(!keep("HTTP/1.1 200 x\r\nConnection: Upgrade, Close\r\n\r\n"));
        assert!(keep("HTTP/1.0 200 x\r\nconnection: keep-alive\r\n\r\n"));
        assert!(!keep("HTTP/1.0 200 x\r\n\r\n"));
    }

    #[test]
    fn folded_lines_are_joined_with_one_space() {
        let folded = head("HTTP/1.1 200 x\r\nA: b \r\n\t c\r\nD: e\r\n\r\n").unwrap();
        assert_eq!(folded.lines.as_ref(), b"A: b c\r\nD: e\r\n");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_was_sent() {
        let says = |text: &str| head(text).unwrap_err().to_string();
        assert_eq!(says("garbage\r\n\r\n"), r#"malformed HTTP response "garbage""#);
        assert_eq!(says("garbage here\r\n\r\n"), r#"malformed HTTP status code "here""#);
        assert_eq!(says("HTTQ/1.1 200 OK\r\n\r\n"), r#"malformed HTTP version "HTTQ/1.1""#);
        assert_eq!(
            says("HTTP/1.1 200 OK\r\nfoo bar\r\n\r\n"),
            r#"malformed MIME header: missing colon: "foo bar""#
        );
        assert_eq!(
            says("HTTP/1.1 200 OK\r\nfoo bar: x\r\n\r\n"),
            r#"malformed MIME header line: "foo bar: x""#
        );
        let with = |line: &str| says(&format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n"));
        assert_eq!(with("Content-Length: abc"), r#"bad Content-Length "abc""#);
        assert_eq!(with("Content-Length: +3"), r#"bad Content-Length "+3""#);
        assert_eq!(with("Content-Length:"), r#"invalid empty Content-Length """#);
        assert_eq!(
            with("Content-Length: 3\r\nContent-Length: 4"),
            r#"http: message cannot contain multiple Content-Length headers; got ["3" "4"]"#
        );
        assert!(head("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n").is_ok());
        assert_eq!(with("Transfer-Encoding: foo"), r#"unsupported transfer encoding: "foo""#);
    }

    #[test]
    fn many_headers_go_to_the_heap() {
        let lines = "X: y\r\n".repeat(500);
        assert_eq!(head(&format!("HTTP/1.1 200 x\r\n{lines}\r\n")).unwrap().status, 200);
        let lines = "a:\n".repeat(40_000);
        assert_eq!(head(&format!("HTTP/1.1 200 x\r\n{lines}\r\n")), Err(Malformed::TooManyHeaders));
    }

    #[test]
    fn the_end_is_found_at_any_split() {
        for text in ["HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\nA: b\n\n"] {
            let mut scanned = 0;
            for upto in 0..text.len() {
                assert_eq!(end(&text.as_bytes()[..upto], &mut scanned), None);
            }
            assert_eq!(end(text.as_bytes(), &mut scanned), Some(text.len()));
        }
    }
}
