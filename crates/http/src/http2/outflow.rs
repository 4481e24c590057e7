//! The body of a request, put into frames.

use std::os::unix::fs::FileExt as _;
use std::task::{Context, Poll, ready};

use brunt_net::Excerpt;

use crate::failure::{Failure, FileTrouble};
use crate::payload::cursor::{Cursor, Next};
use crate::payload::open_file::{OpenFile, errno, opened, trouble, unchanged_at_its_end};
use crate::payload::{FileRange, Piece, Shared, Source};
use crate::request::Body;

/// The part of a body that is still to be sent.
pub(super) struct Outflow<'a> {
    body: Cursor<'a>,
    /// A stream's chunk, and how much of it is done.
    chunk: Option<(Shared, usize)>,
    file: Option<OpenFile>,
}

impl<'a> Outflow<'a> {
    pub(super) fn new(body: Body<'a>) -> Self {
        Self { body: Cursor::new(body), chunk: None, file: None }
    }

    /// Nothing is left. A stream is known to end only when it is asked once more.
    pub(super) fn is_done(&self) -> bool {
        self.chunk.is_none() && self.body.is_done()
    }

    /// Puts up to `room` bytes to the end of `out`; none at the end.
    pub(super) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        room: usize,
        out: &mut Vec<u8>,
    ) -> Poll<Result<(), Failure>> {
        let start = out.len();
        loop {
            let left = room - (out.len() - start);
            if left == 0 {
                return Poll::Ready(Ok(()));
            }
            if let Some((chunk, done)) = &mut self.chunk {
                let rest = &chunk.as_slice()[*done..];
                let size = rest.len().min(left);
                out.extend_from_slice(&rest[..size]);
                *done += size;
                if size == rest.len() {
                    self.chunk = None;
                }
                continue;
            }
            match self.body.next() {
                Next::End => return Poll::Ready(Ok(())),
                Next::Memory(_) => self.body.copy(out, left, true),
                Next::Other(Piece::File(range), done) => {
                    let size = self.read(range, done, left, out)?;
                    let index = self.body.index();
                    self.body.advance(size);
                    if self.body.index() != index {
                        self.file = None;
                    }
                }
                Next::Other(Piece::Stream(source), done) => {
                    let asked = self.poll_stream(cx, &**source, done);
                    // The bytes that are here already go out; the rest comes later.
                    if asked.is_pending() && out.len() > start {
                        return Poll::Ready(Ok(()));
                    }
                    ready!(asked)?;
                }
                Next::Other(Piece::Static(_) | Piece::Bytes(_), _) => {
                    unreachable!("memory is told as such")
                }
            }
        }
    }

    fn read(
        &mut self,
        range: &FileRange,
        done: u64,
        room: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, Failure> {
        let size = usize::try_from(range.len - done).unwrap_or(room).min(room);
        let start = out.len();
        let file = opened(&mut self.file, range)?;
        out.resize(start + size, 0);
        let read = file.read_at(&mut out[start..], range.start + done);
        out.truncate(start + read.as_ref().map_or(0, |size| *size));
        match read {
            Ok(0) => Err(trouble(FileTrouble::Shorter, range)),
            Ok(size) => {
                unchanged_at_its_end(&mut self.file, range, done + size as u64)?;
                Ok(size)
            }
            Err(error) => Err(trouble(FileTrouble::Read(errno(&error)), range)),
        }
    }

    /// Asks a stream for its next chunk.
    fn poll_stream(
        &mut self,
        cx: &mut Context<'_>,
        source: &dyn Source,
        done: u64,
    ) -> Poll<Result<(), Failure>> {
        let wrong = |text: &[u8]| Poll::Ready(Err(Failure::BodySource(Excerpt::new(text))));
        let declared = source.size();
        let chunk = match ready!(source.poll_chunk(cx)) {
            Some(Ok(chunk)) => chunk,
            Some(Err(text)) => return wrong(text.as_bytes()),
            None if declared.is_some_and(|size| size != done) => {
                return wrong(b"the stream ended before its declared size");
            }
            None => {
                self.body.end_stream();
                return Poll::Ready(Ok(()));
            }
        };
        let size = chunk.as_slice().len();
        if declared.is_some_and(|declared| declared.saturating_sub(done) < size as u64) {
            return wrong(b"the stream passes its declared size");
        }
        if size > 0 {
            self.body.advance(size);
            self.chunk = Some((chunk, 0));
        }
        Poll::Ready(Ok(()))
    }
}
