//! The page of a run, in a real browser: what it says is what the run file says.

use std::path::Path;

use crate::support::{Told, brunt};

pub(crate) mod browser;

use self::browser::{cell, dom, figure};

/// A script with names that are no markup.
const SCRIPT: &str = "import http from 'k6/http';\n\
    import { check, group, sleep } from 'k6';\n\
    import { Trend } from 'k6/metrics';\n\
    const mine = new Trend('mine');\n\
    export const options = {\n\
      scenarios: { one: { executor: 'constant-vus', vus: 2, duration: '3s' } },\n\
      thresholds: { http_req_duration: ['p(95)<60000'] },\n\
    };\n\
    export default function () {\n\
      group('<script>alert(1)</script>', () => {\n\
        const answer = http.get(`${__ENV.DEMO_URL}/status/200`, { tags: { name: '<img src=x onerror=alert(2)>' } });\n\
        check(answer, { '</script><b>fine': (r) => r.status === 200 });\n\
      });\n\
      http.get(`${__ENV.DEMO_URL}/status/500`, { tags: { name: '\\u202e\"broken\\'' } });\n\
      mine.add(1, { tag: '</data>' });\n\
      sleep(0.05);\n\
    }\n";

/// A number of a query.
fn sql(file: &Path, query: &str) -> f64 {
    let connection = rusqlite::Connection::open(file).expect("a run file is a database");
    connection.query_row(query, [], |row| row.get(0)).expect(query)
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    let near = (found - expected).abs() <= 1e-9 * expected.abs();
    assert!(near, "{found} on the page, {expected} in the run file");
}

fn said(told: &Told) {
    assert_eq!(told.code, 0, "{told:?}");
}

#[test]
fn head_and_requests_say_what_the_run_file_says() {
    let mut run =
        brunt("run --quiet --demo --out run=a.brunt --report a.html s.js").file("s.js", SCRIPT);
    said(&run.told());
    let (file, page) = (run.path("a.brunt"), dom(&run.path("a.html")));
    let count = sql(
        &file,
        "SELECT sum(s.sum) FROM slice s JOIN series ON series.id = series JOIN metric m ON m.id = metric
         WHERE m.name = 'http_reqs'",
    );
    let seconds = sql(&file, "SELECT duration / 1e9 FROM run");
    assert_near(figure(&page, "requests"), count);
    assert_near(figure(&page, "rate"), count / seconds);
    assert_near(figure(&page, "failed"), 0.5);
    assert_near(figure(&page, "peak VUs"), 2.0);
    let of = |stat: &str| {
        let query = format!(
            "SELECT {stat} FROM slice s JOIN series ON series.id = series JOIN metric m ON m.id = metric
             WHERE m.name = 'http_req_duration'"
        );
        sql(&file, &query)
    };
    assert_near(cell(&page, "count"), count);
    assert_near(cell(&page, "min"), of("min(s.min)"));
    assert_near(cell(&page, "max"), of("max(s.max)"));
    assert_near(cell(&page, "mean"), of("sum(s.sum) / sum(s.count)"));
    // Names are text: as markup they would be elements of the document, closed and with quotes.
    for markup in ["<b>fine</b>", "<img src=\"x\""] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("&lt;img src=x onerror=alert(2)&gt;"));
}

#[test]
fn a_report_alone_leaves_no_run_file() {
    let mut run =
        brunt("run --quiet --demo -d 1s s.js").env("BRUNT_REPORT", "a.html").file("s.js", SCRIPT);
    said(&run.told());
    assert!(run.read("a.html").starts_with("<!doctype html>"));
    let folder = run.path(".");
    let left =
        std::fs::read_dir(folder).expect("its folder").map(|entry| entry.expect("it").file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("brunt")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a thread of the test's own, not a core")]
fn an_end_at_once_leaves_nothing_of_a_report() {
    let script = "import { sleep } from 'k6';\nexport default function () { console.log('at work'); sleep(100); }\n\
        export function teardown() { console.log('taken down'); sleep(50); }";
    let mut run = brunt("run -q --log-output stdout --report a.html s.js").file("s.js", script);
    let mut running = run.start();
    running.line_with("at work");
    running.signal("INT");
    running.line_with("taken down");
    // Sooner it would be an echo of the first; and so it may be on a machine where the first is met late: then comes another.
    let status = format!("/proc/{}/status", running.id());
    let is_over = || std::fs::read_to_string(&status).is_ok_and(|text| text.contains("State:\tZ"));
    for _ in 0..100 {
        std::thread::sleep(std::time::Duration::from_millis(300));
        if is_over() {
            break;
        }
        running.signal("INT");
    }
    assert_eq!(running.wait().code, 105);
    let folder = std::fs::read_dir(run.path(".")).expect("its folder");
    let left: Vec<_> = folder.map(|entry| entry.expect("it").file_name()).collect();
    assert_eq!(left, ["s.js"]);
}

#[test]
fn a_report_that_cannot_be_is_told_before_the_test() {
    let told = brunt("run --quiet --report nowhere/a.html s.js").file("s.js", SCRIPT).told();
    assert_eq!(told.code, 255, "{told:?}");
    assert!(told.stderr.contains("--report: ") && told.stdout.is_empty(), "{told:?}");
    let mut run = brunt("run --quiet --report a.html s.js").file("s.js", "throw new Error('no');");
    assert_eq!(run.told().code, 107);
    assert!(!run.path("a.html").exists(), "a run that could not begin has no report");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_opened_when_there_is_a_page_for_it() {
    let script = format!("console.log('begun');\n{SCRIPT}");
    let mut run =
        brunt("run -q --log-output stdout --demo -d 1s --report a.pipe s.js").file("s.js", script);
    let pipe = run.path("a.pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is a mkfifo command").success());
    let mut running = run.start();
    // The pipe has no reader yet.
    running.line_with("begun");
    let page = std::fs::read_to_string(&pipe).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert_eq!(running.wait().code, 0);
}

#[test]
fn a_page_of_a_stretch_begins_with_it() {
    let mut run = brunt("run --quiet --demo --out run=a.brunt s.js").file("s.js", SCRIPT);
    said(&run.told());
    let file = run.path("a.brunt");
    let page = run.path("part.html");
    let told = brunt("report --format html --from 1s --to 2s -o").word(&page).word(&file).told();
    said(&told);
    let count = sql(
        &file,
        "SELECT sum(s.sum) FROM slice s JOIN series ON series.id = series JOIN metric m ON m.id = metric
         WHERE m.name = 'http_reqs' AND n = 1",
    );
    assert_near(figure(&dom(&page), "requests"), count);
    let told = brunt("report --format html -o").word(&file).word(&file).told();
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.stderr.contains("would overwrite"), "{told:?}");
    // To standard output it is the whole run's.
    let told = brunt("report --format=html").word(&file).told();
    assert!(told.stdout.starts_with("<!doctype html>") && told.stdout.ends_with("</html>\n"));
}

/// A hit each 10 ms, every tenth of them an error.
fn hits(attack: &str, count: u64) -> String {
    let line = |n: u64| {
        let (code, error) =
            if n % 10 == 9 { (0, "dial tcp: <b>connection refused") } else { (200, "") };
        format!(
            "{{\"attack\":\"{attack}\",\"seq\":{n},\"code\":{code},\"timestamp\":\"2026-11-21T18:59:{:02}.{:02}Z\",\
             \"latency\":{},\"bytes_in\":5,\"error\":\"{error}\",\"body\":null,\"method\":\"GET\",\
             \"url\":\"http://127.0.0.1/<i>\",\"headers\":null,\"planned\":{}}}\n",
            n / 100,
            n % 100,
            1_000_000 * (1 + n % 5),
            1_795_287_540_000_000_000 + n * 10_000_000,
        )
    };
    (0..count).map(line).collect()
}

#[test]
fn attacks_are_drawn_on_the_same_page() {
    let mut call = brunt("plot -title <Mine> -output p.html a.json b.json")
        .file("a.json", hits("old", 500))
        .file("b.json", hits("new", 500));
    said(&call.told());
    let page = dom(&call.path("p.html"));
    assert!(page.contains("<title>&lt;Mine&gt;</title>"));
    assert_near(figure(&page, "hits"), 1000.0);
    assert_near(figure(&page, "failed"), 0.1);
    for name in ["GET old · http://127.0.0.1/&lt;i&gt;", "GET new · http://127.0.0.1/&lt;i&gt;"] {
        assert!(page.contains(name), "{name}");
    }
    assert!(page.contains("&lt;b&gt;connection refused"));

    let mut call =
        brunt("report -type=html -threshold p99<1ms -threshold success>80% -output r.html a.json")
            .file("a.json", hits("a", 500));
    let told = call.told();
    assert_eq!(told.code, 99, "{told:?}");
    let page = dom(&call.path("r.html"));
    assert_near(figure(&page, "hits"), 500.0);
    assert_near(cell(&page, "max"), 5.0);
    assert_near(cell(&page, "mean"), 3.0);
    assert!(page.contains("p99&lt;1ms") && page.contains("success&gt;80%"));
    for (flag, said) in
        [("-every=1s", "-every does not go with"), ("-buckets=[1ms]", "-buckets does not go")]
    {
        let told = brunt("report -type=html").word(flag).stdin("").told();
        assert_eq!(told.code, 1);
        assert!(told.stderr.contains(said), "{told:?}");
    }
}

#[test]
fn points_of_a_plot_are_as_many_as_asked_for() {
    let widths = |flag: &str| {
        let page = brunt("plot").word(flag).stdin(hits("a", 2000)).told().stdout;
        page.len()
    };
    assert!(widths("-threshold=10") < widths("-threshold=0"));
}
