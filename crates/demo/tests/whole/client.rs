//! A plain HTTP/1.1 client: what it reads is what was on the wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
}

/// A connection that is kept alive.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn new(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[], body.as_bytes())
    }

    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        self.try_send(method, path, headers, body).unwrap()
    }

    pub(crate) fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: demo\r\n").into_bytes();
        for (name, value) in headers {
            write!(request, "{name}: {value}\r\n")?;
        }
        write!(request, "Content-Length: {}\r\n\r\n", body.len())?;
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request)?;
        self.read(method == "HEAD")
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn read(&mut self, bodiless: bool) -> std::io::Result<Answer> {
        let status: u16 = self.line()?[9..12].parse().unwrap();
        let mut answer = Answer { status, headers: Vec::new(), body: Vec::new() };
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            answer.headers.push((name.to_owned(), value.to_owned()));
        }
        if bodiless || matches!(status, 204 | 304) {
            return Ok(answer);
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = usize::from_str_radix(&self.line()?, 16).unwrap();
                let mut chunk = vec![0; size];
                self.stream.read_exact(&mut chunk)?;
                answer.body.extend(chunk);
                self.line()?;
                if size == 0 {
                    return Ok(answer);
                }
            }
        }
        let size = answer.header("content-length").map_or(0, |size| size.parse().unwrap());
        answer.body = vec![0; size];
        self.stream.read_exact(&mut answer.body)?;
        Ok(answer)
    }
}

/// One request over a fresh connection.
pub(crate) fn get(addr: SocketAddr, path: &str) -> Answer {
    Client::new(addr).get(path)
}

/// The same request from `clients` clients at once.
pub(crate) fn storm(addr: SocketAddr, path: &str, clients: usize) -> Vec<Answer> {
    let mut open: Vec<Client> = (0..clients).map(|_| Client::new(addr)).collect();
    // Connected and accepted first, so that they really ask at once.
    for client in &mut open {
        assert_eq!(client.get("/ping").status, 200);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = open
            .iter_mut()
            .map(|client| {
                let ask = move || client.get(path);
                std::thread::Builder::new().stack_size(128 * 1024).spawn_scoped(scope, ask).unwrap()
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
