//! One request to a REST API and its answer, over hyper.

use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{Request, body::Bytes, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};

/// The longest wait for a connection, and for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most bytes of an answer; a longer one is an error.
const ANSWER_MOST: usize = 64 << 20;

/// The request, but for its address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) body: &'a str,
}

/// The status and the body of the answer of `HOST:PORT`.
///
/// # Errors
/// Nothing answers there, or not with HTTP.
pub(super) fn exchange(address: &str, question: Question<'_>) -> anyhow::Result<(u16, Bytes)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stream = connected(address).await?;
        within(PATIENCE, asked(stream, address, question)).await
    })
}

/// A connection to the first address of the name that takes one.
async fn connected(address: &str) -> anyhow::Result<TcpStream> {
    let mut last = anyhow!("the address leads nowhere");
    for address in lookup_host(address).await? {
        match within(PATIENCE, async { Ok(TcpStream::connect(address).await?) }).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let late = || format!("no answer within {}", brunt_duration::wait::format(limit));
    timeout(limit, work).await.with_context(late)?
}

async fn asked(
    stream: TcpStream,
    address: &str,
    question: Question<'_>,
) -> anyhow::Result<(u16, Bytes)> {
    let request = Request::builder()
        .method(question.method)
        .uri(question.path)
        .header(header::HOST, address)
        .header(header::CONNECTION, "close")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::copy_from_slice(question.body.as_bytes())))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Its errors come with the answer.
    tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(|error| {
        if error.is_parse() { anyhow!("that is no HTTP: {error}") } else { error.into() }
    })?;
    let code = answer.status().as_u16();
    match Limited::new(answer.into_body(), ANSWER_MOST).collect().await {
        Ok(body) => Ok((code, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => {
            bail!("the answer is longer than {} MiB", ANSWER_MOST >> 20)
        }
        Err(error) => Err(anyhow::Error::from_boxed(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    const STATUS: Question<'_> =
        Question { method: "PATCH", path: "/v1/status", body: r#"{"data":1}"# };

    /// The address of a server that reads one request and writes this; then it closes the connection. The request comes back.
    fn server(answer: &'static [u8]) -> (String, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut asked, mut part) = (Vec::new(), [0; 1024]);
            while !asked.ends_with(STATUS.body.as_bytes()) {
                let size = stream.read(&mut part).unwrap();
                asked.extend_from_slice(&part[..size]);
            }
            stream.write_all(answer).unwrap();
            String::from_utf8(asked).unwrap()
        });
        (address, served)
    }

    #[test]
    fn an_answer_is_read_however_its_length_is_told() {
        for answer in [
            &b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nab"[..],
            b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1;x=y\r\nb\r\n0\r\n\r\n",
            b"HTTP/1.0 202 Accepted\r\n\r\nab",
        ] {
            let (address, served) = server(answer);
            let (code, body) = exchange(&address, STATUS).unwrap();
            assert_eq!((code, &body[..]), (202, &b"ab"[..]));
            let asked = served.join().unwrap().to_ascii_lowercase();
            assert!(asked.starts_with("patch /v1/status http/1.1\r\n"), "{asked}");
            for header in [format!("host: {address}"), "content-length: 10".to_owned()] {
                assert!(asked.contains(&format!("\r\n{header}\r\n")), "{asked}");
            }
        }
    }

    #[test]
    fn an_answer_that_is_broken_off_or_no_http_is_an_error() {
        for (answer, part) in [
            (&b"SSH-2.0-OpenSSH\r\n"[..], "that is no HTTP: "),
            (b"", "connection closed"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", "end of file"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "chunk"),
        ] {
            let (address, _) = server(answer);
            let error = format!("{:#}", exchange(&address, STATUS).unwrap_err());
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn silence_is_an_error() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let nothing = std::future::pending::<anyhow::Result<()>>();
        let error = runtime.block_on(within(Duration::from_millis(20), nothing)).unwrap_err();
        assert_eq!(error.to_string(), "no answer within 20ms");
    }
}
