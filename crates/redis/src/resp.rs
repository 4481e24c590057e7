//! Redis' protocol, versions 2 and 3: commands written, replies read, without a socket.

use brunt_net::budget::{Share, growth};

use crate::Failure;

/// The most that one reply may cost: its bytes, and [`REPLY_COST`] for each reply in it.
pub const REPLY_MAX: usize = 512 << 20;

/// The memory of a reply beside its bytes.
const REPLY_COST: usize = 2 * size_of::<Reply>();

/// The longest line: an error, a word, a number.
const LINE_MAX: usize = 1 << 20;

/// Buffers for lines that grew beyond this are given back.
const LINE_KEEP: usize = 4096;

/// Replies inside replies.
const DEPTH_MAX: usize = 32;

/// A server's answer.
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

/// Reads replies as their bytes come, however they were split: each byte is looked at once.
#[derive(Debug, Default)]
pub struct Reader {
    /// Arrays and maps that have not ended, the innermost last.
    open: Vec<Open>,
    /// The beginning of a line.
    line: Vec<u8>,
    bulk: Option<Bulk>,
    /// The cost of the reply so far: see [`REPLY_MAX`].
    cost: usize,
    share: Share,
    /// The reply began as a push does.
    is_push: bool,
}

/// An array or a map.
#[derive(Debug)]
struct Open {
    is_map: bool,
    left: usize,
    items: Vec<Reply>,
}

/// A text whose length was told.
#[derive(Debug)]
struct Bulk {
    mark: u8,
    /// With the end of the line behind it.
    size: usize,
    text: Vec<u8>,
}

impl Reader {
    /// Takes bytes from the front of `input` until a reply is whole. `None`: all were taken.
    ///
    /// # Errors
    /// [`Failure::Malformed`] if no reply looks like that, or if it is too much; the connection is lost then.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Reply>, Failure> {
        loop {
            let Some(mut reply) = self.part(input)? else { return Ok(None) };
            // The end of a part may be the end of the part around it.
            loop {
                let Some(open) = self.open.last_mut() else {
                    self.cost = 0;
                    self.share.release();
                    return Ok(Some(reply));
                };
                open.items.push(reply);
                open.left -= 1;
                if open.left > 0 {
                    break;
                }
                let Some(Open { is_map, items, .. }) = self.open.pop() else { return Ok(None) };
                reply = gathered(is_map, items);
            }
        }
    }

    /// Whether the reply that came last, or that is on its way, is a push (version 3).
    pub fn is_push(&self) -> bool {
        self.is_push
    }

    /// The next reply that has no others in it, or an empty one.
    fn part(&mut self, input: &mut &[u8]) -> Result<Option<Reply>, Failure> {
        loop {
            if self.bulk.is_some() {
                return self.text(input);
            }
            if !take_line(&mut self.line, input)? {
                return Ok(None);
            }
            let line = std::mem::take(&mut self.line);
            let reply = self.line_over(line.get(..line.len() - 2).unwrap_or_default())?;
            if line.capacity() <= LINE_KEEP {
                self.line = line;
                self.line.clear();
            }
            if reply.is_some() {
                return Ok(reply);
            }
        }
    }

    /// A line is whole. `None`: more must come.
    fn line_over(&mut self, line: &[u8]) -> Result<Option<Reply>, Failure> {
        let Some((&mark, rest)) = line.split_first() else {
            return Err(Failure::Malformed("an empty line"));
        };
        if self.open.is_empty() {
            self.is_push = mark == b'>';
        }
        self.spend(line.len() + REPLY_COST)?;
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
                self.bulk = Some(Bulk { mark, size: size + 2, text: Vec::new() });
                return Ok(None);
            }
            b'*' | b'~' | b'>' | b'%' => {
                let is_map = mark == b'%';
                let Some(count) = size(rest)? else {
                    return Ok(Some(if is_map { gathered(true, Vec::new()) } else { Reply::Nil }));
                };
                let left = if is_map { count * 2 } else { count };
                if left == 0 {
                    return Ok(Some(gathered(is_map, Vec::new())));
                }
                if self.open.len() >= DEPTH_MAX {
                    return Err(Failure::Malformed("it is too deep"));
                }
                self.open.push(Open { is_map, left, items: Vec::new() });
                return Ok(None);
            }
            _ => return Err(Failure::Malformed("an unknown mark")),
        }))
    }

    /// More of a text.
    fn text(&mut self, input: &mut &[u8]) -> Result<Option<Reply>, Failure> {
        let Some(mut bulk) = self.bulk.take() else { return Ok(None) };
        let (came, rest) = input.split_at(input.len().min(bulk.size - bulk.text.len()));
        *input = rest;
        self.spend(came.len())?;
        let room = bulk.text.capacity() - bulk.text.len();
        let most = (bulk.size - bulk.text.len()) as u64;
        if let Some(more) = growth(bulk.text.len(), room, came.len(), most) {
            bulk.text.reserve_exact(more);
        }
        bulk.text.extend_from_slice(came);
        if bulk.text.len() < bulk.size {
            self.bulk = Some(bulk);
            return Ok(None);
        }
        if !bulk.text.ends_with(b"\r\n") {
            return Err(Failure::Malformed("a text is longer than it says"));
        }
        bulk.text.truncate(bulk.size - 2);
        Ok(Some(match bulk.mark {
            b'!' => Reply::Error(String::from_utf8_lossy(&bulk.text).into_owned()),
            // Three letters and a colon tell what the text is.
            b'=' => Reply::Text(bulk.text.get(4..).unwrap_or_default().to_vec()),
            _ => Reply::Text(bulk.text),
        }))
    }

    fn spend(&mut self, cost: usize) -> Result<(), Failure> {
        self.cost += cost;
        if self.cost > REPLY_MAX + LINE_MAX {
            return Err(Failure::Malformed("it is too long"));
        }
        let share = self.share.cover(self.cost as u64);
        share.map_err(|_| Failure::Malformed("it is too long for all that is held already"))
    }
}

fn gathered(is_map: bool, items: Vec<Reply>) -> Reply {
    if !is_map {
        return Reply::Array(items);
    }
    let mut pairs = Vec::with_capacity(items.len() / 2);
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        pairs.push((key, value));
    }
    Reply::Map(pairs)
}

/// Takes bytes until `line` ends with CR LF. `false`: more must come.
fn take_line(line: &mut Vec<u8>, input: &mut &[u8]) -> Result<bool, Failure> {
    while let Some(at) = input.iter().position(|byte| *byte == b'\n') {
        let (came, rest) = input.split_at(at + 1);
        *input = rest;
        line.extend_from_slice(came);
        if line.len() > LINE_MAX {
            return Err(Failure::Malformed("a line is too long"));
        }
        if line.ends_with(b"\r\n") {
            return Ok(true);
        }
    }
    line.extend_from_slice(input);
    *input = &[];
    if line.len() > LINE_MAX {
        return Err(Failure::Malformed("a line is too long"));
    }
    Ok(false)
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

    /// The first reply, and how many bytes it is.
    fn decode(bytes: &[u8]) -> Result<Option<(Reply, usize)>, Failure> {
        let mut rest = bytes;
        let reply = Reader::default().next(&mut rest)?;
        Ok(reply.map(|reply| (reply, bytes.len() - rest.len())))
    }

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
            let mut reader = Reader::default();
            for cut in 0..bytes.len() {
                assert_eq!(decode(&bytes.as_bytes()[..cut]).unwrap(), None, "{bytes:?} {cut}");
                let told = reader.next(&mut &bytes.as_bytes()[cut..=cut]).unwrap();
                assert_eq!(told.is_some(), cut + 1 == bytes.len(), "{bytes:?} {cut}");
            }
        }
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        for bytes in
            ["HTTP/1.1 400\r\n", "\r\n", ":x\r\n", "$-2\r\n", "$1\r\nabc\r\n", "$999999999999\r\n"]
        {
            assert!(decode(bytes.as_bytes()).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn what_has_no_end_is_refused_long_before_it_fills_the_memory() {
        let refused = |first: &str, again: &str, bytes_max: usize| {
            let block = again.repeat(65_536 / again.len());
            let mut reader = Reader::default();
            reader.next(&mut first.as_bytes()).unwrap();
            let mut fed = 0;
            while fed <= bytes_max {
                fed += block.len();
                if let Err(failure) = reader.next(&mut block.as_bytes()) {
                    return failure.to_string();
                }
            }
            panic!("{first:?} was not refused after {fed} bytes");
        };
        assert!(refused("", "*1\r\n", 65_536).ends_with("it is too deep"));
        assert!(refused("-ERR ", "x", 2 << 20).ends_with("a line is too long"));
        assert!(refused("*500000000\r\n", ":1\r\n", 64 << 20).ends_with("it is too long"));
        let whole = format!("{}:1\r\n", "*1\r\n".repeat(DEPTH_MAX));
        assert!(decode(whole.as_bytes()).unwrap().is_some());
        assert!(decode(format!("*1\r\n{whole}").as_bytes()).is_err());
        let text = |size: usize| format!("${size}\r\n");
        assert_eq!(decode(text(REPLY_MAX).as_bytes()), Ok(None));
        assert!(decode(text(REPLY_MAX + 1).as_bytes()).is_err());
        let line = |size: usize| format!("+{}\r\n", "x".repeat(size - 3));
        assert!(decode(line(LINE_MAX).as_bytes()).unwrap().is_some());
        assert!(decode(line(LINE_MAX + 1).as_bytes()).is_err());
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
            let _ = decode(&bytes);
        }

        #[test]
        fn what_looks_like_replies_is_read_the_same_however_it_was_split(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                "*2\r\n", "%1\r\n", "$3\r\n", "abc\r\n", "$0\r\n", "\r\n", ":1\r\n", "+OK\r\n", "-E\r\n", "_\r\n", ">1\r\n",
                "$-1\r\n", "*0\r\n", "*-1\r\n", "\n", "\r", "x", "$536870912\r\n", "*536870912\r\n",
            ]), 0..30),
            step in 1usize..20,
        ) {
            let bytes = parts.concat().into_bytes();
            let read = |step: usize| {
                let (mut reader, mut replies) = (Reader::default(), Vec::new());
                for mut piece in bytes.chunks(step) {
                    loop {
                        match reader.next(&mut piece) {
                            Ok(Some(reply)) => replies.push(Ok(reply)),
                            Ok(None) => break,
                            Err(failure) => {
                                replies.push(Err(failure));
                                return replies;
                            }
                        }
                    }
                }
                replies
            };
            prop_assert_eq!(read(step), read(usize::MAX));
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
