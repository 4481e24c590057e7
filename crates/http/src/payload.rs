//! A request's body, in pieces that are neither joined nor copied.

pub(crate) mod cursor;
pub(crate) mod open_file;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A request's body: pieces in order, which go to the socket from their own memory or file.
///
/// A clone shares the pieces: it costs one count, whatever the size of the body.
#[derive(Clone, Debug)]
pub struct Payload {
    pieces: Rc<Pieces>,
}

/// One piece alone, the usual case, has no list to itself.
#[derive(Clone, Debug)]
enum Pieces {
    One([Piece; 1]),
    Many(Vec<Piece>),
}

/// A piece of a [`Payload`].
#[derive(Clone)]
pub enum Piece {
    /// Bytes of the program.
    Static(&'static [u8]),
    /// Memory of this VU or of the process.
    Bytes(Shared),
    /// Read while it is sent; never whole in memory.
    File(FileRange),
    /// Chunks from elsewhere. Sent with `Transfer-Encoding: chunked`, unless its size is declared.
    Stream(Rc<dyn Source>),
}

/// A slice of memory with an owner, who keeps it where it is.
///
/// Counted without atomics: what the whole process shares (a mapped file) lies behind an `Rc` of the VU that holds an
/// `Arc`.
#[derive(Clone)]
pub struct Shared {
    owner: Owner,
    range: Range<usize>,
}

/// Bytes that have no owner but us need one allocation, not two.
#[derive(Clone)]
enum Owner {
    Ours(Rc<[u8]>),
    Other(Rc<dyn AsRef<[u8]>>),
}

/// A part of a file, opened when it is first sent.
///
/// If the file has become shorter by then, is gone or can't be read, the request fails with
/// [`Failure::BodyFile`](crate::Failure::BodyFile). Bytes that are appended to it are not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// Where the file lies.
    pub path: Arc<Path>,
    /// The first byte, counted from 0.
    pub start: u64,
    /// How many bytes: as the file system said when the range was made.
    pub len: u64,
}

/// Chunks from elsewhere, say a `ReadableStream`. Polled by the task that sends the request.
pub trait Source {
    /// The next chunk; `None` at the end. An empty chunk is passed over. Not asked again after the end or an error.
    ///
    /// An error's text becomes that of the request, as
    /// [`Failure::BodySource`](crate::Failure::BodySource).
    fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Shared, String>>>;

    /// How many bytes it will give in all, if that is known: then they go out with a `Content-Length`. A source that
    /// gives more or fewer fails its request.
    fn size(&self) -> Option<u64> {
        None
    }

    /// Back to the beginning, for a redirect or another try. `false`: it can't.
    fn rewind(&self) -> bool {
        false
    }
}

impl Payload {
    /// One without pieces.
    pub fn new() -> Self {
        Self { pieces: Rc::new(Pieces::Many(Vec::new())) }
    }

    /// Adds a piece at the end. Clones made before don't see it.
    pub fn push(&mut self, piece: impl Into<Piece>) {
        let piece = piece.into();
        match Rc::make_mut(&mut self.pieces) {
            Pieces::Many(pieces) => pieces.push(piece),
            one @ Pieces::One(_) => {
                let Pieces::One([first]) = std::mem::replace(one, Pieces::Many(Vec::new())) else {
                    unreachable!("it was one a moment ago")
                };
                *one = Pieces::Many(vec![first, piece]);
            }
        }
    }

    /// The size in bytes, if it is known before it is sent.
    pub fn len(&self) -> Option<u64> {
        self.pieces().iter().try_fold(0_u64, |sum, piece| sum.checked_add(piece.len()?))
    }

    /// There is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Makes ready to be sent again. `false`: it can't be, as a stream in it is used up.
    pub fn rewind(&self) -> bool {
        self.pieces().iter().all(|piece| match piece {
            Piece::Stream(source) => source.rewind(),
            _ => true,
        })
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        match &*self.pieces {
            Pieces::One(piece) => piece,
            Pieces::Many(pieces) => pieces,
        }
    }

    /// All of it as one slice, joined if need be: for what must see it whole (compression). `None` if there is a file
    /// or a stream in it.
    pub fn in_memory(&self) -> Option<Cow<'_, [u8]>> {
        match self.pieces() {
            [] => Some(Cow::Borrowed(&[])),
            [piece] => piece.as_slice().map(Cow::Borrowed),
            pieces => {
                let slices: Option<Vec<&[u8]>> = pieces.iter().map(Piece::as_slice).collect();
                slices.map(|slices| Cow::Owned(slices.concat()))
            }
        }
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Into<Piece>> From<T> for Payload {
    fn from(piece: T) -> Self {
        Self { pieces: Rc::new(Pieces::One([piece.into()])) }
    }
}

impl FromIterator<Piece> for Payload {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        Self { pieces: Rc::new(Pieces::Many(pieces.into_iter().collect())) }
    }
}

impl Extend<Piece> for Payload {
    fn extend<I: IntoIterator<Item = Piece>>(&mut self, pieces: I) {
        for piece in pieces {
            self.push(piece);
        }
    }
}

impl Piece {
    /// Its size in bytes, if it is known.
    pub fn len(&self) -> Option<u64> {
        match self {
            Self::Static(bytes) => Some(bytes.len() as u64),
            Self::Bytes(bytes) => Some(bytes.as_slice().len() as u64),
            Self::File(range) => Some(range.len),
            Self::Stream(source) => source.size(),
        }
    }

    /// It has no bytes, for sure.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Its bytes, if they are in memory.
    pub fn as_slice(&self) -> Option<&[u8]> {
        match self {
            Self::Static(bytes) => Some(bytes),
            Self::Bytes(bytes) => Some(bytes.as_slice()),
            Self::File(_) | Self::Stream(_) => None,
        }
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(bytes) => write!(f, "Static({} bytes)", bytes.len()),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::File(range) => range.fmt(f),
            Self::Stream(source) => write!(f, "Stream({:?} bytes)", source.size()),
        }
    }
}

impl From<&'static [u8]> for Piece {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Static(bytes)
    }
}

impl From<Shared> for Piece {
    fn from(bytes: Shared) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Bytes(text.into_bytes().into())
    }
}

impl From<Vec<u8>> for Piece {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<Rc<[u8]>> for Piece {
    fn from(bytes: Rc<[u8]>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<FileRange> for Piece {
    fn from(range: FileRange) -> Self {
        Self::File(range)
    }
}

impl From<Rc<dyn Source>> for Piece {
    fn from(source: Rc<dyn Source>) -> Self {
        Self::Stream(source)
    }
}

impl Shared {
    /// All of the owner's bytes. They must not change or move as long as the owner lives.
    pub fn new(owner: Rc<dyn AsRef<[u8]>>) -> Self {
        let range = 0..(*owner).as_ref().len();
        Self { owner: Owner::Other(owner), range }
    }

    /// A part of it, without a copy.
    ///
    /// # Panics
    /// If the range passes the end, like a slice.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let len = self.range.len();
        assert!(range.start <= range.end && range.end <= len, "{range:?} passes the end, {len}");
        let range = self.range.start + range.start..self.range.start + range.end;
        Self { owner: self.owner.clone(), range }
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        let all = match &self.owner {
            Owner::Ours(bytes) => bytes,
            Owner::Other(owner) => (**owner).as_ref(),
        };
        &all[self.range.clone()]
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({} bytes)", self.range.len())
    }
}

impl From<Rc<[u8]>> for Shared {
    fn from(bytes: Rc<[u8]>) -> Self {
        Self { range: 0..bytes.len(), owner: Owner::Ours(bytes) }
    }
}

impl From<&[u8]> for Shared {
    fn from(bytes: &[u8]) -> Self {
        Rc::<[u8]>::from(bytes).into()
    }
}

impl From<&str> for Shared {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<Vec<u8>> for Shared {
    /// Takes them over where they lie.
    fn from(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), owner: Owner::Other(Rc::new(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Endless;

    impl Source for Endless {
        fn poll_chunk(&self, _: &mut Context<'_>) -> Poll<Option<Result<Shared, String>>> {
            Poll::Ready(Some(Ok("x".into())))
        }
    }

    fn text(payload: &Payload) -> String {
        String::from_utf8(payload.in_memory().unwrap().into_owned()).unwrap()
    }

    #[test]
    fn pieces_keep_their_order_and_clones_their_pieces() {
        let mut payload = Payload::from(&b"ab"[..]);
        let before = payload.clone();
        payload.push(Shared::from("cdef").slice(1..3));
        payload.push("g".to_owned());
        assert_eq!((text(&payload).as_str(), payload.len()), ("abdeg", Some(5)));
        assert_eq!(text(&before), "ab");
        payload.extend([Piece::Static(b"h")]);
        assert_eq!(payload.pieces().len(), 4);
        assert_eq!(text(&payload.pieces().iter().cloned().collect()), "abdegh");
    }

    #[test]
    fn nothing_is_copied() {
        let owner: Rc<[u8]> = vec![7; 100].into();
        let payload = Payload::from(Shared::from(owner.clone()).slice(10..90));
        let [Piece::Bytes(bytes)] = payload.pieces() else { panic!("one piece of memory") };
        assert_eq!(bytes.as_slice().as_ptr(), owner[10..].as_ptr());
        assert_eq!(bytes.slice(5..6).as_slice().as_ptr(), owner[15..].as_ptr());
        let whole = payload.in_memory().unwrap();
        assert!(matches!(whole, Cow::Borrowed(bytes) if bytes.len() == 80));
        let mapped: Rc<dyn AsRef<[u8]>> = Rc::new(vec![1, 2, 3]);
        assert_eq!(Shared::new(mapped).slice(1..3).as_slice(), [2, 3]);
    }

    #[test]
    #[should_panic(expected = "passes the end, 2")]
    fn a_slice_ends_where_its_parent_ends() {
        let _ = Shared::from("abcd").slice(1..3).slice(0..3);
    }

    #[test]
    fn the_size_of_a_file_is_known_and_that_of_a_stream_only_if_it_is_declared() {
        let path: Arc<Path> = Path::new("a").into();
        let mut payload = Payload::from(FileRange { path, start: 3, len: 1 << 40 });
        payload.push(&b"x"[..]);
        assert_eq!((payload.len(), payload.is_empty()), (Some((1 << 40) + 1), false));
        assert!(payload.rewind() && payload.in_memory().is_none());
        let source: Rc<dyn Source> = Rc::new(Endless);
        payload.push(source);
        assert_eq!((payload.len(), payload.rewind()), (None, false));
        assert!(Payload::new().is_empty() && Payload::default().in_memory().unwrap().is_empty());
    }

    /// Each request that has a body carries one, and each form a list of these.
    #[test]
    fn a_payload_is_a_pointer() {
        assert_eq!(size_of::<Option<Payload>>(), 8);
        assert!(size_of::<Piece>() <= 48, "{}", size_of::<Piece>());
    }
}
