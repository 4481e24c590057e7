use std::io::Write as _;

use super::*;

const COMBINED: &str = r#"192.0.2.1 - - [26/Nov/2026:10:00:00 +0000] "GET /a?x=1&token=s3cr3t HTTP/1.1" 200 12 "https://a.test/?k=1" "Mozilla/5.0 (X; \"Y\")"
192.0.2.2 - ann [26/Nov/2026:10:00:00 +0000] "POST /login HTTP/1.1" 302 0 "-" "curl/8"
192.0.2.1 - - [26/Nov/2026:10:00:02 +0000] "HEAD /b%20c HTTP/2.0" 404 0 "-" "Mozilla/5.0 (X; \"Y\")"
"\x16\x03" garbage?password=hidden
192.0.2.3 - - [26/Nov/2026:11:00:03 +0100] "GET /\x22q HTTP/1.1" 200 5
192.0.2.3 - - [26/Nov/2026:10:00:03 +0000] "-" 408 0 "-" "-"
"#;

fn base() -> Options {
    let base = Some(Url::parse("http://127.0.0.1:8080/v1/").unwrap());
    Options { base, ..Options::default() }
}

fn written(log: &[u8], options: &Options) -> (String, String, Tally) {
    let (mut out, mut pacer) = (Vec::new(), Vec::new());
    let tally = targets(log, options, &mut out, &mut pacer).expect("a log");
    (String::from_utf8(out).unwrap(), String::from_utf8(pacer).unwrap(), tally)
}

fn hosts(log: &str) -> Vec<String> {
    let (out, ..) = written(log.as_bytes(), &Options::default());
    out.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_combined_format_is_targets_and_their_timing() {
    let (out, pacer, tally) = written(COMBINED.as_bytes(), &base());
    let base = "http://127.0.0.1:8080/v1";
    assert_eq!(
        out,
        format!("GET {base}/a?x=1&token=REDACTED\n\nHEAD {base}/b%20c\n\nGET {base}/%22q\n\n")
    );
    assert!(pacer.ends_with("0s 1/s\n1s 1/s\n1s 0/s\n2s 0/s\n2s 1/s\n4s 1/s\n"), "{pacer}");
    assert_eq!((tally.lines, tally.requests, tally.malformed, tally.secrets), (6, 3, 2, 1));
    let notes = tally.notes().join("\n");
    assert!(notes.contains("1 POST") && notes.contains("the first is line 4"), "{notes}");
    assert!(!notes.contains("hidden"), "{notes}");
}

#[test]
fn gzip_is_unpacked() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(COMBINED.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    assert_eq!(written(&packed, &base()), written(COMBINED.as_bytes(), &base()));
}

#[test]
fn targets_may_be_json() {
    let options = Options { format: Format::Json, ..base() };
    let (out, ..) = written(COMBINED.as_bytes(), &options);
    assert!(out.starts_with("{\"method\":\"GET\",\"url\":\"http://127.0.0.1:8080/v1/a"), "{out}");
}

#[test]
fn a_virtual_host_is_the_host() {
    let line = "shop.test:80 192.0.2.1 - - [26/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"-\"";
    assert_eq!(hosts(line), ["GET https://shop.test:80/"]);
}

#[test]
fn json_of_four_servers() {
    let nginx = r#"{"time_local":"26/Nov/2026:10:00:00 +0000","remote_addr":"192.0.2.1","request":"GET /n?a=1 HTTP/1.1","status":"200","host":"a.test"}"#;
    let parts = r#"{"time":"2026-11-26T10:00:00+00:00","request_method":"GET","uri":"/n","args":"a=1","http_host":"a.test","scheme":"http","status":200}"#;
    let caddy = r#"{"level":"info","ts":1795687200.25,"request":{"remote_ip":"192.0.2.1","method":"GET","host":"a.test:8443","uri":"/c","tls":{},"headers":{"User-Agent":["x"]}},"duration":0.2,"status":200}"#;
    let traefik = r#"{"ClientHost":"192.0.2.1","DownstreamStatus":200,"RequestHost":"a.test","RequestMethod":"GET","RequestPath":"/t?q=2","RequestScheme":"https","StartUTC":"2026-11-26T10:00:00.123456789Z"}"#;
    let envoy = r#"{"start_time":"2026-11-26T10:00:00.123Z","method":"GET","path":"/e","authority":"a.test","response_code":200}"#;
    let all = [nginx, parts, caddy, traefik, envoy].join("\n");
    assert_eq!(
        hosts(&all),
        [
            "GET https://a.test/n?a=1",
            "GET http://a.test/n?a=1",
            "GET https://a.test:8443/c",
            "GET https://a.test/t?q=2",
            "GET https://a.test/e"
        ]
    );
}

#[test]
fn cloudfront_names_its_columns() {
    let log = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken\n2026-11-26\t10:00:00\tFRA2\t9\t192.0.2.1\tGET\td1.cloudfront.test\t/x.html\t200\t-\tA%20b\tp=1&Signature=abc\t-\tHit\tid==\twww.a.test\thttps\t5\t0.010\n";
    assert_eq!(hosts(log), ["GET https://www.a.test/x.html?p=1&Signature=REDACTED"]);
}

#[test]
fn a_load_balancer_has_whole_addresses() {
    let log = "h2 2026-11-26T10:00:01.5Z app/lb/1 192.0.2.1:2817 10.0.0.1:80 0.000 0.4 0.000 200 200 34 366 \"GET https://www.a.test:443/p?x=1 HTTP/2.0\" \"agent x\" ECDHE TLSv1.2 arn:x \"Root=1\" \"www.a.test\" \"arn:y\" 0 2026-11-26T10:00:01.1Z \"forward\" \"-\" \"-\" \"10.0.0.1:80\" \"200\" \"-\" \"-\"\nhttp 2026-11-26T10:00:02Z app/lb/1 192.0.2.1:2817 - -1 -1 -1 400 - 0 0 \"- http://a.test:80- -\" \"-\" - - - \"-\" \"-\" \"-\" - 2026-11-26T10:00:01.1Z \"-\" \"-\" \"-\" \"-\" \"-\" \"-\" \"-\"\n";
    let (out, _, tally) = written(log.as_bytes(), &Options::default());
    assert_eq!(out, "GET https://www.a.test/p?x=1\n\n");
    assert_eq!(tally.format, "ALB");
}

#[test]
fn the_first_clients_are_a_session() {
    let (session, tally) = session(COMBINED.as_bytes(), &base()).unwrap();
    let steps: Vec<_> = session.recording.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["client 1", "client 2"]);
    let sent: Vec<_> = session.recording.exchanges.iter().map(|own| own.sent.as_secs()).collect();
    assert_eq!(sent, [0, 2, 3]);
    assert_eq!(tally.requests, 3);
    assert_eq!(session.plan.secrets[0].recorded, "s3cr3t");
    let options = Options { sessions_max: 1, requests_max: 1, ..base() };
    let (session, tally) = super::session(COMBINED.as_bytes(), &options).unwrap();
    assert_eq!((session.recording.exchanges.len(), tally.beyond), (1, 2));
}

#[test]
fn faults_name_a_remedy() {
    let fault = |log: &str, options: &Options| {
        targets(log.as_bytes(), options, &mut Vec::new(), &mut Vec::new()).unwrap_err().to_string()
    };
    assert!(
        fault(COMBINED, &Options::default())
            .contains("line 1: the log does not tell the host; say where")
    );
    assert!(fault("", &base()).contains("empty"));
    assert!(fault("hello\nworld\n", &base()).contains("no line is of a known format"));
    let post = COMBINED.lines().nth(1).unwrap();
    assert!(fault(post, &base()).contains("no requests with GET, HEAD"));
    assert!(fault("\u{1f}\u{8b}", &base()).contains("known format"));
    let torn = targets(&[0x1F_u8, 0x8B, 8, 0][..], &base(), &mut Vec::new(), &mut Vec::new());
    assert!(matches!(torn, Err(Error::Read(_))), "{torn:?}");
}

#[test]
fn a_line_without_end_is_bounded() {
    let log = std::io::repeat(b'a').take(3 << 20).chain(&b"\n"[..]).chain(COMBINED.as_bytes());
    let mut out = Vec::new();
    let tally = targets(log, &base(), &mut out, &mut Vec::new()).unwrap();
    assert_eq!((tally.requests, tally.malformed), (3, 3));
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_line_ends(line in "(\\{|#Fields: |h2 2026-11-26T10:00:00Z |1 - - \\[26/Nov/2026:10:00:00 [+]0000\\] )?[ -~\t\n]{0,80}") {
            let _ = targets(line.as_bytes(), &base(), &mut Vec::new(), &mut Vec::new());
            let _ = super::session(line.as_bytes(), &base());
        }
    }
}
