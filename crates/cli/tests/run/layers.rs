//! Options from five places: defaults, the configuration file, the script, variables, flags.

use crate::samples::run;
use crate::support::{Told, brunt};

const DEFAULT: &str = "export default function () {}\n";

/// The description before a test with these options, script and layers.
fn described(script: &str, file: &str, env: &[(&str, &str)], flags: &str) -> Told {
    let mut call = brunt(&format!("run --config c.json s.js {flags}"))
        .file("s.js", script)
        .file("c.json", file);
    for (name, value) in env {
        call = call.env(name, value);
    }
    call.told()
}

#[track_caller]
fn runs(options: &str, file: &str, env: &[(&str, &str)], flags: &str, bullet: &str) -> Told {
    let script = format!("export const options = {options};\n{DEFAULT}");
    let told = described(&script, file, env, flags);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains(bullet), "no {bullet:?} in {}", told.stdout);
    told
}

#[test]
fn each_layer_beats_the_ones_below() {
    let shared = |n| format!("default: {n} iterations shared among 1 VUs");
    runs("{}", "{}", &[], "", "default: 1 iterations for each of 1 VUs");
    runs("{}", r#"{ "iterations": 2 }"#, &[], "", &shared(2));
    runs("{ iterations: 3 }", r#"{ "iterations": 2 }"#, &[], "", &shared(3));
    let env = [("K6_ITERATIONS", "4")];
    runs("{ iterations: 3 }", "{}", &env, "", &shared(4));
    runs(
        "{ iterations: 3 }",
        "{}",
        &[("K6_ITERATIONS", "4"), ("BRUNT_ITERATIONS", "5")],
        "",
        &shared(5),
    );
    runs("{ iterations: 3 }", "{}", &env, "--iterations 6", &shared(6));
}

#[test]
fn shortcuts_come_to_scenarios() {
    runs(
        "{ iterations: 4, vus: 2 }",
        "{}",
        &[],
        "",
        "4 iterations shared among 2 VUs (maxDuration: 10m0s",
    );
    runs(
        "{ iterations: 2, duration: '1m' }",
        "{}",
        &[],
        "",
        "2 iterations shared among 1 VUs (maxDuration: 1m0s",
    );
    runs("{ duration: 1000, vus: 2 }", "{}", &[], "", "2 looping VUs for 1s");
    runs(
        "{ stages: [{ duration: '500ms', target: 1 }, { duration: '500ms', target: 0 }] }",
        "{}",
        &[],
        "",
        "Up to 1 looping VUs for 1s over 2 stages",
    );
    runs("{ vus: 3 }", "{}", &[], "", "3 iterations shared among 3 VUs");
    for empty in ["stages: []", "scenarios: {}"] {
        let told = runs(&format!("{{ {empty} }}"), "{}", &[], "", "1 iterations for each of 1 VUs");
        assert!(told.stderr.contains("level=warning"), "{told:?}");
    }
}

#[test]
fn a_workload_erases_those_of_lower_layers_but_vus_survive() {
    let script = "{ scenarios: { a: { executor: 'constant-vus', duration: '1m' } } }";
    let told =
        runs(script, "{}", &[], "--iterations 2", "default: 2 iterations shared among 1 VUs");
    assert!(told.stderr.contains("\\\"cli\\\" level"), "{told:?}");
    let told = runs(
        script,
        "{}",
        &[("K6_STAGES", "500ms:2,500ms:0")],
        "",
        "default: Up to 2 looping VUs for 1s over 2 stages",
    );
    assert!(told.stderr.contains("\\\"env\\\" level"), "{told:?}");
    runs(
        "{ vus: 2, duration: '1m' }",
        "{}",
        &[],
        "--iterations 5",
        "5 iterations shared among 2 VUs (maxDuration: 10m0s",
    );
    runs("{ iterations: 3, vus: 2 }", "{}", &[], "--duration 1s", "2 looping VUs for 1s");
    runs("{ vus: 4 }", r#"{ "iterations": 9 }"#, &[], "", "9 iterations shared among 4 VUs");
}

#[test]
fn vus_alone_override_scenarios_of_the_same_or_a_lower_layer() {
    let script = "{ vus: 2, scenarios: { a: { executor: 'constant-vus', duration: '1m' } } }";
    let told = runs(script, "{}", &[], "", "default: 2 iterations shared among 2 VUs");
    assert!(told.stderr.contains("vus overrides scenarios"), "{told:?}");
    let script = "{ scenarios: { a: { executor: 'per-vu-iterations' } } }";
    runs(script, "{}", &[], "--vus 3", "default: 3 iterations shared among 3 VUs");
    runs(script, r#"{ "vus": 3 }"#, &[], "", "a: 1 iterations for each of 1 VUs");
}

#[test]
fn higher_tags_and_thresholds_replace_lower_ones() {
    let script = format!("export const options = {{ tags: {{ a: '1', b: '2' }} }};\n{DEFAULT}");
    let ran = run(&script, "--tag c=3 --tag d=x=y");
    let tags = &ran.points("iterations").next().expect("a sample")["data"]["tags"];
    let expected = serde_json::json!({ "c": "3", "d": "x=y", "group": "", "scenario": "default" });
    assert_eq!(tags, &expected);
    let told = brunt("run -q --out json=o.json s.js")
        .file("s.js", &script)
        .env("K6_TAGS", "e:4,f:5")
        .env("K6_THRESHOLDS", r#"{ "iterations": ["count>5"] }"#)
        .told();
    assert_eq!(told.code, 99, "{told:?}");
}

#[test]
fn system_tags_are_a_list_of_what_is_wanted() {
    let tags = |options: &str| {
        let ran = run(&format!("export const options = {options};\n{DEFAULT}"), "");
        ran.points("iterations").next().expect("a sample")["data"].clone()
    };
    assert_eq!(tags("{ systemTags: [] }")["tags"], serde_json::json!({}));
    assert_eq!(
        tags("{ systemTags: ['nope', 'group'] }")["tags"],
        serde_json::json!({ "group": "" })
    );
    let data = tags("{ systemTags: ['vu', 'iter', 'scenario'] }");
    assert_eq!(data["tags"], serde_json::json!({ "scenario": "default" }));
    assert_eq!(data["metadata"], serde_json::json!({ "vu": "1", "iter": "0" }));
    let script = "import { Counter } from 'k6/metrics'; const c = new Counter('in_setup');\n\
                  export const options = { systemTags: ['vu', 'iter'] };\n\
                  export function setup() { c.add(1); }\nexport default function () {}";
    let ran = run(script, "");
    let data = &ran.points("in_setup").next().expect("a sample")["data"];
    assert_eq!(data["metadata"], serde_json::json!({ "iter": "0" }));
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for options in [
        "{ iterations: 1, stages: [{ duration: '1s', target: 1 }] }",
        "{ duration: '1s', stages: [{ duration: '1s', target: 1 }] }",
        "{ duration: '1s', scenarios: { a: { executor: 'constant-vus', duration: '1s' } } }",
        "{ iterations: 1, scenarios: { a: { executor: 'constant-vus', duration: '1s' } } }",
        "{ stages: [{ duration: '1s', target: 1 }], scenarios: { a: { executor: 'constant-vus', duration: '1s' } } }",
    ] {
        let told = run(&format!("export const options = {options};\n{DEFAULT}"), "").told;
        assert_eq!(told.code, 104, "{options}: {told:?}");
        assert!(told.error().contains("cannot be used together"), "{options}: {told:?}");
    }
}

#[test]
fn scenarios_that_cannot_run_name_the_key_and_the_reason() {
    for (config, part) in [
        ("{ vus: 1 }", "scenarios.a: executor is missing"),
        ("{ executor: 'nope' }", "unknown executor type"),
        ("{ executor: 'externally-controlled', vus: 1 }", "scenarios.a.duration"),
        ("{ executor: 'constant-vus' }", "scenarios.a.duration: is missing"),
        ("{ executor: 'constant-vus', duration: '500ms' }", "must be at least 1s"),
        ("{ executor: 'constant-vus', duration: '1s', vus: 0 }", "scenarios.a.vus"),
        ("{ executor: 'constant-vus', duration: '1s', rate: 3 }", "scenarios.a.rate"),
        ("{ executor: 'constant-vus', duration: '1s', exec: '' }", "scenarios.a.exec"),
        ("{ executor: 'constant-vus', duration: '1s', startTime: '-1s' }", "scenarios.a.startTime"),
        (
            "{ executor: 'constant-vus', duration: '1s', gracefulStop: 'x' }",
            "scenarios.a.gracefulStop",
        ),
        ("{ executor: 'shared-iterations', vus: 5, iterations: 2 }", "scenarios.a.iterations"),
        ("{ executor: 'shared-iterations', maxDuration: '10ms' }", "scenarios.a.maxDuration"),
        ("{ executor: 'per-vu-iterations', iterations: 0 }", "scenarios.a.iterations"),
        ("{ executor: 'ramping-vus', stages: [] }", "scenarios.a.stages"),
        (
            "{ executor: 'ramping-vus', stages: [{ duration: '1s' }] }",
            "scenarios.a.stages[0].target",
        ),
        (
            "{ executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '1s', target: 0 }] }",
            "must be more than 0",
        ),
        (
            "{ executor: 'ramping-vus', stages: [{ duration: '1s', target: 1e9 }] }",
            "scenarios.a.stages[0].target",
        ),
        ("{ executor: 'constant-arrival-rate' }", "scenarios.a.rate: is missing"),
        (
            "{ executor: 'constant-arrival-rate', rate: 1.5, duration: '1s', preAllocatedVUs: 1 }",
            "scenarios.a.rate",
        ),
        (
            "{ executor: 'constant-arrival-rate', rate: 0, duration: '1s', preAllocatedVUs: 1 }",
            "scenarios.a.rate",
        ),
        (
            "{ executor: 'constant-arrival-rate', rate: 1, duration: '1s', preAllocatedVUs: 5, maxVUs: 1 }",
            "scenarios.a.maxVUs",
        ),
        (
            "{ executor: 'constant-arrival-rate', rate: 1, timeUnit: 0, duration: '1s', preAllocatedVUs: 5 }",
            "scenarios.a.timeUnit",
        ),
        ("{ executor: 'ramping-arrival-rate', preAllocatedVUs: 1 }", "scenarios.a.stages"),
    ] {
        let script =
            format!("export const options = {{ scenarios: {{ a: {config} }} }};\n{DEFAULT}");
        let told = run(&script, "").told;
        assert_eq!(told.code, 104, "{config}: {told:?}");
        assert!(told.stderr.contains(part), "{config}: {told:?}");
    }
    let script = format!("export const options = {{ scenarios: {{ 'a b': {{}} }} }};\n{DEFAULT}");
    assert_eq!(run(&script, "").told.code, 104);
}

#[test]
fn options_that_are_no_plain_data() {
    for (options, code, part) in [
        ("() => 1", 255, "options is a function"),
        ("{ vus: NaN }", 255, "options.vus is NaN"),
        ("{ tags: { a: () => 1 } }", 255, "options.tags.a is a function"),
        ("'x'", 104, "expected an object"),
        ("[]", 104, "expected an object"),
        ("{ vus: 1.5 }", 104, "vus: expected a whole number"),
    ] {
        let told = run(&format!("export const options = {options};\n{DEFAULT}"), "").told;
        assert_eq!(told.code, code, "{options}: {told:?}");
        assert!(told.error().contains(part), "{options}: {told:?}");
    }
    let told = run(&format!("export const options = null;\n{DEFAULT}"), "").told;
    assert_eq!(told.code, 0, "{told:?}");
}

#[test]
fn unknown_options_are_told_and_the_rest_is_used() {
    let script =
        format!("export const options = {{ foo: 1, iterations: 2, dns: {{ x: 1 }} }};\n{DEFAULT}");
    let ran = run(&script, "");
    assert_eq!((ran.told.code, ran.count("iterations")), (0, 2));
    let warning = "msg=\"There were unknown fields in the options exported in the script\" \
        error=\"json: unknown field \\\"foo\\\"\" hint=\"also unknown: dns.x\"";
    assert!(ran.told.stderr.contains(warning), "{:?}", ran.told);
}

#[test]
fn a_configuration_file_that_is_wrong_is_named() {
    for (file, part) in [
        ("{", "no"),
        ("[]", "c.json"),
        (r#"{ "vus": "x" }"#, "vus: expected a whole number"),
        (r#"{ "scenarios": { "a": { "executor": "nope" } } }"#, "scenarios.a.executor"),
    ] {
        let told = described(DEFAULT, file, &[], "");
        assert_eq!(told.code, 104, "{file}: {told:?}");
        let error = told.error();
        assert!(error.contains("c.json") && error.contains(part), "{file}: {error}");
    }
    let told = brunt("run s.js").file("s.js", DEFAULT).env("K6_CONFIG", "gone.json").told();
    assert_eq!(told.code, 104, "{told:?}");
    // The one in the usual place need not be there, and is read if it is.
    let told = brunt("run s.js")
        .file("s.js", DEFAULT)
        .file(".config/k6/config.json", r#"{ "iterations": 7 }"#)
        .told();
    assert!(told.stdout.contains("7 iterations shared"), "{told:?}");
}

#[test]
fn outputs_and_linger_can_stand_in_the_configuration_file() {
    let mut call = brunt("run -q -c c.json s.js")
        .file("s.js", DEFAULT)
        .file("c.json", r#"{ "out": ["csv=o.csv"] }"#);
    assert_eq!(call.told().code, 0);
    assert!(call.read("o.csv").contains("iterations,"));
}
