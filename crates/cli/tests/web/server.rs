//! A server that tells what it got, and answers what the path says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Brunt, Told, brunt};

/// Listens until the test process ends.
pub(crate) struct Server {
    pub(crate) url: String,
    reports: Receiver<Value>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    canned: Mutex<Vec<(String, Vec<u8>)>>,
    connections: AtomicUsize,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

/// One request, as it came.
struct Request {
    head: String,
    path: String,
    method: String,
    body: Vec<u8>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let (sender, reports) = sync_channel(16);
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (sender, shared) = (sender.clone(), Arc::clone(&theirs));
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                std::thread::spawn(move || serve(&stream, &shared, number, &sender));
            }
        });
        Self { url, reports, shared }
    }

    /// The answer to `GET /canned/NAME`, before the connection is closed.
    pub(crate) fn canned(self, name: &str, answer: impl AsRef<[u8]>) -> Self {
        let entry = (name.to_owned(), answer.as_ref().to_vec());
        self.shared.canned.lock().expect("no panic").push(entry);
        self
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// The most `/slow` requests at a time.
    pub(crate) fn most_at_once(&self) -> usize {
        self.shared.most_at_once.load(Ordering::SeqCst)
    }

    /// Runs `body` once as the default function, with `B` for the server; `out` is what it fills. Returns that.
    pub(crate) fn run(&self, body: &str) -> Value {
        self.run_with("", body, |call| call).0
    }

    /// The same with code at the top, and a changed call.
    pub(crate) fn run_with(
        &self,
        top: &str,
        body: &str,
        change: impl FnOnce(Brunt) -> Brunt,
    ) -> (Value, Told) {
        let script = format!(
            "import http from 'k6/http';\n{top}\nconst B = __ENV.BASE;\n\
             const tried = (f) => {{ try {{ return f(); }} catch (e) {{ return String(e); }} }};\n\
             export default async function () {{\nconst out = {{}};\n{body}\n\
             http.post(B + '/report', JSON.stringify(out), {{ tags: {{ report: '1' }}, headers: {{ 'Idempotency-Key': '1' }} }});\n}}\n"
        );
        let call =
            brunt("run --quiet --no-summary s.js").env("BASE", &self.url).file("s.js", script);
        let told = change(call).told();
        let report = self.reports.recv_timeout(Duration::from_secs(1));
        let report = report.unwrap_or_else(|_| panic!("no report came: {told:?}"));
        (report, told)
    }
}

fn serve(stream: &TcpStream, shared: &Shared, number: usize, reports: &SyncSender<Value>) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        let mut extra = String::new();
        let mut status = "200 OK".to_owned();
        let mut body = format!("{}{}", request.head, String::from_utf8_lossy(&request.body));
        if let Some(name) = path.strip_prefix("/canned/") {
            let canned = shared.canned.lock().expect("no panic");
            let (_, answer) = canned.iter().find(|(known, _)| known == name).expect("it is known");
            let _ = (&*stream).write_all(answer);
            return;
        }
        match path {
            "/report" => {
                let _ = reports.send(serde_json::from_slice(&request.body).expect("JSON"));
            }
            "/hang" => wait(Duration::from_secs(5)),
            "/slow" => {
                let now = shared.at_once.fetch_add(1, Ordering::SeqCst) + 1;
                shared.most_at_once.fetch_max(now, Ordering::SeqCst);
                wait(Duration::from_millis(100));
                shared.at_once.fetch_sub(1, Ordering::SeqCst);
            }
            "/status" => status = format!("{} Told", value("code").expect("a code")),
            "/connection" => body = number.to_string(),
            "/cookies" => {
                for line in value("set").unwrap_or_default().split('|') {
                    extra.push_str(&["Set-Cookie: ", &line.replace('+', " "), "\r\n"].concat());
                }
            }
            "/big" => body = "x".repeat(100_000),
            _ => {}
        }
        if let Some(code) = value("redirect") {
            let left: u32 = value("left").and_then(|left| left.parse().ok()).unwrap_or(1);
            let to = match (left, value("to")) {
                (0 | 1, to) => to.unwrap_or_else(|| "/echo".to_owned()),
                (left, _) => format!("/r?redirect={code}&left={}", left - 1),
            };
            status = format!("{code} Moved");
            extra.push_str(&["Location: ", &to, "\r\n"].concat());
        }
        let is_head = request.method == "HEAD";
        let has_body = !matches!(&status[..3], "204" | "304");
        let length =
            if has_body { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n{extra}{length}\r\n{}",
            if is_head || !has_body { "" } else { &body }
        );
        if (&*stream).write_all(answer.as_bytes()).is_err()
            || request.head.contains("Connection: close")
        {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut head = String::new();
    loop {
        let from = head.len();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        if head[from..].trim_end().is_empty() {
            break;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a number"))];
    reader.read_exact(&mut body).ok()?;
    let line = head.lines().next()?;
    let method = line.split(' ').next()?.to_owned();
    let path = line.strip_prefix(&method)?.trim().rsplit_once(' ')?.0.to_owned();
    Some(Request { head, path, method, body })
}

/// A raw request with the agent's version taken out, and the server's address.
pub(crate) fn plain(server: &Server, raw: &Value) -> String {
    let raw = raw.as_str().expect("text").replace(server.url.trim_start_matches("http://"), "HOST");
    let mut lines: Vec<String> = raw.split("\r\n").map(str::to_owned).collect();
    for line in &mut lines {
        if line.starts_with("User-Agent: ") {
            "User-Agent: UA".clone_into(line);
        }
    }
    lines.join("|")
}

/// A server that is slow on purpose.
#[expect(clippy::disallowed_methods, reason = "a thread of the test's server, not a core")]
fn wait(time: Duration) {
    std::thread::sleep(time);
}
