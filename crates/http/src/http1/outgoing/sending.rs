//! The rest of a request: what the socket didn't take at once, files, streams, what waits for leave.

use std::io::{self, IoSlice, Write as _};
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use brunt_net::{Connection, Excerpt, Operation, Scratch, from_socket};
use tokio::time::Sleep;

use super::RECORDS;
use crate::exchange::Recording;
use crate::failure::{Failure, FileTrouble};
use crate::payload::cursor::{Cursor, Next, SLICES};
use crate::payload::open_file::{OpenFile, errno, opened, trouble, unchanged_at_its_end};
use crate::payload::{FileRange, Piece, Shared, Source};
use crate::request::Request;

/// The bytes that one poll writes before others of the core get their turn.
const TURN: usize = 1 << 20;

/// The most that the kernel is asked to send of a file at a time.
const FILE_STEP: u64 = 256 * 1024;

/// How long a request with `Expect: 100-continue` waits for the server's word: then it sends its body unasked, as
/// RFC 9110 §10.1.1 has it.
const LEAVE_WAIT: Duration = Duration::from_secs(1);

/// Bytes on their way to the socket.
///
/// ```text
/// rest ─► lead ─► memory of the body, or of a stream's chunk ─► (file)
/// ```
///
/// Parts that need no memory keep none: a file is sent by the kernel, or read into the core's scratch buffer again
/// from where the socket stopped. Only ciphertext that the socket doesn't take is kept, at most [`RECORDS`] and a
/// bit.
pub(super) struct Sending<'a> {
    body: Cursor<'a>,
    /// Ciphertext, from `rest_at` on.
    rest: Vec<u8>,
    rest_at: usize,
    /// Plaintext that goes before the body's next byte, from `lead_at` on: the end of the head, the frames of chunks.
    lead: Vec<u8>,
    lead_at: usize,
    /// A stream's chunk, from `chunk_at` on.
    chunk: Option<Shared>,
    chunk_at: usize,
    file: Option<OpenFile>,
    /// `Some` with `Transfer-Encoding: chunked`.
    frames: Option<Frames>,
    /// The body waits for a "100 Continue", for so long.
    leave: Option<Pin<Box<Sleep>>>,
    /// The kernel can't send this file: it is read.
    reads_files: bool,
}

/// The place in the framing of chunks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Frames {
    /// Before the size of the next one.
    Between,
    /// Inside one.
    Inside,
    /// The last one is written.
    Ended,
}

/// The script wants to be asked for the body.
pub(super) fn waits_for_leave(request: &Request<'_>) -> bool {
    request.headers.get("Expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
}

impl<'a> Sending<'a> {
    /// `unsent`: of the head, what the socket didn't take; ciphertext if the connection is secure.
    pub(super) fn new(body: Cursor<'a>, unsent: &[u8], is_secure: bool) -> Self {
        let (rest, lead) = if is_secure { (unsent, &[][..]) } else { (&[][..], unsent) };
        Self {
            body,
            rest: rest.to_vec(),
            rest_at: 0,
            lead: lead.to_vec(),
            lead_at: 0,
            chunk: None,
            chunk_at: 0,
            file: None,
            frames: None,
            leave: None,
            reads_files: false,
        }
    }

    /// Sees to what keeps this request's body from simply following the head.
    pub(super) fn hold(&mut self, request: &Request<'_>) {
        if request.body.len().is_none() {
            self.frames = Some(Frames::Between);
        }
        if waits_for_leave(request) {
            self.leave = Some(Box::pin(tokio::time::sleep(LEAVE_WAIT)));
        }
    }

    /// Writes as much as the socket takes.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<(), Failure>> {
        let before = recording.bytes_sent();
        loop {
            if recording.bytes_sent() - before >= TURN as u64 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let is_over = if connection.is_secure() {
                ready!(self.step_secure(cx, connection, scratch, recording))?
            } else {
                ready!(self.step_plain(cx, connection, scratch, recording))?
            };
            if is_over {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// One write, or one look at what comes next. `true`: all is written.
    fn step_plain(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<bool, Failure>> {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let lead = &self.lead[self.lead_at..];
        let mut count = 0;
        if !lead.is_empty() {
            slices[0] = IoSlice::new(lead);
            count = 1;
        }
        let pieces = self.memory(&mut slices[count..]);
        let in_pieces: usize = slices[count..count + pieces].iter().map(|piece| piece.len()).sum();
        count += pieces;
        if pieces > 0 && self.frames == Some(Frames::Inside) {
            // The end of the chunk goes along with it.
            slices[count] = IoSlice::new(b"\r\n");
            count += 1;
        }
        if count > 0 {
            let lead_len = lead.len();
            let size = ready!(connection.poll_write_slices(cx, &slices[..count]))?;
            recording.sent(size);
            let of_lead = size.min(lead_len);
            let of_pieces = (size - of_lead).min(in_pieces);
            self.lead_at += of_lead;
            self.advance(of_pieces);
            // The written part of the end, which is the lead now.
            self.lead_at += size - of_lead - of_pieces;
            return Poll::Ready(Ok(false));
        }
        ready!(self.poll_leave(cx, recording));
        let Some((range, done)) = ready!(self.poll_next(cx))? else {
            return Poll::Ready(Ok(self.is_over()));
        };
        let size = ready!(self.send_file(cx, connection, scratch, range, done))?;
        recording.sent(size);
        self.advance(size);
        Poll::Ready(Ok(false))
    }

    /// The same on TLS: everything passes through the core's scratch buffer, up to [`RECORDS`] at a time.
    fn step_secure(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        recording: &mut Recording<'_>,
    ) -> Poll<Result<bool, Failure>> {
        let rest = &self.rest[self.rest_at..];
        if !rest.is_empty() {
            let size = ready!(connection.poll_write(cx, rest))?;
            recording.sent(size);
            self.rest_at += size;
            return Poll::Ready(Ok(false));
        }
        self.rest.clear();
        self.rest_at = 0;
        scratch.plain.clear();
        scratch.plain.extend_from_slice(&self.lead[self.lead_at..]);
        self.lead_at = self.lead.len();
        while scratch.plain.len() < RECORDS {
            let mut slice = [IoSlice::new(&[])];
            if self.memory(&mut slice) == 0 {
                break;
            }
            let size = slice[0].len().min(RECORDS - scratch.plain.len());
            scratch.plain.extend_from_slice(&slice[0][..size]);
            self.advance(size);
            // The end of a chunk is part of it.
            scratch.plain.extend_from_slice(&self.lead[self.lead_at..]);
            self.lead_at = self.lead.len();
        }
        if scratch.plain.is_empty() {
            ready!(self.poll_leave(cx, recording));
            let Some((range, done)) = ready!(self.poll_next(cx))? else {
                return Poll::Ready(Ok(self.is_over()));
            };
            let size = self.read_file(scratch, range, done)?;
            connection.encrypt(&scratch.read[..size], &mut self.rest)?;
            self.advance(size);
        } else {
            connection.encrypt(&scratch.plain, &mut self.rest)?;
        }
        Poll::Ready(Ok(false))
    }

    /// Whether nothing comes next.
    fn is_over(&self) -> bool {
        self.body.is_done()
            && self.lead_at == self.lead.len()
            && self.chunk.is_none()
            && !matches!(self.frames, Some(Frames::Between | Frames::Inside))
    }

    /// The memory that may be written now.
    fn memory<'s>(&'s self, into: &mut [IoSlice<'s>]) -> usize {
        if self.leave.is_some() || matches!(self.frames, Some(Frames::Between)) {
            return 0;
        }
        if let Some(chunk) = &self.chunk {
            into[0] = IoSlice::new(&chunk.as_slice()[self.chunk_at..]);
            return 1;
        }
        // Each piece has a frame of its own.
        let most = if self.frames.is_some() { 1 } else { into.len() };
        self.body.slices(&mut into[..most])
    }

    /// `size` bytes of the body went out.
    fn advance(&mut self, size: usize) {
        if size == 0 {
            return;
        }
        let is_over = if let Some(chunk) = &self.chunk {
            self.chunk_at += size;
            self.chunk_at == chunk.as_slice().len()
        } else {
            let index = self.body.index();
            self.body.advance(size);
            self.body.index() != index
        };
        if is_over {
            self.chunk = None;
            self.file = None;
            self.reads_files = false;
            if self.frames.is_some() {
                self.frames = Some(Frames::Between);
                self.lead(b"\r\n");
            }
        }
    }

    /// Waits for the server's word, if it is waited for. It never comes if the response is there already: then the
    /// body isn't wanted.
    fn poll_leave(&mut self, cx: &mut Context<'_>, recording: &mut Recording<'_>) -> Poll<()> {
        let Some(leave) = &mut self.leave else { return Poll::Ready(()) };
        if recording.answer.status() != 0 {
            return Poll::Pending;
        }
        if recording.answer.continues {
            recording.may_continue();
        } else {
            ready!(leave.as_mut().poll(cx));
        }
        self.leave = None;
        Poll::Ready(())
    }

    /// Sees to it that there is something to write: memory, or the file that is returned with how much of it is done.
    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<(&'a FileRange, u64)>, Failure>> {
        loop {
            match self.body.next() {
                Next::End => {
                    if self.frames == Some(Frames::Between) {
                        self.frames = Some(Frames::Ended);
                        self.lead(b"0\r\n\r\n");
                    }
                    return Poll::Ready(Ok(None));
                }
                Next::Memory(memory) => {
                    self.open_frame(memory.len() as u64);
                    return Poll::Ready(Ok(None));
                }
                Next::Other(Piece::File(range), done) => {
                    if self.frames == Some(Frames::Between) {
                        self.open_frame(range.len);
                        return Poll::Ready(Ok(None));
                    }
                    return Poll::Ready(Ok(Some((range, done))));
                }
                Next::Other(Piece::Stream(source), done) => {
                    if ready!(self.poll_stream(cx, &**source, done))? {
                        return Poll::Ready(Ok(None));
                    }
                }
                Next::Other(Piece::Static(_) | Piece::Bytes(_), _) => {
                    unreachable!("memory is told as such")
                }
            }
        }
    }

    /// Asks a stream for its next chunk. `false`: it has ended.
    fn poll_stream(
        &mut self,
        cx: &mut Context<'_>,
        source: &dyn Source,
        done: u64,
    ) -> Poll<Result<bool, Failure>> {
        let declared = source.size();
        loop {
            let chunk = match ready!(source.poll_chunk(cx)) {
                Some(Ok(chunk)) => chunk,
                Some(Err(text)) => {
                    return Poll::Ready(Err(Failure::BodySource(Excerpt::new(text.as_bytes()))));
                }
                None if declared.is_some_and(|size| size != done) => {
                    let text = b"the stream ended before its declared size";
                    return Poll::Ready(Err(Failure::BodySource(Excerpt::new(text))));
                }
                None => {
                    self.body.end_stream();
                    return Poll::Ready(Ok(false));
                }
            };
            let size = chunk.as_slice().len();
            if declared.is_some_and(|declared| declared.saturating_sub(done) < size as u64) {
                let text = b"the stream passes its declared size";
                return Poll::Ready(Err(Failure::BodySource(Excerpt::new(text))));
            }
            if size > 0 {
                self.body.advance(size);
                self.open_frame(size as u64);
                self.chunk = Some(chunk);
                self.chunk_at = 0;
                return Poll::Ready(Ok(true));
            }
        }
    }

    fn open_frame(&mut self, size: u64) {
        if self.frames.is_some() {
            self.frames = Some(Frames::Inside);
            self.lead.drain(..self.lead_at);
            self.lead_at = 0;
            write!(self.lead, "{size:x}\r\n").expect("writing to memory doesn't fail");
        }
    }

    fn lead(&mut self, bytes: &[u8]) {
        self.lead.drain(..self.lead_at);
        self.lead_at = 0;
        self.lead.extend_from_slice(bytes);
    }

    /// Sends once from a file, of which `done` bytes are sent. Returns how many more.
    fn send_file(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection,
        scratch: &mut Scratch,
        range: &FileRange,
        done: u64,
    ) -> Poll<Result<usize, Failure>> {
        if !self.reads_files {
            let left = (range.len - done).min(FILE_STEP);
            let limit = usize::try_from(left).ok().and_then(NonZeroUsize::new);
            let limit = limit.expect("the cursor goes past what has no bytes left");
            let file = opened(&mut self.file, range)?;
            match ready!(connection.poll_send_file(cx, file, range.start + done, limit)) {
                Ok(0) => return Poll::Ready(Err(trouble(FileTrouble::Shorter, range))),
                Ok(size) => {
                    unchanged_at_its_end(&mut self.file, range, done + size as u64)?;
                    return Poll::Ready(Ok(size));
                }
                Err(error) if is_of_socket(&error) => {
                    return Poll::Ready(Err(from_socket(Operation::Write, &error).into()));
                }
                // Not every file can be sent so. If this one can't be read either, reading says why.
                Err(_) => self.reads_files = true,
            }
        }
        let size = self.read_file(scratch, range, done)?;
        connection.poll_write(cx, &scratch.read[..size]).map_err(Failure::from)
    }

    /// Reads into the core's scratch buffer. Returns how much, at least one byte.
    fn read_file(
        &mut self,
        scratch: &mut Scratch,
        range: &FileRange,
        done: u64,
    ) -> Result<usize, Failure> {
        let room = scratch.read.len().min(RECORDS);
        let size = usize::try_from(range.len - done).unwrap_or(room).min(room);
        let file = opened(&mut self.file, range)?;
        loop {
            match file.read_at(&mut scratch.read[..size], range.start + done) {
                Ok(0) => return Err(trouble(FileTrouble::Shorter, range)),
                Ok(size) => {
                    unchanged_at_its_end(&mut self.file, range, done + size as u64)?;
                    return Ok(size);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(trouble(FileTrouble::Read(errno(&error)), range)),
            }
        }
    }
}

fn is_of_socket(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::BrokenPipe
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::NotConnected
            | Kind::TimedOut
    )
}
