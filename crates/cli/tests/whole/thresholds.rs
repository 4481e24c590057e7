//! Thresholds in time, warm-ups and arrivals: what k6 doesn't have. Seeds are in `seeds.rs`.

use crate::support::{Told, brunt};

/// A measurement that is bad from 1 s to 2.5 s of a test of 4 s.
const BAD_FOR_A_WHILE: &str = "import { sleep } from 'k6';\n\
    import { Trend } from 'k6/metrics';\n\
    const own = new Trend('own', true);\n\
    const begun = Date.now();\n\
    export const options = { vus: 1, duration: '4s', thresholds: { own: ['avg<1000', THRESHOLD] } };\n\
    export default function () {\n\
      const at = Date.now() - begun;\n\
      own.add(at > 1000 && at < 2500 ? 400 : 5);\n\
      sleep(0.02);\n\
    }\n";

fn ran(threshold: &str, flags: &str) -> (crate::support::Brunt, Told) {
    let script = BAD_FOR_A_WHILE.replace("THRESHOLD", threshold);
    let mut run = brunt("run -q --no-color s.js").words(flags).file("s.js", script);
    let told = run.told();
    (run, told)
}

#[test]
fn a_window_finds_what_the_whole_test_forgets_and_tells_when() {
    let threshold = "{ threshold: 'med<100', window: '1s', exitCode: 42, name: 'steady' }";
    let (run, told) = ran(threshold, "--out run=a.brunt --threshold own:med<100");
    assert_eq!(told.code, 42, "{told:?}");
    let lines: Vec<&str> = told.stdout.lines().filter(|line| line.contains('\'')).collect();
    // k6's lines are k6's.
    assert!(lines[0].starts_with("    ✓ 'avg<1000' avg="), "{lines:?}");
    assert!(!lines[0].contains("broken") && !lines[2].contains("broken"), "{lines:?}");
    assert!(lines[2].starts_with("    ✓ 'med<100' med=5ms"), "{lines:?}");
    let (before, after) = lines[1].split_once(" first broken at ").expect("it tells when");
    assert_eq!(before, "    ✗ 'med<100 window=1s exitCode=42 name=steady' med=400ms");
    assert!(after.contains("s, for "), "{after}");
    let report = brunt("report").word(run.path("a.brunt")).told();
    assert_eq!(report.stdout, told.stdout);
    let junit = brunt("report --format junit").word(run.path("a.brunt")).told().stdout;
    assert!(junit.contains("first broken at "), "{junit}");
}

#[test]
fn a_breach_must_last_and_a_threshold_may_begin_late() {
    for (threshold, code) in [
        ("{ threshold: 'med<100', window: '1s', for: '1s', after: '3s' }", 0),
        ("{ threshold: 'max<100', window: '3s', for: '3s' }", 0),
        ("{ threshold: 'max<100', window: '2s', for: '1s' }", 99),
        ("{ threshold: 'med<100', window: '1s', abortOnFail: true, exitCode: 7 }", 7),
    ] {
        let (_, told) = ran(threshold, "");
        assert_eq!(told.code, code, "{threshold}: {told:?}");
    }
}

#[test]
fn what_makes_no_sense_is_told_in_one_go() {
    let script = "export const options = { duration: '10s', thresholds: { iterations: [\n\
        { threshold: 'rate>1', window: '1m' },\n\
        { threshold: 'rate>1', window: '5s', for: '6s' },\n\
        { threshold: 'rate>1', after: '20s' },\n\
        { threshold: 'rate>1', exitCode: 126 },\n\
        { threshold: 'rate>1', name: 'a' }, { threshold: 'rate>2', name: 'a' },\n\
        { threshold: 'rate>1', window: '5ms' },\n\
        { threshold: 'rate>1', window: '5s', fro: '1s' },\n\
        { threshold: 'rate>1', window: 'x' },\n\
      ] } };\nexport default function () {}\n";
    let told = brunt("run -q s.js").file("s.js", script).told();
    assert_eq!(told.code, 104, "{told:?}");
    for part in [
        "window is 1m0s, but the test ends after 10s",
        "for is 6s, but its window is 5s",
        "after is 20s, but the test ends after 10s",
        "exitCode expected an exit code from 1 to 125, got 126",
        "name \"a\" is there twice",
        "window must be at least 1s, got 5ms",
        "unknown field: did you mean \"for\"?",
    ] {
        assert!(told.stderr.contains(part), "{part}: {}", told.stderr);
    }
    let flag = |text: &str| {
        let script = "export default function () {}\n";
        let told = brunt("run -q s.js --threshold").word(text).file("s.js", script).told();
        assert_eq!(told.code, 104, "{told:?}");
        told.stderr
    };
    assert!(flag("http_reqs").contains("expected metric: expression"));
    assert!(flag("http_reqs: count>0 windo=3s").contains("did you mean \\\"window\\\"?"));
    let of_verdict = flag("verdict: value<1 window=2s for=1s");
    assert!(of_verdict.contains("window has no meaning for the metric verdict"), "{of_verdict}");
    assert!(of_verdict.contains("for has no meaning for the metric verdict"), "{of_verdict}");
}

#[test]
fn a_warm_up_is_measured_and_left_out() {
    let script = "import { sleep, check } from 'k6';\nimport { Counter } from 'k6/metrics';\n\
        const mine = new Counter('mine');\n\
        export const options = { scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '3s', warmup: '1s' } },\n\
          thresholds: { mine: ['count>0'] } };\n\
        export default function () { mine.add(1); check(1, { fine: (x) => x }); sleep(0.05); }\n\
        export function handleSummary(data) {\n\
          const c = data.root_group.checks[0];\n\
          return { stdout: JSON.stringify([data.metrics.mine.values.count, c.passes, data.metrics.iterations.values.count, data.warmup]) };\n\
        }\n";
    let mut run = brunt("run -q s.js --out json=all.json").file("s.js", script);
    let told = run.told();
    assert_eq!(told.code, 0, "{told:?}");
    let told: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
    let points = run.read("all.json");
    let of = |metric: &str, is_warm: bool| {
        let start = format!("{{\"metric\":\"{metric}\",\"type\":\"Point\"");
        let points = points.lines().filter(|line| line.starts_with(&start));
        points.filter(|line| line.contains("\"warmup\":\"true\"") == is_warm).count() as u64
    };
    assert!(of("mine", true) > 10 && of("mine", false) > 20, "{told}");
    assert_eq!(told[0], of("mine", false));
    assert_eq!(told[1], of("checks", false));
    assert_eq!(told[2], of("iterations", false));
    assert_eq!(told[3]["iterations"], of("iterations", true));
    assert_eq!(told[3]["checks"], of("checks", true));
    let too_long = script.replace("warmup: '1s'", "warmup: '3s'");
    let told = brunt("run -q s.js").file("s.js", too_long).told();
    assert_eq!(told.code, 104, "{told:?}");
    assert!(told.stderr.contains("warmup: is 3s, but the scenario ends after 3s"), "{told:?}");
}

#[test]
fn the_seed_is_shown_and_gaps_may_be_random() {
    let script = "export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, duration: '2s',\n\
        preAllocatedVUs: 5, maxVUs: 20, arrivals: 'poisson', sine: { amplitude: 50, period: '1s', start: 'peak' } } } };\n\
        export default function () {}\n";
    let told = brunt("run --no-color --seed 77 s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("          seed: 77\n"), "{}", told.stdout);
    assert!(told.stdout.contains("arrivals: poisson, sine: 50 each 1s"), "{}", told.stdout);
    let shown = brunt("inspect s.js").file("s.js", script).told().stdout;
    assert!(shown.contains("\"arrivals\": \"poisson\""), "{shown}");
    let wrong = script.replace("amplitude: 50", "amplitude: 100");
    let told = brunt("run -q s.js").file("s.js", wrong).told();
    assert_eq!(told.code, 104, "{told:?}");
    assert!(
        told.stderr.contains("sine.amplitude: must be less than the rate (100), got 100"),
        "{told:?}"
    );
    let told = brunt("run -q --execution-segment 1/2 s.js").file("s.js", script).told();
    assert!(told.stderr.contains("needs the same option seed on all of them"), "{told:?}");
}

/// Fifty iterations in the first second, none in the next, ten in the last; beside the script, in a folder of its own.
const RATES: &str = "# a peak, a pause\n0 50/s\n1s 50/s\n1s 0\n2s 0\n2s 600/m\n3s 10\n";

const DAY: &str = "export const options = { scenarios: { day: { executor: 'ramping-arrival-rate', rateFile: './rates.txt',\n\
      preAllocatedVUs: 30 } } };\n\
    export default function () {}\n\
    export function handleSummary(data) {\n\
      const count = (name) => (data.metrics[name] ? data.metrics[name].values.count : 0);\n\
      return { stdout: `${count('iterations') + count('dropped_iterations')} ${data.state.testRunDurationMs >= 2900}` };\n\
    }\n";

#[test]
fn a_scenario_takes_its_rates_from_a_file_beside_the_script() {
    let day = |line: &str| brunt(line).file("sub/s.js", DAY).file("sub/rates.txt", RATES);
    let told = day("run --no-color sub/s.js").told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("Up to 50.00 iterations/s for 3s over 5 stages"), "{told:?}");
    assert!(told.stdout.contains("60 true"), "{told:?}");
    // Half of it on each of two machines.
    let told = day("run -q --execution-segment 1/2 sub/s.js").told();
    assert_eq!((told.code, told.stdout.as_str()), (0, "30 true"), "{told:?}");
    let shown = day("inspect --execution-requirements sub/s.js").told().stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["scenarios"]["day"]["rateFile"], "./rates.txt");
    assert_eq!((&shown["totalDuration"], &shown["maxVUs"]), (&"33s".into(), &30.into()));
    // An archive has it.
    let mut archive = day("archive sub/s.js");
    assert_eq!(archive.told().code, 0);
    std::fs::remove_file(archive.path("sub/rates.txt")).expect("the file was there");
    let told = brunt("run -q").word(archive.path("archive.tar")).told();
    assert_eq!((told.code, told.stdout.as_str()), (0, "60 true"), "{told:?}");
}

#[test]
fn a_wrong_file_of_rates_is_told_with_its_line() {
    for (rates, said) in [
        ("0 5\n\n10 s 7\n", "scenarios.day.rateFile: ./rates.txt:3: "),
        (
            "9s 5\n3s 7\n",
            "scenarios.day.rateFile: ./rates.txt:2: the moment 3s is before the one above it",
        ),
        ("# nothing\n", "scenarios.day.rateFile: ./rates.txt has no line MOMENT RATE"),
        ("0 5\n0 9\n", "scenarios.day.rateFile: ./rates.txt ends at 0"),
    ] {
        let told = brunt("run -q s.js").file("s.js", DAY).file("rates.txt", rates).told();
        assert_eq!(told.code, 104, "{told:?}");
        assert!(told.stderr.contains(said), "{told:?}");
        assert!(told.stderr.contains("s.js:1:"), "{told:?}");
    }
    let told = brunt("run -q s.js").file("s.js", DAY).told();
    assert!(told.code == 104 && told.stderr.contains("there is no file "), "{told:?}");
    let both = DAY.replace("rateFile", "stages: [], rateFile");
    let told = brunt("run -q s.js").file("s.js", both).file("rates.txt", RATES).told();
    assert!(told.stderr.contains("scenarios.day.stages: cannot be used with rateFile"), "{told:?}");
    // Options of a flag may name it, too.
    let told = brunt("run -q s.js --set scenarios.day.rateFile=no.txt").file("s.js", DAY);
    let told = told.file("rates.txt", RATES).told();
    assert!(told.code == 104 && told.stderr.contains("there is no file "), "{told:?}");
}

/// The window of a look one second later would have the ends of ten iterations.
#[test]
fn no_look_comes_when_iterations_only_end() {
    let script = "import { sleep } from 'k6';\n\
        import exec from 'k6/execution';\n\
        export const options = { vus: 11, duration: '2s', thresholds: { iterations: [{ threshold: 'count>10', window: '1s' }] } };\n\
        export default function () { sleep(exec.vu.idInTest === 1 ? 3.5 : 0.02); }\n";
    let told = brunt("run -q s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
}

/// A window without values is a rate of 0, but not as long as there is nothing but a warm-up.
#[test]
fn a_window_begins_behind_the_warm_up() {
    let script = "import { sleep } from 'k6';\n\
        export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '4s', warmup: '2s' } },\n\
          thresholds: { iterations: [{ threshold: 'count>0', window: '1s' }, { threshold: 'count<1', window: '1s', name: 'never' }] } };\n\
        export default function () { sleep(0.05); }\n";
    let told = brunt("run -q --no-color s.js").file("s.js", script).told();
    assert_eq!(told.code, 99, "{told:?}");
    assert!(told.stdout.contains("✓ 'count>0 window=1s'"), "{told:?}");
    let line = told.stdout.lines().find(|line| line.contains("name=never")).expect("a line");
    let at = line.split("first broken at ").nth(1).expect("a moment");
    let at: f64 = at.split('s').next().and_then(|at| at.parse().ok()).expect("seconds");
    // Two of the warm-up and one of the window.
    assert!(at >= 2.7, "{line}");
}
