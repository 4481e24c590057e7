//! A NATS server, agents and a leader, each a process of its own, and the demo target that counts.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Brunt, DemoServer, Running, Told, brunt, free_port};

/// A NATS server with a store of its own.
pub(super) struct Nats {
    child: Child,
    folder: tempfile::TempDir,
    port: u16,
    flags: Vec<String>,
}

impl Nats {
    pub(super) fn start() -> Self {
        Self::start_with(&["--jetstream"], "")
    }

    /// With these flags and this configuration.
    pub(super) fn start_with(flags: &[&str], config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        std::fs::write(folder.path().join("nats.conf"), config).expect("a file for the test");
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let port = free_port();
        let child = spawn(&folder, port, &flags);
        let nats = Self { child, folder, port, flags };
        nats.wait();
        nats
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Whether its store has this stream.
    pub(super) fn has_stream(&self, name: &str) -> bool {
        self.folder.path().join("store/jetstream/$G/streams").join(name).exists()
    }

    /// Kills it, as a machine that loses its power does.
    pub(super) fn kill(&mut self) {
        self.child.kill().expect("it is our child");
        self.child.wait().expect("it is our child");
    }

    /// Starts it again; with an emptied store, if that is wanted.
    pub(super) fn again(&mut self, is_emptied: bool) {
        if is_emptied {
            drop(std::fs::remove_dir_all(self.folder.path().join("store")));
        }
        self.child = spawn(&self.folder, self.port, &self.flags);
        self.wait();
    }

    fn wait(&self) {
        let started = std::time::Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(started.elapsed().as_secs() < 60, "nats-server does not answer");
            std::thread::yield_now();
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        // Both fail if it has ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn spawn(folder: &tempfile::TempDir, port: u16, flags: &[String]) -> Child {
    Command::new("nats-server")
        .args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--config", "nats.conf"])
        .args(flags)
        .args(["--store_dir", "store"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nats-server is there: tools/need nats-server gets it")
}

/// One who makes load.
pub(super) struct Agent {
    pub(super) running: Running,
    _folder: Brunt,
}

impl Agent {
    /// Starts it; it serves one test.
    pub(super) fn start(nats: &Nats, flags: &str) -> Self {
        Self::at(&nats.url(), flags)
    }

    /// The same, with a broker at this address.
    pub(super) fn at(nats: &str, flags: &str) -> Self {
        let line = format!("agent --nats {nats} --once --workers 1 {flags}");
        let mut folder = brunt(&line);
        let running = folder.start();
        Self { running, _folder: folder }
    }

    pub(super) fn several(nats: &Nats, count: usize) -> Vec<Self> {
        (0..count).map(|_| Self::start(nats, "")).collect()
    }

    pub(super) fn kill(&self) {
        self.running.signal("KILL");
    }

    pub(super) fn wait(self) -> Told {
        self.running.wait()
    }
}

/// A leader with its script, ready to start.
pub(super) fn leader(
    nats: &Nats,
    demo: &DemoServer,
    agents: usize,
    script: &str,
    flags: &str,
) -> Brunt {
    let line = format!(
        "run --agents {agents} --nats {} -e URL={} -e RUN=r {flags} s.js",
        nats.url(),
        demo.url
    );
    brunt(&line).file("s.js", script)
}

/// The requests of the run that the server saw.
pub(super) fn requests(demo: &DemoServer) -> u64 {
    stats(demo)["requests"]["by_run"]["r"].as_u64().unwrap_or(0)
}

fn stats(demo: &DemoServer) -> Value {
    got(demo.url.trim_start_matches("http://"), "/_demo/stats HTTP/1.1")
}

/// The values of `brunt/data` that a NATS server has; its monitor listens at this port.
pub(super) fn stored_values(monitor: u16) -> u64 {
    // The older protocol has no chunks.
    let told = got(&format!("127.0.0.1:{monitor}"), "/jsz?streams=1 HTTP/1.0");
    let streams = told["account_details"][0]["stream_detail"].as_array();
    let mut streams = streams.expect("streams").iter();
    let bucket = streams.find(|stream| stream["name"] == "KV_brunt_data");
    bucket.expect("the bucket")["state"]["messages"].as_u64().expect("a number")
}

/// JSON of an HTTP server: the answer to a path and a version.
fn got(address: &str, asked: &str) -> Value {
    use std::io::{Read as _, Write as _};
    let mut stream = TcpStream::connect(address).expect("the server answers");
    write!(stream, "GET {asked}\r\nHost: x\r\nConnection: close\r\n\r\n")
        .expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let body = answer.split_once("\r\n\r\n").expect("a head").1;
    serde_json::from_str(body).expect("JSON")
}

/// Waits for the end of a leader: how long after this call the last request of its run came.
#[expect(clippy::disallowed_methods, reason = "a thread of the test's own, not a core")]
pub(super) fn last_request(demo: &DemoServer, leader: &mut Running) -> Duration {
    let since = Instant::now();
    let (mut count, mut last) = (requests(demo), Duration::ZERO);
    while !leader.is_over() {
        let now = requests(demo);
        if now != count {
            (count, last) = (now, since.elapsed());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    last
}

/// Waits until the server has seen `count` requests of the run.
pub(super) fn wait_for_requests(demo: &DemoServer, count: u64) {
    let started = std::time::Instant::now();
    while requests(demo) < count {
        assert!(started.elapsed().as_secs() < 100, "the load does not begin");
        std::thread::yield_now();
    }
}
