//! The client's side of a connection: one request, one response; and WebSockets.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use brunt_websocket::frame::{self, Opcode};
use brunt_websocket::{Decoder, Event, Kind};
use url::Url;

/// A server that is silent for longer is given up.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of the longest message.
const MESSAGE_MAX: usize = 1 << 20;

/// A response as it came.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The open connection of a WebSocket.
pub(crate) struct Socket {
    stream: BufReader<TcpStream>,
    decoder: Decoder,
    waiting: Vec<u8>,
}

/// The body of a response to a plain request.
pub(crate) fn simple(method: &str, url: &str) -> Vec<u8> {
    let url = Url::parse(url).expect("an address of ours");
    let headers = [("Host".to_owned(), host(&url)), ("Content-Length".to_owned(), "0".to_owned())];
    let sent = send(method, &url, &headers, b"");
    sent.unwrap_or_else(|error| panic!("{method} {url}: {error}")).0.body
}

/// The value of `Host`.
pub(crate) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port().map_or(name.to_owned(), |port| format!("{name}:{port}"))
}

/// Sends a request over a connection of its own; the connection comes with the answer.
pub(crate) fn send(
    method: &str,
    url: &Url,
    headers: &[(String, String)],
    body: &[u8],
) -> io::Result<(Answer, Socket)> {
    let address = url.socket_addrs(|| None)?;
    let mut stream = TcpStream::connect(address.as_slice())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let target =
        url.query().map_or(url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let mut bytes = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
    for (name, value) in headers {
        write!(bytes, "{name}: {value}\r\n")?;
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    stream.write_all(&bytes)?;
    let mut stream = BufReader::new(stream);
    let answer = read(&mut stream)?;
    let socket =
        Socket { stream, decoder: Decoder::new(false, false, MESSAGE_MAX), waiting: Vec::new() };
    Ok((answer, socket))
}

fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Answer> {
    let first = line(stream)?;
    let status = first.get(9..12).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status line: {first}")))?;
    let mut answer = Answer { status, headers: Vec::new(), body: Vec::new() };
    while let Some((name, value)) = line(stream)?.split_once(": ") {
        answer.headers.push((name.to_owned(), value.to_owned()));
    }
    let header = |name: &str| {
        let found = answer.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    if matches!(status, 101 | 204 | 304) {
        return Ok(answer);
    }
    if header("transfer-encoding") == Some("chunked") {
        loop {
            let size = usize::from_str_radix(&line(stream)?, 16).map_err(io::Error::other)?;
            let mut chunk = vec![0; size];
            stream.read_exact(&mut chunk)?;
            answer.body.extend(chunk);
            line(stream)?;
            if size == 0 {
                return Ok(answer);
            }
        }
    }
    let size = header("content-length").and_then(|size| size.parse().ok()).unwrap_or(0);
    answer.body = vec![0; size];
    stream.read_exact(&mut answer.body)?;
    Ok(answer)
}

impl Socket {
    /// Sends a text.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        self.frame(Opcode::Text, text.as_bytes())
    }

    /// Ends it.
    pub(crate) fn close(mut self) -> io::Result<()> {
        self.frame(Opcode::Close, &1000_u16.to_be_bytes())
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::new();
        frame::encode(&mut bytes, opcode, payload, Some([7, 1, 3, 9]), false);
        self.stream.get_mut().write_all(&bytes)
    }

    /// The next text of the server.
    pub(crate) fn hear(&mut self) -> io::Result<String> {
        loop {
            let mut input = self.waiting.as_slice();
            let event = self.decoder.next(&mut input).map_err(io::Error::other)?;
            self.waiting = input.to_vec();
            match event {
                Some(Event::Message(Kind::Text, data)) => {
                    return String::from_utf8(data).map_err(io::Error::other);
                }
                Some(Event::Close(_)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(_) => {}
                None => {
                    let read = self.stream.fill_buf()?.to_vec();
                    if read.is_empty() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    self.stream.consume(read.len());
                    self.waiting.extend(read);
                }
            }
        }
    }
}
