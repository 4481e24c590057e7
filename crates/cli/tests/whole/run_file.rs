//! `--out run`, and what is made of its file.
#![expect(clippy::disallowed_methods, reason = "threads of the test's own, not a core")]

use std::path::Path;

use serde_json::Value;

use crate::support::{Told, brunt};

/// A failing route, a slow one, checks, groups, a header and a field that are secret.
const SCRIPT: &str = "import http from 'k6/http';\n\
    import { check, group } from 'k6';\n\
    import { Trend, Counter } from 'k6/metrics';\n\
    import secrets from 'k6/secrets';\n\
    const mine = new Trend('mine', true);\n\
    const sum = new Counter('sum');\n\
    export const options = {\n\
      scenarios: { one: { executor: 'shared-iterations', vus: 2, iterations: 40 } },\n\
      thresholds: { 'http_req_duration{expected_response:true}': ['p(95)<60000'], mine: ['avg<5'], none: [] },\n\
    };\n\
    new Trend('none');\n\
    export default async function () {\n\
      const secret = await secrets.get('token');\n\
      const params = { headers: { Authorization: `Bearer ${secret}`, 'X-Note': `my ${secret}` } };\n\
      group('outer', () => group('inner', () => {\n\
        const answer = http.get(`${__ENV.DEMO_URL}/status/200`, params);\n\
        check(answer, { 'is fine <b>': (r) => r.status === 200, 'never': () => false });\n\
      }));\n\
      http.post(`${__ENV.DEMO_URL}/status/500`, JSON.stringify({ user: 'me', password: __ENV.PW }), { tags: { name: 'broken' } });\n\
      mine.add(Math.random() * 20);\n\
      sum.add(0.1);\n\
      if (__ITER === 3) throw new Error('on purpose');\n\
    }\n";

const LINE: &str = "run --quiet --demo --no-color --secret-source mock=token=hush-hush -e PW=open-sesame -e UNSEEN=invisible \
                    --label team=search --label n=1 --out run=a.brunt s.js";

/// The run, and what a further call says in its folder.
fn ran() -> (crate::support::Brunt, Told) {
    let mut run = brunt(LINE)
        .file("s.js", SCRIPT)
        .env("CI_COMMIT_SHA", "0123456789abcdef0123456789abcdef01234567");
    let told = run.told();
    assert_eq!(told.code, 99, "{}", told.stderr);
    (run, told)
}

fn of(file: &Path, line: &str) -> Told {
    brunt(line).word(file).told()
}

#[test]
fn the_report_of_the_file_is_the_summary_that_was_printed() {
    let (run, printed) = ran();
    let file = run.path("a.brunt");
    let report = of(&file, "report");
    assert_eq!(report.code, 0, "{}", report.stderr);
    assert_eq!(report.stdout, printed.stdout);
    assert!(
        printed.stdout.contains("is fine <b>") && printed.stdout.contains("on purpose"),
        "{}",
        printed.stdout
    );
    // One plain file.
    assert!(!run.path("a.brunt-wal").exists() && !run.path("a.brunt-shm").exists());
    // A stretch that is all of it, and one that is nothing.
    let part = of(&file, "report --from 0s --to 1h");
    assert_eq!(part.stdout, printed.stdout);
    let none = of(&file, "report --from 1h");
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("there is nothing between these moments"), "{}", none.stderr);
}

#[test]
fn each_format_tells_the_run() {
    let (run, _) = ran();
    let file = run.path("a.brunt");
    let json = of(&file, "report -format=json").stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["run"]["state"], "finished");
    assert_eq!(json["run"]["passed"], false);
    assert_eq!(json["run"]["commit"], "0123456789abcdef0123456789abcdef01234567");
    assert_eq!(json["run"]["labels"], serde_json::json!({ "n": "1", "team": "search" }));
    assert_eq!(json["summary"]["metrics"]["iterations"]["count"], 40);
    assert!(json["machine"].is_object());
    let junit = of(&file, "report --format junit").stdout;
    assert!(junit.starts_with("<?xml") && junit.contains("is fine &lt;b&gt;"), "{junit}");
    assert!(
        junit.contains("name=\"mine avg&lt;5\"") && junit.contains("<failure type=\"threshold\""),
        "{junit}"
    );
    let markdown = of(&file, "report --format markdown").stdout;
    assert!(markdown.contains("1 of 2 thresholds do not hold"), "{markdown}");
    assert!(markdown.contains("<code>outer / inner / never</code> | 40 | 0 |"), "{markdown}");
    let csv = of(&file, "report --format csv").stdout;
    assert!(csv.lines().any(|line| line == "iterations,counter,default,count,40"), "{csv}");
    // Behind the file, and into a file.
    let mut call =
        brunt("report").word(&file).word("--format").word("csv").word("-o").word("out.csv");
    assert_eq!(call.told().code, 0);
    assert_eq!(call.read("out.csv"), csv);
    let wrong = of(&file, "report -type=json");
    assert!(wrong.stderr.contains("-type is for records of attacks"), "{}", wrong.stderr);
}

#[test]
fn no_secret_and_no_variable_is_in_the_file() {
    let (run, _) = ran();
    let bytes = std::fs::read(run.path("a.brunt")).expect("the file");
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for secret in ["hush-hush", "invisible", "open-sesame"] {
        assert!(!has(secret), "{secret}");
    }
    for text in ["UNSEEN", "***SECRET_REDACTED***", "curl -X POST", "export default async function"]
    {
        assert!(has(text), "{text}");
    }
}

#[test]
fn runs_are_listed_and_filtered() {
    let mut run = brunt("run --quiet --no-source --out run --label a=b s.js")
        .file("s.js", "export const options = { iterations: 1 };\nexport default function () { /* unique words */ }");
    assert_eq!(run.told().code, 0);
    let folder = run.path("brunt-results");
    let names: Vec<_> =
        std::fs::read_dir(&folder).expect("the folder").filter_map(Result::ok).collect();
    assert_eq!(names.len(), 1);
    let name = names[0].file_name().to_string_lossy().into_owned();
    assert!(
        name.starts_with("s-2") && name.strip_suffix(".brunt").is_some() && name.len() == 23,
        "{name}"
    );
    let bytes = std::fs::read(names[0].path()).expect("the file");
    assert!(!bytes.windows(12).any(|window| window == b"unique words"));
    let list = of(&folder, "runs").stdout;
    assert!(list.contains("a=b") && list.contains("finished"), "{list}");
    let json = of(&folder, "runs --json --label a=b --script s.js").stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["name"], "s");
    assert_eq!(of(&folder, "runs --json --label a=c").stdout.trim(), "[]");
}

#[test]
fn a_killed_run_leaves_all_but_its_last_tick() {
    // A slice is written 0.3 s after its end, the first time that a frame comes, of which there are ten a second.
    const LATE_MS: u64 = 1000 + 300 + 200;
    // Each value is told with its moment, before it is counted.
    let script = "import { sleep } from 'k6';\nimport { Counter } from 'k6/metrics';\nconst c = new Counter('mine');\n\
        export const options = { vus: 1, duration: '1m' };\n\
        export default function () { console.log(Date.now()); c.add(1); sleep(0.05); }";
    for pause in [2300u64, 3100, 3950] {
        let mut run = brunt("run --log-format raw --out run=a.brunt s.js").file("s.js", script);
        let running = run.start();
        let file = run.path("a.brunt");
        let start = std::time::Instant::now();
        let count = |file: &Path| -> u64 {
            let told = of(file, "report --format json");
            assert_eq!(told.code, 0, "{}", told.stderr);
            let json: Value = serde_json::from_str(&told.stdout).expect("JSON");
            let count = &json["summary"]["metrics"]["mine"]["count"];
            count.as_u64().unwrap_or_default()
        };
        // However slow this machine is: until something is in the file, and a bit longer.
        while !file.exists() || of(&file, "report").code != 0 || count(&file) == 0 {
            assert!(start.elapsed().as_secs() < 120);
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        std::thread::sleep(std::time::Duration::from_millis(pause));
        running.signal("KILL");
        let killed = running.wait();
        let moments: Vec<u64> =
            killed.stderr.lines().filter_map(|line| line.parse().ok()).collect();
        let last = moments.last().copied().expect("it told moments");
        // Threads that waited for a processor were late by as much.
        let late = LATE_MS + 2 * killed.waited.as_millis() as u64;
        let due = moments.iter().filter(|moment| **moment + late < last).count() as u64;
        let told = of(&file, "report --format json");
        let json: Value = serde_json::from_str(&told.stdout).expect("JSON");
        assert_eq!(json["run"]["state"], "died", "{}", told.stderr);
        let kept = count(&file);
        let all = moments.len() as u64;
        assert!(
            (due..=all).contains(&kept),
            "{kept} kept, {due} due of {all}, {:?}",
            killed.waited
        );
        assert!(of(&file, "report").stdout.contains("The run died"));
    }
}

#[test]
fn a_killed_run_without_its_log_says_so() {
    let script = "import { sleep } from 'k6';\nexport const options = { vus: 1, duration: '1m' };\n\
        export default function () { sleep(0.05); }";
    let mut run = brunt("run --out run=a.brunt s.js").file("s.js", script);
    let running = run.start();
    let file = run.path("a.brunt");
    while !file.exists() || of(&file, "report").code != 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    running.signal("KILL");
    let _ = running.wait();
    let copy = run.path("copy.brunt");
    std::fs::copy(&file, &copy).expect("there is room");
    for _ in 0..2 {
        let told = of(&copy, "report").stdout;
        assert!(told.contains("The run died") && told.contains("(FILE-wal) is missing"), "{told}");
    }
    let told = of(&file, "report").stdout;
    assert!(told.contains("The run died") && !told.contains("is missing"), "{told}");
}

#[test]
fn an_older_file_stays_if_the_run_cannot_begin() {
    let script = "export default function () {}";
    let mut run = brunt("run --quiet --out run=a.brunt s.js").file("s.js", script);
    assert_eq!(run.told().code, 0);
    let file = run.path("a.brunt");
    let older = std::fs::read(&file).expect("it was written");
    for more in ["--out json=/nowhere/x.json", "--out run=b.brunt"] {
        let mut next = brunt("run --quiet").word("--out").word(format!("run={}", file.display()));
        for word in more.split(' ') {
            next = next.word(word);
        }
        let told = next.word("s.js").file("s.js", script).told();
        assert_ne!(told.code, 0, "{told:?}");
        assert_eq!(std::fs::read(&file).expect("it is still there"), older);
        assert!(!run.path("a.brunt.before").exists());
    }
}

#[test]
fn two_runs_do_not_write_to_one_file() {
    let script = "import { sleep } from 'k6';\nexport const options = { vus: 1, duration: '1m' };\n\
        export default function () { console.log('here'); sleep(0.1); }";
    let mut run = brunt("run --quiet --log-format raw --out run=a.brunt s.js").file("s.js", script);
    let running = run.start();
    let file = run.path("a.brunt");
    while !file.exists() || of(&file, "report").code != 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let mut other = brunt("run --quiet")
        .word("--out")
        .word(format!("run={}", file.display()))
        .word("s.js")
        .file("s.js", script);
    let told = other.told();
    assert_eq!(told.code, 255, "{told:?}");
    assert!(
        told.stderr.contains("is being written by another run: give this one another file"),
        "{}",
        told.stderr
    );
    assert!(of(&file, "report").stdout.contains("The run is still going on."));
    running.signal("INT");
    let _ = running.wait();
    let json = of(&file, "report --format json").stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["run"]["state"], &json["run"]["exit"]), (&"aborted".into(), &105.into()));
}

/// The sum of a counter in the file, by SQL of the guide's kind would be the same: here by the report.
fn json(file: &Path, line: &str) -> Value {
    let told = of(file, line);
    assert_eq!(told.code, 0, "{}", told.stderr);
    serde_json::from_str(&told.stdout).expect("JSON")
}

#[test]
fn the_figures_of_stretches_add_up_to_those_of_the_whole() {
    let script = "import http from 'k6/http';\nimport { sleep } from 'k6';\n\
        export const options = { vus: 2, duration: '3s', thresholds: { http_reqs: ['count>0'] } };\n\
        export default function () { http.get(`${__ENV.DEMO_URL}/ping`, { tags: { name: 'a' } }); sleep(0.02); }";
    let mut run =
        brunt("run --quiet --demo --no-color --out run=a.brunt s.js").file("s.js", script);
    assert_eq!(run.told().code, 0);
    let file = run.path("a.brunt");
    let all = json(&file, "report --format json");
    let first = json(&file, "report --format json --to 1s");
    let rest = json(&file, "report --format json --from 1s");
    let of = |report: &Value, metric: &str, key: &str| {
        report["summary"]["metrics"][metric][key].as_f64().expect(metric)
    };
    for (metric, key) in
        [("http_reqs", "count"), ("http_req_failed", "fails"), ("data_sent", "count")]
    {
        let parts = of(&first, metric, key) + of(&rest, metric, key);
        assert!((parts - of(&all, metric, key)).abs() < 1e-9, "{metric}");
    }
    let extremes = [&first, &rest].map(|part| of(part, "http_req_duration", "max"));
    let most = extremes[0].max(extremes[1]);
    assert!((most - of(&all, "http_req_duration", "max")).abs() < 1e-12);
    assert!(first["run"]["part"] == true && all["run"]["part"] == false);
}

#[test]
fn the_queries_of_the_guide_run_on_the_file_of_a_real_run() {
    let (run, _) = ran();
    let sql = rusqlite::Connection::open(run.path("a.brunt")).expect("a database");
    let page = std::fs::read_to_string(crate::support::repository("docs/guide/run-file.md"))
        .expect("the guide");
    let queries = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    // The table of agents is in files of leaders alone: the tests of agents ask it.
    let queries = queries.filter(|query| !query.contains("FROM agent "));
    let mut counts = Vec::new();
    for query in queries {
        let mut statement = sql.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let rows =
            statement.query_map([], |_| Ok(())).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        counts.push((query, rows.unwrap_or_else(|error| panic!("{query}: {error}")).len()));
    }
    assert!(counts.len() >= 12);
    // The demo is on loopback and fast: the run may be over within its first second.
    for (query, rows) in
        counts.iter().filter(|(query, _)| !query.contains("n >= 1000 / slice_width"))
    {
        assert!(*rows > 0, "{query}");
    }
    let one = |query: &str| sql.query_row(query, [], |row| row.get::<_, f64>(0)).expect("a number");
    let requests = one(
        "SELECT sum(sum) FROM slice JOIN series ON series.id = series JOIN metric ON metric.id = metric WHERE name = 'http_reqs'",
    );
    assert!((requests - 80.0).abs() < 1e-9, "{requests}");
    assert!((one("SELECT sum(count) FROM failure WHERE code = '1500'") - 40.0).abs() < 1e-9);
    assert!(
        one("SELECT count(*) FROM exchange WHERE why = 'failure' AND failure IS NOT NULL") >= 5.0
    );
    assert!(one("SELECT count(*) FROM exchange WHERE lookup > blocked") < 1.0);
    assert!(one("SELECT count(*) FROM health WHERE interface_drops IS NULL") < 1.0);
}

#[test]
fn a_value_that_is_secret_is_nowhere_however_it_is_sent() {
    let script = "import http from 'k6/http';\nimport encoding from 'k6/encoding';\nimport secrets from 'k6/secrets';\n\
        export const options = { iterations: 1 };\n\
        export default async function () {\n\
          const secret = await secrets.get('token');\n\
          const url = __ENV.DEMO_URL.replace('http://', 'http://me:basic-word@');\n\
          http.get(`${url}/status/500?password=query-word&x=${encodeURIComponent(secret)}`, { headers: { Cookie: 'a=cookie-word' } });\n\
          http.post(`${__ENV.DEMO_URL}/status/500`, { pass: 'form-word', y: encoding.b64encode('u:' + secret) });\n\
          http.post(`${__ENV.DEMO_URL}/status/500`, `<a><password>xml-word</password></a>`, { tags: { name: 'x' } });\n\
          http.post(`${__ENV.DEMO_URL}/status/500`, { token: 'part-word', f: http.file(new Uint8Array([255, 0, 254]).buffer, 'f.bin') }, { tags: { name: 'y' } });\n\
          http.get(`http://me:refused-word@127.0.0.1:1/?sig=other-word`);\n\
        }";
    let mut run = brunt("run --quiet --demo --secret-source mock=token=hush/hush --no-source --out run=a.brunt s.js")
        .file("s.js", script);
    assert_eq!(run.told().code, 0);
    let bytes = std::fs::read(run.path("a.brunt")).expect("the file");
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for secret in [
        "basic-word",
        "query-word",
        "cookie-word",
        "form-word",
        "xml-word",
        "part-word",
        "refused-word",
        "other-word",
        "hush/hush",
        "hush%2Fhush",
        "aHVzaC9odXNo",
        "dTpodXNoL2h1c2",
    ] {
        assert!(!has(secret), "{secret}");
    }
    assert!(has("***SECRET_REDACTED***"));
}

#[test]
fn odd_runs_have_files_that_tell_the_same() {
    for (script, exit) in [
        ("export const options = { iterations: 1 };\nexport default function () {}", 0),
        (
            "import { sleep } from 'k6';\nexport const options = { iterations: 1 };\nexport default function () { sleep(0.3); }",
            0,
        ),
        (
            "export const options = { iterations: 3 };\nexport default function () { throw new Error('<b>\u{202e}no'); }",
            0,
        ),
        (
            "export const options = { iterations: 1 };\nexport function setup() { throw new Error('no'); }\nexport default function () {}",
            107,
        ),
    ] {
        let mut run = brunt("run --quiet --no-color --out run=a.brunt s.js").file("s.js", script);
        let printed = run.told();
        assert_eq!(printed.code, exit, "{script}: {}", printed.stderr);
        let file = run.path("a.brunt");
        let report = of(&file, "report");
        assert_eq!(report.code, 0, "{script}: {}", report.stderr);
        if exit == 0 {
            assert_eq!(report.stdout, printed.stdout, "{script}");
        }
        for format in ["json", "markdown", "junit", "csv"] {
            assert_eq!(
                of(&file, &format!("report --format {format}")).code,
                0,
                "{script}: {format}"
            );
        }
    }
}

#[test]
fn a_run_file_may_come_from_a_pipe_and_is_not_overwritten_by_its_report() {
    let mut run = brunt("run --quiet --no-color --out run=a.brunt s.js")
        .file("s.js", "export const options = { iterations: 1 };\nexport default function () {}");
    let printed = run.told();
    let file = run.path("a.brunt");
    let bytes = std::fs::read(&file).expect("the file");
    let piped = brunt("report -").stdin(&bytes).told();
    assert_eq!((piped.code, &piped.stdout), (0, &printed.stdout), "{}", piped.stderr);
    let piped = brunt("report -format=csv -").stdin(&bytes).told();
    assert!(piped.stdout.contains("iterations,counter,default,count,1"), "{piped:?}");
    let told = brunt("report").word(&file).word("-o").word(&file).told();
    assert!(told.code == 1 && told.stderr.contains("would overwrite"), "{told:?}");
    assert_eq!(std::fs::read(&file).expect("the file"), bytes);
    let cut = brunt("report -").stdin(&bytes[..bytes.len() / 2]).told();
    assert!(cut.code == 1 && cut.stderr.contains("is damaged"), "{cut:?}");
    let short = run.path("b.brunt");
    for (part, said) in [
        (&bytes[..60], "is damaged (its head is cut off)"),
        (&bytes[..bytes.len() / 2], "is damaged ("),
        (&[][..], "is no run file"),
        (&b"SQLite format 3\0of somebody else: a hundred bytes and more, so that it has a whole head, and tells what it is"[..], "is no run file"),
    ] {
        std::fs::write(&short, part).expect("a file");
        let told = brunt("report").word(&short).told();
        assert!(told.code == 1 && told.stderr.contains(said), "{said}: {told:?}");
    }
    let none = brunt("report -").stdin(b"").told();
    assert!(none.code == 1 && none.stderr.contains("can't detect encoding"), "{none:?}");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_no_run_file_and_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("p.brunt");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let list = of(folder.path(), "runs");
    assert!(list.code == 0 && list.stderr.contains("is no run file"), "{list:?}");
    let mut run = brunt("run --quiet")
        .word("--out")
        .word(format!("run={}", pipe.display()))
        .word("s.js")
        .file("s.js", "export default function () {}");
    let told = run.told();
    assert!(told.code == 255 && told.stderr.contains("is no plain file"), "{told:?}");
}

#[test]
fn an_attack_writes_a_run_file_too() {
    let demo = brunt_demo::Demo::start(brunt_demo::DemoConfig::fast()).expect("a demo target");
    let targets = format!(
        "GET {0}/ping\nX-Api-Key: hush-hush\n\nPOST {0}/status/500?token=hush-hush\n@body.txt\n",
        demo.url()
    );
    let mut attack = brunt("attack -run=a.brunt -output=x.gob -rate=40 -duration=1s -name=mine -header X-Token:hush-hush")
        .file("body.txt", "password=hush-hush&a=b")
        .stdin(&targets);
    let told = attack.told();
    assert_eq!(told.code, 0, "{told:?}");
    let file = attack.path("a.brunt");
    let report = json(&file, "report --format json");
    assert_eq!(
        (&report["run"]["kind"], &report["run"]["name"]),
        (&"attack".into(), &"mine".into())
    );
    assert_eq!(
        (&report["run"]["state"], &report["run"]["passed"]),
        (&"finished".into(), &Value::Null)
    );
    let metrics = &report["summary"]["metrics"];
    assert_eq!(
        (&metrics["http_reqs"]["count"], &metrics["http_req_failed"]["passes"]),
        (&40.into(), &20.into())
    );
    assert!(
        metrics["http_req_duration_planned"]["max"].as_f64()
            >= metrics["http_req_duration"]["max"].as_f64()
    );
    let text = of(&file, "report").stdout;
    assert!(text.contains("http_reqs......") && text.contains("50.00% 20 out of 40"), "{text}");
    let sql = rusqlite::Connection::open(&file).expect("a database");
    let one = |query: &str| sql.query_row(query, [], |row| row.get::<_, i64>(0)).expect("a number");
    assert_eq!(one("SELECT count FROM failure WHERE code = '500'"), 20);
    assert_eq!(one("SELECT count(*) FROM failure"), 1);
    assert!(
        one("SELECT count(*) FROM exchange WHERE failure IS NOT NULL AND request_body IS NOT NULL")
            >= 5
    );
    assert_eq!(one("SELECT count(*) FROM exchange WHERE waiting IS NOT NULL"), 0);
    assert_eq!(one("SELECT count(*) FROM scenario") + one("SELECT count(*) FROM threshold"), 0);
    assert!(one("SELECT count(*) FROM health_core WHERE late IS NOT NULL") > 0);
    let series = "SELECT count(DISTINCT json_extract(tags, '$.name')) FROM series WHERE tags LIKE '%method%'";
    assert_eq!(one(series), 2);
    let bytes = std::fs::read(&file).expect("the file");
    assert!(!bytes.windows(9).any(|window| window == b"hush-hush"));
    // The records are as without it.
    let records = brunt("report").word(attack.path("x.gob")).told();
    assert!(records.stdout.contains("200:20  500:20"), "{records:?}");
    // Judged, and stopped.
    let mut attack =
        brunt("attack -run=b.brunt -output=x.gob -rate=20 -duration=500ms -threshold success>99%")
            .stdin(&targets)
            .file("body.txt", "");
    assert_eq!(attack.told().code, 99);
    let report = json(&attack.path("b.brunt"), "report --format json");
    assert_eq!((&report["run"]["passed"], &report["run"]["exit"]), (&false.into(), &99.into()));
    let failed = &report["summary"]["metrics"]["http_req_failed"];
    assert_eq!((&failed["thresholds"]["rate<0.01"], &failed["value"]), (&true.into(), &0.5.into()));
    let wrong =
        brunt("attack -run=/dev/null -output=x.gob").stdin(&targets).file("body.txt", "").told();
    assert!(wrong.code == 1 && wrong.stderr.contains("is no plain file"), "{wrong:?}");
}

#[test]
fn an_attacks_conditions_are_in_its_run_file_as_it_found_them() {
    let demo = brunt_demo::Demo::start(brunt_demo::DemoConfig::fast()).expect("a demo target");
    let mut attack = brunt("attack -run=a.brunt -output=x.gob -rate=20 -duration=3s")
        .stdin(format!("GET {}/ping\n", demo.url()));
    for condition in [
        "p50<1ns window=1s exitCode=7",
        "max<1h",
        "success>=99% window=2s",
        "lag.max<1ns",
        "offered>1",
    ] {
        attack = attack.word("-threshold").word(condition);
    }
    let told = attack.told();
    assert_eq!(told.code, 7, "{told:?}");
    assert!(told.stderr.contains("✗ p50<1ns window=1s exitCode=7: "), "{told:?}");
    let file = attack.path("a.brunt");
    let sql = rusqlite::Connection::open(&file).expect("a database");
    let mut rows = sql
        .prepare("SELECT metric || ' ' || text, passed FROM threshold ORDER BY id")
        .expect("a query");
    let rows: Vec<(String, bool)> = rows
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .expect("rows");
    let expected = [
        ("http_req_duration p(50)<0.000001 window=1s exitCode=7", false),
        ("http_req_duration max<3600000", true),
        ("http_req_failed rate<=0.01 window=2s", true),
        ("http_reqs lag.max<1ns", false),
        ("http_reqs offered>1", true),
    ];
    assert_eq!(rows, expected.map(|(text, passed)| (text.to_owned(), passed)));
    let one = |query: &str| sql.query_row(query, [], |row| row.get::<_, i64>(0)).expect("a number");
    assert!(one("SELECT at FROM threshold_breach WHERE threshold = 1") >= 900_000_000);
    assert!(one("SELECT count(*) FROM threshold_slice WHERE threshold = 1 AND value > 0") > 0);
    assert_eq!(one("SELECT count(*) FROM event WHERE kind = 'threshold'"), 1);
    let text = of(&file, "report").stdout;
    for line in [
        "✗ 'p(50)<0.000001 window=1s exitCode=7' p(50)=",
        "✓ 'max<3600000' max=",
        "✓ 'rate<=0.01 window=2s' rate=0.00%",
        "✗ 'lag.max<1ns' lag.max=",
        "✓ 'offered>1' offered=20",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // A part of it is judged for itself, by the metrics.
    let part = json(&file, "report --format json -to 2s");
    let max = &part["summary"]["metrics"]["http_req_duration"]["thresholds"]["max<3600000"];
    assert_eq!(max, &serde_json::Value::Bool(false), "{part}");
}

/// As Brunt wrote them before it had verdicts, thresholds in time and routes.
#[test]
fn files_of_the_first_schema_are_read() {
    let script = "import { check } from 'k6';\n\
        export const options = { iterations: 3, thresholds: { checks: ['rate>0.9'] } };\n\
        export default function () { check(1, { fine: (x) => x === 1 }); }\n";
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut run = brunt("run -q --out run=a.brunt s.js").file("s.js", script);
        assert_eq!(run.told().code, 0);
        let sql = rusqlite::Connection::open(run.path("a.brunt")).expect("a database");
        sql.execute_batch(
            "DROP TABLE verdict; DROP TABLE finding; DROP TABLE threshold_breach; DROP TABLE health_error;
             UPDATE series SET tags = json_remove(tags, '$.route');
             PRAGMA user_version = 1; VACUUM;",
        )
        .expect("the tables were there");
        runs.push(run);
    }
    let [one, other] = [&runs[0], &runs[1]].map(|run| run.path("a.brunt"));
    for format in ["text", "json", "markdown", "junit", "csv", "html"] {
        let told = brunt("report").words(&format!("--format {format}")).word(&one).told();
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{format}: {told:?}");
    }
    assert!(json(&one, "report --format json")["verdict"].is_null());
    let list = brunt("runs --json").word(one.parent().expect("a folder")).told();
    assert_eq!(list.code, 0, "{list:?}");
    let list: serde_json::Value = serde_json::from_str(&list.stdout).expect("JSON");
    let list = list.as_array().or_else(|| list["runs"].as_array()).expect("a list");
    assert!(list[0]["trust"].is_null() || list[0]["trust"] == "none", "{list:?}");
    let told = brunt("compare --force").word(&one).word(&other).told();
    assert!(told.code == 0 && told.stdout.contains("checks"), "{told:?}");
}

#[test]
fn an_attack_that_a_signal_stops_says_so_in_its_run_file() {
    let demo = brunt_demo::Demo::start(brunt_demo::DemoConfig::fast()).expect("a demo target");
    let mut attack = brunt("attack -run=a.brunt -rate=20 -output=x.gob")
        .stdin(format!("GET {}/ping\n", demo.url()));
    let records = attack.path("x.gob");
    let running = attack.start();
    while std::fs::metadata(&records).map_or(0, |file| file.len()) == 0 {
        std::thread::yield_now();
    }
    running.signal("INT");
    assert_eq!(running.wait().code, 0);
    let report = json(&attack.path("a.brunt"), "report --format json");
    assert_eq!(
        (&report["run"]["state"], &report["run"]["reason"]),
        (&"aborted".into(), &"a signal stopped it".into())
    );
}
