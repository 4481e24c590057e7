//! Which exit code odd values have, wherever they are given: in variables, flags, options, scenarios, the
//! configuration file, archives, `handleSummary()`. The numbers are what k6 1.8.1 answered to the same.

use crate::support::{Told, brunt};

const DEFAULT: &str = "export default function () {}";

fn checked(what: &str, code: i32, told: &Told) {
    assert_eq!(told.code, code, "{what}\n{told:?}");
}

#[test]
fn of_variables() {
    for (name, text, code) in [
        ("VUS", "abc", 104),
        ("VUS", "1.5", 104),
        ("VUS", " 2", 104),
        ("DURATION", "100ms", 104),
        ("DURATION", "-1s", 104),
        ("DURATION", "1.5s ", 104),
        ("ITERATIONS", "-1", 104),
        ("STAGES", "1s:a", 104),
        ("STAGES", "100:2", 104),
        ("STAGES", "1d:1", 104),
        ("STAGES", "100ms: 1", 104),
        ("STAGES", ":1", 0),
        ("STAGES", ",", 0),
        ("STAGES", "100ms:1,", 0),
        ("PAUSED", "0", 104),
        ("NO_SETUP", "1", 104),
        ("NO_SETUP", "true", 0),
        ("NO_TEARDOWN", "1", 104),
        ("NO_TEARDOWN", "TRUE", 104),
        ("NO_TEARDOWN", "", 0),
        ("INSECURE_SKIP_TLS_VERIFY", "t", 104),
        ("NO_USAGE_REPORT", "1", 104),
        ("LINGER", "0", 104),
        ("WEB_DASHBOARD", "0", 104),
        ("MIN_ITERATION_DURATION", "-1s", 0),
        ("TEARDOWN_TIMEOUT", "-1s", 0),
        ("SETUP_TIMEOUT", "-1s", 104),
        ("SETUP_TIMEOUT", " 1s", 104),
        ("BLACKLIST_IPS", "10.0.0.0/8,", 104),
        ("BLOCK_HOSTNAMES", "a_b", 104),
        ("BLOCK_HOSTNAMES", "é.com", 104),
        ("SUMMARY_TREND_STATS", "abc", 255),
        ("SUMMARY_TREND_STATS", "avg,", 255),
        ("SUMMARY_TREND_STATS", "min, max", 255),
        ("SUMMARY_TREND_STATS", "", 0),
        ("TAGS", "a:", 0),
        ("TAGS", "a:b,", 104),
        ("TAGS", "a:b:c", 104),
        ("LOCAL_IPS", "127.0.0.1, 127.0.0.2", 104),
        ("DNS", "", 104),
        ("DNS", "abc", 104),
        ("DNS", "ttl=", 104),
        ("DNS", "ttl=1m,", 104),
        ("DNS", "ttl=abc", 255),
        ("DNS", "ttl=-1s", 255),
        ("DNS", "select=x", 104),
        ("INCLUDE_SYSTEM_ENV_VARS", "", 255),
        ("NO_THRESHOLDS", "", 255),
        ("NEW_MACHINE_READABLE_SUMMARY", "", 255),
        ("TRACES_OUTPUT", "", 255),
        ("LOG_OUTPUT", "", 255),
        ("CONFIG", "", 104),
        ("SECRET_SOURCE", "", 255),
        ("SUMMARY_MODE", "", 0),
        ("OUT", "", 0),
        ("HOSTS", "abc", 0),
        ("TLSAUTH", "abc", 255),
    ] {
        let name = format!("K6_{name}");
        let told = brunt("run -q s.js").file("s.js", DEFAULT).env(&name, text).told();
        checked(&format!("{name}={text:?}"), code, &told);
    }
}

#[test]
fn of_flags() {
    for (flag, text, code) in [
        ("--duration", "1d", 255),
        ("--duration", "1s ", 255),
        ("--duration", "-1s", 104),
        ("--min-iteration-duration", "-1s", 0),
        ("--stage", "1s:1,", 255),
        ("--stage", " 1s:1", 255),
        ("--stage", "1s: 1", 255),
        ("--stage", "1d:1", 255),
        ("--stage", "-1s:1", 104),
        ("--execution-segment-sequence", "", 104),
        ("--blacklist-ip", "10.0.0.0/8,", 255),
        ("--blacklist-ip", "10.0.0.0/8, 1.0.0.0/8", 255),
        ("--block-hostnames", "a_b", 255),
        ("--block-hostnames", "a-.com", 255),
        ("--block-hostnames", "*.", 0),
        ("--block-hostnames", "", 0),
        ("--summary-trend-stats", "avg,", 255),
        ("--summary-time-unit", "", 0),
        ("--tag", "", 0),
        ("--tag", "a=", 255),
        ("--env", "", 0),
        ("--env", "=b", 255),
        ("--console-output", "", 0),
        ("--local-ips", "", 0),
        ("--dns", "ttl=1m,", 255),
        ("--dns", "ttl = 1", 255),
        ("--config", "", 104),
    ] {
        let told = brunt("run -q s.js").file("s.js", DEFAULT).word(flag).word(text).told();
        checked(&format!("{flag} {text:?}"), code, &told);
    }
}

#[test]
fn of_options() {
    for (options, code) in [
        ("{ iterations: '' }", 0),
        ("{ stages: [null] }", 0),
        ("{ executionSegmentSequence: '' }", 104),
        ("{ teardownTimeout: -1 }", 0),
        ("{ minIterationDuration: '-1s' }", 0),
        ("{ setupTimeout: ' 1s' }", 104),
        ("{ dns: { ttl: 'x' } }", 255),
        ("{ dns: { ttl: '' } }", 0),
        ("{ tlsVersion: { foo: 'tls1.2' } }", 104),
        ("{ blockHostnames: ['a_b'] }", 104),
        ("{ blockHostnames: [''] }", 0),
        ("{ hosts: { 'a_b': '1.2.3.4' } }", 104),
        ("{ hosts: { '': '1.2.3.4' } }", 0),
        ("{ summaryTrendStats: ['x'] }", 255),
        ("{ summaryTrendStats: [''] }", 255),
        ("{ x: 10n, y: Symbol('y') }", 0),
        ("{ thresholds: { vus: [{ threshold: 'value<5', delayAbortEval: '-1s' }] } }", 0),
        ("{ thresholds: { 'vus{a:\"\"}': ['value<5'] } }", 0),
    ] {
        let script = format!("export const options = {options};\n{DEFAULT}");
        let told = brunt("run -q s.js").file("s.js", &script).told();
        checked(options, code, &told);
    }
}

#[test]
fn of_keys_that_a_scenario_has_not_whatever_their_value() {
    for (keys, code) in [
        ("executor: 'per-vu-iterations', vus: null", 0),
        ("executor: 'per-vu-iterations', duration: null", 104),
        ("executor: 'per-vu-iterations', duration: undefined", 104),
        ("executor: 'per-vu-iterations', foo: undefined", 104),
        ("executor: 'ramping-vus', stages: [{ duration: 100, target: 1, foo: 1 }]", 104),
        (
            "executor: 'ramping-vus', stages: [{ duration: 100, target: 1 }], gracefulRampDown: -1",
            0,
        ),
    ] {
        let script =
            format!("export const options = {{ scenarios: {{ a: {{ {keys} }} }} }};\n{DEFAULT}");
        let told = brunt("run -q s.js").file("s.js", &script).told();
        checked(keys, code, &told);
    }
}

#[test]
fn of_exports_that_are_undefined() {
    let told = brunt("run -q s.js").file("s.js", format!("export let setup;\n{DEFAULT}")).told();
    checked("setup", 255, &told);
}

#[test]
fn of_commands_that_do_not_run_the_test() {
    let script =
        format!("export const options = {{ thresholds: {{ nope: ['count>1'] }} }};\n{DEFAULT}");
    for (line, code) in [
        ("inspect s.js", 0),
        ("inspect --execution-requirements s.js", 104),
        ("inspect --execution-requirements --no-thresholds s.js", 0),
        ("archive s.js", 104),
    ] {
        checked(line, code, &brunt(line).file("s.js", &script).told());
    }
    let script = format!("export const options = {{ dns: {{ ttl: 'x' }} }};\n{DEFAULT}");
    checked("inspect", 255, &brunt("inspect s.js").file("s.js", &script).told());
}

#[test]
fn of_configuration_files() {
    for (text, code) in [
        ("null", 0),
        ("[]", 104),
        ("{ \"vus\": 2, }", 104),
        ("{ \"summaryTrendStats\": [\"x\"] }", 255),
        ("{ \"dns\": { \"ttl\": \"x\" } }", 255),
    ] {
        let mut call = brunt("run -q -c c.json s.js").file("s.js", DEFAULT).file("c.json", text);
        checked(text, code, &call.told());
    }
}

/// Effects of `handleSummary()`, and whether the usual text is shown.
#[test]
fn of_summaries_that_are_none() {
    for (text, is_shown) in [
        ("export function handleSummary() { throw new Error('x'); }", true),
        ("export function handleSummary() { return Promise.reject(new Error('x')); }", false),
        ("export async function handleSummary() { throw 'x'; }", false),
        ("export const handleSummary = 1;", false),
        ("export let handleSummary;", false),
        ("export function handleSummary() { return new Map([['stdout', 'x']]); }", false),
        ("export function handleSummary() { return new Date(0); }", false),
    ] {
        let told = brunt("run -q s.js").file("s.js", format!("{text}\n{DEFAULT}")).told();
        checked(text, 0, &told);
        assert!(told.stderr.contains("level=error"), "{text}\n{told:?}");
        assert_eq!(told.stdout.contains("TOTAL RESULTS"), is_shown, "{text}\n{told:?}");
    }
    let text = "export function handleSummary(data) { return { stdout: 'setup_data' in data ? 'yes' : 'no' }; }";
    let told = brunt("run -q s.js").file("s.js", format!("{text}\n{DEFAULT}")).told();
    assert_eq!(told.stdout, "yes");
}

#[test]
fn of_directives() {
    for (directives, code) in [
        ("'use k6 >= 0.5'; 'use k6 with k6/x/faker';", 0),
        ("'use k6 nonsense';", 255),
        ("'use k6 with bar';", 255),
        ("'use k6 > 1'; 'use k6 < 3';", 255),
    ] {
        for line in ["run -q s.js", "deps s.js", "inspect s.js"] {
            let script = format!("{directives} {DEFAULT}");
            checked(directives, code, &brunt(line).file("s.js", &script).told());
        }
    }
    let script = format!("/* a */ 'use k6 >= 0.5, < 9'; 'use k6 with k6/x/foo'; {DEFAULT}");
    let told = brunt("deps s.js").file("s.js", &script).told();
    assert!(told.stdout.contains("  k6: >=0.5 <9\n  k6/x/foo: *\n"), "{told:?}");
}
