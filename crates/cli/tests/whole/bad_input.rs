//! Wrong input of every kind: what is said, where it points, and the exit code. The numbers are what k6 1.8.1
//! answered to the same scripts.

use crate::support::{Told, brunt};

/// A wrong script: its text, more flags, the exit code, parts of what is said.
struct Case(&'static str, &'static str, i32, &'static [&'static str]);

const DEFAULT: &str = "export default function () {}";

fn run(name: &str, script: &str, flags: &str) -> Told {
    brunt(&format!("run -q {name} {flags}")).file(name, script).told()
}

fn check(name: &str, Case(script, flags, code, parts): &Case) {
    let script = script.replace("DEFAULT", DEFAULT);
    let told = run(name, &script, flags);
    assert_eq!(told.code, *code, "{script}\n{told:?}");
    told.error();
    for part in *parts {
        assert!(told.stderr.contains(part), "no {part:?} for {script}\n{}", told.stderr);
    }
}

#[test]
fn a_script_that_is_not_there() {
    let told = brunt("run nope.js").told();
    assert_eq!(told.code, 255);
    assert!(told.error().contains("the script \\\"nope.js\\\" does not exist"), "{told:?}");
}

#[test]
fn syntax_errors_show_their_line() {
    for (name, script) in [
        ("s.js", "const a = 1;\nexport default functon () {}\n"),
        ("s.ts", "const a: number = 1;\nexport default functon () {}\n"),
    ] {
        let told = run(name, script, "");
        assert_eq!(told.code, 107, "{told:?}");
        assert!(told.error().contains(&format!("{name}:2:")), "{told:?}");
        assert!(told.stderr.contains(" 2 | export default functon () {}\n"), "{}", told.stderr);
        assert!(told.stderr.contains('^'), "{}", told.stderr);
    }
}

#[test]
fn imports_that_lead_nowhere() {
    for case in [
        Case("import x from './nope.js'; DEFAULT", "", 107, &["nope.js", "does not exist", "^^^"]),
        Case("import x from 'k6/nope'; DEFAULT", "", 107, &["k6/nope", "s.js:1:15"]),
        Case("import x from 'k6/browser'; DEFAULT", "", 107, &["k6/browser", "not supported yet"]),
        Case(
            "import x from 'http://x.test/a.js'; DEFAULT",
            "",
            107,
            &["remote modules need https"],
        ),
        Case("import x from 'https://x.test/a.js'; DEFAULT", "", 107, &["can't be fetched"]),
        Case("import x from 'lodash'; DEFAULT", "", 107, &["lodash"]),
        Case("import { nope } from './other.js'; DEFAULT", "", 107, &["other.js"]),
    ] {
        check("s.js", &case);
    }
}

#[test]
fn exports_that_are_no_functions() {
    for case in [
        Case("export const foo = 1", "", 255, &["exports no functions"]),
        Case("export default 42", "", 255, &["exports no functions", "is not a function"]),
        Case(
            "export const setup = 5; DEFAULT",
            "",
            255,
            &["the exported setup must be a function"],
        ),
        Case(
            "export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', \
             exec: 'nope' } } }; DEFAULT",
            "",
            104,
            &["scenario \\\"a\\\"", "\\\"nope\\\"", "exported functions are: default"],
        ),
    ] {
        check("s.js", &case);
    }
}

#[test]
fn options_of_the_wrong_kind() {
    for case in [
        Case("export const options = { vus: 'x' }; DEFAULT", "", 104, &["vus: ", "whole number"]),
        Case("export const options = { tags: { a: 1 } }; DEFAULT", "", 104, &["tags.a"]),
        Case("export const options = { duration: '5 parsecs' }; DEFAULT", "", 104, &["duration"]),
        Case(
            "export const options = { scenarios: { a: { executor: 'nope' } } }; DEFAULT",
            "",
            104,
            &["unknown executor", "nope", "ramping-arrival-rate"],
        ),
        Case(
            "export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', \
             foo: 1 } } }; DEFAULT",
            "",
            104,
            &["scenarios.a.foo"],
        ),
        Case("export const options = { vus: 2, iterations: 1 }; DEFAULT", "", 104, &["iterations"]),
        Case(
            "export const options = { tlsAuth: [{ cert: 'x', key: 'y' }] }; DEFAULT",
            "",
            104,
            &["tlsAuth[0].cert", "PEM"],
        ),
        Case("DEFAULT", "--vus x", 255, &["--vus", "whole number"]),
        Case("DEFAULT", "--duration 5", 255, &["--duration", "unit"]),
        Case("DEFAULT", "--tag x", 255, &["--tag"]),
        Case("DEFAULT", "--summary-time-unit q", 255, &["--summary-time-unit"]),
        Case("DEFAULT", "--summary-trend-stats avg,x", 255, &["--summary-trend-stats"]),
        Case("DEFAULT", "--execution-segment 2:3", 255, &["--execution-segment"]),
        Case("DEFAULT", "--out nope", 255, &["invalid output type 'nope'"]),
        Case("DEFAULT", "--out json=no/such/dir/x.json", 255, &["no/such/dir/x.json"]),
        Case("DEFAULT", "--config nope.json", 104, &["nope.json"]),
    ] {
        check("s.js", &case);
    }
    let told = brunt("run s.js").file("s.js", DEFAULT).env("K6_VUS", "abc").told();
    assert_eq!(told.code, 104);
    assert!(told.error().contains("K6_VUS"), "{told:?}");
    let told = brunt("run s.js -c c.json").file("s.js", DEFAULT).file("c.json", "{").told();
    assert_eq!(told.code, 104);
    assert!(told.error().contains("c.json"), "{told:?}");
}

#[test]
fn thresholds_that_make_no_sense() {
    for case in [
        Case(
            "export const options = { thresholds: { http_reqs: ['nope'] } }; DEFAULT",
            "",
            104,
            &["nope"],
        ),
        Case(
            "export const options = { thresholds: { nope: ['avg<1'] } }; DEFAULT",
            "",
            104,
            &["nope"],
        ),
        Case(
            "export const options = { thresholds: { http_reqs: ['p(95)<1'] } }; DEFAULT",
            "",
            104,
            &["http_reqs"],
        ),
        Case(
            "export const options = { thresholds: { http_req_duration: ['p(101)<1'] } }; DEFAULT",
            "",
            104,
            &["p(101)"],
        ),
    ] {
        check("s.js", &case);
    }
}

#[test]
fn code_that_throws_before_the_test() {
    for case in [
        Case(
            "function f() {\n  throw new TypeError('deep');\n}\nf();\nDEFAULT",
            "",
            107,
            &["TypeError: deep", "s.js:2:", "hint=\"script exception\"", " 2 |   throw new", "^"],
        ),
        Case("throw 'words'; DEFAULT", "", 107, &["words"]),
        Case("export function setup() { throw new Error('s'); } DEFAULT", "", 107, &["Error: s"]),
        Case(
            "export function teardown() { throw new Error('t'); } DEFAULT",
            "",
            107,
            &["Error: t"],
        ),
        Case(
            "export const options = { setupTimeout: '100ms' }; export function setup() { for (;;); } \
             DEFAULT",
            "",
            100,
            &["setup() execution timed out", "setupTimeout"],
        ),
        Case(
            "export const options = { teardownTimeout: '100ms' }; export function teardown() { \
             for (;;); } DEFAULT",
            "",
            101,
            &["teardown() execution timed out", "teardownTimeout"],
        ),
    ] {
        check("s.js", &case);
    }
}

#[test]
fn a_typescript_exception_points_into_the_authors_file() {
    let script = "interface A {\n  b: number;\n}\nenum E { X, Y }\nconst a: A = { b: E.Y };\n\
                  if (a.b) {\n  throw new Error('typed');\n}\nexport default function () {}\n";
    let told = run("s.ts", script, "");
    assert_eq!(told.code, 107, "{told:?}");
    assert!(told.stderr.contains("s.ts:7:"), "{}", told.stderr);
    assert!(told.stderr.contains(" 7 |   throw new Error('typed');\n"), "{}", told.stderr);
}

#[test]
fn an_exception_in_an_iteration_is_told_and_the_test_goes_on() {
    let script = "export default function () { throw new Error('again'); }";
    let told = run("s.js", script, "--iterations 3");
    assert_eq!(told.code, 0, "{told:?}");
    // Equal lines of a second are one line with their number; the summary counts all.
    assert!(told.stderr.contains("Error: again"), "{}", told.stderr);
    let exceptions = told.stdout.split("EXCEPTIONS").nth(1).unwrap_or_default();
    assert!(exceptions.contains("Error: again") && exceptions.contains('3'), "{}", told.stdout);
    assert!(told.stdout.contains("iterations"), "{}", told.stdout);
}
