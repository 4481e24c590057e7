//! HAR files as each exporter writes them. The files are our own, in the manner of each.

use std::time::Duration;

use brunt_traffic::{Body, Exchange, Recording, Resource, Side, charset, cookies, har, multipart};

fn file(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/dialects/{name}.har", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("a file beside the test")
}

fn read(name: &str) -> Recording {
    har::read(&file(name)).expect("a HAR file")
}

fn sent(exchange: &Exchange) -> String {
    let body = exchange.request.body.read().expect("it has a body");
    String::from_utf8_lossy(&body).into_owned()
}

fn text(exchange: &Exchange) -> Option<String> {
    let response = exchange.response.as_ref()?;
    charset::text(&response.body, &response.headers).map(std::borrow::Cow::into_owned)
}

fn numbers(recording: &Recording) -> Vec<usize> {
    recording.exchanges.iter().map(|exchange| exchange.number).collect()
}

fn why_absent(exchange: &Exchange) -> String {
    match exchange.response.as_ref().map(|response| &response.body) {
        Some(Body::Absent { why, .. }) => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn chrome_has_sockets_events_caches_and_urls_of_no_server() {
    let recording = read("chrome");
    assert_eq!(recording.origin, "HAR of Chrome 156");
    assert_eq!(recording.began, Some(1_795_687_200));
    assert_eq!(numbers(&recording), [0, 2, 3, 4, 5, 6]);
    let names: Vec<_> = recording.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["/items/{id}", "POST /upload"]);
    let [page, logo, upload, socket, events, late] = &recording.exchanges[..] else { panic!() };

    assert_eq!(page.request.url.as_str(), "https://shop.test/items/4711");
    assert_eq!(page.request.version.as_deref(), Some("h3"));
    assert_eq!(page.request.headers.get("sec-ch-ua-platform"), Some("\"Linux\""));
    assert!(page.request.headers.get(":authority").is_none());
    assert_eq!(page.done, Duration::from_micros(81_250));
    assert_eq!(text(page).as_deref(), Some("<title>café</title>"));
    let response = page.response.as_ref().expect("a response");
    assert_eq!(response.body.size(), Some(19), "in the charset that the header names");
    assert_eq!(cookies::set(&response.headers).count(), 2);

    assert_eq!((logo.resource, text(logo)), (Some(Resource::Image), None));
    assert_eq!(logo.response.as_ref().map(|response| response.body.size()), Some(Some(4)));

    let parts =
        multipart::of(&upload.request.headers, &upload.request.body.read().expect("a body"));
    let parts = parts.expect("parts");
    assert_eq!((parts[1].name.as_str(), parts[1].range.len()), ("file", 10));
    assert_eq!(upload.request.body.size(), Some(174), "as many bytes as were sent");
    let location = upload.response.as_ref().and_then(|response| response.headers.get("location"));
    assert_eq!(location, Some("/done"));

    assert_eq!(socket.resource, Some(Resource::WebSocket));
    let messages: Vec<_> =
        socket.messages.iter().map(|m| (m.from, m.is_text, m.at, m.data.to_vec())).collect();
    let at = Duration::from_millis;
    assert_eq!(messages[0], (Side::Client, true, at(6500), b"hello".to_vec()));
    assert_eq!(messages[1..], [(Side::Server, false, at(6750), vec![0, 1, 2])]);

    assert_eq!(events.events.len(), 2);
    assert_eq!(
        (events.events[0].kind.as_str(), events.events[0].data.as_str()),
        ("notice", "a\nb")
    );
    let stream = "id: 1\nevent: notice\ndata: a\ndata: b\n\ndata: c\n\n";
    assert_eq!(text(events).as_deref(), Some(stream));

    assert_eq!(
        (late.response.is_none(), late.failure.as_deref()),
        (true, Some("net::ERR_ABORTED"))
    );
    let counts: Vec<_> = recording.left_out.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [2, 1, 1, 1], "{:?}", recording.left_out);
}

#[test]
fn firefox_has_no_times_no_bodies_and_another_order() {
    let recording = read("firefox");
    assert_eq!(recording.origin, "HAR of Firefox 140.0");
    assert_eq!(numbers(&recording), [1, 0, 2]);
    let names: Vec<_> = recording.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["Log in", "Your orders"]);
    let [page, login, bytes] = &recording.exchanges[..] else { panic!() };
    assert_eq!(text(page).as_deref(), Some("✓ ok"));
    assert_eq!(login.sent, Duration::from_millis(1900));
    assert_eq!(
        login.done.saturating_sub(login.sent),
        Duration::from_millis(50),
        "the sum of its phases"
    );
    assert_eq!(sent(login), "user=ada%40b&pass=a+b%25c");
    assert_eq!(login.request.headers.get("cookie"), Some("sid=x y"));
    assert_eq!(login.request.version.as_deref(), Some("h2"));
    let response = login.response.as_ref().expect("a response");
    assert_eq!(response.headers.get("set-cookie"), Some("sid=new; Path=/"));
    assert_eq!(response.body.size(), Some(1234));
    assert_eq!(why_absent(login), "the HAR file says: Response bodies are not included.");
    let body = bytes.request.body.read().expect("a body");
    assert_eq!(body.as_ref(), [0, 0xff, 0x80, b'a', b'b'], "letters that are bytes");
}

#[test]
fn safari_may_leave_bodies_packed() {
    let recording = read("safari");
    assert_eq!(recording.origin, "HAR of Safari 18");
    assert!(recording.steps.is_empty(), "one page is no step");
    assert_eq!(text(&recording.exchanges[0]).as_deref(), Some("hello"));
}

#[test]
fn charles_has_connects_and_zones_without_a_colon() {
    let recording = read("charles");
    assert_eq!(recording.began, Some(1_795_687_201));
    let [only] = &recording.exchanges[..] else { panic!() };
    assert_eq!(sent(only), "{\"a\":1}");
    assert_eq!(only.request.headers.get("content-type"), Some("application/json"));
    assert_eq!(only.request.headers.get("accept"), Some("*/*"), "quotes that an exporter added");
    assert_eq!(text(only).as_deref(), Some("{}"));
    assert_eq!(recording.left_out, [("CONNECT requests to proxies".to_owned(), 1)]);
}

#[test]
fn groups_of_k6_studio_are_steps_and_doubles_stay() {
    let recording = read("studio");
    assert_eq!(recording.steps[0].name, "Default group");
    assert_eq!(numbers(&recording), [0, 1]);
    assert_eq!(recording.exchanges[0].request.method, "GET");
    assert_eq!(why_absent(&recording.exchanges[1]), "the HAR file has no body for it");
}

#[test]
fn mitmproxy_has_lists_of_parts_and_sockets_under_http() {
    let recording = read("mitmproxy");
    let [upload, socket] = &recording.exchanges[..] else { panic!() };
    let body = upload.request.body.read().expect("a body");
    let parts = multipart::of(&upload.request.headers, &body).expect("parts");
    let read: Vec<_> = parts
        .iter()
        .map(|part| (part.name.as_str(), part.file_name.as_deref(), &body[part.range.clone()]))
        .collect();
    assert_eq!(read, [("a", None, &b"1"[..]), ("f", Some("x\"y.txt"), &b"text"[..])]);
    assert_eq!(socket.request.url.as_str(), "ws://shop.test/ws");
    assert_eq!(socket.messages[0].at, Duration::from_micros(1_376_544));
}

#[test]
fn playwright_keeps_bodies_in_files_beside_and_its_tabs_are_no_steps() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("0a1b.html"), "<p>there").expect("a file");
    let recording = har::read_beside(&file("playwright"), Some(folder.path())).expect("a HAR");
    assert_eq!(recording.origin, "HAR of Playwright 1.65.1 with chromium 156.0");
    assert!(recording.steps.is_empty());
    let [page, other, upload] = &recording.exchanges[..] else { panic!() };
    assert_eq!(text(page).as_deref(), Some("<p>there"));
    assert!(why_absent(other).contains("is not beside the HAR file"), "no way out of the folder");
    assert_eq!(upload.failure.as_deref(), Some("net::ERR_CONNECTION_REFUSED"));
    assert_eq!(upload.request.body.size(), Some(923));
    assert!(upload.request.body.read().is_err());
    assert!(why_absent(&read("playwright").exchanges[0]).contains("0a1b.html"));
}

#[test]
fn entries_without_times_and_entries_that_are_none_are_no_error() {
    let recording = read("insomnia");
    assert_eq!((recording.began, numbers(&recording)), (None, vec![0, 2]));
    let first = &recording.exchanges[0];
    assert_eq!(first.request.body.read().expect("a body").as_ref(), [0, 1, 0xff]);
    assert_eq!(recording.exchanges[1].sent, first.done, "one after the other");
    let counts: u64 = recording.left_out.iter().map(|(_, count)| count).sum();
    assert_eq!(counts, 4, "{:?}", recording.left_out);
}
