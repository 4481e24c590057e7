//! Attacks on servers of our own: what arrives, and what is written down of it.
#![expect(clippy::unwrap_used, reason = "a test that fails here says where")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use brunt_attack::{
    Attack, AttackError, Control, Defaults, Format, Outcome, Pacer, Plan, Rate, Reason, Stream,
    TargetReader, TargetStream, Targets,
};
use brunt_demo::{Demo, DemoConfig, DemoHandle};
use brunt_records::Record;

fn demo() -> DemoHandle {
    Demo::start(DemoConfig::fast()).unwrap()
}

fn targets(text: &str) -> Targets {
    with(text, Defaults::default())
}

fn with(text: &str, defaults: Defaults) -> Targets {
    TargetReader::new(text.as_bytes(), Format::Http, defaults).all().unwrap().into()
}

fn plan(hits: u64, ms: u64) -> Plan {
    Plan {
        pacer: Pacer::of_rate(Rate::per_second(hits)),
        duration: Some(Duration::from_millis(ms)),
        cores: 2,
        ..Plan::default()
    }
}

/// A file of `count` targets, each on a line.
fn numbered(demo: &DemoHandle, count: u32) -> String {
    let lines = (0..count).map(|n| format!("GET {}/anything/{n}", demo.url()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs an attack; its records by number.
fn run(plan: Plan, targets: Targets) -> (Outcome, Vec<Record>) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let attack = Attack::new(plan, targets).unwrap();
    let outcome = attack.run(&Control::new(), |_| {
        let records = Arc::clone(&records);
        Box::new(move |record: &Record| records.lock().unwrap().push(record.clone()))
    });
    let mut records = records.lock().unwrap().clone();
    records.sort_by_key(|record| record.seq);
    (outcome.unwrap(), records)
}

/// Answers each request on a connection with `answer`, which gets the request's head. Keeps all heads.
fn server(
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let (kept, answer) = (Arc::clone(&heads), Arc::new(answer));
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
            std::thread::spawn(move || serve(socket, &kept, &*answer));
        }
    });
    (address, heads)
}

fn serve(socket: std::net::TcpStream, heads: &Mutex<Vec<String>>, answer: &dyn Fn(&str) -> String) {
    let mut writer = socket.try_clone().unwrap();
    let mut reader = BufReader::new(socket);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        if head.contains("Transfer-Encoding: chunked") {
            let mut line = String::new();
            while line != "0\r\n" {
                line.clear();
                reader.read_line(&mut line).unwrap();
                head.push_str(&line);
            }
            reader.read_line(&mut line).unwrap();
        }
        head.push_str(&String::from_utf8_lossy(&body));
        let text = answer(&head);
        heads.lock().unwrap().push(head);
        if writer.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nx-a: 1\r\nX-A: 2\r\n\r\n{body}", body.len())
}

#[test]
fn each_hit_is_begun_when_it_is_due_and_each_target_as_often_as_the_others() {
    let demo = demo();
    let text = numbered(&demo, 10);
    let (outcome, records) = run(plan(200, 500), targets(&text));
    assert_eq!(
        (outcome.due, outcome.begun, outcome.ended, outcome.failed),
        (Some(100), 100, 100, 0)
    );
    let mut by_url = BTreeMap::<_, u32>::new();
    for (at, record) in records.iter().enumerate() {
        assert_eq!((record.seq, record.code, record.error.as_str()), (at as u64, 200, ""));
        assert!(record.latency > 0 && record.bytes_in > 0 && record.body.is_empty());
        assert!(record.timestamp.unix_ns() >= record.planned.unwrap());
        *by_url.entry(&record.url).or_default() += 1;
    }
    assert!(by_url.len() == 10 && by_url.values().all(|&count| count == 10));
    let mut planned: Vec<_> = records.iter().map(|record| record.planned.unwrap()).collect();
    planned.sort_unstable();
    assert!(planned.windows(2).all(|pair| pair[1] - pair[0] == 5_000_000));
}

#[test]
fn without_a_schedule_each_worker_waits_for_its_answer() {
    let demo = demo();
    let plan = Plan { pacer: Pacer::Unlimited, max_workers: Some(3), ..self::plan(0, 200) };
    let (outcome, records) = run(plan, targets(&format!("GET {}/delay/20", demo.url())));
    assert!((3..=30).contains(&records.len()), "{}", records.len());
    assert_eq!((outcome.due, outcome.workers), (None, 3));
    assert!(records.iter().all(|record| record.planned.is_none() && record.latency >= 20_000_000));
}

#[test]
fn a_limit_of_workers_is_told_with_what_was_missed() {
    let demo = demo();
    let plan = Plan { max_workers: Some(2), ..plan(100, 500) };
    let (outcome, records) = run(plan, targets(&format!("GET {}/delay/100", demo.url())));
    assert!(outcome.has_missed() && outcome.never_begun() > 20, "{outcome}");
    assert!(matches!(outcome.reasons[0], Reason::Workers { max: 2, .. }), "{outcome}");
    // Both moments are kept: what waited for a worker is seen from when it was due.
    assert!(records.last().unwrap().lag() > 50_000_000);
    assert_eq!(outcome.begun, records.len() as u64);
}

#[test]
fn what_is_sent_is_what_the_target_says() {
    let (address, heads) = server(|_| ok("hello"));
    let defaults = Defaults {
        headers: vec![("X-lower".to_owned(), "0".to_owned())],
        body: b"default"[..].into(),
        attack: "big".to_owned(),
        ..Defaults::default()
    };
    let text = format!("POST http://{address}/a?b\nx-lower: 1\nHost: h.test\n");
    let plan = Plan { keep_body: 3, ..plan(1, 100) };
    let (_, records) = run(plan, with(&text, defaults));
    let head = heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("POST /a?b HTTP/1.1\r\nHost: h.test\r\nUser-Agent: brunt/"), "{head}");
    for line in
        ["Content-Length: 7", "X-lower: 0", "x-lower: 1", "X-Vegeta-Attack: big", "X-Vegeta-Seq: 0"]
    {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line} in {head}");
    }
    assert!(head.ends_with("\r\n\r\ndefault"));
    let record = &records[0];
    assert_eq!((record.bytes_out, record.bytes_in, &record.body[..]), (7, 5, &b"hel"[..]));
    let values = vec!["1".to_owned(), "2".to_owned()];
    assert!(record.headers.contains(&("X-A".to_owned(), values)), "{:?}", record.headers);
}

#[test]
fn bodies_go_in_chunks_if_they_shall() {
    let (address, heads) = server(|_| ok(""));
    let defaults = Defaults { body: b"default"[..].into(), ..Defaults::default() };
    let plan = Plan { chunked: true, ..plan(1, 100) };
    let (_, records) = run(plan, with(&format!("PUT http://{address}/"), defaults));
    let head = heads.lock().unwrap()[0].clone();
    assert!(
        head.contains("Transfer-Encoding: chunked") && head.contains("7\r\ndefault\r\n"),
        "{head}"
    );
    assert_eq!(records[0].bytes_out, 7);
}

#[test]
fn redirects_are_followed_as_far_as_they_may() {
    let demo = demo();
    let follow = |redirects| {
        let plan = Plan { redirects, ..plan(1, 100) };
        let (_, records) = run(plan, targets(&format!("GET {}/redirect/3", demo.url())));
        (records[0].code, records[0].error.clone())
    };
    assert_eq!(follow(Some(10)), (200, String::new()));
    assert_eq!(follow(None).0, 302);
    let (code, error) = follow(Some(0));
    assert!(code == 0 && error.ends_with("stopped after 0 redirects"), "{error}");
    assert_eq!(follow(Some(2)).0, 0);
}

#[test]
fn what_fails_is_told_in_the_words_of_go() {
    let demo = demo();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let one = |url: &str, timeout| {
        let plan = Plan { timeout: Some(Duration::from_millis(timeout)), ..plan(1, 100) };
        let (outcome, records) = run(plan, targets(&format!("GET {url}")));
        assert_eq!(outcome.failed, 1);
        (records[0].code, records[0].error.clone())
    };
    let url = format!("http://{free}/");
    let refused = format!("Get \"{url}\": dial tcp {free}: connect: connection refused");
    assert_eq!(one(&url, 5_000), (0, refused));
    assert_eq!(
        one(&format!("{}/status/404", demo.url()), 5_000),
        (404, "404 Not Found".to_owned())
    );
    let slow = format!("{}/delay/2000", demo.url());
    let late = format!(
        "Get \"{slow}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    );
    assert_eq!(one(&slow, 50), (0, late));
    assert_eq!(one("/x", 50), (0, "Get \"/x\": unsupported protocol scheme \"\"".to_owned()));
}

#[test]
fn a_stream_of_targets_ends_the_attack_and_hits_each_once() {
    let demo = demo();
    let text = numbered(&demo, 5);
    let reader = TargetReader::new(std::io::Cursor::new(text), Format::Http, Defaults::default());
    let stream = Targets::Stream(TargetStream::read(reader).unwrap());
    let (outcome, records) = run(Plan { duration: None, ..plan(1_000, 0) }, stream);
    assert_eq!((records.len(), outcome.due, outcome.never_begun()), (5, Some(5), 0));
    let mut urls: Vec<_> = records.iter().map(|record| record.url.as_str()).collect();
    urls.dedup();
    assert_eq!(urls.len(), 5);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a source that is slow, not a hope")]
fn a_slow_source_of_targets_makes_hits_late_and_no_crowd_of_workers() {
    let demo = demo();
    let url = demo.url();
    let slow = (0..6).map(move |_| {
        std::thread::sleep(Duration::from_millis(30));
        brunt_attack::Target::new("GET", &url, &[], None, &Defaults::default(), 1)
    });
    let stream = Targets::Stream(TargetStream::read(slow).unwrap());
    let (outcome, records) = run(Plan { duration: None, workers: 2, ..plan(1_000, 0) }, stream);
    assert!(records.len() == 6 && outcome.workers <= 8, "{outcome:?}");
    assert!(outcome.worst_lag > Duration::from_millis(100), "{outcome}");
    assert!(matches!(outcome.reasons[0], Reason::Targets { .. }), "{outcome}");
}

#[test]
fn an_attack_ends_in_time_though_its_targets_keep_it_waiting() {
    let (go_on, wait) = std::sync::mpsc::sync_channel::<()>(1);
    let never = std::iter::from_fn(move || {
        // Until the test is over.
        let _ = wait.recv();
        None
    });
    let stream = Targets::Stream(TargetStream::read(never).unwrap());
    let (outcome, records) = run(plan(100, 150), stream);
    assert_eq!((records.len(), outcome.begun, outcome.due), (0, 0, Some(15)));
    drop(go_on);
}

#[test]
fn a_bad_target_in_a_stream_ends_the_attack_with_its_line() {
    let demo = demo();
    let text = format!("GET {}/ping\n\nnonsense\n", demo.url());
    let reader = TargetReader::new(std::io::Cursor::new(text), Format::Http, Defaults::default());
    let stream = Targets::Stream(TargetStream::read(reader).unwrap());
    let attack = Attack::new(Plan { duration: None, ..plan(100, 0) }, stream).unwrap();
    let error = attack.run(&Control::new(), |_| Box::new(|_: &Record| ())).unwrap_err();
    assert_eq!(error.to_string(), "bad target: nonsense (line 3)");
}

#[test]
fn an_attack_that_is_stopped_waits_for_what_is_under_way() {
    let demo = demo();
    let control = Control::new();
    let records = Arc::new(Mutex::new(Vec::new()));
    let plan = Plan { duration: None, ..plan(50, 0) };
    let attack = Attack::new(plan, targets(&format!("GET {}/delay/300", demo.url()))).unwrap();
    let outcome = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            attack.run(&control, |_| {
                let records = Arc::clone(&records);
                Box::new(move |record: &Record| records.lock().unwrap().push(record.code))
            })
        });
        while control.begun() < 5 {
            std::thread::yield_now();
        }
        control.stop();
        run.join().unwrap().unwrap()
    });
    assert_eq!((outcome.begun, outcome.never_begun()), (outcome.ended, 0));
    assert!(records.lock().unwrap().iter().all(|&code| code == 200));
}

#[test]
fn an_attack_that_is_aborted_ends_at_once_and_keeps_what_ended() {
    let demo = demo();
    let control = Control::new();
    let plan = Plan { duration: None, timeout: None, ..plan(50, 0) };
    let attack = Attack::new(plan, targets(&format!("GET {}/delay/100000", demo.url()))).unwrap();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| attack.run(&control, |_| Box::new(|_: &Record| ())));
        while control.begun() < 5 {
            std::thread::yield_now();
        }
        control.abort();
        let outcome = run.join().unwrap().unwrap();
        assert_eq!(outcome.ended, 0);
    });
}

#[test]
fn records_are_a_stream_that_can_be_read() {
    let demo = demo();
    let file = tempfile::NamedTempFile::new().unwrap();
    let control = Control::new();
    let stream = Stream::start(file.reopen().unwrap(), brunt_records::Format::Gob, control.clone());
    let stream = stream.unwrap();
    let attack = Attack::new(plan(500, 200), targets(&format!("GET {}/ping", demo.url()))).unwrap();
    attack.run(&control, |_| stream.sink()).unwrap();
    stream.finish().unwrap();
    let decoder = brunt_records::decode::open(file.reopen().unwrap(), "x").unwrap();
    let mut numbers: Vec<_> = decoder.map(|record| record.unwrap().seq).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_writer_that_fails_stops_the_attack() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no room"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let demo = demo();
    let control = Control::new();
    let stream = Stream::start(Full, brunt_records::Format::Json, control.clone()).unwrap();
    let plan = Plan { duration: None, ..plan(500, 0) };
    let attack = Attack::new(plan, targets(&format!("GET {}/ping", demo.url()))).unwrap();
    attack.run(&control, |_| stream.sink()).unwrap();
    assert_eq!(stream.finish().unwrap_err().to_string(), "no room");
}

#[test]
fn nonsense_is_refused_before_anything_is_sent() {
    let make = |plan| Attack::new(plan, targets("GET http://127.0.0.1/")).unwrap_err().to_string();
    assert_eq!(make(plan(0, 1)), AttackError::NoLimit.to_string());
    assert_eq!(
        make(Plan { max_workers: Some(0), ..plan(1, 1) }),
        "-max-workers must be at least 1"
    );
}

#[cfg(unix)]
#[test]
fn a_socket_in_the_file_system_is_dialed_whatever_the_url_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let mut buffer = [0; 1024];
            while socket.read(&mut buffer).is_ok_and(|size| size > 0) {
                socket.write_all(ok("unix").as_bytes()).unwrap();
            }
        }
    });
    let mut plan = plan(20, 200);
    plan.network.net.dialing.unix_socket = Some(path);
    let (_, records) = run(plan, targets("GET http://no-such-host.invalid/"));
    assert!(records.len() == 4 && records.iter().all(|record| record.code == 200), "{records:?}");
}

#[test]
fn connect_to_leads_elsewhere_in_turns_and_keeps_the_name() {
    let (one, heads_of_one) = server(|_| ok("1"));
    let (two, heads_of_two) = server(|_| ok("2"));
    let mut plan = plan(20, 200);
    plan.cores = 1;
    plan.network.no_connection_reuse = true;
    plan.network.net.dialing.connect_to = vec![brunt_net::ConnectTo {
        from: ("far.invalid".to_owned(), 80),
        to: vec![("127.0.0.1".to_owned(), one.port()), ("localhost".to_owned(), two.port())],
    }];
    let (_, records) = run(plan, targets("GET http://far.invalid/"));
    assert!(records.iter().all(|record| record.code == 200), "{records:?}");
    let counts = [&heads_of_one, &heads_of_two].map(|heads| {
        let heads = heads.lock().unwrap();
        assert!(heads.iter().all(|head| head.contains("\r\nHost: far.invalid\r\n")));
        heads.len()
    });
    assert_eq!(counts, [2, 2]);
}

#[test]
fn a_host_has_no_more_connections_than_allowed_and_waiting_counts() {
    let demo = demo();
    let mut plan = plan(100, 200);
    plan.network.per_host_max = 1;
    let (_, records) = run(plan, targets(&format!("GET {}/delay/30", demo.url())));
    assert_eq!(records.len(), 20);
    // One after the other: the last answer comes after twenty, and its hit was due after 190 ms.
    let longest = records.iter().map(Record::response_time).max();
    assert!(longest.unwrap() > 400_000_000, "{records:?}");
    // Hits that wait for the connection have begun: one begins before the one before it has its answer.
    let begun = |record: &Record| record.timestamp.unix_ns();
    let overlap = |pair: &[Record]| begun(&pair[1]) < begun(&pair[0]) + pair[0].latency;
    assert!(records.windows(2).any(overlap), "{records:?}");
}

#[test]
fn metrics_can_be_scraped_while_it_attacks() {
    let demo = demo();
    let exporter = brunt_attack::Exporter::start("127.0.0.1:0").unwrap();
    let attack = Attack::new(plan(100, 100), targets(&format!("GET {}/ping", demo.url()))).unwrap();
    attack.run(&Control::new(), |_| exporter.sink()).unwrap();
    let mut socket = std::net::TcpStream::connect(exporter.address()).unwrap();
    socket.write_all(b"GET /any HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    let expected = format!(
        "request_seconds_count{{method=\"GET\",status=\"200\",url=\"{}/ping\"}} 10\n",
        demo.url()
    );
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains(&expected), "{text}");
    let taken = brunt_attack::Exporter::start(&exporter.address().to_string());
    assert!(taken.is_err());
}
