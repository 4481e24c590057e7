//! `brunt find`: searches on the demo target with short steps.

use serde_json::Value;

use crate::support::{DemoServer, Told, brunt};

fn json(told: &Told) -> Value {
    serde_json::from_str(&told.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", told.stdout, told.stderr))
}

const FAILED: &str = "http_req_failed rate<1%";

/// A script with one request to the demo target.
fn get(path: &str) -> String {
    format!(
        "import http from 'k6/http';\nexport default () => {{ http.get(`${{__ENV.URL}}{path}`); }};\n"
    )
}

/// Two threads that take 10 ms for an image make 200 a second, and refuse the others.
#[test]
fn the_capacity_of_the_image_handler_is_found_with_its_report_and_run_file() {
    let demo =
        DemoServer::start_with("--synthetic --no-cache --threads 2 --cpu 10ms --queue-limit 20");
    let target = format!(
        "GET {}/example.jpg?x-oss-process=image/resize,w_100/quality,q_80/format,jpg\n",
        demo.url
    );
    let mut call = brunt(
        "find -targets urls.txt --from 50/s --hold 500ms --recovery 5s --precision 20% --json \
         --out run=found.brunt --report found.html",
    )
    .word("--goal")
    .word(FAILED)
    .file("urls.txt", target);
    let told = call.told();
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    let found = json(&told);
    assert_eq!(
        (&found["outcome"], &found["confirmed"]),
        (&"found".into(), &true.into()),
        "{found}"
    );
    // How much less than it can it does is the machine's business; more than that it cannot do.
    let held = found["held"].as_f64().expect("a load");
    assert!((50.0..=240.0).contains(&held), "{found}");
    let steps = found["steps"].as_array().expect("steps");
    assert!(steps.len() <= 12 && steps.iter().any(|step| step["outcome"] == "broke"), "{found}");
    assert!(told.stderr.contains("held for longer"), "{}", told.stderr);

    let file = rusqlite::Connection::open(call.path("found.brunt")).expect("a run file");
    let kept: String =
        file.query_row("SELECT text FROM capacity", [], |row| row.get(0)).expect("a row");
    assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON")["held"], found["held"]);
    let query = "SELECT count(*) FROM event WHERE kind = 'step'";
    let events: i64 = file.query_row(query, [], |row| row.get(0)).expect("a count");
    let events = usize::try_from(events).expect("a count");
    assert!(events >= 2 * steps.len(), "{events} events of {} steps", steps.len());
    let state: String =
        file.query_row("SELECT state FROM run", [], |row| row.get(0)).expect("a state");
    assert_eq!(state, "finished");
    assert!(call.read("found.html").contains("<title>targets"), "the page of the search");
}

#[test]
fn goals_that_all_loads_meet_or_none_are_told_with_the_bound() {
    let demo = DemoServer::start();
    let find = |flags: &str, goal: &str| {
        brunt("find s.js --hold 500ms --recovery 1s")
            .words(flags)
            .words(&format!("-e URL={}", demo.url))
            .word("--goal")
            .word(goal)
            .file("s.js", get("/"))
            .told()
    };
    let told = find("--from 20/s --max 40/s", FAILED);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.contains("It bears 40/s and perhaps more: that is the highest load asked for"),
        "{}",
        told.stdout
    );
    let told = find("--from 30/s --max 40/s", "http_req_duration p(95)<0.0001");
    assert_eq!(told.code, 99, "{}", told.stderr);
    assert!(told.stdout.contains("No load meets the goals: even 20/s broke"), "{}", told.stdout);
    // setup() and teardown() run once, whatever the number of steps; VUs are the load. They pause, so that a busy machine is not the limit.
    let script = format!(
        "import {{ sleep }} from 'k6';\n{}export function setup() {{ console.log('set up'); }}\nexport function teardown() {{ console.log('torn down'); }}\n",
        get("/").replace("); }", "); sleep(0.01); }")
    );
    let told = brunt("find s.js --vus --from 1 --max 4 --hold 500ms --json")
        .words(&format!("-e URL={}", demo.url))
        .word("--goal")
        .word(FAILED)
        .file("s.js", script)
        .told();
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    let found = json(&told);
    assert_eq!((&found["outcome"], &found["held"]), (&"all-hold".into(), &4.0.into()), "{found}");
    for word in ["set up", "torn down"] {
        assert_eq!(told.stderr.matches(word).count(), 1, "{}", told.stderr);
    }
}

#[test]
fn targets_that_are_down_and_scripts_that_measure_nothing_are_found_out_at_once() {
    let told = brunt("find s.js --hold 500ms -e URL=http://127.0.0.1:1")
        .word("--goal")
        .word(FAILED)
        .file("s.js", get("/"))
        .told();
    assert_eq!(told.code, 99, "{}", told.stderr);
    assert!(
        told.stdout.contains("At 10/s not one answer was good: the target is down"),
        "{}",
        told.stdout
    );
    let told = brunt("find s.js --hold 500ms")
        .word("--goal")
        .word("http_req_duration p(95)<200")
        .file("s.js", "export default () => {};")
        .told();
    assert_eq!(told.code, 104, "{}", told.stderr);
    assert!(told.stdout.contains("has no values"), "{}", told.stdout);
}

/// An iteration that never waits fills a core: more VUs than cores do no more.
#[test]
fn vus_that_fill_the_load_cores_end_the_search() {
    let script = "export default () => { for (let i = 0; i < 20000; i++) Math.sqrt(i); };";
    let told = brunt("find s.js --vus --max 1000 --hold 500ms --json")
        .word("--goal")
        .word("iteration_duration p(95)<60s")
        .file("s.js", script)
        .told();
    assert_eq!(told.code, 98, "{}\n{}", told.stdout, told.stderr);
    let found = json(&told);
    assert_eq!(found["outcome"], "generator", "{found}");
    let text = found["text"].as_str().expect("a sentence");
    assert!(text.contains("VUs do no more than"), "{text}");
}

#[test]
fn too_few_steps_say_what_is_not_known_yet() {
    let demo = DemoServer::start();
    let told = brunt("find s.js --hold 500ms --max-steps 1")
        .words(&format!("-e URL={}", demo.url))
        .word("--goal")
        .word(FAILED)
        .file("s.js", get("/"))
        .told();
    assert_eq!(told.code, 98, "{}", told.stderr);
    let text = "After one step (--max-steps) no load has broken yet: 10/s held.";
    assert!(told.stdout.contains(text), "{}", told.stdout);
}

#[test]
fn wrong_calls_are_refused_before_anything_runs() {
    let script = "export default () => {};";
    for (line, goal, code, part) in [
        ("find s.js", "http_req_duratoin p(95)<200", 104, "did you mean http_req_duration?"),
        ("find s.js", "http_req_duration", 104, "it has no condition"),
        ("find s.js", "http_req_failed rate<1", 104, "write rate<1% or rate<0.01"),
        ("find s.js", "http_reqs rate>50", 104, "a low load can't meet"),
        ("find s.js --hold 0", FAILED, 255, "use 500ms to 1h"),
        ("find s.js --from 50/s --max 20/s", FAILED, 255, "--from 50/s is above --max 20/s"),
        ("find s.js --from x", FAILED, 255, "invalid value \\\"x\\\" for --from"),
        ("find s.js --hold 1ms", FAILED, 255, "use 500ms to 1h"),
        ("find s.js --targets t", FAILED, 255, "which is it?"),
        ("find s.js --header a:b", FAILED, 255, "--header is for --targets"),
        ("find --targets absent", FAILED, 255, "--targets absent: "),
        ("find", FAILED, 255, "brunt find takes a script, or --targets FILE"),
        ("find s.js --duration 5s", FAILED, 255, "unknown flag: --duration"),
        ("find throws.js", FAILED, 107, "no reason"),
    ] {
        let told = brunt(line)
            .word("--goal")
            .word(goal)
            .file("s.js", script)
            .file("throws.js", "throw new Error('no reason');")
            .told();
        assert_eq!(told.code, code, "{line}: {}", told.stderr);
        let part = part.replace("\\\"", "");
        let plain = told.stderr.replace(['\\', '"'], "");
        assert!(plain.contains(&part.replace('"', "")), "{line}: {}", told.stderr);
        assert_eq!(told.stdout, "", "{line}");
    }
    let told = brunt("find s.js").file("s.js", script).told();
    assert_eq!(told.code, 104, "{}", told.stderr);
    assert!(told.stderr.contains("brunt find needs a goal"), "{}", told.stderr);
}

#[test]
fn a_search_that_is_stopped_tells_what_is_known_so_far() {
    let demo = DemoServer::start();
    let script = get("/").replace("http.get", "console.log('under way'); http.get");
    let mut call = brunt("find s.js --from 5/s --hold 1m --log-output stdout")
        .words(&format!("-e URL={}", demo.url))
        .word("--goal")
        .word(FAILED)
        .file("s.js", script);
    let mut running = call.start();
    running.line_with("under way");
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 105, "{}", told.stderr);
    assert!(
        told.stdout.contains("Stopped before the limit was known: no step was measured"),
        "{}",
        told.stdout
    );
}
