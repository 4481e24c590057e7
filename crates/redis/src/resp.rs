//! Redis' protocol, versions 2 and 3: commands written, replies read, without a socket.

use crate::Failure;

/// The most bytes of one reply.
pub const REPLY_MAX: usize = 512 << 20;

/// Replies inside replies.
const DEPTH_MAX: usize = 32;

/// What a server answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Nothing there.
    Nil,
    /// A word such as `OK`, or bytes.
    Text(Vec<u8>),
    /// A number.
    Integer(i64),
    /// A number with a fraction (version 3).
    Double(f64),
    /// True or false (version 3).
    Bool(bool),
    /// Several, in order.
    Array(Vec<Reply>),
    /// Pairs (version 3).
    Map(Vec<(Reply, Reply)>),
    /// An error of the server's.
    Error(String),
}

/// Appends a command to what is to be sent.
pub fn encode(parts: &[Vec<u8>], into: &mut Vec<u8>) {
    let number = |mark: u8, number: usize, into: &mut Vec<u8>| {
        into.push(mark);
        into.extend_from_slice(number.to_string().as_bytes());
        into.extend_from_slice(b"\r\n");
    };
    number(b'*', parts.len(), into);
    for part in parts {
        number(b'$', part.len(), into);
        into.extend_from_slice(part);
        into.extend_from_slice(b"\r\n");
    }
}

/// Reads a reply from the front of what came: the reply, and how many bytes it is. `None`: it is not complete.
///
/// # Errors
/// [`Failure::Malformed`] if no reply looks like that; the connection is lost then.
pub fn decode(bytes: &[u8]) -> Result<Option<(Reply, usize)>, Failure> {
    let mut at = 0;
    let reply = read(bytes, &mut at, 0)?;
    if reply.is_none() && bytes.len() > REPLY_MAX {
        return Err(Failure::Malformed("it is too long"));
    }
    Ok(reply.map(|reply| (reply, at)))
}

/// How much of a reply has come, told without reading its beginning again: a long one comes in thousands of pieces.
#[derive(Debug)]
pub struct Progress {
    /// Where the next reply begins, be it one inside another.
    at: usize,
    /// Replies that have not ended.
    left: usize,
}

impl Default for Progress {
    fn default() -> Self {
        Self { at: 0, left: 1 }
    }
}

impl Progress {
    /// Whether [`decode`] has something to tell of `bytes`, which have grown at their end since the last call.
    pub fn is_whole(&mut self, bytes: &[u8]) -> bool {
        while self.left > 0 {
            let mut at = self.at;
            let Some(line) = line(bytes, &mut at) else { return false };
            let Some((&mark, rest)) = line.split_first() else { return true };
            let inside = match mark {
                b'$' | b'=' | b'!' => match size(rest) {
                    Ok(Some(size)) if bytes.len() < at + size + 2 => return false,
                    Ok(Some(size)) => {
                        at += size + 2;
                        0
                    }
                    Ok(None) => 0,
                    Err(_) => return true,
                },
                b'*' | b'~' | b'>' | b'%' => match size(rest) {
                    Ok(count) => count.unwrap_or(0) * if mark == b'%' { 2 } else { 1 },
                    Err(_) => return true,
                },
                b'+' | b'(' | b'-' | b':' | b'_' | b'#' | b',' => 0,
                _ => return true,
            };
            self.at = at;
            self.left = self.left.saturating_add(inside) - 1;
        }
        true
    }
}

fn read(bytes: &[u8], at: &mut usize, depth: usize) -> Result<Option<Reply>, Failure> {
    if depth > DEPTH_MAX {
        return Err(Failure::Malformed("it is too deep"));
    }
    let Some(line) = line(bytes, at) else { return Ok(None) };
    let Some((&mark, rest)) = line.split_first() else {
        return Err(Failure::Malformed("an empty line"));
    };
    let text = || String::from_utf8_lossy(rest).into_owned();
    Ok(Some(match mark {
        // The second is a number that fits into no register.
        b'+' | b'(' => Reply::Text(rest.to_vec()),
        b'-' => Reply::Error(text()),
        b':' => Reply::Integer(number(rest)?),
        b'_' => Reply::Nil,
        b'#' => Reply::Bool(rest == b"t"),
        b',' => Reply::Double(text().parse().map_err(|_| Failure::Malformed("a number"))?),
        b'$' | b'=' | b'!' => {
            let Some(size) = size(rest)? else { return Ok(Some(Reply::Nil)) };
            let Some(body) = bytes.get(*at..*at + size + 2) else { return Ok(None) };
            *at += size + 2;
            let Some(body) = body.strip_suffix(b"\r\n") else {
                return Err(Failure::Malformed("a text is longer than it says"));
            };
            match mark {
                b'!' => Reply::Error(String::from_utf8_lossy(body).into_owned()),
                // Three letters and a colon tell what the text is.
                b'=' => Reply::Text(body.get(4..).unwrap_or_default().to_vec()),
                _ => Reply::Text(body.to_vec()),
            }
        }
        b'*' | b'~' | b'>' => {
            let Some(count) = size(rest)? else { return Ok(Some(Reply::Nil)) };
            let mut replies = Vec::new();
            for _ in 0..count {
                let Some(reply) = read(bytes, at, depth + 1)? else { return Ok(None) };
                replies.push(reply);
            }
            Reply::Array(replies)
        }
        b'%' => {
            let count = size(rest)?.unwrap_or(0);
            let mut pairs = Vec::new();
            for _ in 0..count {
                let Some(key) = read(bytes, at, depth + 1)? else { return Ok(None) };
                let Some(value) = read(bytes, at, depth + 1)? else { return Ok(None) };
                pairs.push((key, value));
            }
            Reply::Map(pairs)
        }
        _ => return Err(Failure::Malformed("an unknown mark")),
    }))
}

/// A line without its end.
fn line<'a>(bytes: &'a [u8], at: &mut usize) -> Option<&'a [u8]> {
    let rest = bytes.get(*at..)?;
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    *at += end + 2;
    Some(&rest[..end])
}

fn number(text: &[u8]) -> Result<i64, Failure> {
    let text = std::str::from_utf8(text).map_err(|_| Failure::Malformed("a number"))?;
    text.parse().map_err(|_| Failure::Malformed("a number"))
}

/// A size; `None` for −1, which means nil.
fn size(text: &[u8]) -> Result<Option<usize>, Failure> {
    let size = number(text)?;
    if size == -1 {
        return Ok(None);
    }
    let size = usize::try_from(size).map_err(|_| Failure::Malformed("a size"))?;
    if size > REPLY_MAX {
        return Err(Failure::Malformed("it is too long"));
    }
    Ok(Some(size))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replies_of_both_versions_are_read() {
        let text = |text: &str| Reply::Text(text.as_bytes().to_vec());
        for (bytes, expected) in [
            ("+OK\r\n", text("OK")),
            ("-ERR no\r\n", Reply::Error("ERR no".to_owned())),
            (":-5\r\n", Reply::Integer(-5)),
            ("$2\r\na\n\r\n", text("a\n")),
            ("$-1\r\n", Reply::Nil),
            ("*-1\r\n", Reply::Nil),
            ("_\r\n", Reply::Nil),
            ("#t\r\n", Reply::Bool(true)),
            (",1.5\r\n", Reply::Double(1.5)),
            ("=5\r\ntxt:a\r\n", text("a")),
            (
                "*2\r\n:1\r\n*1\r\n$-1\r\n",
                Reply::Array(vec![Reply::Integer(1), Reply::Array(vec![Reply::Nil])]),
            ),
            ("%1\r\n+a\r\n:1\r\n", Reply::Map(vec![(text("a"), Reply::Integer(1))])),
        ] {
            assert_eq!(
                decode(bytes.as_bytes()).unwrap(),
                Some((expected, bytes.len())),
                "{bytes:?}"
            );
            let mut progress = Progress::default();
            for cut in 0..bytes.len() {
                assert_eq!(decode(&bytes.as_bytes()[..cut]).unwrap(), None, "{bytes:?} {cut}");
                assert!(!progress.is_whole(&bytes.as_bytes()[..cut]), "{bytes:?} {cut}");
            }
            assert!(progress.is_whole(bytes.as_bytes()), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for bytes in
            ["HTTP/1.1 400\r\n", "\r\n", ":x\r\n", "$-2\r\n", "$1\r\nabc\r\n", "$999999999999\r\n"]
        {
            assert!(decode(bytes.as_bytes()).is_err(), "{bytes:?}");
        }
        assert!(decode("*1\r\n".repeat(100).as_bytes()).is_err());
    }

    #[test]
    fn a_command_is_an_array_of_texts() {
        let mut bytes = Vec::new();
        encode(&[b"GET".to_vec(), b"a b".to_vec()], &mut bytes);
        assert_eq!(bytes, b"*2\r\n$3\r\nGET\r\n$3\r\na b\r\n");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let is_whole = Progress::default().is_whole(&bytes);
            if matches!(decode(&bytes), Ok(Some(_))) {
                assert!(is_whole, "what can be told must not be waited for");
            }
        }

        #[test]
        fn a_command_reads_as_the_reply_that_it_looks_like(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..5)) {
            let mut bytes = Vec::new();
            encode(&parts, &mut bytes);
            let expected = Reply::Array(parts.into_iter().map(Reply::Text).collect());
            let size = bytes.len();
            prop_assert_eq!(decode(&bytes).unwrap(), Some((expected, size)));
        }
    }
}
