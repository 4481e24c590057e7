//! A server that writes down when each request arrived and when it was answered: the judge of those
//! who claim to send on schedule.
//!
//! It runs in a thread of this process, on a core of its own if asked; what it uses is not counted as
//! any client's.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// One request, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// The hit's number, if the client told it.
    pub(crate) seq: Option<u64>,
    pub(crate) arrived: i64,
    pub(crate) answered: i64,
}

/// All answers wait at the end of each period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    pub(crate) length: Duration,
    pub(crate) period: Duration,
}

/// The running server.
#[derive(Debug)]
pub(crate) struct Stamps {
    address: SocketAddr,
    log: Arc<Mutex<Vec<Stamp>>>,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Connections that are served at once; more are closed.
const CONNECTIONS_MAX: usize = 10_000;
/// Stamps that are kept; later ones are not.
const STAMPS_MAX: usize = 10_000_000;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";

impl Stamps {
    /// Listens on a free port.
    pub(crate) fn start(core: Option<usize>, stall: Option<Stall>) -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stamps: Arc<Mutex<Vec<Stamp>>> = Arc::default();
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let connection = Connection { stamps: stamps.clone(), begun: Instant::now(), stall };
        let thread = std::thread::Builder::new().name("stamps".into()).spawn(move || {
            pin(core);
            // On a core of its own it never sleeps: waking up takes some 50 µs, by which every hit would seem late.
            let awake = core.map(|_| runtime.spawn(stay_awake()));
            runtime.block_on(accept(listener, connection, ended));
            awake.inspect(tokio::task::JoinHandle::abort);
        })?;
        Ok(Self { address, log: stamps, end, thread })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Waits until all clients have gone, and gives what was written down, by arrival.
    pub(crate) fn finish(self) -> anyhow::Result<Vec<Stamp>> {
        // If it is not heard, the thread has ended by itself, and joining it tells why.
        let _ = self.end.send(());
        self.thread.join().ok().context("the server's thread panicked")?;
        let mut stamps =
            std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        stamps.sort_by_key(|stamp| stamp.arrived);
        Ok(stamps)
    }
}

/// Looks at the sockets again and again.
async fn stay_awake() {
    loop {
        tokio::task::yield_now().await;
    }
}

async fn accept(
    listener: std::net::TcpListener,
    connection: Connection,
    mut ended: oneshot::Receiver<()>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut ended => break,
            Some(_) = connections.join_next() => {}
            Ok((stream, _)) = listener.accept() => {
                if connections.len() < CONNECTIONS_MAX {
                    let connection = connection.clone();
                    // A client that breaks off has sent what it has sent.
                    connections.spawn(async move { connection.serve(stream).await.ok() });
                }
            }
        }
    }
    while connections.join_next().await.is_some() {}
}

/// The state of a connection that is served.
#[derive(Clone, Debug)]
struct Connection {
    stamps: Arc<Mutex<Vec<Stamp>>>,
    begun: Instant,
    stall: Option<Stall>,
}

impl Connection {
    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut buffer = [0; 2048];
        let mut filled = 0;
        loop {
            let read = stream.read(&mut buffer[filled..]).await?;
            if read == 0 {
                return Ok(());
            }
            let arrived = now();
            filled += read;
            // One request at a time: no client here pipelines.
            if !buffer[..filled].ends_with(b"\r\n\r\n") {
                if filled == buffer.len() {
                    return Ok(());
                }
                continue;
            }
            if let Some(rest) = self.stall.and_then(|stall| stall.rest(self.begun.elapsed())) {
                sleep(rest).await;
            }
            stream.write_all(ANSWER).await?;
            let answered = now();
            let stamp = Stamp { seq: sequence(&buffer[..filled]), arrived, answered };
            let mut stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
            if stamps.len() < STAMPS_MAX {
                stamps.push(stamp);
            }
            filled = 0;
        }
    }
}

fn pin(core: Option<usize>) {
    let Some(core) = core else { return };
    let mut cores = CpuSet::new();
    // Unpinned it measures as well, only less quietly.
    if cores.set(core).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &cores);
    }
}

impl Stall {
    /// How much of a stall is left at this time, if there is one.
    fn rest(self, elapsed: Duration) -> Option<Duration> {
        let into = Duration::from_nanos(
            (elapsed.as_nanos() % self.period.as_nanos()).try_into().unwrap_or(0),
        );
        (into >= self.period.saturating_sub(self.length)).then(|| self.period.saturating_sub(into))
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64)
}

/// The number in `X-Vegeta-Seq`.
fn sequence(head: &[u8]) -> Option<u64> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(name, _)| name.eq_ignore_ascii_case("x-vegeta-seq"))?;
    value.trim().parse().ok()
}

/// The seconds by which each request missed an even schedule of this rate, for the moment that `of` takes of it. The
/// schedule is laid so that no request arrived early. Requests that told their number are judged by it, others by
/// their order.
pub(crate) fn behind(stamps: &[Stamp], rate: f64, of: fn(&Stamp) -> i64) -> Vec<f64> {
    let place = |index: usize, stamp: &Stamp| stamp.seq.unwrap_or(index as u64) as f64 / rate * 1e9;
    let Some(first) = stamps.first() else { return Vec::new() };
    let since = |moment: i64| (moment - first.arrived) as f64;
    let begin = stamps
        .iter()
        .enumerate()
        .map(|(index, stamp)| since(stamp.arrived) - place(index, stamp))
        .fold(f64::INFINITY, f64::min);
    stamps
        .iter()
        .enumerate()
        .map(|(index, stamp)| (since(of(stamp)) - place(index, stamp) - begin) / 1e9)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_stall_ends_each_period() {
        let stall = Stall { length: Duration::from_secs(1), period: Duration::from_secs(10) };
        let at = |ms| stall.rest(Duration::from_millis(ms));
        assert_eq!(at(8999), None);
        assert_eq!(at(9250), Some(Duration::from_millis(750)));
        assert_eq!(at(10_000), None);
        assert_eq!(at(29_999), Some(Duration::from_millis(1)));
    }

    #[test]
    fn the_schedule_is_laid_before_the_first_who_was_late() {
        let stamp = |seq, arrived| Stamp { seq, arrived, answered: arrived + 5_000_000 };
        let stamps = [stamp(None, 1_000), stamp(None, 11_000_000), stamp(None, 20_001_000)];
        let late = behind(&stamps, 100.0, |stamp| stamp.arrived);
        assert!(late[0].abs() < 1e-9 && (late[1] - 999e-6).abs() < 1e-9 && late[2].abs() < 1e-9);
        let late = behind(&stamps, 100.0, |stamp| stamp.answered);
        assert!((late[2] - 0.005).abs() < 1e-9);
        let told = [stamp(Some(1), 10_000_000), stamp(Some(0), 10_000_000)];
        assert!((behind(&told, 100.0, |stamp| stamp.arrived)[1] - 0.01).abs() < 1e-9);
    }

    #[test]
    fn arrivals_are_written_down() {
        let server = Stamps::start(None, None).unwrap();
        let mut stream = std::net::TcpStream::connect(server.address).unwrap();
        let mut answer = [0; ANSWER.len()];
        for seq in 0..3 {
            write!(stream, "GET / HTTP/1.1\r\nHost: x\r\nX-Vegeta-Seq: {seq}\r\n\r\n").unwrap();
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, ANSWER);
        }
        drop(stream);
        let stamps = server.finish().unwrap();
        assert_eq!(
            stamps.iter().map(|stamp| stamp.seq).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(2)]
        );
        assert!(stamps.iter().all(|stamp| stamp.arrived <= stamp.answered));
    }
}
