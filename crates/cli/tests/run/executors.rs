//! The six executors: how many iterations, when, in which VUs, and what becomes of those that have no time.

use std::time::Duration;

use crate::samples::{Ran, run};
use crate::support::{beside_a_yardstick, undisturbed};

/// A test with one scenario `a`, and a body for its iterations.
fn scenario(config: &str, body: &str) -> String {
    format!(
        "import {{ sleep }} from 'k6';\nimport exec from 'k6/execution';\n\
         export const options = {{ scenarios: {{ a: {config} }} }};\n\
         export default function () {{ {body} }}\n"
    )
}

fn complete(script: &str, flags: &str) -> Ran {
    let ran = run(script, flags);
    assert_eq!(ran.told.code, 0, "{:?}", ran.told);
    ran
}

/// The same, and how late it may have been because the machine did other things, too.
fn with_excuse(script: &str, flags: &str) -> (Ran, Duration) {
    let (ran, pause) = beside_a_yardstick(|| complete(script, flags));
    let excuse = 10 * pause + ran.told.waited;
    (ran, excuse)
}

/// Where a moment is expected: not before its time, and hardly behind it but for the excuse. No clock can be held here, as the
/// binary runs with the machine's; `schedule` tests the plans themselves, without any.
fn assert_prompt(moments: &[i64], planned: impl IntoIterator<Item = i64>, excuse: Duration) {
    let late_max = 300 + i64::try_from(excuse.as_millis()).expect("a short time");
    for (moment, planned) in moments.iter().zip(planned) {
        let late = moment - planned;
        // Dates have whole milliseconds.
        assert!((-1..late_max).contains(&late), "{planned}: {moments:?}, {excuse:?}");
    }
}

/// A number that the clock may move a little.
fn about(number: usize, from: usize, to: usize) {
    assert!((from..=to).contains(&number), "{number} is not in {from}..={to}");
}

/// Milliseconds since the scenario began, logged by the script.
const SINCE: &str = "Date.now() - exec.scenario.startTime";

#[test]
fn shared_iterations_run_each_number_once() {
    for workers in ["--workers 1", "--workers 2"] {
        let script = scenario(
            "{ executor: 'shared-iterations', vus: 3, iterations: 7 }",
            "console.log(exec.scenario.iterationInTest); sleep(0.05);",
        );
        let ran = complete(&script, workers);
        assert_eq!(ran.numbers(), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((ran.count("iterations"), ran.count("iteration_duration")), (7, 7));
        assert_eq!(ran.count("dropped_iterations"), 0);
        // Once an iteration, and when setup() and teardown() are not there, not once more.
        assert_eq!((ran.count("data_sent"), ran.count("data_received")), (7, 7));
    }
}

#[test]
fn what_is_left_of_shared_iterations_at_max_duration_is_dropped_in_one_sample() {
    let script = scenario(
        "{ executor: 'shared-iterations', vus: 2, iterations: 100, maxDuration: '1s' }",
        "sleep(0.3);",
    );
    let ran = complete(&script, "");
    // No more than fit.
    about(ran.count("iterations"), 2, 8);
    assert_eq!(ran.count("dropped_iterations"), 1);
    let all = ran.sum("iterations") + ran.sum("dropped_iterations");
    assert!((all - 100.0).abs() < 0.1, "{all}");
}

#[test]
fn per_vu_iterations_give_each_vu_its_own() {
    let script = scenario(
        "{ executor: 'per-vu-iterations', vus: 3, iterations: 4 }",
        "console.log(__VU * 10 + __ITER); sleep(0.01);",
    );
    let ran = complete(&script, "");
    assert_eq!(ran.numbers(), [10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33]);
}

#[test]
fn each_vu_drops_what_it_could_not_start() {
    let script = scenario(
        "{ executor: 'per-vu-iterations', vus: 2, iterations: 100, maxDuration: '1s', gracefulStop: 0 }",
        "sleep(0.3);",
    );
    let ran = complete(&script, "");
    // Two were interrupted: they were started, so they are not dropped, and not complete either.
    assert_eq!(ran.count("dropped_iterations"), 2);
    let tags = |point: &serde_json::Value| point["data"]["tags"].to_string();
    assert!(ran.points("dropped_iterations").map(tags).all(|tags| !tags.contains("group")));
    // No more than fit, however late each begins; each VU has begun one more that is neither.
    about(ran.count("iterations"), 1, 6);
    let all = ran.sum("iterations") + ran.sum("dropped_iterations");
    assert!((198.0..=200.0).contains(&all), "{all}");
}

#[test]
fn constant_vus_loop_for_their_duration_and_finish_the_last_iteration() {
    let script = scenario(
        "{ executor: 'constant-vus', vus: 3, duration: '1s' }",
        &format!("sleep(0.4); console.log(exec.vu.idInTest * 1e6 + {SINCE});"),
    );
    let ran = complete(&script, "");
    let ends = ran.numbers();
    // No more than fit; each VU goes on until the time is over.
    about(ends.len(), 3, 9);
    for vu in 1..=3 {
        let of_vu = ends.iter().filter(|end| **end / 1_000_000 == vu);
        assert!(of_vu.max().is_some_and(|end| end % 1_000_000 >= 999), "{ends:?}");
    }
    assert_eq!((ran.count("iterations"), ran.count("dropped_iterations")), (ends.len(), 0));
}

#[test]
fn iterations_that_outlast_graceful_stop_are_cut_off_and_not_counted() {
    let script = scenario(
        "{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '200ms' }",
        "try { sleep(__ITER === 0 ? 0.1 : 60); } catch (e) { console.log('caught'); } finally { console.log(1); }",
    );
    let ran = complete(&script, "--no-summary");
    assert_eq!(ran.count("iterations"), 2);
    // catch and finally of the interrupted ones don't run.
    assert_eq!(ran.numbers(), [1, 1]);
    // The bytes of an interrupted iteration count all the same.
    assert_eq!(ran.count("data_sent"), 4);
}

#[test]
fn an_endless_loop_is_stopped_by_graceful_stop() {
    for body in ["for (;;);", "for (;;) { try { for (;;); } catch (e) {} finally { for (;;); } }"] {
        let config = "{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '100ms' }";
        let ran = complete(&scenario(config, body), "--workers 1");
        assert_eq!(ran.count("iterations"), 0);
        assert!(ran.told.stderr.contains("No script iterations fully finished"), "{:?}", ran.told);
    }
}

#[test]
fn a_forgotten_interval_keeps_the_iteration_until_it_is_cut_off() {
    let config = "{ executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '100ms' }";
    let ran = complete(&scenario(config, "setInterval(() => {}, 50);"), "");
    assert_eq!(ran.count("iterations"), 0);
}

#[test]
fn ramping_vus_start_and_stop_at_evenly_spaced_instants() {
    let script = scenario(
        "{ executor: 'ramping-vus', startVUs: 0, gracefulRampDown: '0s', stages: [ \
         { duration: '1s', target: 4 }, { duration: '1s', target: 0 } ] }",
        &format!("if (__ITER === 0) console.log({SINCE}); sleep(0.02);"),
    );
    let (ran, excuse) = with_excuse(&script, "");
    let starts = ran.numbers();
    assert_eq!(starts.len(), 4, "{starts:?}");
    assert_prompt(&starts, [250, 500, 750, 1000], excuse);
    // 4 VU-seconds of 20 ms iterations, less what the machine takes.
    about(ran.count("iterations"), 4, 204);
}

#[test]
fn a_vu_that_is_ramped_down_has_graceful_ramp_down_to_finish() {
    let stages = "stages: [{ duration: '500ms', target: 2 }, { duration: '0s', target: 0 }, \
                  { duration: '1s', target: 0 }]";
    let config = |grace| {
        format!("{{ executor: 'ramping-vus', startVUs: 2, gracefulRampDown: '{grace}', {stages} }}")
    };
    assert_eq!(complete(&scenario(&config("30s"), "sleep(0.8);"), "").count("iterations"), 2);
    assert_eq!(complete(&scenario(&config("100ms"), "sleep(60);"), "").count("iterations"), 0);
}

#[test]
fn a_constant_rate_starts_at_zero_and_keeps_its_pace() {
    let script = scenario(
        "{ executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 11 }",
        &format!("console.log({SINCE}); sleep(0.15);"),
    );
    let (ran, excuse) = with_excuse(&script, "--lateness-metric");
    let starts = ran.numbers();
    about(starts.len(), 10, 11);
    assert_prompt(&starts, (0..).step_by(100), excuse);
    assert_eq!(ran.count("dropped_iterations"), 0);
    // Ours: how late each started.
    assert_eq!(ran.count("iteration_lateness"), ran.count("iterations"));
    let late = ran.values("iteration_lateness").iter().map(|late| *late as i64).collect::<Vec<_>>();
    assert_prompt(&late, std::iter::repeat(0), excuse);
}

#[test]
fn a_constant_rate_lasts_its_whole_duration() {
    let script = scenario(
        "{ executor: 'constant-arrival-rate', rate: 1, timeUnit: '10s', duration: '1500ms', \
         preAllocatedVUs: 1 }",
        "",
    );
    let start = std::time::Instant::now();
    let ran = complete(&script, "");
    assert!(start.elapsed().as_secs_f64() >= 1.5, "{:?}", start.elapsed());
    assert_eq!((ran.count("iterations"), ran.count("vus")), (1, 1));
}

#[test]
fn iterations_without_an_idle_vu_are_dropped_at_once_with_one_warning() {
    let script = scenario(
        "{ executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 1 }",
        "sleep(0.45);",
    );
    let ran = complete(&script, "--lateness-metric");
    // No more than fit; all the others are dropped.
    about(ran.count("iterations"), 1, 3);
    about(ran.count("iterations") + ran.count("dropped_iterations"), 10, 11);
    assert!(ran.values("dropped_iterations").iter().all(|value| (value - 1.0).abs() < 1e-9));
    let warnings = ran.told.stderr.matches("Insufficient VUs, reached 1 active VUs").count();
    assert_eq!(warnings, 1, "{}", ran.told.stderr);
    assert_eq!(ran.count("iteration_lateness"), ran.count("iterations"));
}

#[test]
fn unplanned_vus_are_made_up_to_max_vus_and_then_there_is_one_warning() {
    let script = scenario(
        "{ executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 1, maxVUs: 4 }",
        "console.log(__VU); sleep(0.45);",
    );
    for workers in ["--workers 1", "--workers 2"] {
        let ran = complete(&script, workers);
        let mut vus = ran.numbers();
        vus.dedup();
        assert_eq!(vus, [1, 2, 3, 4]);
        let warnings = ran.told.stderr.matches("Insufficient VUs, reached 4 active VUs").count();
        assert_eq!(warnings, 1, "{}", ran.told.stderr);
        let all = ran.count("iterations") + ran.count("dropped_iterations");
        about(all, 20, 21);
    }
}

#[test]
fn a_ramping_rate_starts_when_the_area_under_it_reaches_one() {
    let script = scenario(
        "{ executor: 'ramping-arrival-rate', startRate: 0, preAllocatedVUs: 3, stages: [ \
         { duration: '2s', target: 10 } ] }",
        &format!("console.log({SINCE});"),
    );
    let (ran, excuse) = with_excuse(&script, "");
    let starts = ran.numbers();
    about(starts.len(), 9, 10);
    // √(2i/5) seconds.
    assert_prompt(&starts, [632, 894, 1095, 1264, 1414, 1549, 1673, 1788, 1897], excuse);
}

#[test]
fn a_step_of_the_rate_takes_no_time() {
    let script = scenario(
        "{ executor: 'ramping-arrival-rate', startRate: 4, preAllocatedVUs: 3, stages: [ \
         { duration: '1s', target: 4 }, { duration: 0, target: 20 }, { duration: '1s', target: 20 } ] }",
        &format!("console.log({SINCE});"),
    );
    let (ran, excuse) = with_excuse(&script, "");
    let starts = ran.numbers();
    about(starts.len(), 23, 24);
    assert_prompt(&starts, (1..=4).map(|i| i * 250).chain((1050..).step_by(50)), excuse);
}

#[test]
fn scenarios_run_side_by_side_and_hand_their_vus_on() {
    let script = "import { sleep } from 'k6';\nimport exec from 'k6/execution';\n\
        export const options = { scenarios: {\n\
          late: { executor: 'per-vu-iterations', vus: 1, iterations: 2, startTime: '1s', exec: 'late', \
                  env: { WHO: 'late' }, tags: { flow: 'x' } },\n\
          early: { executor: 'per-vu-iterations', vus: 1, iterations: 3, maxDuration: '1s', \
                   gracefulStop: '0s', exec: 'early', tags: { flow: 'y' } } } };\n\
        let seen = 0;\n\
        const show = () => console.log([exec.scenario.name, __ENV.WHO, __VU, __ITER, \
          exec.vu.iterationInScenario, exec.scenario.iterationInTest, seen++, exec.vu.tags.flow, \
          exec.vu.tags.mine].join());\n\
        export function early() { show(); exec.vu.tags.mine = 1; sleep(0.01); }\n\
        export function late() { show(); }\n";
    let ran = complete(script, "");
    assert_eq!(
        ran.logged(),
        [
            "early,,1,0,0,0,0,y,",
            "early,,1,1,1,1,1,y,1",
            "early,,1,2,2,2,2,y,1",
            "late,late,1,3,0,0,3,x,",
            "late,late,1,4,1,1,4,x,",
        ]
    );
    let of = |name: &str| {
        ran.points("iterations").filter(|point| point["data"]["tags"]["scenario"] == name).count()
    };
    assert_eq!((of("early"), of("late")), (3, 2));
}

#[test]
fn min_iteration_duration_pads_after_the_iteration() {
    let script = "import { sleep } from 'k6';\n\
        export const options = { vus: 2, duration: '1s', minIterationDuration: '400ms' };\n\
        export default function () { sleep(0.05); }\n";
    let is_short = undisturbed(|| {
        let ran = complete(script, "");
        // No more than fit; without the padding there would be forty.
        about(ran.count("iterations"), 2, 6);
        // Were the padding counted, none would be shorter.
        let took = ran.values("iteration_duration");
        let is_any_short = took.iter().any(|took| *took < 400.0);
        (ran.told, if is_any_short { Ok(()) } else { Err(format!("{took:?}")) })
    });
    assert_eq!(is_short, Ok(()));
}

#[test]
fn vus_are_counted_each_second() {
    let script = "import { sleep } from 'k6';\n\
        export const options = { vus: 3, duration: '2500ms', tags: { of: 'run' } };\n\
        export default function () { sleep(0.1); }\n";
    let ran = complete(script, "");
    about(ran.count("vus"), 2, 3);
    assert_eq!(ran.count("vus"), ran.count("vus_max"));
    assert!(
        ran.values("vus").iter().chain(&ran.values("vus_max")).all(|vus| (vus - 3.0).abs() < 0.1)
    );
    let tags = &ran.points("vus").next().expect("a sample")["data"]["tags"];
    assert_eq!(tags, &serde_json::json!({ "of": "run" }));
}

#[test]
fn two_thousand_vus_are_no_trouble() {
    let script = "import { sleep } from 'k6';\n\
        export const options = { vus: 2000, duration: '1s' };\n\
        export default function () { sleep(0.5); }\n";
    let ran = run(script, "");
    assert_eq!(ran.told.code, 0, "{:?}", ran.told);
    assert!(ran.count("iterations") >= 2000, "{}", ran.count("iterations"));
}

#[test]
fn recursion_may_be_ten_thousand_calls_deep_and_leaves_no_memory() {
    let script = "import exec from 'k6/execution';\n\
        function down(n) { return n ? 1 + down(n - 1) : 0; }\n\
        const tree = (n) => (n ? [n].map((n) => tree(n - 1)).length : 0);\n\
        function runaway() { return runaway() + 1; }\n\
        export default function () {\n\
          const found = [down(10000), tree(2000)];\n\
          try { runaway(); } catch (e) { found.push(e instanceof RangeError); }\n\
          if (exec.vu.idInTest === 1) console.log(JSON.stringify(found));\n\
        }\n";
    let ran = complete(script, "--vus 40 --iterations 40");
    assert_eq!(ran.logged(), ["[10000,1,true]"]);
}

#[test]
fn recursion_is_a_range_error_and_the_test_goes_on() {
    let script = "function deep() { return deep() + 1; }\n\
        export default function () {\n\
          try { deep(); } catch (e) { console.log(e instanceof RangeError); }\n\
          deep();\n\
        }\n";
    let ran = complete(script, "--iterations 3");
    assert_eq!(ran.logged(), ["true", "true", "true"]);
    // Equal lines of a second are one line with their number.
    let errors = ran.told.stderr.lines().filter(|line| line.contains("RangeError"));
    let number = |line: &str| {
        let count = line.split(" count=").nth(1).and_then(|rest| rest.split(' ').next());
        count.map_or(1, |count| count.parse::<u32>().expect("a number"))
    };
    assert_eq!(errors.map(number).sum::<u32>(), 3, "{}", ran.told.stderr);
    assert_eq!(ran.count("iterations"), 3);
}
