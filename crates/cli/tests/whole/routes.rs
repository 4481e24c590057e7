//! Numbers per route, the time of iterations from their planned starts, and failures with their examples.

use serde_json::Value;

use crate::support::{Told, brunt};

/// Users by number, one path that fails, one that the script names, one that is judged otherwise.
const SCRIPT: &str = "import http from 'k6/http';\n\
    export const options = {\n\
      scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 20 } },\n\
      thresholds: {\n\
        'http_reqs{route:/anything/users/{id}}': ['count==40'],\n\
        'http_reqs{route:POST /status/{id}}': ['count==40'],\n\
        'http_req_duration{route:/anything/users/{id}}': ['p(95)<60000'],\n\
        'http_reqs{route:/anything/user/{id}}': ['count>=0'],\n\
      },\n\
    };\n\
    export default function () {\n\
      const base = __ENV.DEMO_URL;\n\
      http.get(`${base}/anything/users/${__VU * 1000 + __ITER}`);\n\
      http.post(`${base}/status/503`, 'x=1', { headers: { Authorization: 'Bearer hush-hush' } });\n\
      http.get(`${base}/anything/named/${Math.random()}`, { tags: { name: 'named by hand' } });\n\
      http.get(`${base}/status/404`, { responseCallback: http.expectedStatuses(404) });\n\
      http.get(http.url`${base}/anything/${__ITER}`);\n\
    }\n";

fn ran(flags: &str) -> (crate::support::Brunt, Told) {
    let line = format!("run -q --demo --no-color {flags} s.js");
    let mut run = brunt(&line).file("s.js", SCRIPT);
    let told = run.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    (run, told)
}

/// The cells of the row of a route in the section REQUESTS.
fn row<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.trim_start().starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no row {name}: {text}"));
    line.trim_start()[name.len()..].split_whitespace().collect()
}

#[test]
fn requests_are_told_apart_by_route_and_judged_by_it() {
    let (run, told) =
        ran("--out run=a.brunt --out json=o.json --out csv=o.csv --summary-export e.json");
    let text = &told.stdout;
    assert!(text.contains("█ REQUESTS"), "{text}");
    let users = row(text, "GET /anything/users/{id}");
    assert_eq!((users[0], users[2]), ("40", "0.00%"), "{text}");
    // The path of the two statuses is one route, and its methods two rows.
    assert_eq!(
        (row(text, "POST /status/{id}")[0], row(text, "POST /status/{id}")[2]),
        ("40", "100.00%")
    );
    assert_eq!(
        (row(text, "GET /status/{id}")[0], row(text, "GET /status/{id}")[2]),
        ("40", "0.00%")
    );
    assert_eq!(row(text, "GET named by hand")[0], "40");
    assert_eq!(row(text, "GET ${}/anything/${}")[0], "40");
    assert!(
        told.stderr.contains("saw nothing: no request was of the route /anything/user/{id}")
            && told.stderr.contains("did you mean /anything/users/{id}?"),
        "{}",
        told.stderr
    );
    // Whatever k6 writes is as k6 writes it.
    for file in ["o.json", "o.csv"] {
        let samples = run.read(file);
        // Submetrics of thresholds are described with the tags that the script wrote.
        let mut points = samples.lines().filter(|line| !line.contains("\"type\":\"Metric\""));
        assert!(!points.any(|line| line.contains("\"route\"")), "{file}");
        assert!(!samples.contains("http_req_bytes"), "{file}");
    }
    let export: Value = serde_json::from_str(&run.read("e.json")).unwrap();
    assert!(export.get("routes").is_none() && export.get("failures").is_none());
    // The file tells the same.
    let of = |format: &str| {
        brunt(&format!("report --format {format}")).word(run.path("a.brunt")).told().stdout
    };
    assert_eq!(of("text"), told.stdout);
    let json: Value = serde_json::from_str(&of("json")).unwrap();
    let users = json["routes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["route"] == "/anything/users/{id}");
    let users = users.unwrap_or_else(|| panic!("{}", json["routes"]));
    assert_eq!((&users["requests"], &users["outcomes"]["ok"]["count"]), (&40.into(), &40.into()));
    assert!(users["bytes_sent"].as_f64().unwrap() > 40.0 * 60.0, "{users}");
    assert!(users["bytes_received"].as_f64().unwrap() > 40.0 * 60.0, "{users}");
    let shares =
        json["routes"].as_array().unwrap().iter().map(|one| one["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(json["failures"][0]["count"], 40);
    assert!(of("csv").contains("route,default,requests,40"), "{}", of("csv"));
    assert!(of("markdown").contains("users/&#123;id&#125;</code> | 40 |"), "{}", of("markdown"));
}

#[test]
fn in_full_each_outcome_has_its_durations() {
    let (_, told) = ran("--summary-mode full");
    assert!(told.stdout.contains("received"), "{}", told.stdout);
    let (_, told) = ran("--no-routes --show-failures 0");
    assert!(
        !told.stdout.contains("REQUESTS") && !told.stdout.contains("FAILURES"),
        "{}",
        told.stdout
    );
    let (_, told) = ran("--summary-mode legacy");
    assert!(
        !told.stdout.contains("REQUESTS") && !told.stdout.contains("FAILURES"),
        "{}",
        told.stdout
    );
}

#[test]
fn the_summary_names_failures_with_a_line_that_asks_the_same() {
    for flags in ["", "--out run=a.brunt"] {
        let (_, told) = ran(flags);
        let text = &told.stdout;
        assert!(text.contains("█ FAILURES: 40"), "{text}");
        assert!(text.contains("✗ 40 × HTTP status 503: POST http://"), "{text}");
        let curl = text.lines().find(|line| line.trim_start().starts_with("curl -X POST"));
        let curl = curl.unwrap_or_else(|| panic!("{text}"));
        assert!(curl.contains("--data-raw x=1") && curl.contains("/status/503"), "{curl}");
        assert!(!text.contains("hush-hush") && curl.contains("***SECRET_REDACTED***"), "{curl}");
    }
    let dead = "import http from 'k6/http'; export default () => { http.get('http://127.0.0.1:1/x/17'); };";
    let told =
        brunt("run -q --no-color s.js").file("s.js", dead).env("K6_SHOW_FAILURES", "1").told();
    assert!(told.stdout.contains("(1212): GET http://127.0.0.1:1/x/{id}"), "{}", told.stdout);
    assert!(told.stdout.contains("curl -H 'User-Agent: "), "{}", told.stdout);
}

#[test]
fn a_file_names_routes_and_its_faults_are_told_with_their_place() {
    let patterns = "# by hand\nGET /anything/users/{user}\n/status/{rest...}\n";
    let mut run = brunt("run -q --demo --no-color --routes r.txt s.js")
        .file("r.txt", patterns)
        .file("s.js", SCRIPT.replace("'http_reqs{route:POST", "'http_reqs{x:"));
    let told = run.told();
    assert_eq!(row(&told.stdout, "GET /anything/users/{user}")[0], "40", "{}", told.stderr);
    assert_eq!(row(&told.stdout, "POST /status/{rest...}")[0], "40");
    for (file, said) in
        [(Some("GET users\n"), "--routes: r.txt:1:5: "), (None, "--routes: r.txt can't be read")]
    {
        let mut run = brunt("run -q --routes r.txt s.js").file("s.js", SCRIPT);
        if let Some(file) = file {
            run = run.file("r.txt", file);
        }
        let told = run.told();
        assert!(told.code == 104 && told.stderr.contains(said), "{} {}", told.code, told.stderr);
    }
    let told = brunt("run -q --show-failures x s.js").file("s.js", SCRIPT).told();
    assert!(told.stderr.contains("for --show-failures: expected 0 to 100"), "{}", told.stderr);
}

#[test]
fn a_great_many_urls_are_few_routes() {
    let script = "import http from 'k6/http';\n\
        export const options = { vus: 4, iterations: 4000, thresholds: { 'http_reqs{route:/anything/{id}/{hash}}': ['count>3000'] } };\n\
        export default function () {\n\
          const n = __VU * 100000 + __ITER;\n\
          http.get(`${__ENV.DEMO_URL}/anything/${n}/${(n * 2654435761).toString(16).padStart(12, '0')}0?t=${n}`);\n\
          http.get(`${__ENV.DEMO_URL}/anything/w${(n % 1000).toString(36).replace(/[0-9]/g, (d) => 'ghijklmnop'[d])}`);\n\
        }\n";
    let mut run = brunt("run -q --demo --no-color --summary-mode full --out run=a.brunt s.js")
        .file("s.js", script);
    let told = run.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stdout.contains("GET /anything/{id}/{hash}?t={id}"), "{}", told.stdout);
    assert!(told.stdout.contains("GET other"), "{}", told.stdout);
    let rows = told.stdout.lines().filter(|line| line.trim_start().starts_with("GET ")).count();
    assert!((100..=201).contains(&rows), "{rows} rows");
}

#[test]
fn iterations_are_told_from_their_planned_starts() {
    // One VU for iterations of 300 ms, ten a second: each begins later than the one before.
    let script = "import { sleep } from 'k6';\n\
        export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 10, duration: '2s', preAllocatedVUs: 1, maxVUs: 1 } } };\n\
        export default function () { sleep(0.3); }\n";
    let line = "run -q --no-color --out run=a.brunt --out json=o.json --summary-export e.json s.js";
    let mut run = brunt(line).file("s.js", script);
    let told = run.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    let lines: Vec<&str> = told.stdout.lines().map(str::trim_start).collect();
    let place = |name: &str| lines.iter().position(|line| line.starts_with(name));
    assert_eq!(
        place("iteration_duration_planned."),
        place("iteration_duration.").map(|at| at + 1),
        "{}",
        told.stdout
    );
    for file in ["o.json", "e.json"] {
        assert!(!run.read(file).contains("iteration_duration_planned"), "{file}");
    }
    let json = brunt("report --format json").word(run.path("a.brunt")).told().stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["planned"]["min"].as_f64().unwrap() >= 299.0, "{}", json["planned"]);
    assert!(json["planned"]["difference"]["avg"].as_f64().unwrap() >= 0.0, "{}", json["planned"]);
    assert!(!json["summary"].to_string().contains("iteration_duration_planned"));
    let legacy = brunt("run -q --summary-mode legacy s.js").file("s.js", script).told().stdout;
    assert!(!legacy.contains("iteration_duration_planned"), "{legacy}");
}

/// Off by itself, as every tag that k6 has not.
#[test]
fn the_system_tag_route_is_in_outputs_if_it_is_asked_for() {
    let tags = "--system-tags method,status,route --no-routes";
    let (run, told) = ran(&format!("--out json=o.json --out csv=o.csv {tags}"));
    let users = "/anything/users/{id}\"";
    let points = |run: &crate::support::Brunt| {
        let all = run.read("o.json");
        let points = all.lines().filter(|line| line.contains("\"type\":\"Point\""));
        points.collect::<Vec<_>>().join("\n")
    };
    let all = points(&run);
    let of_users = all.lines().filter(|line| line.contains(users)).count();
    // Nine samples each, of forty requests.
    assert_eq!(of_users, 9 * 40);
    let named = all.lines().find(|line| line.contains("named by hand")).expect("a point");
    let named: Value = serde_json::from_str(named).expect("JSON");
    assert_eq!(named["data"]["tags"]["route"], "named by hand");
    assert!(!all.contains("\"url\"") && !all.contains("\"name\":\"http"));
    let head = run.read("o.csv").lines().next().expect("a head").to_owned();
    assert!(head.contains(",method,route,status,"), "{head}");
    // The thresholds on routes hold as without it; the section is left out.
    assert!(told.stderr.contains("saw nothing") && !told.stdout.contains("REQUESTS"), "{told:?}");
    // A tag of the script's own stays.
    let own = "import http from 'k6/http';\n\
        export default function () { http.get(`${__ENV.DEMO_URL}/anything/1`, { tags: { route: 'mine' } }); }\n";
    let mut run =
        brunt("run -q --demo --out json=o.json --system-tags route s.js").file("s.js", own);
    assert_eq!(run.told().code, 0);
    let all = points(&run);
    assert!(all.contains("\"route\":\"mine\"") && !all.contains("/anything"), "{all}");
    // Without it no output has one.
    let (run, _) = ran("--out json=o.json");
    assert!(!points(&run).contains("\"route\""));
}

#[test]
fn failed_requests_of_fasthttp_have_their_line_too() {
    let script = "import { Client, Request } from 'k6/x/fasthttp';\n\
        const client = new Client();\n\
        const headers = { Authorization: 'Bearer hush-hush', 'X-Part': 'a' };\n\
        const refused = new Request(`${__ENV.DEMO_URL}/status/503`, { headers, body: 'x=1' });\n\
        const dead = new Request('http://127.0.0.1:1/dead');\n\
        export const options = { vus: 1, iterations: 2 };\n\
        export default function () { client.post(refused); client.get(dead); client.get(new Request(`${__ENV.DEMO_URL}/ping`)); }\n";
    for flags in ["", "--out run=a.brunt"] {
        let mut run = brunt(&format!("run -q --no-color --demo {flags} s.js")).file("s.js", script);
        let told = run.told();
        let text = &told.stdout;
        assert!(text.contains("█ FAILURES: 4"), "{told:?}");
        assert!(text.contains(" http://127.0.0.1:1/dead\n    ✗"), "{text}");
        assert!(text.contains("curl -X POST") && text.contains("/status/503"), "{text}");
        assert!(!text.contains("hush-hush"), "{text}");
        if !flags.is_empty() {
            let sql = rusqlite::Connection::open(run.path("a.brunt")).expect("a database");
            let kept = "SELECT count(*) FROM exchange WHERE why = 'failure'";
            let kept = sql.query_row(kept, [], |row| row.get::<_, i64>(0)).expect("a number");
            assert_eq!(kept, 4);
        }
    }
}
