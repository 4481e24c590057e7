use serde_json::{Value, json};

use super::*;

fn script(options: &Value) -> Layers {
    Layers { script: read(options), ..Layers::default() }
}

fn read(options: &Value) -> Options {
    Options::from_json(options, Layer::Script).expect("readable options").options
}

fn run(layers: Layers) -> Result<Consolidated, OptionsError> {
    consolidate(layers, Rules::default())
}

/// The scenarios, one line for each, then the warnings.
fn told(layers: Layers) -> String {
    match run(layers) {
        Ok(all) => {
            let full = Segment::full();
            let scenarios =
                all.scenarios.iter().map(|s| format!("{}: {}", s.name, s.describe(&full)));
            scenarios.chain(all.warnings.clone()).collect::<Vec<_>>().join("\n")
        }
        Err(error) => error.to_string(),
    }
}

fn told_of(options: &Value) -> String {
    told(script(options))
}

fn constant() -> Value {
    json!({ "a": { "executor": "constant-vus", "vus": 2, "duration": "5s" } })
}

#[test]
fn shortcuts_become_the_default_scenario() {
    insta::assert_snapshot!(told_of(&json!({})), @"default: 1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
    insta::assert_snapshot!(told_of(&json!({ "vus": 3 })), @"default: 3 iterations shared among 3 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
    insta::assert_snapshot!(told_of(&json!({ "iterations": 5 })), @"default: 5 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
    insta::assert_snapshot!(told_of(&json!({ "iterations": 5, "duration": "1s", "vus": 2 })), @"default: 5 iterations shared among 2 VUs (maxDuration: 1s, gracefulStop: 30s)");
    insta::assert_snapshot!(told_of(&json!({ "duration": 60000, "vus": "5" })), @"default: 5 looping VUs for 1m0s (gracefulStop: 30s)");
    let stages = json!([{ "duration": "1s", "target": 5 }, { "target": 9 }]);
    insta::assert_snapshot!(told_of(&json!({ "stages": stages, "vus": 3 })), @"default: Up to 5 looping VUs for 1s over 1 stages (gracefulRampDown: 30s, gracefulStop: 30s)");
    insta::assert_snapshot!(told_of(&json!({ "stages": [] })), @r#"
    default: 1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)
    stages is empty: running 1 iteration in 1 VU
    "#);
    insta::assert_snapshot!(told_of(&json!({ "scenarios": {} })), @r#"
    default: 1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)
    scenarios is empty: running 1 iteration in 1 VU
    "#);
    insta::assert_snapshot!(told_of(&json!({ "vus": 0 })), @r#"
    default: 1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)
    vus is 0 and does nothing without iterations, duration or stages
    "#);
}

#[test]
fn shortcuts_exclude_each_other() {
    let stages = json!([{ "duration": "1s", "target": 5 }]);
    insta::assert_snapshot!(told_of(&json!({ "scenarios": constant(), "duration": "5s" })), @"duration and scenarios cannot be used together: they are two ways to say what to run");
    insta::assert_snapshot!(told_of(&json!({ "stages": stages, "duration": "5s" })), @"duration and stages cannot be used together: they are two ways to say what to run");
    insta::assert_snapshot!(told_of(&json!({ "stages": stages, "iterations": 5 })), @"iterations and stages cannot be used together: they are two ways to say what to run");
    insta::assert_snapshot!(told_of(&json!({ "stages": stages, "scenarios": constant() })), @"stages and scenarios cannot be used together: they are two ways to say what to run");
}

#[test]
fn vus_alone_override_scenarios_of_the_same_or_a_lower_layer() {
    insta::assert_snapshot!(told_of(&json!({ "scenarios": constant(), "vus": 5 })), @r#"
    default: 5 iterations shared among 5 VUs (maxDuration: 10m0s, gracefulStop: 30s)
    vus overrides scenarios: each VU runs one iteration of the default function; leave vus out to run the scenarios
    "#);
    let command_line = Options { vus: Some(4), ..Options::default() };
    let layers = Layers { command_line, ..script(&json!({ "scenarios": constant() })) };
    insta::assert_snapshot!(told(layers), @r#"
    default: 4 iterations shared among 4 VUs (maxDuration: 10m0s, gracefulStop: 30s)
    vus overrides scenarios: each VU runs one iteration of the default function; leave vus out to run the scenarios
    "#);
    let config_file = Options { vus: Some(4), ..Options::default() };
    let layers = Layers { config_file, ..script(&json!({ "scenarios": constant() })) };
    insta::assert_snapshot!(told(layers), @"a: 2 looping VUs for 5s (gracefulStop: 30s)");
}

#[test]
fn a_layer_with_a_workload_erases_those_below() {
    let layers = script(&json!({ "scenarios": constant() }));
    let environment = read(&json!({ "duration": "10s" }));
    insta::assert_snapshot!(told(Layers { environment, ..layers }), @r#"
    default: 1 looping VUs for 10s (gracefulStop: 30s)
    the "env" level of options (environment) overrides the scenarios of lower levels entirely
    "#);
    let layers = script(&json!({ "vus": 10, "duration": "5s" }));
    let command_line = read(&json!({ "iterations": 20 }));
    insta::assert_snapshot!(told(Layers { command_line, ..layers }), @"default: 20 iterations shared among 10 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
}

#[test]
fn maps_are_replaced_and_dns_is_merged() {
    let options = json!({ "tags": { "x": "y" }, "dns": { "ttl": "1m", "select": "first" } });
    let over = json!({ "tags": { "a": "b" }, "dns": { "ttl": "2m" } });
    let layers = Layers { command_line: read(&over), ..script(&options) };
    let merged = run(layers.clone()).unwrap().options;
    assert_eq!(merged.print_key("tags"), json!({ "a": "b" }));
    let dns = json!({ "ttl": "2m", "select": "first", "policy": null });
    assert_eq!(merged.print_key("dns"), dns);
    let rules = Rules { merge_run_tags: true, ..Rules::default() };
    let merged = consolidate(layers, rules).unwrap().options;
    assert_eq!(merged.print_key("tags"), json!({ "a": "b", "x": "y" }));
    let empty = Layers { command_line: read(&json!({ "tags": {} })), ..script(&options) };
    assert_eq!(run(empty).unwrap().options.print_key("tags"), json!({ "x": "y" }));
}

#[test]
fn scenarios_get_their_defaults() {
    let options = json!({ "scenarios": {
        "shared": { "executor": "shared-iterations", "startTime": "5s" },
        "each": { "executor": "per-vu-iterations", "gracefulStop": "1s" },
        "ramp": { "executor": "ramping-vus", "stages": [{ "duration": "1s", "target": 0 }] },
        "rate": { "executor": "constant-arrival-rate", "rate": 3, "duration": "1s", "preAllocatedVUs": 2 },
        "ramp_rate": { "executor": "ramping-arrival-rate", "preAllocatedVUs": 2, "maxVUs": 3, "exec": "x",
            "stages": [{ "duration": "1s", "target": 7 }], "timeUnit": "1m" },
    }});
    insta::assert_snapshot!(told_of(&options), @r#"
    each: 1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 1s)
    ramp: Up to 1 looping VUs for 1s over 1 stages (gracefulRampDown: 30s, gracefulStop: 30s)
    ramp_rate: Up to 0.12 iterations/s for 1s over 1 stages (maxVUs: 2-3, exec: x, gracefulStop: 30s)
    rate: 3.00 iterations/s for 1s (maxVUs: 2, gracefulStop: 30s)
    shared: 1 iterations shared among 1 VUs (maxDuration: 10m0s, startTime: 5s, gracefulStop: 30s)
    "#);
}

#[test]
fn what_cannot_run_is_told_all_at_once() {
    let options = json!({ "setupTimeout": 0, "summaryTrendStats": ["p(101)"], "scenarios": {
        "a": { "executor": "shared-iterations", "vus": -1, "maxDuration": "500ms" },
        "b": { "executor": "constant-vus" },
        "c": { "executor": "ramping-vus", "stages": [{ "target": 1 }, { "duration": "1s" }, { "duration": 1, "target": -1 }] },
        "d": { "executor": "constant-arrival-rate", "maxVUs": 3 },
        "e e": { "executor": "per-vu-iterations", "exec": "" },
        "f": { "executor": "ramping-arrival-rate", "preAllocatedVUs": 5, "maxVUs": 3, "timeUnit": 0 },
    }});
    let error = run(script(&options)).unwrap_err();
    let faults: Vec<String> = error.each().iter().map(OptionsError::short).collect();
    insta::assert_snapshot!(faults.join("\n"), @r#"
    setupTimeout: must be more than 0
    summaryTrendStats[0]: "p(101)" is not a trend statistic: use avg, min, med, max, count or p(N) with N from 0 to 100
    scenarios.a.vus: must not be negative, got -1
    scenarios.b.duration: is missing, and has no default
    scenarios.c.stages[0].duration: is missing
    scenarios.c.stages[1].target: is missing
    scenarios.c.stages[2].target: must not be negative, got -1
    scenarios.d.preAllocatedVUs: is missing, and has no default
    scenarios.d.rate: is missing, and has no default
    scenarios.d.duration: is missing, and has no default
    scenarios.e e.name: scenario name "e e" must consist of letters, digits, _ and -
    scenarios.e e.exec: must name an exported function, got an empty string
    scenarios.f.stages: at least one stage is needed
    scenarios.f.timeUnit: must be more than 0
    scenarios.f.maxVUs: must be at least preAllocatedVUs (5), got 3
    "#);
}

#[test]
fn shortcuts_are_blamed_by_their_own_names() {
    insta::assert_snapshot!(told_of(&json!({ "vus": 10, "iterations": 5 })), @"invalid options: iterations: must be at least the number of VUs (10), got 5");
    insta::assert_snapshot!(told_of(&json!({ "iterations": 5, "duration": "100ms" })), @"invalid options: duration: must be at least 1s, got 100ms");
    insta::assert_snapshot!(told_of(&json!({ "duration": 0 })), @"invalid options: duration: must be more than 0");
    insta::assert_snapshot!(told_of(&json!({ "duration": "5s", "vus": -1 })), @"invalid options: vus: must not be negative, got -1");
    insta::assert_snapshot!(told_of(&json!({ "stages": [{ "duration": "5s" }] })), @"invalid options: stages[0].target: is missing");
}

#[test]
fn segments_are_checked() {
    let shown = |own: &str, sequence: Value| {
        let options = json!({ "executionSegment": own, "executionSegmentSequence": sequence });
        run(script(&options)).map(|all| all.segment.to_string()).map_err(|e| e.to_string())
    };
    assert_eq!(shown("25%", Value::Null), Ok("0:1/4".into()));
    assert_eq!(shown("", Value::Null), Ok("0:1".into()));
    assert_eq!(shown("1/4:1/2", json!("0,1/4,1/2,1")), Ok("1/4:1/2".into()));
    insta::assert_snapshot!(shown("1/3:1/2", json!("0,1/4,1/2,1")).unwrap_err(), @"invalid options: executionSegment: the execution segment 1/3:1/2 is not one of those in the sequence 0,1/4,1/2,1");
    insta::assert_snapshot!(shown("", json!("0")).unwrap_err(), @r#"invalid options: executionSegmentSequence: the execution segment sequence "0" needs at least two points, such as 0,1/2,1"#);
}

#[test]
fn thresholds_are_read_unless_they_are_off() {
    let options = json!({ "thresholds": {
        "http_req_duration": ["p(95)<5", { "threshold": "avg<1", "abortOnFail": true, "delayAbortEval": "10s" }],
        "checks": [],
    }});
    let sets = run(script(&options)).unwrap().thresholds;
    assert_eq!((sets[0].metric.as_str(), sets[0].thresholds.len()), ("checks", 0));
    assert_eq!((sets.len(), sets[1].thresholds.len()), (2, 2));
    assert_eq!(sets[1].thresholds[1].delay_abort_eval, Some(Duration::from_secs(10)));
    let wrong = script(&json!({ "thresholds": { "http_reqs": ["count>1", "foo<5"] } }));
    let error = run(wrong.clone()).unwrap_err();
    assert_eq!(error.path().as_deref(), Some("thresholds.http_reqs[1]"));
    assert_eq!(error.layer(), Some(Layer::Script));
    let rules = Rules { no_thresholds: true, ..Rules::default() };
    assert!(consolidate(wrong, rules).unwrap().thresholds.is_empty());
}

#[test]
fn thresholds_must_fit_the_metrics_of_the_script_and_all_are_told() {
    let options = json!({ "setupTimeout": 0, "thresholds": {
        "http_req": ["count>1"],
        "http_req_duration": ["p95<5", "mean<5", "count<1", "p(90)<5"],
        "http_reqs": ["nonsense"],
    } });
    let registry = Registry::new();
    let error = consolidate_for(
        script(&options),
        Rules::default(),
        Known { registry: Some(&registry), ..Known::default() },
    )
    .unwrap_err();
    let told = |error: &OptionsError| {
        let hint = match error {
            OptionsError::Threshold { hint, .. } => hint.clone().unwrap_or_default(),
            _ => String::new(),
        };
        format!("{} {hint}", error.path().unwrap_or_default())
    };
    let told: Vec<String> = error.each().iter().map(told).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    setupTimeout 
    thresholds.http_req did you mean "http_reqs"?
    thresholds.http_req_duration[0] did you mean "p(95)"?
    thresholds.http_req_duration[1] did you mean "avg"?
    thresholds.http_req_duration[2] 
    thresholds.http_reqs[0] 
    "#);
}

#[test]
fn thresholds_of_flags_are_added_to_those_of_the_script() {
    let options = json!({ "duration": "1m", "thresholds": {
        "http_reqs": ["count>1", { "threshold": "rate>5", "window": "10s", "exitCode": 7 }],
    } });
    let flags = [
        "http_reqs: rate>9 window=30s for=10s",
        "http_req_duration{a:b}: p(95) <= 2 name=\"so fast\"",
    ];
    let command_line =
        Options::from_flags([("thresholds", flags.to_vec(), "--threshold")]).unwrap();
    let layers = Layers { command_line, ..script(&options) };
    let all = run(layers).unwrap();
    let labels: Vec<String> = all
        .thresholds
        .iter()
        .flat_map(|set| set.thresholds.iter().map(|one| format!("{}: {}", set.metric, one.label())))
        .collect();
    assert_eq!(
        labels,
        [
            "http_req_duration{a:b}: p(95) <= 2 name=\"so fast\"",
            "http_reqs: count>1",
            "http_reqs: rate>5 window=10s exitCode=7",
            "http_reqs: rate>9 window=30s for=10s",
        ]
    );
    // As they are printed, they are read again.
    let printed = all.options.to_inspect_json();
    let again = run(script(&printed)).unwrap();
    assert_eq!(again.thresholds, all.thresholds);
    assert_eq!(
        printed["thresholds"]["http_reqs"][1],
        json!({ "threshold": "rate>5", "abortOnFail": null, "delayAbortEval": null, "window": "10s", "exitCode": 7 })
    );
}

#[test]
fn random_gaps_have_a_seed_of_their_scenario() {
    let rate = |arrivals: &str| json!({ "executor": "constant-arrival-rate", "rate": 5, "duration": "9s", "preAllocatedVUs": 1, "arrivals": arrivals });
    let options = json!({ "scenarios": { "a": rate("poisson"), "b": rate("poisson"), "c": rate("uniform") } });
    let mut all = run(script(&options)).unwrap();
    all.set_seed(7);
    let gaps: Vec<_> = all.scenarios.iter().map(|scenario| scenario.rhythm.gaps).collect();
    assert!(gaps[0] != gaps[1] && gaps[2] == brunt_schedule::Gaps::Uniform, "{gaps:?}");
    let shared = Options { execution_segment: Some("0:1/2".into()), ..Options::default() };
    let error = run(Layers { command_line: shared, ..script(&options) }).unwrap_err();
    assert!(
        error.to_string().contains("scenarios.a.arrivals: poisson on several machines"),
        "{error}"
    );
}

#[test]
fn a_scenario_takes_its_rates_from_a_file() {
    let files = |name: &str| match name {
        "day.txt" => Ok("0 10/s\n20s 60/m\n20s 0\n1m 0\n".to_owned()),
        "wrong.txt" => Ok("0 10/s\n20 s 60/m\n".to_owned()),
        "empty.txt" => Ok(String::new()),
        _ => Err(format!("stat /t/{name}: no such file or directory")),
    };
    let told = |more: &Value| {
        let mut scenario = json!({ "executor": "ramping-arrival-rate", "preAllocatedVUs": 5 });
        scenario.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let options = json!({ "scenarios": { "day": scenario } });
        let known = Known { read_file: Some(&files), ..Known::default() };
        consolidate_for(script(&options), Rules::default(), known)
    };
    let all = told(&json!({ "rateFile": "day.txt", "arrivals": "poisson" })).unwrap();
    insta::assert_snapshot!(
        all.scenarios[0].describe(&Segment::full()),
        @"Up to 10.00 iterations/s for 1m0s over 3 stages (maxVUs: 5, arrivals: poisson, gracefulStop: 30s)"
    );
    assert_eq!(all.total_duration(), Duration::from_secs(90));
    let printed = &all.to_inspect_json()["scenarios"]["day"];
    assert_eq!((&printed["rateFile"], &printed["stages"]), (&json!("day.txt"), &Value::Null));
    // An archive keeps the name; the file lies in it.
    assert_eq!(all.to_archive_json()["scenarios"]["day"]["rateFile"], "day.txt");
    let faults: Vec<String> = [
        json!({ "rateFile": "wrong.txt" }),
        json!({ "rateFile": "empty.txt" }),
        json!({ "rateFile": "none.txt" }),
        json!({ "rateFile": "" }),
        json!({ "rateFile": "day.txt", "stages": [], "startRate": 5 }),
    ]
    .iter()
    .map(|more| match told(more) {
        Err(error) => error.to_string(),
        Ok(all) => panic!("{all:?}"),
    })
    .collect();
    insta::assert_debug_snapshot!(faults, @r#"
    [
        "invalid options: scenarios.day.rateFile: wrong.txt:2: \"20 s 60/m\" is not MOMENT RATE, such as 30s 100/s",
        "invalid options: scenarios.day.rateFile: empty.txt has no line MOMENT RATE, such as 30s 100/s",
        "invalid options: scenarios.day.rateFile: stat /t/none.txt: no such file or directory",
        "invalid options: scenarios.day.rateFile: names no file",
        "2 options are wrong: scenarios.day.startRate: cannot be used with rateFile: the file has the rates, their units and times; scenarios.day.stages: cannot be used with rateFile: the file has the rates, their units and times",
    ]
    "#);
    let other =
        json!({ "scenarios": { "a": { "executor": "constant-vus", "rateFile": "day.txt" } } });
    let error = Options::from_json(&other, Layer::Script).unwrap_err().to_string();
    assert!(error.contains("rateFile is for ramping-arrival-rate"), "{error}");
    let alone = json!({ "scenarios": { "day": { "executor": "ramping-arrival-rate", "preAllocatedVUs": 5, "rateFile": "day.txt" } } });
    assert!(run(script(&alone)).unwrap_err().to_string().contains("files cannot be read here"));
}
