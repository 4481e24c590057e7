//! One call: messages that come, messages that go, a status at the end.

use std::future::poll_fn;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use prost::Message;

/// The largest message that is taken.
const MESSAGE_MAX: usize = 16 << 20;

/// How a call ends, other than well.
#[derive(Debug)]
pub(super) struct Status {
    code: u32,
    message: String,
    /// The `google.rpc.Status` with details, encoded.
    details: Option<Vec<u8>>,
}

impl Status {
    pub(super) fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }

    pub(super) fn unimplemented(service: &str, method: &str) -> Self {
        Self::new(12, format!("unknown method {method} for service {service}"))
    }

    pub(super) fn with_details(self, details: Vec<u8>) -> Self {
        Self { details: Some(details), ..self }
    }
}

/// A call that is being answered.
pub(super) struct Call {
    pub(super) headers: HeaderMap,
    body: RecvStream,
    came: BytesMut,
    respond: SendResponse<Bytes>,
    /// Once the head of the answer is out.
    stream: Option<SendStream<Bytes>>,
    pub(super) more_headers: HeaderMap,
    pub(super) trailers: HeaderMap,
    is_reset: bool,
}

impl Call {
    pub(super) fn new(headers: HeaderMap, body: RecvStream, respond: SendResponse<Bytes>) -> Self {
        Self {
            headers,
            body,
            came: BytesMut::new(),
            respond,
            stream: None,
            more_headers: HeaderMap::new(),
            trailers: HeaderMap::new(),
            is_reset: false,
        }
    }

    /// A value of the call's metadata.
    pub(super) fn metadata(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The next message that comes; `None` at the end.
    pub(super) async fn next_bytes(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            if let Some(mut head) = self.came.get(..5) {
                let is_compressed = head.get_u8() != 0;
                let size = head.get_u32() as usize;
                if is_compressed {
                    return Err(Status::new(12, "compressed messages are not supported"));
                }
                if size > MESSAGE_MAX {
                    let told = format!("a message of {size} bytes is larger than {MESSAGE_MAX}");
                    return Err(Status::new(8, told));
                }
                if self.came.len() >= 5 + size {
                    self.came.advance(5);
                    return Ok(Some(self.came.split_to(size).freeze()));
                }
            }
            match self.body.data().await {
                None if self.came.is_empty() => return Ok(None),
                None => return Err(Status::new(13, "the last message is cut")),
                Some(Err(error)) => return Err(Status::new(1, error.to_string())),
                Some(Ok(bytes)) => {
                    let _ = self.body.flow_control().release_capacity(bytes.len());
                    self.came.extend_from_slice(&bytes);
                }
            }
        }
    }

    /// The next message, read as one of type `M`.
    pub(super) async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, Status> {
        let Some(bytes) = self.next_bytes().await? else { return Ok(None) };
        let message = M::decode(bytes);
        message.map(Some).map_err(|error| Status::new(13, error.to_string()))
    }

    /// The only message of a call that has just one. Returns when the caller has ended its side, as most
    /// servers do.
    pub(super) async fn only<M: Message + Default>(&mut self) -> Result<M, Status> {
        let only = self.next().await?;
        let only = only.ok_or_else(|| Status::new(13, "the request has no message"))?;
        match self.next_bytes().await? {
            None => Ok(only),
            Some(_) => Err(Status::new(13, "the request has more than one message")),
        }
    }

    /// Sends a message.
    pub(super) async fn send<M: Message>(&mut self, message: &M) -> Result<(), Status> {
        self.send_bytes(&message.encode_to_vec()).await
    }

    /// Sends the bytes of a message.
    pub(super) async fn send_bytes(&mut self, message: &[u8]) -> Result<(), Status> {
        let mut framed = BytesMut::with_capacity(5 + message.len());
        framed.put_u8(0);
        framed.put_u32(message.len() as u32);
        framed.put_slice(message);
        self.send_raw(framed.freeze()).await
    }

    /// Sends bytes without a frame around them.
    pub(super) async fn send_raw(&mut self, mut bytes: Bytes) -> Result<(), Status> {
        self.begin()?;
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while !bytes.is_empty() {
            stream.reserve_capacity(bytes.len());
            let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
                Some(Ok(room)) => room.min(bytes.len()),
                _ => return Err(Status::new(1, "the client wants no more")),
            };
            let part = bytes.split_to(room);
            stream.send_data(part, false).map_err(|error| Status::new(1, error.to_string()))?;
        }
        Ok(())
    }

    /// Sends the head of the answer, if it is not out yet.
    pub(super) fn begin(&mut self) -> Result<(), Status> {
        if self.stream.is_some() {
            return Ok(());
        }
        let mut head = Response::new(());
        let headers = head.headers_mut();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.extend(std::mem::take(&mut self.more_headers));
        let stream = self.respond.send_response(head, false);
        self.stream = Some(stream.map_err(|error| Status::new(1, error.to_string()))?);
        Ok(())
    }

    /// Ends the call in the middle.
    pub(super) fn reset(&mut self, reason: Reason) {
        self.is_reset = true;
        match &mut self.stream {
            Some(stream) => stream.send_reset(reason),
            None => self.respond.send_reset(reason),
        }
    }

    /// Ends the call in order. Failures here mean that the client has gone.
    pub(super) fn end(mut self, ended: Result<(), Status>) {
        if self.is_reset {
            return;
        }
        let mut trailers = std::mem::take(&mut self.trailers);
        let status = ended.err().unwrap_or_else(|| Status::new(0, ""));
        trailers.insert(HeaderName::from_static("grpc-status"), HeaderValue::from(status.code));
        if !status.message.is_empty()
            && let Ok(message) = HeaderValue::try_from(percent(&status.message))
        {
            trailers.insert(HeaderName::from_static("grpc-message"), message);
        }
        if let Some(details) = status.details {
            use base64::Engine as _;
            let text = base64::engine::general_purpose::STANDARD_NO_PAD.encode(details);
            if let Ok(details) = HeaderValue::try_from(text) {
                trailers.insert(HeaderName::from_static("grpc-status-details-bin"), details);
            }
        }
        if let Some(stream) = &mut self.stream {
            let _ = stream.send_trailers(trailers);
        } else {
            // Without a message, head and trailers are one.
            let mut head = Response::new(());
            let headers = head.headers_mut();
            headers
                .insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            headers.extend(self.more_headers);
            headers.extend(trailers);
            let _ = self.respond.send_response(head, true);
        }
    }
}

/// The text as `grpc-message` carries it.
fn percent(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if (b' '..=b'~').contains(&byte) && byte != b'%' {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
