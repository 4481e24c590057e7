//! `brunt run`: layers of options, streams, files, signals.

use crate::support::brunt;

const LOOP: &str = "export const options = { vus: 2, duration: '60s' };\n\
                    export default function () { for (;;); }\n";
const DEFAULT: &str = "export default function () {}\n";

#[test]
fn results_go_to_stdout_and_talk_to_stderr() {
    let told = brunt("run --iterations 3 s.js").file("s.js", DEFAULT).told();
    assert_eq!(told.code, 0, "{told:?}");
    for part in ["brunt v", "script: s.js", "3 iterations shared", "TOTAL RESULTS", "running ("] {
        assert!(told.stdout.contains(part), "no {part:?} in {}", told.stdout);
    }
    assert!(!told.stdout.contains('\x1b'), "no colours in a pipe: {}", told.stdout);
    assert!(told.stderr.is_empty(), "{}", told.stderr);

    let told = brunt("run --quiet s.js").file("s.js", DEFAULT).told();
    assert!(told.stdout.trim_start().starts_with("█ TOTAL RESULTS"), "{}", told.stdout);
    let told = brunt("run --quiet --no-summary s.js").file("s.js", DEFAULT).told();
    assert_eq!((told.code, told.stdout.as_str()), (0, ""));
}

#[test]
fn a_script_can_come_from_standard_input() {
    let told = brunt("run -q -").stdin(DEFAULT).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("iterations"));
    let typed = "const a: number = 1;\nexport default function (): void {}\n";
    assert_eq!(brunt("run -q -").stdin(typed).told().code, 0);
}

#[test]
fn flags_beat_variables_beat_the_script_beat_the_file() {
    let script = "export const options = { iterations: 4, tags: { from: 'script' } };\n\
                  export default function () {}\n";
    let shown = |line: &str, env: &[(&str, &str)]| {
        let mut call = brunt(&format!("inspect --execution-requirements s.js {line}"))
            .file("s.js", script)
            .file("c.json", r#"{ "iterations": 1, "batch": 7, "tags": { "from": "file" } }"#);
        for (name, value) in env {
            call = call.env(name, value);
        }
        let told = call.told();
        assert_eq!(told.code, 0, "{told:?}");
        serde_json::from_str::<serde_json::Value>(&told.stdout).expect("JSON")
    };
    let all = shown("--config c.json", &[]);
    assert_eq!((&all["iterations"], &all["batch"]), (&4.into(), &7.into()));
    assert_eq!(all["tags"]["from"], "script");
    assert_eq!(all["totalDuration"], "10m30s");
    let all = shown("", &[("K6_ITERATIONS", "5"), ("K6_CONFIG", "c.json")]);
    assert_eq!((&all["iterations"], &all["batch"]), (&5.into(), &7.into()));
    let all = shown("", &[("K6_ITERATIONS", "5"), ("BRUNT_ITERATIONS", "6")]);
    assert_eq!(all["iterations"], 6);
}

#[test]
fn flags_beat_variables_in_a_run() {
    let told = brunt("run -q -i 3 s.js").file("s.js", DEFAULT).env("K6_ITERATIONS", "9").told();
    assert!(told.stdout.contains("iterations...........: 3 "), "{}", told.stdout);
}

#[test]
fn thresholds_decide_the_exit_code() {
    let script = "export const options = { iterations: 2, thresholds: { iterations: ['count>5'] } };\n\
                  export default function () {}\n";
    let told = brunt("run -q s.js").file("s.js", script).told();
    assert_eq!(told.code, 99);
    assert!(told.error().contains("thresholds on metrics 'iterations' have been crossed"));
    assert!(told.stdout.contains("✗ 'count>5' count=2"), "{}", told.stdout);
    let told = brunt("run -q --no-thresholds s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
}

#[test]
fn an_end_of_a_script_of_its_own() {
    let script = "export const options = { iterations: 2 };\n\
                  export function setup() { return { a: [1] }; }\n\
                  export default function () {}\n\
                  export function handleSummary(data) {\n\
                    return { stdout: `n=${data.metrics.iterations.values.count}\\n`,\n\
                             'out.json': JSON.stringify(data), 'no/dir/x': 'lost' };\n\
                  }\n";
    let mut call = brunt("run -q s.js --summary-export old.json").file("s.js", script);
    let told = call.told();
    assert_eq!((told.code, told.stdout.as_str()), (0, "n=2\n"), "{told:?}");
    assert!(told.error().contains("no/dir/x"), "{told:?}");
    let data: serde_json::Value = serde_json::from_str(&call.read("out.json")).unwrap();
    assert_eq!(data["setup_data"]["a"][0], 1);
    let old: serde_json::Value = serde_json::from_str(&call.read("old.json")).unwrap();
    assert_eq!(old["metrics"]["iterations"]["count"], 2);
}

#[test]
fn outputs_get_every_sample() {
    let mut call =
        brunt("run -q -i 5 s.js --out json=a.json.gz -o csv=b.csv").file("s.js", DEFAULT);
    assert_eq!(call.told().code, 0);
    assert!(std::fs::metadata(call.path("a.json.gz")).unwrap().len() > 20);
    let rows = call.read("b.csv");
    assert_eq!(rows.lines().filter(|row| row.starts_with("iterations,")).count(), 5, "{rows}");
}

#[test]
fn the_first_signal_ends_the_test_in_good_order() {
    for signal in ["INT", "TERM"] {
        let script = format!("{LOOP}export function teardown() {{ console.log('torn down'); }}\n");
        let mut call = brunt("run s.js").file("s.js", script);
        let mut running = call.start();
        running.line_with("running (");
        running.signal(signal);
        let told = running.wait();
        assert_eq!(told.code, 105, "{told:?}");
        assert!(told.stdout.contains("TOTAL RESULTS"), "{}", told.stdout);
        assert!(told.stdout.contains("0 complete and 2 interrupted"), "{}", told.stdout);
        assert!(told.stderr.contains("torn down"), "{}", told.stderr);
    }
}

#[test]
fn the_second_signal_ends_the_process() {
    let script = format!("{LOOP}export function teardown() {{ for (;;); }}\n");
    let mut call = brunt("run s.js").file("s.js", script);
    let mut running = call.start();
    running.line_with("running (");
    running.signal("INT");
    // There is one a second. One that comes sooner after the first is taken for its echo.
    for _ in 0..3 {
        running.line_with("✗ [");
    }
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
    assert!(!told.stdout.contains("TOTAL RESULTS"), "{}", told.stdout);
    assert!(told.error().contains("signal 'interrupt'"), "{told:?}");
}

#[test]
fn a_signal_that_comes_twice_at_once_ends_the_test_in_good_order() {
    // As `timeout` does it: to the process, and to its group.
    let mut call = brunt("run s.js").file("s.js", LOOP);
    let mut running = call.start();
    running.line_with("running (");
    running.signal("TERM");
    running.signal("TERM");
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
    assert!(told.stdout.contains("TOTAL RESULTS"), "{}", told.stdout);
}

#[test]
fn linger_stays_until_a_signal() {
    let mut call = brunt("run --linger --log-output=stdout s.js").file("s.js", DEFAULT);
    let mut running = call.start();
    running.line_with("--linger waits");
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
}

#[test]
fn the_demo_target_can_run_inside() {
    let script = "if (!__ENV.DEMO_URL.startsWith('http://127.0.0.1:')) throw new Error('no URL');\n\
                  export default function () {}\n";
    let told = brunt("run --demo s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("demo target: http://127.0.0.1:"), "{}", told.stdout);
}
