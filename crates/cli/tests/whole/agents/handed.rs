//! The settings that a leader hands to its agents: routes, feature flags, where spans, samples and the console go.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use super::fleet::{Nats, leader, requests};
use super::{handled, number, script};
use crate::support::{Brunt, DemoServer, Told, brunt};

/// A server that takes everything that is posted: heads and bodies.
fn taker() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (sender, received) = sync_channel(1000);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, sender) = (stream.expect("a connection"), sender.clone());
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                let mut head = String::new();
                while reader.read_line(&mut head).is_ok_and(|read| read > 0) {
                    if !head.ends_with("\r\n\r\n") {
                        continue;
                    }
                    let lower = head.to_lowercase();
                    let length = lower.split("content-length: ").nth(1).unwrap_or("0");
                    let length = length.split("\r\n").next().and_then(|text| text.parse().ok());
                    let mut body = vec![0; length.unwrap_or(0)];
                    if reader.read_exact(&mut body).is_err() {
                        return;
                    }
                    let _ = sender.send((std::mem::take(&mut head), body));
                    let answer = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
                    if reader.get_mut().write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, received)
}

fn count(body: &[u8], part: &[u8]) -> usize {
    body.windows(part.len()).filter(|window| *window == part).count()
}

/// Two agents, each in a folder of its own, and a leader.
fn run(nats: &Nats, mut leader: Brunt) -> (Told, Brunt, Vec<(Told, Brunt)>) {
    let agents: Vec<_> = (0..2)
        .map(|_| {
            let mut folder = brunt(&format!("agent --nats {} --once --workers 1", nats.url()));
            (folder.start(), folder)
        })
        .collect();
    let told = leader.told();
    let agents = agents.into_iter().map(|(running, folder)| (running.wait(), folder)).collect();
    (told, leader, agents)
}

/// Ten iterations over both, with a request for a route that no URL tells.
const FEW: &str = "export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 5 } } };\n\
    let frozen = 'no';\n\
    try { __ENV.NEW = 'x'; if (__ENV.NEW !== 'x') frozen = 'yes'; } catch (e) { frozen = 'yes'; }\n\
    export default function () {\n\
      http.get(`${__ENV.URL}/anything/one-${exec.vu.idInTest}-post`, params);\n\
      console.log(`FROZEN ${frozen} ${__ENV.BRUNT_SEAT}`);\n\
    }\n";

#[test]
fn routes_features_spans_and_the_console_are_those_of_the_leader() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let (address, spans) = taker();
    let flags = format!(
        "--routes routes.txt --features freeze-env --traces-output otel=http://{address},proto=http \
         --console-output said.txt --http-debug --out run=a.brunt"
    );
    let lead = leader(&nats, &demo, 2, &script(FEW), &flags)
        .file("routes.txt", "# ours\nGET /anything/{slug}\n");
    let (told, lead, agents) = run(&nats, lead);
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(requests(&demo), 10, "{told:?}");

    let sql = rusqlite::Connection::open(lead.path("a.brunt")).expect("a database");
    let query =
        "SELECT count(*) FROM series WHERE json_extract(tags, '$.route') LIKE '%/anything/{slug}'";
    let routes: i64 = sql.query_row(query, [], |row| row.get(0)).expect(query);
    assert!(routes > 0);

    let mut all = Vec::new();
    while let Ok((head, body)) = spans.recv_timeout(Duration::from_secs(2)) {
        assert!(head.starts_with("POST /v1/traces"), "{head}");
        all.push(body);
    }
    let whole = all.concat();
    assert_eq!(count(&whole, b"url.full"), 10);
    // Of the resource: a key of five letters, and a text of one digit.
    for seat in ["1", "2"] {
        let attribute = [b"\n\x05agent\x12\x03\n\x01", seat.as_bytes()].concat();
        assert!(count(&whole, &attribute) > 0, "no spans of seat {seat}");
    }

    let mut lines = 0;
    for (agent, folder) in &agents {
        assert_eq!(agent.code, 0, "{agent:?}");
        assert!(agent.stderr.contains("Request:"), "{agent:?}");
        assert!(!agent.stderr.contains("FROZEN"), "{agent:?}");
        let said = (1..=2).find(|seat| folder.path(&format!("said-{seat}.txt")).exists());
        let said = folder.read(&format!("said-{}.txt", said.expect("a file of the agent's")));
        lines += said.matches("FROZEN yes").count();
    }
    assert_eq!(lines, 10);
}

#[test]
fn samples_are_sent_by_each_agent_with_its_number() {
    let (nats, demo) = (Nats::start(), DemoServer::start());
    let statsd = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let at = statsd.local_addr().expect("an address").to_string();
    // Read as they come: the system keeps some hundred, and these are fewer.
    let (sender, lines) = sync_channel(100_000);
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        while let Ok(size) = statsd.recv(&mut buffer) {
            if sender.send(String::from_utf8_lossy(&buffer[..size]).into_owned()).is_err() {
                return;
            }
        }
    });
    let (address, influx) = taker();
    let flags = format!("--out statsd --out influxdb=http://{address}/mine --tag a=b");
    let lead =
        leader(&nats, &demo, 2, &script(&FEW.replace("iterations: 5", "iterations: 10")), &flags)
            .env("K6_STATSD_ADDR", &at)
            .env("K6_STATSD_ENABLE_TAGS", "true");
    let (told, ..) = run(&nats, lead);
    assert_eq!(told.code, 0, "{told:?}");
    let all = number(&handled(&told)["requests"]) as usize;

    let mut datagrams = String::new();
    while let Ok(datagram) = lines.recv_timeout(Duration::from_secs(1)) {
        datagrams.push_str(&datagram);
    }
    let of = |seat: u32| {
        let end = format!(",agent:{seat}");
        let lines = datagrams.lines().filter(|line| line.starts_with("k6.http_reqs:"));
        lines.filter(|line| line.contains(&end)).count()
    };
    assert_eq!((of(1) + of(2), of(1)), (all, all / 2), "{datagrams}");

    let bodies: Vec<u8> = influx.try_iter().flat_map(|(_, body)| body).collect();
    let lines = String::from_utf8_lossy(&bodies).into_owned();
    let of = |seat: u32| {
        let tag = format!(",agent={seat} ");
        let lines = lines.lines().filter(|line| line.starts_with("http_reqs,"));
        lines.filter(|line| line.contains(&tag)).count()
    };
    assert_eq!((of(1) + of(2), of(1)), (all, all / 2), "{lines}");
}

#[test]
fn what_agents_cannot_be_handed_is_refused_with_a_reason() {
    for (flags, part) in [
        ("--console-output ./x.txt", "each agent writes into the folder in which it was started"),
        ("--out csv=/tmp/x.csv", "each agent writes into the folder in which it was started"),
        ("--out cloud", "could not create the 'cloud' output"),
        ("--out nothing", "invalid output type 'nothing'"),
        ("--out run=a.brunt --out run=b.brunt", "--out run is there twice"),
        ("--routes none.txt", "none.txt can't be read"),
    ] {
        let line = format!("run --agents 2 --nats nats://127.0.0.1:1 {flags} s.js");
        let told = brunt(&line).file("s.js", "export default function () {}").told();
        assert!(told.error().contains(part), "{flags}: {told:?}");
    }
}
