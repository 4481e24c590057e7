//! The life of a run: init, setup, iterations, teardown, summary; and all the ways in which it can end early.

use crate::samples::{logged, run};
use crate::support::brunt;

const DEFAULT: &str = "export default function () {}\n";
const TEARDOWN: &str = "export function teardown() { console.log('torn down'); }\n";

/// Runs a script, and checks exit code, parts of what is said and parts that must not be there.
fn ends(script: &str, flags: &str, code: i32, parts: &[&str], not: &[&str]) {
    let told = run(script, flags).told;
    assert_eq!(told.code, code, "{script}\n{told:?}");
    let all = format!("{}\n{}", told.stderr, told.stdout);
    for part in parts {
        assert!(all.contains(part), "no {part:?} for {script}\n{all}");
    }
    for part in not {
        assert!(!all.contains(part), "{part:?} for {script}\n{all}");
    }
}

#[test]
fn init_code_runs_once_for_the_options_each_vu_setup_teardown_and_the_summary() {
    let init = "console.log(__VU + ' ' + typeof __ITER);\n";
    let zeros = |script: &str| {
        let told = run(script, "--vus 3 --iterations 3").told;
        assert_eq!(told.code, 0, "{told:?}");
        let mut lines = logged(&told);
        lines.sort();
        lines.iter().filter(|line| *line == "0 undefined").count() * 10
            + lines.iter().filter(|line| !line.starts_with('0')).count()
    };
    assert_eq!(zeros(&format!("{init}{DEFAULT}")), 23);
    let all = "export function setup() {}\nexport function teardown() {}\n";
    assert_eq!(zeros(&format!("{init}{DEFAULT}{all}")), 43);
}

#[test]
fn setup_data_goes_through_json_and_each_vu_has_its_own_copy() {
    let script = "export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, \
                    iterations: 2 } } };\n\
        export function setup() {\n\
          return { date: new Date(0), gone: undefined, bytes: new Uint8Array([1, 2]), n: 0,\n\
                   map: new Map([[1, 2]]), set: new Set([1]), re: /x/, big: 5n, nil: null };\n\
        }\n\
        export default function (data) { console.log(JSON.stringify(data, Object.keys(data).sort())); data.n++; }\n\
        export function teardown(data) { console.log(data.n + ' ' + typeof __ITER + ' ' + __VU); }\n";
    let ran = run(script, "");
    let line = |n| {
        format!(
            "{{\"big\":5,\"bytes\":\"AQI=\",\"date\":\"1970-01-01T00:00:00Z\",\"gone\":null,\
             \"map\":[[1,2]],\"n\":{n},\"nil\":null,\"re\":{{}},\"set\":[1]}}"
        )
    };
    let mut lines = ran.logged();
    assert_eq!(lines.pop().as_deref(), Some("0 undefined 0"), "{:?}", ran.told);
    lines.sort();
    assert_eq!(lines, [line(0), line(0), line(1), line(1)]);
}

#[test]
fn setup_may_be_async_and_its_result_undefined() {
    let show = "export default function (data) { console.log(JSON.stringify(data)); }\n";
    let told = |setup: &str| run(&format!("{setup}\n{show}"), "").logged();
    assert_eq!(told("export async function setup() { await 1; return [1]; }"), ["[1]"]);
    assert_eq!(told("export function setup() {}"), ["undefined"]);
    assert_eq!(told("export function setup() { return null; }"), ["null"]);
    assert_eq!(told(""), ["undefined"]);
}

#[test]
fn setup_data_that_is_no_json_fails_the_run() {
    for value in [
        "{ a: NaN }",
        "{ a: () => 1 }",
        "[Infinity]",
        "(() => { const a = {}; a.a = a; return a; })()",
    ] {
        let script = format!("export function setup() {{ return {value}; }}\n{DEFAULT}{TEARDOWN}");
        ends(&script, "", 255, &["error marshaling setup() data to JSON"], &["torn down"]);
    }
}

#[test]
fn samples_of_setup_and_teardown_bear_their_group_and_no_scenario() {
    let script = "import { Counter } from 'k6/metrics';\nconst c = new Counter('mine');\n\
        export function setup() { c.add(1); }\nexport function teardown() { c.add(2); }\n\
        export default function () { c.add(3); }\n";
    let ran = run(script, "");
    let tags: Vec<_> = ran.points("mine").map(|point| point["data"]["tags"].to_string()).collect();
    assert_eq!(
        tags,
        [
            "{\"group\":\"::setup\"}",
            "{\"group\":\"\",\"scenario\":\"default\"}",
            "{\"group\":\"::teardown\"}"
        ]
    );
    // The bytes of setup, the iteration and teardown.
    assert_eq!((ran.count("data_sent"), ran.count("data_received")), (3, 3));
    let ran = run(script, "--system-tags iter,vu");
    let metadata: Vec<_> =
        ran.points("mine").map(|point| point["data"]["metadata"].to_string()).collect();
    let own = "{\"iter\":\"0\"}";
    assert_eq!((metadata[0].as_str(), metadata[2].as_str()), (own, own));
    assert!(metadata[1].contains("\"vu\":\"1\""), "{metadata:?}");
}

#[test]
fn setup_and_teardown_can_be_left_out() {
    let script =
        format!("export function setup() {{ console.log('set up'); }}\n{DEFAULT}{TEARDOWN}");
    ends(&script, "--no-setup --no-teardown", 0, &[], &["set up", "torn down"]);
    ends(&script, "", 0, &["set up", "torn down"], &[]);
}

#[test]
fn a_setup_that_throws_ends_the_run_without_teardown_but_with_a_summary() {
    let script =
        format!("export function setup() {{ throw new Error('no'); }}\n{DEFAULT}{TEARDOWN}");
    ends(&script, "", 107, &["Error: no", "script exception", "TOTAL RESULTS"], &["torn down"]);
}

#[test]
fn setup_and_teardown_have_time_limits_also_while_they_wait() {
    let options = "import { sleep } from 'k6';\n\
                   export const options = { setupTimeout: '200ms', teardownTimeout: 200 };\n";
    for wait in
        ["sleep(30);", "for (;;);", "return new Promise(() => setTimeout(() => {}, 30000));"]
    {
        let setup = format!("{options}export function setup() {{ {wait} }}\n{DEFAULT}{TEARDOWN}");
        ends(&setup, "", 100, &["setup() execution timed out"], &["torn down"]);
        let teardown = format!("{options}export function teardown() {{ {wait} }}\n{DEFAULT}");
        ends(&teardown, "", 101, &["teardown() execution timed out", "iterations"], &[]);
    }
}

#[test]
fn a_teardown_that_throws_is_107_after_a_summary() {
    let script = format!("export function teardown() {{ throw new Error('late'); }}\n{DEFAULT}");
    ends(&script, "", 107, &["Error: late", "iterations"], &[]);
}

#[test]
fn init_code_that_throws_in_a_vu_ends_the_run() {
    let script = format!("if (__VU === 2) throw new Error('second');\n{DEFAULT}{TEARDOWN}");
    ends(&script, "--vus 3 --iterations 3", 107, &["Error: second"], &["torn down", "TOTAL"]);
}

#[test]
fn abort_cannot_be_caught_and_teardown_runs() {
    let script = format!(
        "import exec from 'k6/execution';\n\
         export default function () {{\n\
           try {{ exec.test.abort('enough'); }} catch (e) {{ console.log('caught'); }}\n\
           finally {{ console.log('finally'); }}\n\
         }}\n{TEARDOWN}"
    );
    ends(
        &script,
        "--iterations 5",
        108,
        &["test aborted: enough", "s.js:3:", "torn down", "iterations"],
        &["caught", "finally"],
    );
    // The one that aborts counts as done in the metrics, and as interrupted in the progress line.
    let mut call = brunt("run s.js --iterations 5 --out json=o.json").file("s.js", &script);
    let told = call.told();
    assert!(told.stdout.contains("0 complete and 1 interrupted"), "{}", told.stdout);
    let samples = call.read("o.json");
    let of = |metric: &str| {
        samples.matches(&format!("\"metric\":\"{metric}\",\"type\":\"Point\"")).count()
    };
    assert_eq!((of("iterations"), of("iteration_duration")), (1, 1), "{samples}");
}

#[test]
fn abort_ends_vus_that_wait_or_never_wait() {
    let script = "import exec from 'k6/execution';\nimport http from 'k6/http';\nimport { sleep } from 'k6';\n\
        export const options = { vus: 4, duration: '30s' };\n\
        export default function () {\n\
          try {\n\
            if (__VU === 1) { sleep(0.3); exec.test.abort(); }\n\
            if (__VU === 2) sleep(30);\n\
            if (__VU === 3) http.get(`${__ENV.DEMO_FAULTS_URL}/never`);\n\
            for (;;);\n\
          } catch (e) { console.log('caught'); } finally { console.log('finally'); }\n\
        }\n";
    let told = run(script, "--demo").told;
    assert_eq!(told.code, 108, "{told:?}");
    assert!(logged(&told).is_empty(), "{told:?}");
}

#[test]
fn abort_in_init_setup_and_teardown() {
    let import = "import exec from 'k6/execution';\n";
    let abort = "exec.test.abort('there');";
    ends(&format!("{import}{abort}\n{DEFAULT}"), "", 108, &["test aborted: there"], &["TOTAL"]);
    let setup = format!("{import}export function setup() {{ {abort} }}\n{DEFAULT}{TEARDOWN}");
    ends(&setup, "", 108, &["test aborted: there", "TOTAL RESULTS"], &["torn down"]);
    let teardown = format!("{import}export function teardown() {{ {abort} }}\n{DEFAULT}");
    ends(&teardown, "", 108, &["test aborted: there", "iterations"], &[]);
}

#[test]
fn a_test_can_be_marked_as_failed_and_goes_on() {
    let script = "import exec from 'k6/execution';\n\
        export default function () { exec.test.fail('hm'); console.log('on'); }\n";
    let told = run(script, "--iterations 2").told;
    assert_eq!(told.code, 110, "{told:?}");
    assert_eq!(logged(&told), ["on", "on"]);
    assert!(told.stderr.contains("test marked as failed: hm"), "{told:?}");
    let init = format!("import exec from 'k6/execution';\nexec.test.fail();\n{DEFAULT}");
    ends(&init, "", 107, &["called outside of VU context"], &[]);
}

#[test]
fn exceptions_in_iterations_are_logged_counted_and_no_failure() {
    let script = "import { fail } from 'k6';\n\
        export default function () { if (__ITER === 0) throw { a: 1 }; if (__ITER === 1) fail('f'); null.x; }\n";
    let ran = run(script, "--iterations 3");
    assert_eq!(ran.told.code, 0, "{:?}", ran.told);
    assert_eq!((ran.count("iterations"), ran.count("iteration_duration")), (3, 3));
    for part in ["executor=shared-iterations", "scenario=default", "source=stacktrace", "TypeError"]
    {
        assert!(ran.told.stderr.contains(part), "no {part}: {}", ran.told.stderr);
    }
    assert_eq!(
        ran.told.stderr.matches("hint=\"script exception\"").count(),
        3,
        "{}",
        ran.told.stderr
    );
}

#[test]
fn a_signal_during_setup_ends_the_run_without_teardown() {
    let script = format!(
        "import {{ sleep }} from 'k6';\nexport function setup() {{ sleep(30); }}\n{DEFAULT}{TEARDOWN}"
    );
    let mut call = brunt("run s.js").file("s.js", script);
    let mut running = call.start();
    running.line_with("setup()");
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
    assert!(!told.stderr.contains("torn down"), "{told:?}");
}

#[test]
fn a_signal_during_handle_summary_ends_the_process() {
    let script =
        format!("{DEFAULT}export function handleSummary() {{ console.log('on'); for (;;); }}\n");
    let mut call = brunt("run -q --log-output stdout s.js").file("s.js", script);
    let mut running = call.start();
    running.line_with("msg=on");
    running.signal("TERM");
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
}

#[test]
fn an_exception_of_teardown_after_a_signal_is_told() {
    let script = "import { sleep } from 'k6';\n\
        export default function () { console.log('on'); sleep(30); }\n\
        export function teardown() { throw new Error('torn'); }\n";
    let mut call = brunt("run -q --log-output stdout s.js").file("s.js", script);
    let mut running = call.start();
    running.line_with("msg=on");
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
    assert!(told.stdout.contains("Error: torn"), "{}", told.stdout);
}

#[test]
fn after_a_signal_the_bars_stand_still_and_no_vus_are_counted() {
    let script = "import { sleep } from 'k6';\n\
        export const options = { vus: 2, duration: '20s' };\n\
        export default function () { sleep(30); }\n\
        export function teardown() { sleep(1.2); }\n";
    let mut call = brunt("run s.js").file("s.js", script);
    let mut running = call.start();
    running.line_with("running (");
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
    let bar = |line: &&str| line.starts_with("default ✗ [");
    let bars: Vec<&str> = told.stdout.lines().filter(bar).collect();
    assert!(bars.len() > 1 && bars.iter().all(|line| *line == bars[0]), "{}", told.stdout);
    assert!(!bars[0].contains("100%"), "{}", told.stdout);
    let vus = told.stdout.lines().find(|line| line.trim_start().starts_with("vus.."));
    assert!(vus.is_none_or(|line| line.contains("min=2")), "{}", told.stdout);
}

#[test]
fn a_signal_interrupts_sleep_and_requests_at_once() {
    let script = "import http from 'k6/http';\nimport { sleep } from 'k6';\n\
        export const options = { vus: 2, duration: '30s' };\n\
        export default function () {\n\
          try { if (__VU === 1) sleep(30); else http.get(`${__ENV.DEMO_FAULTS_URL}/never`); }\n\
          finally { console.log('finally'); }\n\
        }\n";
    let mut call = brunt("run --demo s.js").file("s.js", script);
    let mut running = call.start();
    running.line_with("running (");
    running.signal("TERM");
    let told = running.wait();
    assert_eq!(told.code, 105, "{told:?}");
    assert!(told.stdout.contains("0 complete and 2 interrupted"), "{}", told.stdout);
    assert!(logged(&told).is_empty(), "{told:?}");
}

#[test]
fn what_exec_tells() {
    let script = "import exec, { vu, scenario, test, instance } from 'k6/execution';\n\
        export const options = { iterations: 2, tags: { a: 'b' } };\n\
        export default function () {\n\
          if (__ITER !== 1) return;\n\
          console.log([scenario.name, scenario.executor, scenario.iterationInInstance, scenario.iterationInTest,\n\
            vu.idInInstance, vu.idInTest, vu.iterationInInstance, vu.iterationInScenario,\n\
            instance.iterationsCompleted, instance.iterationsInterrupted, instance.vusActive,\n\
            instance.vusInitialized].join());\n\
          console.log(Math.abs(Date.now() - scenario.startTime) < 60000, scenario.progress,\n\
            instance.currentTestRunDuration > 0);\n\
          const o = test.options;\n\
          console.log(Object.isFrozen(o.scenarios.default), o.vus, o.setupTimeout, o.tags.a, exec.test.options.tags.a);\n\
          console.log(vu.tags.scenario, vu.metrics.tags.a, JSON.stringify(vu.metrics.metadata));\n\
        }\n\
        export function setup() {\n\
          for (const f of [() => scenario.name, () => scenario.iterationInTest]) {\n\
            try { f(); console.log('told'); } catch (e) { console.log('threw'); }\n\
          }\n\
          console.log(vu.idInTest, vu.iterationInInstance, vu.iterationInScenario);\n\
        }\n\
        for (const f of [() => vu.idInTest, () => vu.tags, () => instance.vusActive, () => test.options]) {\n\
          try { f(); console.log('no error in init'); } catch (e) {}\n\
        }\n";
    let ran = run(script, "");
    assert_eq!(
        ran.logged(),
        [
            "threw",
            "threw",
            "0 0 0",
            "default,shared-iterations,1,1,1,1,1,1,1,0,1,1",
            "true 0.5 true",
            "true undefined null b b",
            "default b {}",
        ],
        "{:?}",
        ran.told
    );
}

#[test]
fn the_exported_options_object_gets_the_consolidated_values() {
    let script = "export const options = { vus: 1, iterations: 1, batch: 3 };\n\
        export default function () { console.log(options.vus, options.iterations, options.batch); }\n";
    assert_eq!(run(script, "--iterations 2 --vus 2").logged(), ["2 2 3", "2 2 3"]);
}

#[test]
fn what_is_no_script_is_refused_before_anything_runs() {
    let mut archive = vec![0; 600];
    archive[257..262].copy_from_slice(b"ustar");
    for (name, part) in [
        ("gone.js", "does not exist"),
        ("folder", "is a directory"),
        ("a.tar", "could not load the test archive"),
        ("https://127.0.0.1:1/s.js", "can't be fetched: dial: connection refused"),
        ("http://127.0.0.1:1/s.js", "is remote: that needs https"),
    ] {
        let told = brunt(&format!("run {name}"))
            .file("folder/s.js", DEFAULT)
            .file("a.tar", &archive)
            .told();
        assert_eq!(told.code, 255, "{name}: {told:?}");
        assert!(told.error().contains(part), "{name}: {told:?}");
    }
    let told = brunt("run s.js").file("s.js", [0xff, 0xfe, 0x00]).told();
    assert_eq!(told.code, 107, "{told:?}");
    assert!(told.error().contains("not UTF-8"), "{told:?}");
    let told = brunt("run s.js").file("s.js", "").told();
    assert_eq!(told.code, 255, "{told:?}");
}

#[test]
fn a_vu_that_cannot_be_made_while_the_test_runs_is_told_and_the_test_goes_on() {
    let script = "import { sleep } from 'k6';\nif (__VU > 1) throw new Error('only one');\n\
        export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 10, \
          duration: '1s', preAllocatedVUs: 1, maxVUs: 3 } } };\n\
        export default function () { sleep(0.35); }\n";
    let ran = run(script, "");
    assert_eq!(ran.told.code, 0, "{:?}", ran.told);
    let told = ran.told.stderr.matches("Error while allocating unplanned VU").count();
    assert!((1..=2).contains(&told), "{:?}", ran.told);
    assert!(ran.told.stderr.contains("only one"), "{:?}", ran.told);
    assert!(ran.count("iterations") >= 2, "{:?}", ran.told);
}

#[test]
fn an_exit_code_tells_the_first_thing_that_went_wrong() {
    // A threshold is crossed, too; and teardown throws after an abort.
    let script = "import exec from 'k6/execution';\n\
        export const options = { thresholds: { iterations: ['count>99'] } };\n\
        export default function () { exec.test.abort('first'); }\n\
        export function teardown() { throw new Error('second'); }\n";
    ends(script, "", 108, &["test aborted: first"], &[]);
    let script = "export const options = { thresholds: { iterations: ['count>99'] } };\n\
        export default function () {}\n\
        export function teardown() { throw new Error('second'); }\n";
    ends(script, "", 107, &["Error: second"], &[]);
}
