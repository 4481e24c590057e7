//! Thresholds: what they say of samples, of no samples, and when they end a test.

use std::time::Instant;

use crate::samples::run;

fn script(thresholds: &str, body: &str) -> String {
    format!(
        "import {{ sleep, check }} from 'k6';\nimport {{ Trend, Gauge }} from 'k6/metrics';\n\
         const own = new Trend('own', true); const level = new Gauge('level');\n\
         export const options = {{ thresholds: {{ {thresholds} }} }};\n\
         export default function () {{ {body} }}\n\
         export function teardown() {{ console.log('torn down'); }}\n"
    )
}

#[test]
fn every_operator_and_aggregation() {
    let body =
        "own.add(10); own.add(20); level.add(5); level.add(3); check(1, { a: true, b: false });";
    for (thresholds, code) in [
        (
            "iterations: ['count==1', 'count===1', 'count>=1', 'count<=1', 'count<2', 'count>0', 'count!=2']",
            0,
        ),
        (
            "own: ['avg==15', 'min == 10', 'max>=20', 'med<=15', 'p(95)<20', 'p(0)==10', 'p(100)==20', 'p(99.99)>19.9']",
            0,
        ),
        ("level: ['value==3'], checks: ['rate==0.5', 'rate>=.5', 'rate<5e-1']", 99),
        ("level: ['value==3'], checks: ['rate==0.5', 'rate>=.5', 'rate<6e-1']", 0),
        (
            "'own{scenario:default}': ['max>19'], 'checks{check:a}': ['rate==1'], 'iterations{ \"scenario\" : \"default\" }': ['count==1']",
            0,
        ),
        ("'own{scenario:other}': ['p(95)<1'], 'checks{check:c}': ['rate>0.9']", 0),
        ("'iterations{scenario:other}': ['count>0']", 99),
        (
            "http_req_duration: ['p(95)<500'], http_req_failed: ['rate<0.01'], http_reqs: ['count>=0']",
            0,
        ),
        ("http_req_duration: ['avg>0']", 99),
        ("iterations: [{ threshold: 'count>5', abortOnFail: false }]", 99),
        ("iterations: []", 0),
    ] {
        let ran = run(&script(thresholds, body), "");
        assert_eq!(ran.told.code, code, "{thresholds}: {:?}", ran.told);
    }
}

#[test]
fn all_crossed_metrics_are_named() {
    let ran =
        run(&script("iterations: ['count>5'], http_reqs: ['count>5'], vus: ['value>=0']", ""), "");
    assert_eq!(ran.told.code, 99);
    let error = ran.told.error();
    assert!(
        error.contains("thresholds on metrics 'http_reqs, iterations' have been crossed"),
        "{error}"
    );
}

#[test]
fn a_failed_test_says_more_than_a_crossed_threshold() {
    let script = "import exec from 'k6/execution';\n\
        export const options = { thresholds: { iterations: ['count>5'] } };\n\
        export default function () { exec.test.fail(); }\n";
    assert_eq!(run(script, "").told.code, 110);
}

#[test]
fn abort_on_fail_ends_the_test_at_the_next_look() {
    let thresholds = "iterations: [{ threshold: 'count<1', abortOnFail: true }]";
    let start = Instant::now();
    // Much longer than a test waits for the binary.
    let ran = run(&script(thresholds, "sleep(0.1);"), "--duration 1h");
    let took = start.elapsed().as_secs_f64();
    assert_eq!(ran.told.code, 99, "{:?}", ran.told);
    assert!(took >= 1.9, "{took}");
    assert!(ran.told.error().contains("at least one has abortOnFail enabled"), "{:?}", ran.told);
    assert!(ran.told.stderr.contains("torn down"), "{:?}", ran.told);
    assert!(ran.told.stdout.contains("✗ 'count<1' count="), "{}", ran.told.stdout);
}

#[test]
fn delay_abort_eval_lets_the_test_run_longer() {
    let thresholds =
        "iterations: [{ threshold: 'count<1', abortOnFail: true, delayAbortEval: '3s' }]";
    let start = Instant::now();
    let ran = run(&script(thresholds, "sleep(0.1);"), "--duration 1h");
    let took = start.elapsed().as_secs_f64();
    assert_eq!(ran.told.code, 99, "{:?}", ran.told);
    assert!(took >= 3.9, "{took}");
}

#[test]
fn without_thresholds_nothing_is_read_or_judged() {
    let ran = run(&script("iterations: ['count>5'], nope: ['nope']", ""), "--no-thresholds");
    assert_eq!(ran.told.code, 0, "{:?}", ran.told);
    assert!(!ran.told.stdout.contains("THRESHOLDS"), "{}", ran.told.stdout);
}

#[test]
fn thresholds_on_metadata_warn_and_never_match() {
    let ran = run(&script("'iterations{vu:1}': ['count==0']", ""), "");
    assert_eq!(ran.told.code, 0, "{:?}", ran.told);
    assert!(ran.told.stderr.contains("level=warning"), "{:?}", ran.told);
}

#[test]
fn thresholds_that_cannot_be_read_are_named_with_what_is_wrong() {
    for (thresholds, part) in [
        ("http_reqs: 'count>1'", "thresholds.http_reqs"),
        ("http_req_duration: ['p(95)<500ms']", "p(95)<500ms"),
        ("http_req_duration: ['p(95)<500 && avg<3']", "p(95)<500 && avg<3"),
        ("http_req_duration: ['count>0']", "http_req_duration"),
        ("checks: ['count>0']", "checks"),
        ("vus: ['max>0']", "vus"),
        ("http_reqs: ['']", "http_reqs"),
        ("http_reqs: ['count=>1']", "count=>1"),
        ("http_reqs: [{ foo: 1 }]", "http_reqs"),
        ("'http_reqs{a}': ['count>0']", "http_reqs{a}"),
        ("'http_reqs{a:}': ['count>0']", "http_reqs{a:}"),
        ("'http_reqs{a:b': ['count>0']", "http_reqs{a:b"),
        ("unknown_one: ['count>0']", "unknown_one"),
        ("http_reqs: [{ threshold: 'count>0', delayAbortEval: 'soon' }]", "delayAbortEval"),
    ] {
        let told = run(&script(thresholds, ""), "").told;
        assert_eq!(told.code, 104, "{thresholds}: {told:?}");
        assert!(told.error().contains(part), "{thresholds}: {told:?}");
    }
}
