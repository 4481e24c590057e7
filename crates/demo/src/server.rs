//! Starting and stopping: listeners, one runtime per worker, connections dealt out in turn.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::caching::Caching;
use crate::config::DemoConfig;
use crate::dice::Dice;
use crate::faults::{Switch, raw};
use crate::grpc;
use crate::mysql::{self, MysqlConfig};
use crate::resp::{Store, wire};
use crate::tls;

mod alone;

pub use alone::FakeMysql;

/// Connections accepted but not yet taken by their worker; when full, accepting pauses.
const HANDOVER_QUEUE: usize = 1024;
/// Connections that the kernel may complete before we accept them.
const BACKLOG: i32 = 4096;
/// Requests at once on one connection of HTTP/2.
const STREAMS_MAX: u32 = 256;
/// A TLS handshake that takes longer is given up.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// Why a demo target could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// A setting makes no sense. The message names flag and value.
    #[error("{0}")]
    Config(String),
    /// An address could not be listened on.
    #[error("cannot listen on {addr} for {purpose} (another address, or port 0, may be free)")]
    Listen {
        /// The address asked for.
        addr: SocketAddr,
        /// The service at that address.
        purpose: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The Redis URL cannot be used.
    #[error("--redis {url}: {reason}; expected redis://host:port/db")]
    Redis {
        /// The URL given.
        url: String,
        /// Its fault.
        reason: String,
    },
    /// No certificate could be made.
    #[error("cannot prepare TLS: {reason}")]
    Tls {
        /// The cause.
        reason: String,
    },
    /// A thread or its runtime could not be started.
    #[error("cannot start the server's threads: {0}")]
    Threads(#[source] io::Error),
}

/// The demo target. See [`Demo::start`].
#[derive(Debug)]
pub struct Demo;

/// A running demo target. It stops when this is dropped.
#[derive(Debug)]
pub struct DemoHandle {
    addr: SocketAddr,
    tls_pem: Option<String>,
    faults_addr: Option<SocketAddr>,
    grpc_addr: Option<SocketAddr>,
    redis_url: String,
    mysql_addr: Option<SocketAddr>,
    halt: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Demo {
    /// Starts a demo target in threads of its own and returns once it listens. The caller needs no
    /// async runtime.
    ///
    /// # Errors
    /// [`DemoError`], when a setting makes no sense or an address is taken.
    pub fn start(config: DemoConfig) -> Result<DemoHandle, DemoError> {
        if let Some(complaint) = config.complaint() {
            return Err(DemoError::Config(complaint));
        }
        let (listener, addr) = listen(config.listen, "HTTP")?;
        let (acceptor, tls_pem) = if config.tls {
            let (acceptor, pem) = tls::acceptor(&config.listen.ip().to_string())?;
            (Some(acceptor), Some(pem))
        } else {
            (None, None)
        };
        let faults = config.faults_listen.map(|addr| listen(addr, "faults")).transpose()?;
        let faults_addr = faults.as_ref().map(|(_, addr)| *addr);
        let grpc = config.grpc_listen.map(|addr| listen(addr, "gRPC")).transpose()?;
        let grpc_addr = grpc.as_ref().map(|(_, addr)| *addr);
        let (stand_in, redis_url) = if let Some(url) = &config.redis {
            (None, url.clone())
        } else {
            let (listener, addr) = listen(config.redis_listen, "Redis")?;
            (Some((listener, Arc::new(Store::default()))), format!("redis://{addr}/"))
        };
        let mysql = config.mysql.clone().map(stand_in_for_mysql).transpose()?;
        let mysql_addr = mysql.as_ref().map(|(_, addr, _)| *addr);
        let dice = Arc::new(Dice::new(config.seed));
        let switch = Arc::new(Switch::default());
        let store = stand_in.as_ref().map(|(_, store)| store.clone());
        let caching = Caching::new(&config, &redis_url, store, dice.clone(), switch.clone())
            .map_err(|reason| DemoError::Redis { url: redis_url.clone(), reason })?;
        let workers = config.workers;
        let connections = Arc::new(Semaphore::new(config.max_connections));
        let tables = mysql.as_ref().map(|(_, _, shared)| Arc::clone(shared));
        let app = Arc::new(App::new(config, caching, dice, switch, tables));

        let (halt, halted) = watch::channel(false);
        let mut handle = DemoHandle {
            addr,
            tls_pem,
            faults_addr,
            grpc_addr,
            redis_url,
            mysql_addr,
            halt,
            threads: Vec::new(),
        };
        if let Some((listener, _, shared)) = mysql {
            let halted = halted.clone();
            handle.spawn("demo-mysql".to_owned(), async move {
                if let Ok(listener) = into_tokio(listener) {
                    mysql::serve(listener, shared, halted).await;
                }
            })?;
        }
        if let Some((listener, _)) = grpc {
            let acceptor = acceptor.as_ref().map(tls::only_http2);
            let halt = Halt(halted.clone());
            handle.spawn("demo-grpc".to_owned(), async move {
                if let Ok(listener) = into_tokio(listener) {
                    grpc::serve(listener, acceptor, halt).await;
                }
            })?;
        }
        let mut doors = Vec::new();
        for index in 0..workers {
            let (door, arrivals) = mpsc::channel(HANDOVER_QUEUE);
            doors.push(door);
            let worker = Worker { app: app.clone(), acceptor: acceptor.clone(), arrivals };
            let halt = Halt(halted.clone());
            handle.spawn(format!("demo-{index}"), worker.run(halt))?;
        }
        // Accepting, Redis and the faults have a thread of their own: a busy worker delays no
        // connect, and the stand-in answers in time.
        let halt = Halt(halted);
        handle.spawn("demo-accept".to_owned(), async move {
            if let Some((listener, store)) = stand_in
                && let Ok(listener) = into_tokio(listener)
            {
                tokio::spawn(wire::serve(listener, store, halt.clone()));
            }
            if let Some((listener, _)) = faults
                && let Ok(listener) = into_tokio(listener)
            {
                tokio::spawn(raw::serve(listener, halt.clone()));
            }
            accept(listener, doors, connections, halt).await;
        })?;
        Ok(handle)
    }
}

impl DemoHandle {
    /// `http://127.0.0.1:8080`, or `https://…`, without a slash at the end.
    pub fn url(&self) -> String {
        let scheme = if self.tls_pem.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.addr)
    }

    /// The address that the server listens on, with the real port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The port whose answers are wrong on purpose; plain TCP even with TLS. `/` there lists them.
    pub fn faults_addr(&self) -> Option<SocketAddr> {
        self.faults_addr
    }

    /// The address of the gRPC port, with the real port.
    pub fn grpc_addr(&self) -> Option<SocketAddr> {
        self.grpc_addr
    }

    /// The Redis in use: the built-in one's address, or the URL that was given.
    pub fn redis_url(&self) -> &str {
        &self.redis_url
    }

    /// The address of the stand-in for MySQL, with the real port.
    pub fn mysql_addr(&self) -> Option<SocketAddr> {
        self.mysql_addr
    }

    /// The DSN of the stand-in for MySQL in the form of Go's driver: `brunt@tcp(127.0.0.1:3306)/demo`.
    pub fn mysql_dsn(&self) -> Option<String> {
        self.mysql_addr.map(|addr| format!("brunt@tcp({addr})/demo"))
    }

    /// The self-signed certificate as PEM, when serving TLS.
    pub fn certificate_pem(&self) -> Option<&str> {
        self.tls_pem.as_deref()
    }

    /// Closes all listeners and connections and waits for the threads to end.
    pub fn stop(mut self) {
        self.shut_down();
    }

    fn shut_down(&mut self) {
        // An error means that the threads have ended by themselves, which is as good.
        let _ = self.halt.send(true);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                log::error!("a thread of the demo target panicked");
            }
        }
    }

    fn spawn(
        &mut self,
        name: String,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), DemoError> {
        self.threads.push(start_thread(name, work)?);
        Ok(())
    }
}

fn start_thread(
    name: String,
    work: impl Future<Output = ()> + Send + 'static,
) -> Result<JoinHandle<()>, DemoError> {
    let runtime = runtime().map_err(DemoError::Threads)?;
    let run = move || {
        runtime.block_on(work);
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name(name).spawn(run).map_err(DemoError::Threads)
}

impl Drop for DemoHandle {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Tells a task that the server ends.
#[derive(Debug, Clone)]
pub(crate) struct Halt(watch::Receiver<bool>);

impl Halt {
    /// Returns when the server ends.
    pub(crate) async fn wait(&mut self) {
        // An error means that the handle is gone, which is an end, too.
        let _ = self.0.wait_for(|halted| *halted).await;
    }
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn listen(addr: SocketAddr, purpose: &'static str) -> Result<(TcpListener, SocketAddr), DemoError> {
    let bind = || {
        let domain = socket2::Domain::for_address(addr);
        let socket = socket2::Socket::new(domain, socket2::Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        let listener = TcpListener::from(socket);
        let bound = listener.local_addr()?;
        io::Result::Ok((listener, bound))
    };
    bind().map_err(|source| DemoError::Listen { addr, purpose, source })
}

/// The listener of the stand-in for MySQL, its address and its tables.
fn stand_in_for_mysql(
    config: MysqlConfig,
) -> Result<(TcpListener, SocketAddr, Arc<mysql::Shared>), DemoError> {
    if let Some(complaint) = config.complaint() {
        return Err(DemoError::Config(complaint));
    }
    let (listener, addr) = listen(config.listen, "MySQL")?;
    Ok((listener, addr, Arc::new(mysql::Shared::new(config))))
}

fn into_tokio(listener: TcpListener) -> io::Result<tokio::net::TcpListener> {
    let listener = tokio::net::TcpListener::from_std(listener);
    if let Err(error) = &listener {
        log::error!(error = error.to_string().as_str(); "demo: a listener cannot be used");
    }
    listener
}

/// A connection on its way to a worker.
type Arrival = (TcpStream, OwnedSemaphorePermit);

async fn accept(
    listener: TcpListener,
    doors: Vec<mpsc::Sender<Arrival>>,
    connections: Arc<Semaphore>,
    mut halt: Halt,
) {
    let Ok(listener) = into_tokio(listener) else {
        return;
    };
    for door in doors.iter().cycle() {
        let next = async {
            let permit = connections.clone().acquire_owned().await.ok()?;
            let stream = loop {
                match listener.accept().await {
                    Ok((stream, _)) => break stream.into_std().ok()?,
                    Err(error) => {
                        // Mostly "too many open files": others must close first.
                        log::warn!(error = error.to_string().as_str(); "demo: accept failed");
                        sleep(Duration::from_millis(50)).await;
                    }
                }
            };
            Some((stream, permit))
        };
        let arrival = tokio::select! {
            () = halt.wait() => return,
            arrival = next => arrival,
        };
        let Some(arrival) = arrival else { continue };
        if door.send(arrival).await.is_err() {
            return;
        }
    }
}

struct Worker {
    app: Arc<App>,
    acceptor: Option<TlsAcceptor>,
    arrivals: mpsc::Receiver<Arrival>,
}

impl Worker {
    async fn run(mut self, mut halt: Halt) {
        loop {
            let arrival = tokio::select! {
                () = halt.wait() => return,
                arrival = self.arrivals.recv() => arrival,
            };
            let Some((stream, permit)) = arrival else {
                return;
            };
            let (app, acceptor) = (self.app.clone(), self.acceptor.clone());
            tokio::spawn(async move {
                connection(&app, acceptor, stream).await;
                drop(permit);
            });
        }
    }
}

async fn connection(app: &Arc<App>, acceptor: Option<TlsAcceptor>, stream: TcpStream) {
    let Ok(stream) = tokio::net::TcpStream::from_std(stream) else {
        return;
    };
    // A failure here means that the client has gone already; reading will tell.
    let _ = stream.set_nodelay(true);
    app.stats.connections.up();
    match acceptor {
        None if app.config.h2c && begins_http2(&stream).await => exchange_http2(app, stream).await,
        None => exchange(app, stream).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
                if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                    exchange_http2(app, stream).await;
                } else {
                    exchange(app, stream).await;
                }
            }
        }
    }
    app.stats.connections.down();
}

/// Whether a client begins as one that knows that this is HTTP/2. Its bytes stay where they are.
async fn begins_http2(stream: &tokio::net::TcpStream) -> bool {
    /// No method of HTTP/1.1 is called so.
    const PREFACE: &[u8] = b"PRI ";
    let look = async {
        loop {
            let mut begun = [0; PREFACE.len()];
            let Ok(size @ 1..) = stream.peek(&mut begun).await else { return false };
            if !PREFACE.starts_with(&begun[..size]) || size == PREFACE.len() {
                return size == PREFACE.len() && begun == PREFACE;
            }
            // The rest of it is on its way; until then the same bytes are there at once.
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(HANDSHAKE_MAX, look).await.unwrap_or(false)
}

async fn exchange(app: &Arc<App>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let service = service_fn(|request| app.handle(request));
    let served = http1::Builder::new()
        // One buffer for head and body, as small answers want it. (`pipeline_flush` would write so, too, but then hyper
        // takes from a body as fast as it gives: a long one would lie in memory before its head is sent.)
        .writev(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        log::debug!(error = error.to_string().as_str(); "demo: connection ended");
    }
}

/// The same, where the client chose HTTP/2.
async fn exchange_http2(
    app: &Arc<App>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) {
    let app = Arc::clone(app);
    let service = service_fn(move |request| {
        let app = Arc::clone(&app);
        async move { app.handle(request).await }
    });
    let served = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(STREAMS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        log::debug!(error = error.to_string().as_str(); "demo: connection ended");
    }
}
