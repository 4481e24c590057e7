//! A server that writes down when each request arrived and when it was answered: the judge of those
//! who claim to send on schedule.
//!
//! It runs in threads of this process, one for each connection, on a core of its own if asked; what
//! it uses is not counted as any client's.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::process::pause;

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
    shared: Arc<Shared>,
    accepting: JoinHandle<Vec<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    ended: AtomicBool,
    begun: Instant,
    stall: Option<Stall>,
    core: Option<usize>,
    stamps: Mutex<Vec<Stamp>>,
}

/// Connections that are served at once; more are closed.
const CONNECTIONS_MAX: usize = 4000;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";

impl Stamps {
    /// Listens on a free port.
    pub(crate) fn start(core: Option<usize>, stall: Option<Stall>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            ended: AtomicBool::new(false),
            begun: Instant::now(),
            stall,
            core,
            stamps: Mutex::default(),
        });
        let accepting = thread::Builder::new().name("stamps".into()).spawn({
            let shared = shared.clone();
            move || shared.accept(&listener)
        })?;
        Ok(Self { address, shared, accepting })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Waits until all clients have gone, and gives what was written down, by arrival.
    pub(crate) fn finish(self) -> anyhow::Result<Vec<Stamp>> {
        self.shared.ended.store(true, Ordering::Relaxed);
        // The acceptor waits for a connection; this is its last.
        drop(TcpStream::connect(self.address)?);
        let connections = self.accepting.join().ok().context("the acceptor panicked")?;
        for connection in connections {
            connection.join().ok().context("a connection's thread panicked")?;
        }
        let mut stamps = std::mem::take(&mut *self.shared.lock());
        stamps.sort_by_key(|stamp| stamp.arrived);
        Ok(stamps)
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) -> Vec<JoinHandle<()>> {
        self.pin();
        let mut connections = Vec::new();
        for stream in listener.incoming() {
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            let Ok(stream) = stream else { continue };
            if connections.len() == CONNECTIONS_MAX {
                continue;
            }
            let shared = self.clone();
            let thread = thread::Builder::new().stack_size(64 * 1024).spawn(move || {
                shared.pin();
                let mut stamps = Vec::new();
                // A client that breaks off has sent what it has sent.
                let _ = shared.serve(stream, &mut stamps);
                shared.lock().append(&mut stamps);
            });
            connections.extend(thread);
        }
        connections
    }

    fn serve(&self, mut stream: TcpStream, stamps: &mut Vec<Stamp>) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut buffer = [0; 8192];
        let mut filled = 0;
        loop {
            let read = stream.read(&mut buffer[filled..])?;
            if read == 0 {
                return Ok(());
            }
            let arrived = now();
            filled += read;
            // One request at a time: nobody here pipelines.
            if !buffer[..filled].ends_with(b"\r\n\r\n") {
                if filled == buffer.len() {
                    return Ok(());
                }
                continue;
            }
            if let Some(rest) = self.stall.and_then(|stall| stall.rest(self.begun.elapsed())) {
                pause(rest);
            }
            stream.write_all(ANSWER)?;
            let answered = now();
            stamps.push(Stamp { seq: sequence(&buffer[..filled]), arrived, answered });
            filled = 0;
        }
    }

    fn pin(&self) {
        let Some(core) = self.core else { return };
        let mut cores = CpuSet::new();
        // Unpinned it measures as well, only less quietly.
        if cores.set(core).is_ok() {
            let _ = sched_setaffinity(Pid::from_raw(0), &cores);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Stamp>> {
        self.stamps.lock().unwrap_or_else(PoisonError::into_inner)
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

/// By how many seconds each request missed an even schedule of this rate, for the moment that `of`
/// takes of it. The schedule is laid so that nobody arrived early. Requests that told their number
/// are judged by it, others by their order.
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
        let mut stream = TcpStream::connect(server.address).unwrap();
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
