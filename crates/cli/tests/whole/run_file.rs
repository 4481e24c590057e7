//! `--out run`, and what is made of its file.

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
    assert!(junit.contains("name=\"mine avg&lt;5\"") && junit.contains("<failure type=\"threshold\""), "{junit}");
    let markdown = of(&file, "report --format markdown").stdout;
    assert!(markdown.contains("1 of 2 thresholds do not hold"), "{markdown}");
    assert!(markdown.contains("is fine &#60;b&#62;") || markdown.contains("is fine &lt;b&gt;"), "{markdown}");
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
    assert!(name.starts_with("s-2") && name.ends_with(".brunt") && name.len() == 23, "{name}");
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
    let script = "import { sleep } from 'k6';\nimport { Counter } from 'k6/metrics';\nconst c = new Counter('mine');\n\
        export const options = { vus: 1, duration: '1m' };\n\
        export default function () { c.add(1); console.log('n'); sleep(0.05); }";
    for pause in [1300u64, 2100, 2950] {
        let mut run = brunt("run --out run=a.brunt s.js").file("s.js", script);
        let running = run.start();
        let file = run.path("a.brunt");
        let start = std::time::Instant::now();
        let slices = |file: &Path| -> u64 {
            let told = of(file, "report --format json");
            assert_eq!(told.code, 0, "{}", told.stderr);
            let json: Value = serde_json::from_str(&told.stdout).expect("JSON");
            let count = &json["summary"]["metrics"]["mine"]["count"];
            count.as_u64().unwrap_or_default()
        };
        // However slow this machine is: until something is in the file, and a bit longer.
        while !file.exists() || of(&file, "report").code != 0 || slices(&file) == 0 {
            assert!(start.elapsed().as_secs() < 120);
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let before = slices(&file);
        running.signal("KILL");
        drop(running);
        let told = of(&file, "report --format json");
        let json: Value = serde_json::from_str(&told.stdout).expect("JSON");
        assert_eq!(json["run"]["state"], "died", "{}", told.stderr);
        assert!(slices(&file) >= before);
        assert!(of(&file, "report").stdout.contains("The run died"));
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
