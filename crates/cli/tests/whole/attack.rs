//! `brunt attack`, as shells meet it.

use brunt_demo::{Demo, DemoConfig, DemoHandle};

use crate::support::{Told, brunt};

fn demo() -> DemoHandle {
    Demo::start(DemoConfig::fast()).expect("a demo target")
}

/// An attack on one route, reported as text.
fn reported(demo: &DemoHandle, route: &str, flags: &str) -> (Told, Told) {
    let mut attack = brunt(&format!("attack -output=x.gob {flags}"))
        .stdin(&format!("GET {}{route}\n", demo.url()));
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
        brunt("attack -rate=20 -output=x.gob").stdin(&format!("GET {}/delay/200\n", demo.url()));
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
    let told = brunt("attack -lazy -output=x.gob").stdin(&format!("{text}\n\nnonsense")).told();
    assert!(told.code == 1 && told.stderr.contains("bad target: nonsense (line 5)"), "{told:?}");
}
