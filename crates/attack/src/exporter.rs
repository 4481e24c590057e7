//! The figures of an attack under way, for Prometheus to scrape.

mod exposition;
mod table;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use brunt_records::Record;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use self::exposition::Syntax;
use self::table::Table;
use crate::sink::Sink;

/// The most bytes of a request's head; a longer one is refused.
const HEAD_MAX: usize = 16 * 1024;

/// The time that a scraper has for the whole exchange.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server that tells the metrics of an attack, at any path, as long as it exists.
///
/// It keeps at most 10 000 series; what comes beyond is counted under the URL `other`.
#[derive(Debug)]
pub struct Exporter {
    table: Arc<Mutex<Table>>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    /// Listens at `host:port`; port 0 is any.
    ///
    /// # Errors
    /// The address is no address, or taken.
    pub fn start(address: &str) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let table = Arc::<Mutex<Table>>::default();
        let told = Arc::clone(&table);
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            let served: io::Result<()> = runtime.block_on(async {
                let listener = TcpListener::from_std(listener)?;
                tokio::select! {
                    () = serve(listener, &told) => {}
                    _ = stopped => {}
                }
                Ok(())
            });
            if let Err(error) = served {
                let error = error.to_string();
                log::warn!(error = error.as_str(); "metrics can't be scraped any more");
            }
        };
        let thread = std::thread::Builder::new().name("brunt-metrics".to_owned()).spawn(serve)?;
        Ok(Self { table, address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A sink for one core, that counts what it takes.
    pub fn sink(&self) -> Box<dyn Sink> {
        let table = Arc::clone(&self.table);
        Box::new(move |record: &Record| {
            table.lock().unwrap_or_else(PoisonError::into_inner).count(record);
        })
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has told of a panic already.
            let _ = thread.join();
        }
    }
}

/// One after the other: whoever scrapes does so every few seconds.
async fn serve(listener: TcpListener, table: &Mutex<Table>) {
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            // Out of sockets, perhaps, for the attack needs them: later there may be some.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        // A client that is too slow, or goes away, gets nothing; the others get theirs.
        let _ = tokio::time::timeout(PATIENCE, answer(socket, table)).await;
    }
}

async fn answer(socket: TcpStream, table: &Mutex<Table>) -> hyper::Result<()> {
    let service = service_fn(|request: Request<Incoming>| async move {
        Ok::<_, Infallible>(told(&request, table))
    });
    let mut server = http1::Builder::new();
    // Another may wait already.
    server.keep_alive(false).half_close(true).max_buf_size(HEAD_MAX);
    server.serve_connection(TokioIo::new(socket), service).await
}

/// All series, as the request wants them; at any path.
fn told<B>(request: &Request<B>, table: &Mutex<Table>) -> Response<Full<Bytes>> {
    let syntax = Syntax::accepted(request.headers());
    let text = {
        let table = table.lock().unwrap_or_else(PoisonError::into_inner);
        exposition::write(&table, syntax)
    };
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(syntax.content_type()));
    response
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    /// The answer to these bytes, to the end of the connection.
    fn ask(exporter: &Exporter, bytes: &[u8]) -> String {
        let mut socket = std::net::TcpStream::connect(exporter.address()).unwrap();
        // It may have heard enough before the end.
        let _ = socket.write_all(bytes);
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    #[test]
    fn a_scrape_is_answered_once_in_the_syntax_that_it_accepts() {
        let exporter = Exporter::start("127.0.0.1:0").unwrap();
        exporter.sink().take(&Record { url: "http://a/".into(), code: 200, ..Record::default() });
        let answer = ask(&exporter, b"GET /any HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
        assert!(head.contains(&format!("content-length: {}", text.len())), "{head}");
        assert!(head.contains("connection: close"), "{head}");
        assert!(
            text.contains("request_seconds_count{method=\"\",status=\"200\",url=\"http://a/\"} 1")
        );
        let accept = b"GET / HTTP/1.1\r\nHost: a\r\nAccept: application/openmetrics-text\r\n\r\n";
        assert!(ask(&exporter, accept).ends_with("# EOF\n"));
        let head = ask(&exporter, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
    }

    #[test]
    fn what_is_no_request_is_refused_and_nobody_else_suffers() {
        let exporter = Exporter::start("127.0.0.1:0").unwrap();
        let garbage = ask(&exporter, b"\x00\x01 garbage\r\n\r\n");
        assert!(garbage.starts_with("HTTP/1.1 400 "), "{garbage}");
        let mut endless = b"GET / HTTP/1.1\r\n".to_vec();
        endless.extend(b"a: b\r\n".repeat(1 + HEAD_MAX / 6));
        // The connection may be reset while more is under way to it.
        let refused = ask(&exporter, &endless);
        assert!(!refused.starts_with("HTTP/1.1 200"), "{refused}");
        drop(std::net::TcpStream::connect(exporter.address()).unwrap());
        assert!(ask(&exporter, b"GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 200 OK"));
    }
}
