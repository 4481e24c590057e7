//! The frames of the server.

use super::{
    ANSWERS_MAX, Failure, Head, Protocol, Stream, Truncated, WINDOW, flag, frame, kind, reason,
    setting,
};
use crate::failure::Http2Trouble;
use crate::headers::is_token;
use crate::http1::Malformed;

/// A rule is broken by the connection as a whole.
enum Broken {
    /// For this reason.
    Rule(u32),
    /// By a frame that is larger than any may be: perhaps these bytes are no frame.
    Size,
}

impl From<u32> for Broken {
    fn from(reason: u32) -> Self {
        Self::Rule(reason)
    }
}

const PROTOCOL_ERROR: Broken = Broken::Rule(reason::PROTOCOL_ERROR);
const FRAME_SIZE_ERROR: Broken = Broken::Rule(reason::FRAME_SIZE_ERROR);
const FLOW_CONTROL_ERROR: Broken = Broken::Rule(reason::FLOW_CONTROL_ERROR);

/// This many bytes of a frame cost as much as a frame that is empty.
const COST: usize = 64;

impl Protocol {
    /// Takes in what came.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.failure.is_none() {
            let before = self.out.len();
            let stepped = self.step(&mut bytes);
            self.answers += self.out.len() - before;
            if let Err(broken) = stepped {
                match broken {
                    Broken::Rule(code) => self.refuse(code),
                    Broken::Size => {
                        self.say_goodbye(reason::FRAME_SIZE_ERROR);
                        self.lose(Malformed::Frame.into());
                    }
                }
            } else if self.answers > ANSWERS_MAX {
                self.refuse(reason::ENHANCE_YOUR_CALM);
            }
        }
    }

    /// Takes a frame, or a part of one.
    fn step(&mut self, bytes: &mut &[u8]) -> Result<(), Broken> {
        if let Some(head) = &mut self.data {
            let (part, rest) = bytes.split_at(head.len.min(bytes.len()));
            *bytes = rest;
            head.len -= part.len();
            let (stream, ends) = (head.stream, head.len == 0 && head.has(flag::END_STREAM));
            if head.len == 0 {
                self.data = None;
            }
            return self.data(stream, part, part.len(), ends);
        }
        // A frame that came whole is read where it lies.
        if self.partial.is_empty()
            && let Some(head) = Head::read(bytes)
        {
            self.check(&head)?;
            if is_plain_data(&head) {
                *bytes = &bytes[frame::HEAD..];
                return self.begin_data(head);
            }
            if let Some((whole, rest)) = bytes.split_at_checked(frame::HEAD + head.len) {
                *bytes = rest;
                return self.frame(&head, &whole[frame::HEAD..]);
            }
        }
        let head = Head::read(&self.partial);
        let whole = frame::HEAD + head.map_or(0, |head| head.len);
        let (part, rest) = bytes.split_at((whole - self.partial.len()).min(bytes.len()));
        *bytes = rest;
        self.partial.extend_from_slice(part);
        let Some(head) = Head::read(&self.partial) else { return Ok(()) };
        self.check(&head)?;
        if is_plain_data(&head) {
            self.partial = Vec::new();
            return self.begin_data(head);
        }
        if self.partial.len() < frame::HEAD + head.len {
            return Ok(());
        }
        let whole = std::mem::take(&mut self.partial);
        self.frame(&head, &whole[frame::HEAD..])
    }

    fn check(&mut self, head: &Head) -> Result<(), Broken> {
        if head.len > frame::SIZE_MAX {
            // The first bytes, read as the head of a frame.
            let is_http = head.bytes().starts_with(b"HTTP");
            self.saw_http1 |= is_http && !self.has_settings;
            return Err(Broken::Size);
        }
        let has_stream = match head.kind {
            kind::DATA
            | kind::HEADERS
            | kind::PRIORITY
            | kind::RST_STREAM
            | kind::PUSH_PROMISE
            | kind::CONTINUATION => head.stream != 0,
            kind::SETTINGS | kind::PING | kind::GOAWAY => head.stream == 0,
            _ => true,
        };
        let is_first_as_it_should_be = self.has_settings || head.kind == kind::SETTINGS;
        let is_of_block = match &self.block {
            None => head.kind != kind::CONTINUATION,
            Some((stream, ..)) => head.kind == kind::CONTINUATION && head.stream == *stream,
        };
        let is_right = is_first_as_it_should_be && is_of_block && has_stream;
        if is_right { Ok(()) } else { Err(PROTOCOL_ERROR) }
    }

    fn begin_data(&mut self, head: Head) -> Result<(), Broken> {
        if head.len > 0 {
            self.data = Some(head);
            return Ok(());
        }
        self.data(head.stream, &[], 0, head.has(flag::END_STREAM))
    }

    /// A frame came that is of no use, and costs `cost` times as much as the smallest one.
    fn bears(&mut self, cost: usize) -> Result<(), Broken> {
        if self.patience.bears(cost, self.clock) {
            return Ok(());
        }
        Err(Broken::Rule(reason::ENHANCE_YOUR_CALM))
    }

    fn frame(&mut self, head: &Head, payload: &[u8]) -> Result<(), Broken> {
        if !matches!(head.kind, kind::DATA | kind::HEADERS) {
            self.bears(1 + payload.len() / COST)?;
        }
        match head.kind {
            kind::DATA => {
                let data = unpadded(head, payload)?;
                self.data(head.stream, data, payload.len(), head.has(flag::END_STREAM))
            }
            kind::HEADERS => {
                let mut block = unpadded(head, payload)?;
                if head.has(flag::PRIORITY) {
                    block = block.get(5..).ok_or(FRAME_SIZE_ERROR)?;
                }
                let ends = head.has(flag::END_STREAM);
                if head.has(flag::END_HEADERS) {
                    return self.headers(head.stream, block, ends);
                }
                self.block = Some((head.stream, ends, block.to_vec()));
                Ok(())
            }
            kind::CONTINUATION => {
                let Some((stream, ends, mut block)) = self.block.take() else {
                    return Err(PROTOCOL_ERROR);
                };
                block.extend_from_slice(payload);
                if block.len() > self.head_limit {
                    return Err(Broken::Rule(reason::ENHANCE_YOUR_CALM));
                }
                if head.has(flag::END_HEADERS) {
                    return self.headers(stream, &block, ends);
                }
                self.block = Some((stream, ends, block));
                Ok(())
            }
            kind::PRIORITY if payload.len() != 5 => Err(FRAME_SIZE_ERROR),
            kind::RST_STREAM if payload.len() != 4 => Err(FRAME_SIZE_ERROR),
            kind::RST_STREAM => {
                let code = reason_of(payload).ok_or(FRAME_SIZE_ERROR)?;
                // Go takes the latter for a request that this connection can't carry: it goes on another.
                self.is_spent |= code == reason::PROTOCOL_ERROR;
                let is_unseen = matches!(code, reason::REFUSED_STREAM | reason::PROTOCOL_ERROR);
                self.with(head.stream, |stream| {
                    if !stream.is_done {
                        stream.reset_by_server = Some(code);
                    }
                    stream.reset(code, is_unseen);
                });
                Ok(())
            }
            kind::SETTINGS => self.settings(head, payload),
            kind::PING => {
                if payload.len() != 8 {
                    return Err(FRAME_SIZE_ERROR);
                }
                if !head.has(flag::ACK) {
                    frame::write(kind::PING, flag::ACK, 0, payload, &mut self.out);
                }
                Ok(())
            }
            kind::GOAWAY => {
                let last = frame::number(payload).ok_or(FRAME_SIZE_ERROR)?;
                let code = payload.get(4..).and_then(reason_of).ok_or(FRAME_SIZE_ERROR)?;
                self.goes(last, code);
                Ok(())
            }
            kind::WINDOW_UPDATE => {
                let by = frame::number(payload).ok_or(FRAME_SIZE_ERROR)?;
                self.window_update(head.stream, by)
            }
            kind::PUSH_PROMISE => Err(PROTOCOL_ERROR),
            _ => Ok(()),
        }
    }

    /// Does something to a stream, if it is still there, and wakes who waits for it.
    fn with(&mut self, id: u32, change: impl FnOnce(&mut Stream)) {
        let polled = self.polled;
        if let Some(stream) = self.stream(id) {
            if id == polled {
                stream.waker = None;
            }
            change(stream);
            stream.wake();
        }
    }

    fn settings(&mut self, head: &Head, payload: &[u8]) -> Result<(), Broken> {
        self.has_settings = true;
        if head.has(flag::ACK) {
            return if payload.is_empty() { Ok(()) } else { Err(FRAME_SIZE_ERROR) };
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(FRAME_SIZE_ERROR);
        }
        for [n0, n1, v0, v1, v2, v3] in settings {
            let value = u32::from_be_bytes([*v0, *v1, *v2, *v3]);
            match u16::from_be_bytes([*n0, *n1]) {
                setting::HEADER_TABLE_SIZE => self.encoder.resize(value as usize),
                setting::MAX_CONCURRENT_STREAMS => {
                    // None at all would be for ever: it is a server's way to say "later". Calls have deadlines, and wait.
                    self.streams_max = (value as usize).max(usize::from(self.untaken.is_none()));
                    self.slots.drain(..).for_each(std::task::Waker::wake);
                }
                setting::INITIAL_WINDOW_SIZE if value > i32::MAX as u32 => {
                    return Err(FLOW_CONTROL_ERROR);
                }
                setting::INITIAL_WINDOW_SIZE => {
                    let by = i64::from(value) - i64::from(self.window_at_first);
                    self.window_at_first = value;
                    for stream in &mut self.streams {
                        stream.window += by;
                        stream.wake();
                    }
                }
                setting::MAX_HEADER_LIST_SIZE => self.asked_max = value,
                setting::MAX_FRAME_SIZE if !(1 << 14..1 << 24).contains(&value) => {
                    return Err(PROTOCOL_ERROR);
                }
                // Larger ones would win nothing and cost memory.
                _ => {}
            }
        }
        frame::write(kind::SETTINGS, flag::ACK, 0, &[], &mut self.out);
        Ok(())
    }

    fn goes(&mut self, last: u32, code: u32) {
        self.going = Some(code);
        let polled = self.polled;
        for stream in self.streams.iter_mut().filter(|stream| stream.id > last) {
            if stream.id == polled {
                stream.waker = None;
            }
            // A server that ends a connection with its first stream, and not in peace, would end another one, too: Go
            // doesn't ask again.
            let is_final = stream.id == 1 && code != reason::NO_ERROR;
            stream.is_unseen = !is_final;
            let code = if is_final { code } else { reason::NO_ERROR };
            stream.fail(Failure::Http2(Http2Trouble::Unseen, code));
        }
        self.slots.drain(..).for_each(std::task::Waker::wake);
    }

    fn window_update(&mut self, id: u32, by: u32) -> Result<(), Broken> {
        let most = i64::from(i32::MAX);
        if id != 0 {
            let Some(stream) = self.stream(id) else { return Ok(()) };
            stream.window += i64::from(by);
            let wrong = match by {
                0 => Some(reason::PROTOCOL_ERROR),
                _ => (stream.window > most).then_some(reason::FLOW_CONTROL_ERROR),
            };
            let wrong = wrong.filter(|_| !stream.is_done);
            self.with(id, |stream| {
                if let Some(wrong) = wrong {
                    stream.reset(wrong, false);
                }
            });
            if let Some(wrong) = wrong {
                frame::write_number(kind::RST_STREAM, id, wrong, &mut self.out);
            }
            return Ok(());
        }
        if by == 0 {
            return Err(PROTOCOL_ERROR);
        }
        self.window += i64::from(by);
        if self.window > most {
            return Err(FLOW_CONTROL_ERROR);
        }
        let polled = self.polled;
        for stream in &mut self.streams {
            if stream.id != polled && !stream.has_sent_all {
                stream.wake();
            }
        }
        Ok(())
    }

    /// Some of a body. `size`: what it counts, padding and all.
    fn data(&mut self, id: u32, data: &[u8], size: usize, ends: bool) -> Result<(), Broken> {
        let Some(before) = self.untaken else { return self.data_of(id, data, size, ends) };
        self.data_of(id, data, size, ends)?;
        let now = self.untaken.unwrap_or(before);
        // Bytes that were put aside count until they are taken.
        self.give_back_of_all(size - (now - before));
        if now > self.window_of_all as usize { Err(FLOW_CONTROL_ERROR) } else { Ok(()) }
    }

    fn data_of(&mut self, id: u32, data: &[u8], size: usize, ends: bool) -> Result<(), Broken> {
        if self.untaken.is_none() {
            self.give_back_of_all(size);
        }
        let polled = self.polled;
        let next_id = self.next_id;
        let at = self.streams.iter().position(|stream| stream.id == id && !stream.is_done);
        if at.is_none() || (data.is_empty() && !ends) {
            self.bears(1)?;
        } else {
            self.patience.gains();
        }
        let Some(stream) = at.map(|at| &mut self.streams[at]) else {
            let is_over = self.streams.iter().any(|stream| stream.id == id);
            // Given up by us, perhaps; what never was can't have a body.
            let may_be = is_over || (id != 0 && id < next_id);
            return if may_be { Ok(()) } else { Err(PROTOCOL_ERROR) };
        };
        stream.allowance -= size as i64;
        if stream.allowance < 0 && self.untaken.is_some() {
            // The other streams of a line are not at fault.
            stream.reset(reason::FLOW_CONTROL_ERROR, false);
            frame::write_number(kind::RST_STREAM, id, reason::FLOW_CONTROL_ERROR, &mut self.out);
            return Ok(());
        }
        if stream.allowance < 0 {
            return Err(FLOW_CONTROL_ERROR);
        }
        if id == polled {
            stream.waker = None;
        }
        if !stream.has_head {
            stream.reset(reason::PROTOCOL_ERROR, false);
            frame::write_number(kind::RST_STREAM, id, reason::PROTOCOL_ERROR, &mut self.out);
            return Ok(());
        }
        stream.received += size;
        if stream.is_bodiless && !data.is_empty() {
            // A body that the request did not ask for: Go passes over it, too.
            if ends {
                end(stream);
                stream.wake();
            }
            return Ok(());
        }
        let room = stream.declared.map_or(u64::MAX, |declared| declared - stream.body);
        let is_too_long = data.len() as u64 > room;
        let data = if is_too_long { &data[..room as usize] } else { data };
        stream.body += data.len() as u64;
        if let Some(queue) = &mut stream.queue {
            queue.extend_from_slice(data);
            if let Some(untaken) = &mut self.untaken {
                *untaken += data.len();
            }
            stream.unreturned += size - data.len();
            // Of padding alone its reader never hears.
            if data.is_empty() && !ends {
                stream.give_back(&mut self.out);
            }
        } else {
            if let Err(failure) = stream.answer.take(data, None) {
                stream.fail(failure);
                frame::write_number(kind::RST_STREAM, id, reason::CANCEL, &mut self.out);
                return Ok(());
            }
            if stream.answer.is_enough() {
                stream.wake();
            }
            stream.unreturned += size;
            self.owes |= stream.unreturned >= WINDOW as usize / 2 && !ends;
        }
        if is_too_long {
            stream.fail(Malformed::BodyTooLong.into());
            frame::write_number(kind::RST_STREAM, id, reason::PROTOCOL_ERROR, &mut self.out);
            return Ok(());
        }
        if ends {
            end(stream);
        }
        if ends || stream.queue.is_some() {
            stream.wake();
        }
        Ok(())
    }

    /// A head, a provisional one, or trailers.
    fn headers(&mut self, id: u32, block: &[u8], ends: bool) -> Result<(), Broken> {
        let alive = self.streams.iter().find(|stream| stream.id == id && !stream.is_done);
        let limit = alive.map_or(0, |stream| stream.head_left);
        let mut head = Read { limit, ..Read::default() };
        let decoded = self.decoder.decode(block, |name, value| head.line(name, value));
        decoded.map_err(|_| Broken::Rule(reason::COMPRESSION_ERROR))?;
        let (clock, polled) = (self.clock, self.polled);
        let at = self.streams.iter().position(|stream| stream.id == id && !stream.is_done);
        let Some(stream) = at.map(|at| &mut self.streams[at]) else {
            // Given up by us, perhaps. Go doesn't ask if it ever was.
            return self.bears(1 + block.len() / COST);
        };
        if id == polled {
            stream.waker = None;
        }
        stream.received += block.len();
        let is_head = !stream.has_head;
        let is_interim = is_head && (100..200).contains(&head.status) && head.status != 101;
        // Trailers of gRPC may say the status again; a second head ends its stream alone.
        let is_line = self.untaken.is_some();
        let is_sound = !head.is_bad
            && if is_head {
                head.status >= 100 && head.status != 101
            } else {
                head.status == 0 || is_line
            }
            && (is_head || ends)
            && !(is_interim && ends);
        if head.limit == 0 {
            let limit = u32::try_from(self.head_limit).unwrap_or(u32::MAX);
            stream.fail(Failure::Malformed(Malformed::HeadTooLong(limit)));
            frame::write_number(kind::RST_STREAM, id, reason::CANCEL, &mut self.out);
            return Ok(());
        }
        if stream.has_head && (!ends || head.status != 0) && !is_line {
            // Headers after a body are trailers, and they end the stream.
            return Err(PROTOCOL_ERROR);
        }
        if !is_sound {
            stream.reset(reason::PROTOCOL_ERROR, false);
            frame::write_number(kind::RST_STREAM, id, reason::PROTOCOL_ERROR, &mut self.out);
            return Ok(());
        }
        if is_interim {
            stream.answer.continues |= head.status == 100;
            stream.head_left = head.limit;
            return self.bears(1 + block.len() / COST);
        }
        if is_head {
            stream.has_head = true;
            stream.first_byte = clock();
            // gRPC has its own lengths, and asks for no other.
            stream.declared = head.length.filter(|_| !stream.is_bodiless && !is_line);
            let reason = canonical_reason(head.status);
            let marks = (head.has_cookies, head.has_encoding);
            let declared = stream.declared.unwrap_or(0);
            let answer = &mut stream.answer;
            if let Err(failure) =
                answer.accept_http2(head.status, reason, &head.lines, marks, declared)
            {
                stream.fail(failure);
                frame::write_number(kind::RST_STREAM, id, reason::CANCEL, &mut self.out);
                return Ok(());
            }
        }
        if ends {
            stream.ends_with_head = is_head;
            if !is_head && stream.queue.is_some() {
                stream.trailers = Some(head.lines);
            }
            end(stream);
        }
        if ends || stream.queue.is_some() {
            stream.wake();
        }
        Ok(())
    }
}

/// All of a response came.
fn end(stream: &mut Stream) {
    stream.is_done = true;
    if stream.declared.is_some_and(|declared| declared != stream.body) {
        stream.failure = Some(Truncated::Partial.into());
    }
}

fn is_plain_data(head: &Head) -> bool {
    head.kind == kind::DATA && !head.has(flag::PADDED)
}

fn unpadded<'p>(head: &Head, payload: &'p [u8]) -> Result<&'p [u8], Broken> {
    if !head.has(flag::PADDED) {
        return Ok(payload);
    }
    let (padding, rest) = payload.split_first().ok_or(FRAME_SIZE_ERROR)?;
    let size = rest.len().checked_sub(usize::from(*padding)).ok_or(PROTOCOL_ERROR)?;
    Ok(&rest[..size])
}

fn reason_of(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// A header block as it is read.
#[derive(Default)]
struct Read {
    status: u16,
    /// `name: value`, each with CRLF.
    lines: Vec<u8>,
    has_cookies: bool,
    has_encoding: bool,
    length: Option<u64>,
    has_length: bool,
    /// Something in it may not be.
    is_bad: bool,
    /// How much there may still be; 0: there was more.
    limit: usize,
}

impl Read {
    fn line(&mut self, name: &[u8], value: &[u8]) {
        self.limit = self.limit.saturating_sub(name.len() + value.len() + 32);
        if self.limit == 0 {
            return;
        }
        if let Some(name) = name.strip_prefix(b":") {
            let status = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            match status {
                Some(status @ 100..=999)
                    if name == b"status" && self.lines.is_empty() && self.status == 0 =>
                {
                    self.status = status;
                }
                _ => self.is_bad = true,
            }
            return;
        }
        let is_name = !name.is_empty()
            && name.iter().all(|&byte| is_token(byte) && !byte.is_ascii_uppercase());
        let is_value = !value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
        if !is_name || !is_value {
            self.is_bad = true;
            return;
        }
        match name {
            b"set-cookie" => self.has_cookies = true,
            b"content-encoding" => self.has_encoding = true,
            b"content-length" => {
                let text = std::str::from_utf8(value).ok();
                self.length = text.and_then(|text| text.trim().parse().ok());
                // Two of them say nothing, as Go has it.
                self.length =
                    self.length.filter(|_| !std::mem::replace(&mut self.has_length, true));
            }
            _ => {}
        }
        self.lines.extend_from_slice(name);
        self.lines.extend_from_slice(b": ");
        self.lines.extend_from_slice(value);
        self.lines.extend_from_slice(b"\r\n");
    }
}

/// The words that HTTP/2 leaves out, as Go has them.
fn canonical_reason(status: u16) -> &'static str {
    match status {
        // Where it stayed with older standards.
        203 => return "Non-Authoritative Information",
        413 => return "Request Entity Too Large",
        414 => return "Request URI Too Long",
        416 => return "Requested Range Not Satisfiable",
        _ => {}
    }
    let status = http::StatusCode::from_u16(status).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or_default()
}
