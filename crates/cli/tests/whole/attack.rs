//! `brunt attack`, as shells meet it.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use brunt_demo::{Demo, DemoConfig, DemoHandle};

use crate::support::{Told, brunt};

fn demo() -> DemoHandle {
    Demo::start(DemoConfig::fast()).expect("a demo target")
}

/// An attack on one route, reported as text.
fn reported(demo: &DemoHandle, route: &str, flags: &str) -> (Told, Told) {
    let mut attack = brunt(&format!("attack -output=x.gob {flags}"))
        .stdin(format!("GET {}{route}\n", demo.url()));
    let told = attack.told();
    let path = attack.path("x.gob");
    let report = brunt("report").word(path).told();
    (told, report)
}

fn row<'a>(report: &'a Told, name: &str) -> &'a str {
    report.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default()
}

#[test]
fn a_rate_and_a_duration_make_so_many_hits() {
    let demo = demo();
    let (told, report) = reported(&demo, "/ping", "-rate 50 -duration=2s");
    assert_eq!((told.code, told.stdout.as_str()), (0, ""), "{told:?}");
    assert!(row(&report, "Requests").contains("  100, "), "{report:?}");
    assert!(row(&report, "Success").ends_with(" 100.00%"), "{report:?}");
    assert!(row(&report, "Status Codes").ends_with(" 200:100  "), "{report:?}");
}

#[test]
fn redirects_that_are_not_followed_are_successes_and_those_that_must_not_be_are_none() {
    let demo = demo();
    let flags = "-rate=1 -duration=1s";
    let (_, report) = reported(&demo, "/redirect/2", &format!("{flags} -redirects=-1"));
    assert!(row(&report, "Status Codes").ends_with(" 302:1  "), "{report:?}");
    assert!(row(&report, "Success").ends_with(" 100.00%"), "{report:?}");
    let (_, report) = reported(&demo, "/redirect/2", &format!("{flags} -redirects=0"));
    assert!(row(&report, "Status Codes").ends_with(" 0:1  "), "{report:?}");
    assert!(report.stdout.contains("stopped after 0 redirects"), "{report:?}");
}

#[test]
fn a_signal_ends_it_in_good_order() {
    let demo = demo();
    let mut attack =
        brunt("attack -rate=20 -output=x.gob").stdin(format!("GET {}/delay/200\n", demo.url()));
    let path = attack.path("x.gob");
    let running = attack.start();
    // The first records are there.
    while std::fs::metadata(&path).map_or(0, |file| file.len()) == 0 {
        std::thread::yield_now();
    }
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    let report = brunt("report").word(&path).told();
    assert!(row(&report, "Success").ends_with(" 100.00%"), "{report:?}");
}

#[test]
fn thresholds_are_exit_code_99() {
    let demo = demo();
    let flags = "-rate=20 -duration=500ms -threshold success>99%";
    let (told, _) = reported(&demo, "/ping", flags);
    assert_eq!(told.code, 0, "{told:?}");
    let (told, _) = reported(&demo, "/status/500", flags);
    assert!(told.code == 99 && told.stderr.contains("✗ success>99%: 0"), "{told:?}");
}

#[test]
fn a_load_that_missed_its_rate_is_told_with_the_reason() {
    let demo = demo();
    let (told, _) = reported(&demo, "/delay/200", "-rate=50 -duration=1s -max-workers=2");
    assert_eq!(told.code, 0);
    assert!(
        told.stderr.contains("were never begun") && told.stderr.contains("-max-workers"),
        "{told:?}"
    );
}

#[test]
fn what_is_wrong_is_told_with_the_exit_code_of_vegeta() {
    for (flags, targets, code, said) in [
        ("-rate=x", "", 2, "invalid value \"x\" for flag -rate: "),
        ("-rate=5/", "", 2, "for flag -rate: "),
        ("-rate=2000000000/s", "", 2, "for flag -rate: "),
        ("-nonsense", "", 2, "flag provided but not defined: -nonsense"),
        ("-format=xml", "", 2, "format \"xml\" isn't one of [http, json]"),
        ("-duration=5", "", 2, "for flag -duration: "),
        ("-duration=-5s", "GET http://127.0.0.1:1/", 1, "-duration must not be negative"),
        ("-rate=0", "GET http://127.0.0.1:1/", 1, "-rate=0 requires setting -max-workers"),
        ("-pacer=linear", "GET http://127.0.0.1:1/", 1, "the linear pacer needs slope"),
        ("", "", 1, "no targets to attack"),
        ("", "GET", 1, "bad target: GET (line 1)"),
        ("-format=json", "{\"url\":\"x\"}", 1, "target: required method is missing (line 1)"),
        ("", "GET http://a\n@nothing.txt", 1, "bad body: open nothing.txt: "),
        ("-targets=nothing.txt", "", 1, "open nothing.txt: "),
        ("-body=nothing.txt", "GET http://a", 1, "open nothing.txt: "),
        ("-output=no/such/folder", "GET http://a", 1, "open no/such/folder: "),
        ("-cert=nothing.pem", "GET http://a", 1, "open nothing.pem: "),
        ("-resolvers=dns.test", "GET http://a", 1, "is no IP address, with or without a port"),
        ("-prometheus-addr=nowhere", "GET http://a", 1, "-prometheus-addr nowhere: "),
        ("file", "GET http://a", 1, "brunt attack takes no files"),
    ] {
        let line = format!("attack -targets=t.txt {flags}");
        let told = brunt(&line).file("t.txt", targets).told();
        assert!(told.code == code && told.stderr.contains(said), "{flags}: {told:?}");
        assert_eq!(told.stdout, "", "{flags}");
        let times = told.stderr.matches("open nothing").count();
        assert!(times <= 1, "said {times} times: {}", told.stderr);
    }
}

#[test]
fn lazy_targets_end_it_and_a_bad_one_is_an_error() {
    let demo = demo();
    let text = format!("GET {0}/ping\nGET {0}/ping\nGET {0}/ping", demo.url());
    let mut attack = brunt("attack -lazy -rate=1000 -output=x.gob").stdin(&text);
    let told = attack.told();
    assert_eq!(told.code, 0, "{told:?}");
    let report = brunt("report").word(attack.path("x.gob")).told();
    assert!(row(&report, "Status Codes").ends_with(" 200:3  "), "{report:?}");
    let told = brunt("attack -lazy -output=x.gob").stdin(format!("{text}\n\nnonsense")).told();
    assert!(told.code == 1 && told.stderr.contains("bad target: nonsense (line 5)"), "{told:?}");
}

/// A name server that knows every name, as 127.0.0.1 for as long as asked, and counts what it is asked (RFC 1035).
fn name_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("an address");
    let asked = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut packet = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut packet) {
            let labels =
                packet[12..length].iter().position(|byte| *byte == 0).expect("a name's end");
            let end = 12 + labels + 5;
            let is_ipv4 = packet[end - 4..end - 2] == [0, 1];
            count.fetch_add(1, Ordering::Relaxed);
            // An answer, recursion available, no error; one question, one address or none.
            let mut answer = packet[..2].to_vec();
            answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_ipv4), 0, 0, 0, 0]);
            answer.extend(&packet[12..end]);
            if is_ipv4 {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
            }
            socket.send_to(&answer, from).expect("loopback");
        }
    });
    (address, asked)
}

#[test]
fn names_are_asked_of_the_servers_that_are_given_and_as_often_as_is_said() {
    let demo = demo();
    let port = demo.url().rsplit(':').next().expect("a port").to_owned();
    let hit = |flags: &str| {
        let mut attack = brunt(&format!("attack -output=x.gob -rate=20 -duration=1s {flags}"))
            .stdin(format!("GET http://target.brunt.test:{port}/ping\n"));
        let told = attack.told();
        assert_eq!(told.code, 0, "{told:?}");
        brunt("report").word(attack.path("x.gob")).told()
    };
    let (server, asked) = name_server();
    let report = hit(&format!("-resolvers={server} -keepalive=false"));
    assert!(row(&report, "Status Codes").ends_with(" 200:20  "), "{report:?}");
    let once = asked.swap(0, Ordering::Relaxed);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // For both kinds of address.
    assert!((1..=2 * cores).contains(&once), "asked {once} times on {cores} cores");
    // Two in turns, and no cache.
    let (second, asked_too) = name_server();
    let report = hit(&format!("-resolvers={server},{second} -keepalive=false -dns-ttl=-1"));
    assert!(row(&report, "Status Codes").ends_with(" 200:20  "), "{report:?}");
    let (first, second) = (asked.load(Ordering::Relaxed), asked_too.load(Ordering::Relaxed));
    assert!(
        first + second == 40 && first.abs_diff(second) <= 2 * cores,
        "{first} and {second} times"
    );
}

#[test]
fn a_name_server_that_never_answers_fails_hits_and_ends() {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let server = silent.local_addr().expect("an address");
    let flags =
        format!("attack -output=x.gob -rate=2 -duration=1s -timeout=500ms -resolvers={server}");
    let mut attack = brunt(&flags).stdin("GET http://target.brunt.test/\n");
    let told = attack.told();
    assert_eq!(told.code, 0, "{told:?}");
    let report = brunt("report").word(attack.path("x.gob")).told();
    assert!(row(&report, "Status Codes").ends_with(" 0:2  "), "{report:?}");
}
