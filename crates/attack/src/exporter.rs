//! The figures of an attack under way, for Prometheus to scrape.

mod exposition;
mod table;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use brunt_results::Record;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use self::exposition::Syntax;
use self::table::Table;
use crate::sink::Sink;

/// The most bytes of a request's head; a longer one gets no answer.
const HEAD_MAX: usize = 16 * 1024;

/// Whoever scrapes has so long for the whole exchange.
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
        // Whoever is too slow, or goes away, gets nothing; that is nobody else's trouble.
        let _ = tokio::time::timeout(PATIENCE, answer(socket, table)).await;
    }
}

async fn answer(mut socket: TcpStream, table: &Mutex<Table>) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_MAX || socket.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let syntax = Syntax::of_request(&String::from_utf8_lossy(&head));
    let text = {
        let table = table.lock().unwrap_or_else(PoisonError::into_inner);
        exposition::write(&table, syntax)
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        syntax.content_type(),
        text.len()
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(text.as_bytes()).await?;
    socket.shutdown().await
}
