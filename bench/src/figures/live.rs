//! The cost of browsers that look at the live page to those who make the load.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use super::Bench;
use crate::client::{Client, ScriptRun, exported};
use crate::machine;
use crate::process;
use crate::report::{Figure, Verdict, median, spread};
use crate::server::{Server, Speech};

/// Browsers that look.
const BROWSERS: usize = 100;

/// How often browsers are read, and the threads of brunt are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Threads of brunt that serve the page; all others make the load, or would be there without the page.
const OF_THE_PAGE: [&str; 2] = ["brunt-page", "brunt-pages"];

/// The cost of a run: CPU in µs per request.
struct Cost {
    load: f64,
    whole: f64,
    parts: usize,
}

/// 250 VUs with a hundred browsers and with none, in turn; who is first changes with each round.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let pinned = machine::cores() > 1;
    let server = Server::start(pinned.then_some(1))?;
    let url = server.url(Speech::Plain);
    // Ten parts or more, as far as that is asked for.
    let seconds = bench.settings.seconds * 3;
    let once = |browsers: usize| cost(bench, &url, (browsers, seconds), pinned);
    let (mut none, mut many) = (Vec::new(), Vec::new());
    for round in 0..bench.settings.rounds {
        let order = if round % 2 == 0 { [0, BROWSERS] } else { [BROWSERS, 0] };
        for browsers in order {
            let cost = once(browsers)?;
            if browsers == 0 { none.push(cost) } else { many.push(cost) }
        }
    }
    let of = |costs: &[Cost], part: fn(&Cost) -> f64| costs.iter().map(part).collect::<Vec<_>>();
    let ratios = |part: fn(&Cost) -> f64| {
        none.iter().zip(&many).map(|(none, many)| part(many) / part(none)).collect::<Vec<_>>()
    };
    let (load, whole) = (ratios(|cost| cost.load), ratios(|cost| cost.whole));
    let row = |name: &str, costs: &[Cost], load: String, whole: String| {
        let parts = of(costs, |cost| cost.parts as f64);
        let (of_load, of_whole) = (of(costs, |cost| cost.load), of(costs, |cost| cost.whole));
        vec![name.to_owned(), spread(&of_load), load, spread(&of_whole), whole, spread(&parts)]
    };
    Ok(vec![Figure {
        title: format!(
            "Scripted GET and check, 250 VUs, with the live page and {BROWSERS} browsers"
        ),
        method: format!(
            "`--ui` in both rows. A browser is a client of the page's event stream that reads all it gets{}; their own CPU is not \
             counted. “Load” is the CPU of brunt's process without its threads {} (one reads the run file and packs each part once, \
             one sends it to all), “whole” that of all threads. {seconds} s, {} rounds, in changing order; nginx with one worker{}. \
             The ratios are taken within each round; “parts” are the events that each browser got on average.",
            if pinned { ", on core 1" } else { "" },
            OF_THE_PAGE.map(|name| format!("`{name}`")).join(" and "),
            bench.settings.rounds,
            if pinned { " on core 1; brunt on core 0" } else { "" },
        ),
        header: vec!["", "load µs/request", "it / none", "whole µs/request", "it / none", "parts"],
        rows: vec![
            row("nobody looks", &none, "1".into(), "1".into()),
            row("100 browsers", &many, spread(&load), spread(&whole)),
        ],
        verdicts: vec![Verdict::at_most(
            "browsers cost the load nothing measurable: at most 3 % more CPU per request",
            median(&load),
            1.03,
        )],
    }])
}

/// One run with this number of browsers.
fn cost(
    bench: &Bench,
    url: &str,
    (browsers, seconds): (usize, u64),
    pinned: bool,
) -> anyhow::Result<Cost> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let ui = format!("--ui={address}");
    let watch = Watch::start(browsers, address, ui.clone(), pinned);
    let flags = ["--vus", "250", "--duration", &format!("{seconds}s"), &ui].map(str::to_owned);
    let program = &bench.settings.brunt;
    let run = ScriptRun {
        program,
        client: Client::Brunt,
        script: &bench.file("get.js"),
        flags: flags.to_vec(),
        env: vec![("URL", url.to_owned()), ("PAUSE", "0".to_owned())],
        core: pinned.then_some(0),
        seconds,
    };
    let ended = run.run();
    let seen = watch.end()?;
    let (spent, metrics) = ended?;
    let requests = exported(&metrics, "http_reqs", "count")?;
    ensure!(requests > 0.0, "it made no request");
    ensure!(seen.opened == browsers, "{} of {browsers} browsers found the page", seen.opened);
    ensure!(seen.of_page > Duration::ZERO, "no thread of the page was seen");
    let whole = spent.cpu.as_secs_f64() * 1e6 / requests;
    let page = seen.of_page.as_secs_f64() * 1e6 / requests;
    Ok(Cost { load: whole - page, whole, parts: seen.parts / browsers.max(1) })
}

/// Bytes and events that the browsers got, and the time that the page's threads used.
struct Seen {
    opened: usize,
    parts: usize,
    of_page: Duration,
}

/// A thread that is all browsers, and looks at the threads of brunt.
struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

impl Watch {
    fn start(browsers: usize, address: SocketAddr, word: String, pinned: bool) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            if pinned {
                let mut cores = CpuSet::new();
                // If it can't be pinned it costs brunt some time, which the figure shows.
                let _ = cores.set(1).and_then(|()| sched_setaffinity(Pid::from_raw(0), &cores));
            }
            look(browsers, address, &word, &over)
        });
        Self { is_over, thread }
    }

    fn end(self) -> anyhow::Result<Seen> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("the browsers' thread failed")
    }
}

fn look(browsers: usize, address: SocketAddr, word: &str, is_over: &AtomicBool) -> Seen {
    let mut open: Vec<TcpStream> = Vec::new();
    let mut process = None;
    let mut used: BTreeMap<String, u64> = BTreeMap::new();
    let (mut opened, mut parts) = (0, 0);
    let mut buffer = vec![0; 64 << 10];
    let mut last = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        while opened < browsers {
            let Ok(stream) = browser(address) else { break };
            open.push(stream);
            opened += 1;
        }
        open.retain_mut(|stream| {
            loop {
                match stream.read(&mut buffer) {
                    // The end of the run has been told, or the process is gone.
                    Ok(0) => return false,
                    Ok(count) => {
                        let text = &buffer[..count];
                        parts += text.windows(11).filter(|word| word == b"event: part").count();
                        if text.windows(10).any(|word| word == b"event: end") {
                            return false;
                        }
                    }
                    Err(error) => return error.kind() == ErrorKind::WouldBlock,
                }
            }
        });
        process = process.or_else(|| find(word));
        if let Some(process) = process.filter(|_| last.elapsed() >= LOOK) {
            times(process, &mut used);
            last = Instant::now();
        }
        process::pause(LOOK / 2);
    }
    Seen { opened, parts, of_page: Duration::from_nanos(used.values().sum()) }
}

/// Asks for the events of the page.
fn browser(address: SocketAddr) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// The process that was started with this word.
fn find(word: &str) -> Option<u32> {
    let mut processes = std::fs::read_dir("/proc").ok()?;
    processes.find_map(|entry| {
        let entry = entry.ok()?;
        let process = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0);
        let is_brunt = !words.next()?.ends_with(b"taskset");
        (is_brunt && words.any(|one| one == word.as_bytes())).then_some(process)
    })
}

/// The CPU time of the page's threads so far, in nanoseconds.
fn times(process: u32, used: &mut BTreeMap<String, u64>) {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return };
    for thread in threads.flatten() {
        let read = |file: &str| std::fs::read_to_string(thread.path().join(file)).ok();
        let Some(name) = read("comm").filter(|name| OF_THE_PAGE.contains(&name.trim())) else {
            continue;
        };
        let time = read("schedstat").and_then(|text| text.split(' ').next()?.parse().ok());
        if let Some(time) = time {
            used.insert(name, time);
        }
    }
}
