//! The cost that outputs add to a request: the same load without one and with each.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use anyhow::ensure;

use super::Bench;
use crate::client::{Client, Load, ScriptRun, exported};
use crate::machine;
use crate::report::{Figure, Verdict, failed_row, median, short, spread};
use crate::server::{Server, Speech};

/// Each output, as `--out` names it, and the share that it may add.
const OUTPUTS: [(&str, Option<f64>); 6] = [
    ("", None),
    ("experimental-prometheus-rw", Some(1.1)),
    ("influxdb", Some(1.1)),
    ("opentelemetry", None),
    ("json=/dev/null", None),
    ("web-dashboard=port=-1", None),
];

/// 250 VUs over HTTP/1.1 keep-alive with each of them, one after the other in each round.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let pinned = machine::cores() > 1;
    let server = Server::start(pinned.then_some(1))?;
    let sink = Sink::start()?;
    let load = Load {
        url: server.url(Speech::Plain),
        vus: 250,
        seconds: bench.settings.seconds,
        pause: 0.0,
        core: pinned.then_some(0),
        streams: 0,
    };
    let mut micros = OUTPUTS.map(|_| Vec::new());
    let mut ratios = OUTPUTS.map(|_| Vec::new());
    let mut failures = OUTPUTS.map(|_| None);
    for _ in 0..bench.settings.rounds {
        let mut without = None;
        for (index, (output, _)) in OUTPUTS.iter().enumerate() {
            match once(bench, output, &load, &sink) {
                Ok(cost) => {
                    let base = *without.get_or_insert(cost);
                    micros[index].push(cost);
                    ratios[index].push(cost / base);
                }
                Err(error) => failures[index] = Some(format!("{output}: {error:#}")),
            }
        }
    }
    let rows = (0..OUTPUTS.len()).map(|index| {
        if let Some(failure) = &failures[index] {
            return failed_row(failure);
        }
        let name = OUTPUTS[index].0;
        let name = if name.is_empty() { "none" } else { name };
        let ratio = median(&ratios[index]).map_or("-".into(), short);
        vec![name.to_owned(), spread(&micros[index]), ratio]
    });
    let verdicts = OUTPUTS.iter().zip(&ratios).filter_map(|((output, limit), ratios)| {
        let goal = format!("{output}: at most 10 % more CPU per request than without");
        limit.map(|limit| Verdict::at_most(goal, median(ratios), limit))
    });
    Ok(vec![Figure {
        title: "Scripted GET and check, 250 VUs, with outputs".into(),
        method: format!(
            "{} connections for {} s, {} rounds, nginx with one worker{}; outputs go to a server that \
             reads and forgets. The ratio is taken within each round.",
            load.vus,
            load.seconds,
            bench.settings.rounds,
            if pinned { "; client on core 0, server on core 1" } else { "" }
        ),
        header: vec!["output", "CPU µs/request", "it / none"],
        rows: rows.collect(),
        verdicts: verdicts.collect(),
    }])
}

/// Microseconds of CPU per request.
fn once(bench: &Bench, output: &str, load: &Load, sink: &Sink) -> anyhow::Result<f64> {
    let mut flags = vec![
        "--vus".to_owned(),
        load.vus.to_string(),
        "--duration".to_owned(),
        format!("{}s", load.seconds),
    ];
    if !output.is_empty() {
        flags.extend(["--out".to_owned(), output.to_owned()]);
    }
    let address = &sink.address;
    let (spent, metrics) = ScriptRun {
        program: &bench.settings.brunt,
        client: Client::Brunt,
        script: &bench.file("get.js"),
        flags,
        env: vec![("URL", load.url.clone()), ("PAUSE", "0".to_owned())],
        core: load.core,
        seconds: load.seconds,
    }
    .run_with(&[
        ("K6_INFLUXDB_ADDR", &format!("http://{address}")),
        ("K6_PROMETHEUS_RW_SERVER_URL", &format!("http://{address}/api/v1/write")),
        ("K6_PROMETHEUS_RW_TREND_STATS", "p(95),p(99),avg,max"),
        ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
        ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", address),
        ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
    ])?;
    let requests = exported(&metrics, "http_reqs", "count")?;
    ensure!(requests > 0.0, "it made no request");
    ensure!(!spent.stderr.contains("lost"), "{}", spent.stderr);
    Ok(spent.cpu.as_secs_f64() * 1e6 / requests)
}

/// Reads requests and answers 204, in threads of this process.
struct Sink {
    address: String,
}

impl Sink {
    fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        // Ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || serve(stream));
            }
        });
        Ok(Self { address })
    }
}

/// One connection, until it ends or says something odd.
fn serve(mut stream: TcpStream) -> Option<()> {
    let mut buffer = vec![0; 1 << 20];
    let (mut filled, mut head) = (0, None);
    loop {
        if head.is_none() {
            head =
                buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        }
        if let Some(size) = head {
            let text = std::str::from_utf8(&buffer[..size]).ok()?.to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.map_or(Some(0), |length| length.parse::<usize>().ok())?;
            let mut rest = length.checked_sub(filled - size)?;
            while rest > 0 {
                let most = rest.min(buffer.len());
                rest -= stream.read(&mut buffer[..most]).ok().filter(|read| *read > 0)?;
            }
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
            (filled, head) = (0, None);
        }
        filled += stream.read(&mut buffer[filled..]).ok().filter(|read| *read > 0)?;
    }
}
