//! The proof by replay: `brunt convert --replay` against applications of the journeys, and `brunt correlate`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use brunt_demo::FormConfig;
use brunt_journeys::{Browser, Journey, Site, User};
use brunt_traffic::{Body, Recording};

use crate::support::{Brunt, Told, brunt};

/// The recording as a HAR file.
fn har(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    brunt_traffic::har::write(recording, &mut bytes).expect("a recording in memory is written");
    bytes
}

/// A conversion with its proof, without the pauses of the recording.
fn converted(recording: &Recording) -> Brunt {
    brunt("convert session.har --out out --replay --pause-threshold 1h")
        .file("session.har", har(recording))
}

/// Log in, filter the orders, log out, at the form application of the demo target.
fn orders(site: &Site) -> Recording {
    let mut browser = Browser::new(1);
    let page = browser.open(&format!("{}/app/login.xhtml", site.origins[0]));
    let form = page.form("#form").set("form:user", "anna").set("form:password", "secret");
    let page = browser.submit(form.add("form:submit", "Log in")).must_have("#logout");
    let form = page.form("#form").set("form:filter", "anvil").add("form:search", "Search");
    let page = browser.submit(form).must_have("#logout");
    let form = page.form("#logout").add("logout:submit", "Log out");
    let _ = browser.submit(form).must_have("input[type=password]");
    browser.taken().recording
}

/// The recording without the page's token of a request in any response: a script of it can only send the literal.
fn with_a_literal_token(recording: &Recording, request: usize) -> Recording {
    let mut recording = recording.clone();
    let text =
        |body: &Body| String::from_utf8_lossy(&body.read().expect("a body in memory")).into_owned();
    let sent = text(&recording.exchanges[request].request.body);
    let fields: Vec<(String, String)> = brunt_traffic::form::pairs(sent.as_bytes());
    let (_, token) = fields
        .into_iter()
        .find(|(name, _)| name.ends_with("ViewState"))
        .expect("the form has a token");
    for response in recording.exchanges.iter_mut().filter_map(|one| one.response.as_mut()) {
        let is_text = response.headers.media_type().contains("html");
        if is_text {
            let body = text(&response.body).replace(&token, "-");
            response.body = Body::Bytes(body.into());
        }
    }
    recording
}

/// The exchange of the POST that filters.
fn filter(recording: &Recording) -> usize {
    let is_it = |one: &brunt_traffic::Exchange| {
        one.request.method == "POST" && one.request.url.path() == "/app/orders.xhtml"
    };
    recording.exchanges.iter().position(is_it).expect("the journey filters")
}

/// The lines of `script.js` that the report names.
fn lines(told: &Told) -> Vec<usize> {
    let behind = told.stdout.split("script.js:").skip(1);
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    behind.filter_map(number).collect()
}

#[test]
fn journeys_through_the_form_application_are_proven() {
    for name in ["jsf-server", "jsf-client", "jakarta-partial"] {
        let journey = Journey::of(name);
        let site = journey.start(1);
        let recording = journey.record(&site, &User::new(0), 1).recording;
        let mut call = converted(&recording);
        let told = call.told();
        assert_eq!(told.code, 0, "{name}: {}\n{}", told.stdout, told.stderr);
        assert!(
            told.stdout.contains("\nproven: one user and two at once"),
            "{name}: {}",
            told.stdout
        );
        assert!(told.stderr.contains("replaying as two users"), "{name}: {}", told.stderr);
    }
}

#[test]
fn a_token_that_the_script_repeats_is_not_proven_and_its_line_is_named() {
    for soft_errors in [false, true] {
        let site = Site::demo(FormConfig { soft_errors, ..FormConfig::default() }, 1);
        let recording = orders(&site);
        let broken = with_a_literal_token(&recording, filter(&recording));
        site.renew(2);
        let mut call = converted(&broken);
        let told = call.told();
        assert_eq!(told.code, 99, "{soft_errors}: {}\n{}", told.stdout, told.stderr);
        assert!(told.stdout.contains("\nnot proven"), "{}", told.stdout);
        let script = call.read("out/script.js");
        let first = lines(&told).into_iter().find(|line| {
            let from = line.saturating_sub(1);
            script.lines().skip(from).take(3).any(|text| text.contains("/app/orders.xhtml"))
        });
        assert!(first.is_some(), "{}\n{script}", told.stdout);
    }
}

/// A server with one seat: who takes it while another has it is refused. Between taking and giving back lies a request that waits for
/// somebody else to come, for a while.
fn one_seat() -> String {
    // Whether the seat is taken, and how often it was asked for.
    let state = (Mutex::new((false, 0_u32)), Condvar::new());
    start(move |path| seat(&state, path))
}

/// Answers requests of a connection with a status and JSON, as `answer` says for their paths.
fn serve(stream: &TcpStream, answer: &dyn Fn(&str) -> (&'static str, String)) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
        }
        let (status, body) = answer(first.split(' ').nth(1).unwrap_or_default());
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = stream;
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn seat((state, changed): &(Mutex<(bool, u32)>, Condvar), path: &str) -> (&'static str, String) {
    let mut seat = state.lock().expect("no thread panics");
    let status = match path {
        "/take" => {
            seat.1 += 1;
            changed.notify_all();
            let was_taken = std::mem::replace(&mut seat.0, true);
            if was_taken { "409 Conflict" } else { "200 OK" }
        }
        "/wait" => {
            let count = seat.1;
            let patience = Duration::from_millis(500);
            let waited = changed.wait_timeout_while(seat, patience, |seat| seat.1 == count);
            drop(waited.expect("no thread panics"));
            "200 OK"
        }
        _ => {
            seat.0 = false;
            "200 OK"
        }
    };
    (status, "{\"seat\":1}".to_owned())
}

/// Two places have the same value in the first answer, and different ones later: only the second is good.
fn two_places() -> String {
    let given = Arc::new(Mutex::new(Vec::<String>::new()));
    start(move |path| {
        let mut given = given.lock().expect("no thread panics");
        if let Some((_, value)) = path.split_once('=') {
            let is_good = given.iter().any(|one| one == value);
            let status = if is_good { "200 OK" } else { "403 Forbidden" };
            return (status, "{\"used\":1}".to_owned());
        }
        let number = 0x5eed_0000_a1b2_c3d4_u64 + given.len() as u64 * 0x0101_0101;
        let good = format!("{number:016x}");
        let other = if given.is_empty() { good.clone() } else { good.replace('5', "6") };
        let answer = format!("{{\"a\":\"{other}\",\"b\":\"{good}\"}}");
        given.push(good);
        ("200 OK", answer)
    })
}

/// Starts a server on a free port, a thread for each connection; its origin.
fn start(answer: impl Fn(&str) -> (&'static str, String) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let origin = format!("http://{}", listener.local_addr().expect("its address"));
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || serve(&stream, &*answer));
        }
    });
    origin
}

#[test]
fn where_the_likeliest_source_fails_the_next_one_is_taken() {
    let origin = two_places();
    let mut browser = Browser::new(1);
    let ask = browser.fetch("GET", &format!("{origin}/give"));
    let value = browser.send(ask).must_be(200).leaf("/b");
    let ask = browser.fetch("GET", &format!("{origin}/use?key={value}"));
    let _ = browser.send(ask).must_be(200);
    let mut call = converted(&browser.taken().recording);
    let told = call.told();
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    assert!(told.stderr.contains("trying another source for "), "{}", told.stderr);
    assert!(
        told.stdout.contains("another source than the likeliest is used for"),
        "{}",
        told.stdout
    );
    let script = call.read("out/script.js");
    assert!(script.contains(".b)") && !script.contains(".a)"), "{script}");
}

#[test]
fn two_users_who_disturb_each_other_are_not_proven() {
    let origin = one_seat();
    let mut browser = Browser::new(1);
    for path in ["/take", "/wait", "/give"] {
        let ask = browser.fetch("GET", &format!("{origin}{path}"));
        let _ = browser.send(ask).must_be(200);
    }
    let told = converted(&browser.taken().recording).told();
    assert_eq!(told.code, 99, "{}\n{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("one user: 3 requests as recorded"), "{}", told.stdout);
    assert!(told.stdout.contains("two users at once disturb each other"), "{}", told.stdout);
    assert!(told.stdout.contains("GET /take answers 409, recorded 200"), "{}", told.stdout);
}

#[test]
fn without_a_server_nothing_is_proven() {
    let site = Site::demo(FormConfig::default(), 1);
    let recording = orders(&site);
    let origin = site.origins[0].clone();
    drop(site);
    let told = converted(&recording).told();
    assert_eq!(told.code, 99, "{}\n{}", told.stdout, told.stderr);
    let said = format!("not proven: no connection to {origin}");
    assert!(told.stdout.contains(&said), "{}", told.stdout);
}

#[test]
fn a_signal_ends_the_replay_and_leaves_nothing_behind() {
    let site = Site::demo(FormConfig::default(), 1);
    let mut recording = orders(&site);
    // A pause of minutes before the last request.
    let last = recording.exchanges.len() - 1;
    for exchange in &mut recording.exchanges[last - 1..] {
        exchange.sent += Duration::from_mins(20);
        exchange.done += Duration::from_mins(20);
    }
    let call = brunt("convert session.har --out out --replay").file("session.har", har(&recording));
    let temporary = call.path("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    let mut call = call.env("TMPDIR", &temporary.display().to_string());
    let running = call.start();
    let is_there = || std::fs::read_dir(&temporary).is_ok_and(|mut all| all.next().is_some());
    while !is_there() {
        std::thread::yield_now();
    }
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 105, "{}\n{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("not proven: a signal ended the replay"), "{}", told.stdout);
    assert!(!is_there());
    assert!(call.path("out/script.js").exists());
}

#[test]
fn correlate_tells_where_values_come_from_and_how_users_differ() {
    let journey = Journey::of("jsf-server");
    let (one, other) = (journey.start(1), journey.start(2));
    let (anna, bert) = (User::new(0), User::new(1));
    let first = journey.record(&one, &anna, 1).recording;
    let second = journey.record(&other, &bert, 2).recording;
    let with = |line: &str| {
        brunt(line)
            .file("a.har", har(&first))
            .file("b.har", har(&second))
            .file("no.har", "{}")
            .told()
    };
    let told = with("correlate a.har");
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("Forms filled from their pages"), "{}", told.stdout);
    let told = with("correlate a.har b.har");
    assert!(told.stdout.contains(" values differ, 0 unexplained"), "{}", told.stdout);
    assert_eq!(told.code, 0, "{}", told.stdout);
    let told = with("correlate --json a.har b.har");
    let json: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(json["unexplained"], 0);
    assert!(json["differences"].as_array().is_some_and(|all| !all.is_empty()));
    let told = with("correlate no.har");
    assert_eq!(told.code, 255);
    assert!(told.stderr.contains("no.har"), "{}", told.stderr);
}
