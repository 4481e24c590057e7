//! `brunt compare`, and `brunt run --repeat`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Brunt, Told, brunt};

/// A closed load on a route whose time the test chooses, for two seconds.
const SCRIPT: &str = "import http from 'k6/http';\n\
    import { check } from 'k6';\n\
    export const options = { vus: 3, duration: __ENV.FOR || '2s', thresholds: { http_req_failed: ['rate<0.5'] } };\n\
    export default function () {\n\
      const answer = http.get(`${__ENV.DEMO_URL}/delay/${__ENV.MS || 10}`, { tags: { name: __ENV.ROUTE || 'slow <b>' } });\n\
      check(answer, { 'is | fine': (r) => r.status === 200 });\n\
    }\n";

/// A run into a file of the folder.
fn ran(folder: &Path, name: &str, flags: &str, script: &str) -> PathBuf {
    let file = folder.join(name);
    let mut run = brunt("run --quiet --no-summary --demo")
        .word("--out")
        .word(format!("run={}", file.display()))
        .file("s.js", script);
    for flag in flags.split_whitespace() {
        run = run.word(flag);
    }
    let told = run.word("s.js").told();
    assert!(matches!(told.code, 0 | 99), "{}", told.stderr);
    file
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn compared(line: &str, a: &[&PathBuf], b: &[&PathBuf]) -> Told {
    let with = |call: Brunt, files: &[&PathBuf]| files.iter().fold(call, Brunt::word);
    with(with(brunt("compare").words(line), a).word("--"), b).told()
}

fn json(told: &Told) -> Value {
    serde_json::from_str(&told.stdout).unwrap_or_else(|error| panic!("{error}: {told:?}"))
}

fn warnings(answer: &Value) -> Vec<&str> {
    let all = answer["warnings"].as_array().expect("a list");
    all.iter().filter_map(|warning| warning["kind"].as_str()).collect()
}

#[test]
fn a_slower_script_is_worse_and_the_same_runs_are_not() {
    let slower = SCRIPT.replace("|| 10}", "|| 40}");
    let mut call =
        brunt("compare --run --repeat 3 --format json --fail-on worse a.js b.js -- --demo")
            .file("a.js", SCRIPT)
            .file("b.js", &slower);
    let told = call.told();
    let answer = json(&told);
    assert_eq!((told.code, &answer["verdict"]), (99, &"worse".into()), "{told:?}");
    for line in ["run 1 of 6: A, a.js", "run 2 of 6: B, b.js", "run 3 of 6: B", "run 4 of 6: A"] {
        assert!(told.stderr.contains(line), "{line}: {}", told.stderr);
    }
    let rows = answer["rows"].as_array().expect("a list");
    let found = rows.iter().find(|row| row["statistic"] == "p50" && row["primary"] == true);
    let change = found.and_then(|row| row["change"].as_f64()).expect("a change");
    assert!(change > 1.0, "{change}");
    // The routes have one name on both sides, whatever port the demo had.
    assert!(rows.iter().any(|row| row["name"] == "GET slow <b>"), "{rows:?}");
    assert!(rows.iter().any(|row| row["name"] == "is | fine" && row["subject"] == "check"));

    // Three files a side are in the folder that `brunt runs` lists.
    let results = call.path("brunt-results");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&results)
        .expect("a folder")
        .filter_map(Result::ok)
        .map(|f| f.path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 6);
    let [a, b] = [&files[..3], &files[3..]].map(|side| side.iter().collect::<Vec<_>>());
    let refused = compared("", &a, &b);
    assert_eq!((refused.code, refused.stdout.as_str()), (255, ""));
    assert!(refused.stderr.contains("script: A a.js"), "{}", refused.stderr);
    assert!(refused.error().contains("unlike in one thing"), "{}", refused.stderr);
    let forced = compared("--force --fail-on worse", &a, &b);
    assert_eq!(forced.code, 99);
    assert!(forced.stdout.starts_with("B is worse than A: "), "{}", forced.stdout);
    // In two seconds too few requests show that none fails: the whole is unclear, the median is better.
    let back = compared("--force --fail-on worse --format json", &b, &a);
    assert_eq!(back.code, 0, "{back:?}");
    let answer = json(&back);
    let mut rows = answer["rows"].as_array().expect("a list").iter();
    let found = rows.find(|row| row["statistic"] == "p50" && row["primary"] == true);
    assert_eq!(found.expect("the row")["verdict"], "better");
    let same = compared("--format json --fail-on worse", &a, &a);
    assert_eq!(same.code, 0);
    assert!(["same", "unclear"].contains(&json(&same)["verdict"].as_str().expect("a word")));

    // Flags may stand last, too.
    let mut last = brunt("compare");
    for word in a.iter().map(|file| file.as_os_str()).chain(["--".as_ref()]) {
        last = last.word(word);
    }
    let mut last = b.iter().fold(last, super::support::Brunt::word).words("--force --format json");
    assert_eq!(json(&last.told())["verdict"], "worse");

    // Other forms of the answer.
    let markdown = compared("--force --format markdown", &a, &b).stdout;
    assert!(markdown.starts_with("### 🔴 B is worse than A"), "{markdown}");
    assert!(!markdown.contains("<b>") && !markdown.contains("is | fine"), "{markdown}");
    let html = compared("--force --format html", &a, &b).stdout;
    assert!(html.starts_with("<!doctype html>") && html.contains("slow &lt;b&gt;"), "{html}");

    let twice = compared("", &[a[0], a[0]], &b);
    assert!(twice.error().contains("are the same run"), "{}", twice.stderr);
}

#[test]
fn equal_targets_are_the_same_or_unclear() {
    // One in a hundred may be said to differ, by chance or because of other programs.
    let is_right = || {
        let told = brunt("compare --run --repeat 3 --format json s.js s.js -- --demo")
            .file("s.js", SCRIPT)
            .told();
        let answer = json(&told);
        assert!(warnings(&answer).is_empty(), "{answer}");
        matches!(answer["verdict"].as_str(), Some("same" | "unclear"))
    };
    assert!((0..3).any(|_| is_right()), "three times another word than same or unclear");
}

#[test]
fn unlike_runs_are_refused_with_all_that_differs() {
    let folder = folder();
    let a = ran(folder.path(), "a.brunt", "-e FOR=1s", SCRIPT);
    let b = ran(folder.path(), "b.brunt", "-e FOR=1s --vus 5", SCRIPT);
    let told = compared("", &[&a], &[&b]);
    assert_eq!((told.code, told.stdout.as_str()), (255, ""));
    assert!(told.stderr.contains("options scenarios.default.vus: A 3, B 5"), "{}", told.stderr);
    assert!(told.error().contains("unlike in one thing") && told.error().contains("--force"));
    let told = compared("--log-format json", &[&a], &[&b]);
    assert!(
        told.stderr.starts_with('{') && told.stderr.contains("scenarios.default.vus: A 3, B 5")
    );
    let forced = compared("--force --format json", &[&a], &[&b]);
    assert_eq!(warnings(&json(&forced)), ["unlike", "one_run_a_side"]);
    // The same sources in another folder, with other labels, are the same test.
    let c = ran(folder.path(), "c.brunt", "-e FOR=1s --label build=7", SCRIPT);
    assert_eq!(compared("", &[&a], &[&c]).code, 0);
    // A stretch in which nothing is.
    let told = compared("--from 1h", &[&a], &[&c]);
    assert!(told.code == 255 && told.error().contains("nothing in the part"), "{}", told.stderr);
    let told = compared("--from 2s --to 1s", &[&a], &[&c]);
    assert!(told.code == 255 && told.error().contains("behind its begin"), "{}", told.stderr);
    // No run files.
    let told = compared("", &[&a], &[&folder.path().join("none.brunt")]);
    assert!(told.code == 255 && told.error().contains("can't be read"), "{}", told.stderr);
    let text = folder.path().join("text.brunt");
    std::fs::write(&text, "no database").expect("a file");
    let told = compared("", &[&text], &[&a]);
    assert!(told.code == 255 && told.error().contains("is no run file"), "{}", told.stderr);
    let bytes = std::fs::read(&a).expect("a file");
    std::fs::write(&text, &bytes[..bytes.len() / 2]).expect("a file");
    let told = compared("", &[&text], &[&a]);
    assert!(told.code == 255 && told.error().contains("bytes are there"), "{}", told.stderr);
}

#[test]
fn imported_files_belong_to_the_script() {
    let folder = folder();
    let run = |name: &str, library: &str| {
        let file = folder.path().join(name);
        let told = brunt("run --quiet --no-summary -i 2")
            .word("--out")
            .word(format!("run={}", file.display()))
            .word("s.js")
            .file(
                "s.js",
                "import { wait } from './lib.js';\nexport default function () { wait(); }",
            )
            .file("lib.js", library)
            .told();
        assert_eq!(told.code, 0, "{}", told.stderr);
        file
    };
    let a = run("a.brunt", "export function wait() {}");
    let b = run("b.brunt", "export function wait() { return 1; }");
    let told = compared("", &[&a], &[&b]);
    assert!(told.code == 255 && told.stderr.contains("script: A s.js"), "{}", told.stderr);
}

#[test]
fn runs_without_requests_short_ones_and_named_as_markup_are_compared() {
    let folder = folder();
    let bare = "import { sleep } from 'k6';\nexport const options = { vus: 2, duration: '1s' };\n\
        export default function () { sleep(0.01); }";
    let a = ran(folder.path(), "<b>a|\u{202e}`.brunt", "", bare);
    let b = ran(folder.path(), "b.brunt", "", bare);
    let answer = json(&compared("--format json", &[&a], &[&b]));
    let primary: Vec<&str> = answer["rows"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|row| row["primary"] == true)
        .filter_map(|row| row["measure"].as_str())
        .collect();
    assert_eq!(primary, ["iterations_per_second", "duration_ms", "duration_ms"]);
    for form in ["terminal", "markdown", "html"] {
        let told = compared(&format!("--format {form}"), &[&a], &[&b]).stdout;
        assert!(!told.contains('\u{202e}'), "{told}");
        assert!(form == "terminal" || !told.contains("<b>"), "{told}");
    }
    // Nothing but an iteration.
    let once = "export const options = { iterations: 1 };\nexport default function () {}";
    let a = ran(folder.path(), "c.brunt", "", once);
    let b = ran(folder.path(), "d.brunt", "", once);
    let told = compared("--format json --fail-on unclear", &[&a], &[&b]);
    assert_eq!((told.code, &json(&told)["verdict"]), (99, &"unclear".into()), "{told:?}");
}

#[test]
fn killed_and_running_runs_are_compared_with_a_doubt() {
    let script = "import { sleep } from 'k6';\nexport const options = { vus: 1, duration: '1m' };\n\
        export default function () { sleep(0.05); }";
    let mut first = brunt("run --quiet --out run=a.brunt s.js").file("s.js", script);
    let mut second = brunt("run --quiet --out run=b.brunt s.js").file("s.js", script);
    let (killed, running) = (first.start(), second.start());
    let files = [first.path("a.brunt"), second.path("b.brunt")];
    // Until both have a whole slice, however slow this machine is.
    let start = std::time::Instant::now();
    loop {
        let told = compared("--format json", &[&files[0]], &[&files[1]]);
        if told.code == 0 {
            break;
        }
        assert!(start.elapsed().as_secs() < 100, "{told:?}");
    }
    killed.signal("KILL");
    drop(killed);
    let answer = json(&compared("--format json", &[&files[0]], &[&files[1]]));
    assert_eq!(warnings(&answer), ["not_trusted", "not_trusted", "one_run_a_side"]);
    let findings =
        |side: &str| answer[side]["runs"][0]["findings"][0].as_str().unwrap_or_default().to_owned();
    assert!(findings("a").contains("its process died"), "{answer}");
    assert!(findings("b").contains("still going on"), "{answer}");
    running.signal("INT");
    let _ = running.wait();
    let answer = json(&compared("--format json", &[&files[0]], &[&files[1]]));
    let findings = answer["b"]["runs"][0]["findings"][0].as_str().unwrap_or_default().to_owned();
    assert!(findings.contains("it was cut short"), "{answer}");
}

#[test]
fn five_earlier_runs_in_the_folder_are_a_history() {
    let folder = folder();
    let bare = "import { sleep } from 'k6';\nexport const options = { vus: 2, duration: '1s' };\n\
        export default function () { sleep(0.01); }";
    for n in 0..6 {
        ran(folder.path(), &format!("{n}.brunt"), "", bare);
    }
    // Another test is none.
    ran(folder.path(), "other.brunt", "--vus 3", bare);
    let files: Vec<PathBuf> = (0..6).map(|n| folder.path().join(format!("{n}.brunt"))).collect();
    let history = |a: usize, b: usize| {
        let answer = json(&compared("--format json", &[&files[a]], &[&files[b]]));
        answer["draws"]["history_runs"].as_u64()
    };
    assert_eq!(history(0, 1), Some(0), "four are too few");
    ran(folder.path(), "6.brunt", "", bare);
    assert_eq!(history(0, 1), Some(5));
}

#[test]
fn a_script_that_can_t_run_stops_the_turns() {
    let told = brunt("compare --run a.js b.js --repeat 2")
        .file("a.js", "export const options = { iterations: 1 };\nexport default function () {}")
        .file("b.js", "throw new Error('no');")
        .told();
    assert_eq!((told.code, told.stdout.as_str()), (107, ""), "{told:?}");
    assert!(
        told.stderr.contains("run 2 of 4: B, b.js ended with exit code 107"),
        "{}",
        told.stderr
    );
    for (line, part) in [
        ("compare --run a.js none.js", "there is no script"),
        ("compare --run a.js -", "standard input"),
        ("compare a b c", "3 run files"),
        ("compare --format pdf a b", "invalid value 'pdf'"),
        ("compare --tolerance 0 a b", "invalid value \\\"0\\\" for --tolerance"),
    ] {
        let told = brunt(line).file("a.js", "").told();
        assert_eq!(told.code, 255, "{line}: {told:?}");
        assert!(told.stderr.contains(part), "{line}: {}", told.stderr);
    }
}

#[test]
fn a_test_is_repeated_each_time_with_files_of_its_own() {
    let script = "import http from 'k6/http';\nexport const options = { iterations: 2, thresholds: { iterations: ['count<0'] } };\n\
        export default function () { console.log('here'); }\n";
    let mut call = brunt(
        "run --quiet --repeat 3 --out run=r.brunt --out json=x/samples.json.gz --summary-export sum.json --console-output c.log s.js",
    )
    .file("s.js", script)
    .file("x/keep", "");
    let told = call.told();
    assert_eq!(told.code, 99, "{}", told.stderr);
    assert_eq!(told.stdout.matches("iterations....").count(), 3, "{}", told.stdout);
    for n in 1..=3 {
        for name in ["r-N.brunt", "x/samples-N.json.gz", "sum-N.json", "c-N.log"] {
            let name = name.replace('N', &n.to_string());
            assert!(call.path(&name).exists(), "{name}");
        }
    }
    for name in ["r.brunt", "sum.json", "c.log"] {
        assert!(!call.path(name).exists(), "{name}");
    }
    assert!(told.stderr.contains("the exit codes of the runs: 99 99 99"), "{}", told.stderr);

    let mut call = brunt("run --repeat 2 --no-summary --out run s.js")
        .file("s.js", "export default function () {}");
    let told = call.told();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stdout.contains("run 1 of 2\n") && told.stdout.contains("run 2 of 2\n"));
    let files = std::fs::read_dir(call.path("brunt-results")).expect("a folder").count();
    assert_eq!(files, 2);

    let told = brunt("run --repeat 3 s.js").file("s.js", "throw new Error('no')").told();
    assert_eq!(told.code, 107);
    assert!(told.stderr.contains("run 1 of 3 ended with exit code 107: the others are left out"));
    let told = brunt("run --repeat 2 -").stdin("export default function () {}").told();
    assert!(told.code == 255 && told.error().contains("standard input"), "{}", told.stderr);
    let told = brunt("run --repeat 0 s.js").told();
    assert!(told.code == 255 && told.error().contains("for --repeat"), "{}", told.stderr);
}

#[test]
fn a_signal_ends_the_run_and_the_repetition() {
    let script = "import { sleep } from 'k6';\nexport const options = { vus: 1, duration: '1m' };\n\
        export default function () { console.log('here'); sleep(0.1); }";
    let mut call = brunt("run --repeat 2 --quiet --out run=r.brunt s.js").file("s.js", script);
    let running = call.start();
    let start = std::time::Instant::now();
    let first = call.path("r-1.brunt");
    while !brunt("report").word(&first).told().stdout.contains("iteration_duration") {
        assert!(start.elapsed().as_secs() < 100);
    }
    running.signal("TERM");
    let told = running.wait();
    assert_eq!(told.code, 105, "{}", told.stderr);
    assert!(told.stdout.contains("iterations"), "the summary follows: {}", told.stdout);
    assert!(!call.path("r-2.brunt").exists());
}

/// Each request has a URL of its own, and all of them are one route.
#[test]
fn requests_are_compared_by_route() {
    let script = "import http from 'k6/http';\n\
        export const options = { vus: 2, iterations: 60 };\n\
        export default function () { http.get(`${__ENV.DEMO_URL}/anything/users/${__VU * 1000 + __ITER}`); }\n";
    let folder = folder();
    let one = ran(folder.path(), "a.brunt", "", script);
    let other = ran(folder.path(), "b.brunt", "", script);
    let answer = json(&compared("--format json", &[&one], &[&other]));
    let rows = answer["rows"].as_array().expect("a list");
    let routes: std::collections::BTreeSet<&str> = rows
        .iter()
        .filter(|row| row["subject"] == "route")
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(routes.into_iter().collect::<Vec<_>>(), ["GET /anything/users/{id}"]);
    // Beside a run without routes both go by their names, and nothing is in common but the whole.
    let plain = ran(folder.path(), "c.brunt", "--no-routes", script);
    let answer = json(&compared("--format json --force", &[&one], &[&plain]));
    let rows = answer["rows"].as_array().expect("a list");
    assert!(rows.iter().all(|row| row["name"] != "GET /anything/users/{id}"), "{rows:?}");
}
