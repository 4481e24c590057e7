//! Execution segments: the shares of several machines add up to the whole test.

use crate::samples::run;
use crate::support::brunt;

const SHARED: &str = "import exec from 'k6/execution';\n\
    export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 7, iterations: 20 } } };\n\
    export default function () { console.log(exec.scenario.iterationInTest); }\n";

#[test]
fn seven_vus_and_twenty_iterations_over_thirds() {
    // k6 2.2: 9, 6 and 5 iterations, in 3, 2 and 2 VUs.
    let mut all = Vec::new();
    for (segment, iterations, vus) in [("0:1/3", 9, 3), ("1/3:2/3", 6, 2), ("2/3:1", 5, 2)] {
        let sequence = "--execution-segment-sequence 0,1/3,2/3,1";
        let ran = run(SHARED, &format!("--execution-segment {segment} {sequence}"));
        let mut numbers = ran.numbers();
        assert_eq!(numbers.len(), iterations, "{segment}: {:?}", ran.told);
        all.append(&mut numbers);
        let told = brunt(&format!("run s.js --execution-segment {segment} {sequence}"))
            .file("s.js", SHARED)
            .told();
        let share = format!("{iterations} iterations shared among {vus} VUs");
        assert!(told.stdout.contains(&share), "{}", told.stdout);
        assert!(told.stdout.contains("(33.33%)"), "{}", told.stdout);
    }
    all.sort_unstable();
    assert_eq!(all, (0..20).collect::<Vec<_>>());
}

#[test]
fn two_halves_of_a_rate_take_turns() {
    let script = "import exec from 'k6/execution';\n\
        export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 7, \
          duration: '1s', preAllocatedVUs: 7 } } };\n\
        export default function () { console.log(exec.scenario.iterationInTest); }\n";
    // The eighth, due right at the end, may be started or not.
    let of = |segment: &str| {
        let mut numbers = run(script, &format!("--execution-segment {segment}")).numbers();
        numbers.retain(|number| *number < 7);
        numbers
    };
    assert_eq!(of("0:1/2"), [0, 2, 4, 6]);
    assert_eq!(of("1/2:1"), [1, 3, 5]);
}

#[test]
fn vu_ids_in_the_test_are_striped() {
    let script = "import exec from 'k6/execution';\n\
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 6 } } };\n\
        export default function () { console.log(exec.vu.idInInstance * 10 + exec.vu.idInTest); }\n";
    assert_eq!(run(script, "--execution-segment 0:50%").numbers(), [11, 23, 35]);
    assert_eq!(run(script, "--execution-segment 0.5:1").numbers(), [12, 24, 36]);
}

#[test]
fn a_segment_without_vus_runs_nothing_and_succeeds() {
    let script = "export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, \
                  duration: '1s' } } };\nexport default function () { console.log(1); }\n";
    let ran = run(script, "--execution-segment 1/2:1");
    assert_eq!((ran.told.code, ran.logged().len()), (0, 0), "{:?}", ran.told);
}

#[test]
fn segments_that_make_no_sense() {
    for (flags, code, part) in [
        ("--execution-segment x", 255, "--execution-segment"),
        ("--execution-segment 1/2:1/4", 255, "--execution-segment"),
        ("--execution-segment-sequence 0", 255, "--execution-segment-sequence"),
        (
            "--execution-segment 0:1/3 --execution-segment-sequence 0,1/2,1",
            104,
            "0:1/3 is not one of those in the sequence 0,1/2,1",
        ),
    ] {
        let told = run(SHARED, flags).told;
        assert_eq!(told.code, code, "{flags}: {told:?}");
        assert!(told.error().contains(part), "{flags}: {told:?}");
    }
}
