use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parse(json: &Value) -> Result<Parsed, OptionsError> {
    Options::from_json(json, Layer::Script)
}

/// How the value of one key is printed, or what is wrong with it.
#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads best as it stands")]
fn shown(key: &str, value: Value) -> String {
    match parse(&json!({ key: value })) {
        Ok(parsed) => parsed.options.print_key(key).to_string(),
        Err(error) => error.to_string().replace("invalid option in the script: ", ""),
    }
}

#[test]
fn values_are_taken_as_k6_takes_them() {
    assert_eq!(shown("vus", json!("5")), "5");
    assert_eq!(shown("vus", json!(1e3)), "1000");
    assert_eq!(shown("vus", json!(-1)), "-1");
    assert_eq!(shown("vus", Value::Null), "null");
    assert_eq!(shown("duration", json!("1d2h")), r#""26h0m0s""#);
    assert_eq!(shown("duration", json!("5")), r#""5ms""#);
    assert_eq!(shown("duration", json!(1.5)), r#""1.5ms""#);
    assert_eq!(shown("userAgent", json!("")), r#""""#);
    assert_eq!(shown("tlsVersion", json!("tls1.2")), r#"{"min":"tls1.2","max":"tls1.2"}"#);
    assert_eq!(shown("tlsVersion", json!({ "min": "tls1.2" })), r#"{"min":"tls1.2","max":""}"#);
    assert_eq!(shown("tlsVersion", json!("")), r#"{"min":"","max":""}"#);
    let suites = json!(["TLS_RSA_WITH_RC4_128_SHA", "TLS_CHACHA20_POLY1305_SHA256"]);
    assert_eq!(shown("tlsCipherSuites", suites.clone()), suites.to_string());
    assert_eq!(shown("systemTags", json!(["url", "foo", "iter"])), r#"["iter","url"]"#);
    assert_eq!(shown("systemTags", json!([])), "[]");
    assert_eq!(shown("summaryTimeUnit", json!("x")), r#""x""#);
    assert_eq!(shown("tags", json!({ "a": "" })), r#"{"a":""}"#);
    assert_eq!(
        shown("dns", json!({ "ttl": "inf" })),
        r#"{"ttl":"inf","select":null,"policy":null}"#
    );
    assert_eq!(shown("cloud", json!(5)), "5");
    let thresholds = json!({ "a": ["p(95)<5", { "threshold": "avg<1", "abortOnFail": true }, { "threshold": "b", "delayAbortEval": 5 }] });
    assert_eq!(
        shown("thresholds", thresholds),
        r#"{"a":["p(95)<5",{"threshold":"avg<1","abortOnFail":true,"delayAbortEval":null},"b"]}"#
    );
}

#[test]
fn wrong_types_are_told_with_what_is_expected() {
    insta::assert_snapshot!(shown("vus", json!(true)), @"vus: expected a whole number, got true");
    insta::assert_snapshot!(shown("vus", json!(1.5)), @"vus: expected a whole number, got 1.5");
    insta::assert_snapshot!(shown("vus", json!("x")), @r#"vus: expected a whole number, got "x""#);
    insta::assert_snapshot!(shown("duration", json!(true)), @r#"duration: expected a duration such as "1m30s", or milliseconds, got true"#);
    insta::assert_snapshot!(shown("duration", json!("")), @r#"duration: not a duration: write it like 500ms, 1m30s or 2h, got """#);
    insta::assert_snapshot!(shown("duration", json!(-5)), @"duration: a duration cannot be negative, got -5");
    insta::assert_snapshot!(shown("paused", json!("true")), @r#"paused: expected true or false, got "true""#);
    insta::assert_snapshot!(shown("stages", json!({})), @"stages: expected a list, got an object");
    insta::assert_snapshot!(shown("stages", json!([{ "duration": "1s", "target": 1 }, { "target": "x" }])), @r#"stages[1].target: expected a whole number, got "x""#);
    insta::assert_snapshot!(shown("tags", json!({ "a": 5 })), @"tags.a: expected a string, got 5");
    insta::assert_snapshot!(shown("dns", json!("ttl=5m")), @r#"dns: expected an object, got "ttl=5m""#);
    insta::assert_snapshot!(shown("dns", json!({ "ttl": 5 })), @"dns.ttl: expected a string, got 5");
    insta::assert_snapshot!(shown("dns", json!({ "select": "x" })), @r#"dns.select: expected one of first, random, roundRobin, got "x""#);
    insta::assert_snapshot!(shown("userAgent", json!(5)), @"userAgent: expected a string, got 5");
    insta::assert_snapshot!(shown("tlsVersion", json!("ssl3.0")), @r#"tlsVersion: expected tls1.0, tls1.1, tls1.2 or tls1.3, got "ssl3.0""#);
    insta::assert_snapshot!(shown("tlsVersion", json!({ "min": "tls1.3", "max": "tls1.2" })), @"tlsVersion: min (tls1.3) is above max (tls1.2)");
    insta::assert_snapshot!(shown("tlsCipherSuites", json!(["foo"])), @r#"tlsCipherSuites[0]: expected an IANA cipher suite name such as TLS_AES_128_GCM_SHA256, got "foo""#);
    insta::assert_snapshot!(shown("tlsAuth", json!([{ "cert": "a", "key": "b" }])), @"tlsAuth[0].cert: expected PEM text with a CERTIFICATE block; open() reads it from a file");
    insta::assert_snapshot!(shown("tlsAuth", json!([{ "key": "-----BEGIN ENCRYPTED PRIVATE KEY-----" }])), @"tlsAuth[0].key: encrypted PKCS#8 keys are not supported: decrypt the key first");
    insta::assert_snapshot!(shown("blacklistIPs", json!(["10.0.0.0/8", "10.0.0.1"])), @r#"blacklistIPs[1]: expected a network such as 10.0.0.0/8 or 10.1.2.3/32, got "10.0.0.1""#);
    insta::assert_snapshot!(shown("blockHostnames", json!("x.com")), @r#"blockHostnames: expected a list, got "x.com""#);
    insta::assert_snapshot!(shown("blockHostnames", json!(["a*.x.com"])), @r#"blockHostnames[0]: expected a host name, with a * at most at its beginning, got "a*.x.com""#);
    insta::assert_snapshot!(shown("hosts", json!({ "a.com": "1.2.3.4:x" })), @r#"hosts.a.com: expected an IP address such as 127.0.0.1, 127.0.0.1:8080 or [::1]:80, got "1.2.3.4:x""#);
    assert_eq!(
        shown(
            "hosts",
            json!({ "a.com": "foo", "b.com": "foo:80", "c.com": "", "d.com": "1.2.3.4" })
        ),
        r#"{"d.com":"1.2.3.4"}"#
    );
    insta::assert_snapshot!(shown("hosts", json!({ "a*.com": "1.2.3.4" })), @r#"hosts.a*.com: expected a host such as example.com, *.example.com or example.com:80, got "a*.com""#);
    insta::assert_snapshot!(shown("ext", json!(5)), @"ext: expected an object, got 5");
    insta::assert_snapshot!(shown("executionSegment", json!(5)), @"executionSegment: expected a string, got 5");
    insta::assert_snapshot!(shown("thresholds", json!([])), @"thresholds: expected an object, got a list");
    insta::assert_snapshot!(shown("thresholds", json!({ "http_reqs": "count>5" })), @r#"thresholds.http_reqs: expected a list, got "count>5""#);
    insta::assert_snapshot!(shown("thresholds", json!({ "http_reqs": [5] })), @r#"thresholds.http_reqs[0]: expected an expression such as "p(95)<500", or an object with one, got 5"#);
    insta::assert_snapshot!(shown("thresholds", json!({ "a": [{ "threshold": "b", "abortOnFail": "yes" }] })), @r#"thresholds.a[0].abortOnFail: expected true or false, got "yes""#);
    insta::assert_snapshot!(parse(&json!([])).unwrap_err().to_string(), @"invalid option in the script: options: expected an object, got a list");
}

#[test]
fn scenarios_are_read_strictly() {
    let shown = |scenario: Value| shown("scenarios", json!({ "browse": scenario }));
    insta::assert_snapshot!(shown(json!(5)), @"scenarios.browse: expected an object, got 5");
    insta::assert_snapshot!(shown(json!({ "vus": 1 })), @"scenarios.browse: executor is missing: name one, such as constant-vus");
    insta::assert_snapshot!(shown(json!(null)), @"scenarios.browse: executor is missing: name one, such as constant-vus");
    insta::assert_snapshot!(shown(json!({ "executor": "foo" })), @r#"scenarios.browse.executor: unknown executor type "foo": expected one of shared-iterations, per-vu-iterations, constant-vus, ramping-vus, constant-arrival-rate, ramping-arrival-rate, externally-controlled"#);
    insta::assert_snapshot!(shown(json!({ "executor": "constant-vus", "duration": "1s", "iterations": 1 })), @"scenarios.browse.iterations: unknown field: constant-vus has vus, duration, startTime, gracefulStop, env, exec, tags, options, warmup");
    insta::assert_snapshot!(shown(json!({ "executor": "constant-vus", "tags": { "a": 5 } })), @"scenarios.browse.tags.a: expected a string, got 5");
    insta::assert_snapshot!(shown(json!({ "executor": "constant-arrival-rate", "rate": 1.5 })), @"scenarios.browse.rate: expected a whole number, got 1.5");
    insta::assert_snapshot!(shown(json!({ "executor": "ramping-vus", "stages": [{}, { "target": true }] })), @"scenarios.browse.stages[1].target: expected a whole number, got true");
    insta::assert_snapshot!(shown(json!({ "executor": "constant-vus", "options": { "foo": 1 } })), @"scenarios.browse: unknown field in options: foo; the only known one is browser");
}

#[test]
fn scenarios_are_printed_as_k6_prints_them() {
    let scenario = json!({ "Vus": 3, "EXECUTOR": "constant-vus", "duration": 5000 });
    let expected = r#"{"a":{"executor":"constant-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"vus":3,"duration":"5s"}}"#;
    assert_eq!(shown("scenarios", json!({ "a": scenario })), expected);
    let browser =
        json!({ "executor": "ramping-vus", "options": { "browser": { "type": "chromium" } } });
    let expected = r#"{"a":{"executor":"ramping-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"options":{"browser":{"type":"chromium"}},"startVUs":null,"stages":null,"gracefulRampDown":null}}"#;
    assert_eq!(shown("scenarios", json!({ "a": browser })), expected);
}

#[test]
fn unknown_keys_are_noted_not_refused() {
    let options = json!({ "foo": 1, "dns": { "bar": 1 }, "stages": [{ "baz": 1 }], "localIPs": "x", "VUS": 2 });
    let parsed = parse(&options).unwrap();
    assert_eq!(parsed.options.vus, Some(2));
    let warning = parsed.warning(Layer::Script).unwrap();
    assert_eq!(warning.message, "There were unknown fields in the options exported in the script");
    assert_eq!(warning.error, "json: unknown field \"foo\"");
    let hint = warning.hint.unwrap();
    assert_eq!(hint, "also unknown: localIPs, dns.bar, stages[0].baz");
    assert_eq!(Parsed::default().warning(Layer::Script), None);
}

#[test]
fn what_was_meant_by_unknown_keys_is_asked() {
    let options = json!({ "zebra": 2, "apple": 5, "treshold": {}, "tresholds": {}, "stages": [{ "targt": 1 }] });
    let warning = parse(&options).unwrap().warning(Layer::Script).unwrap();
    assert_eq!(warning.error, "json: unknown field \"apple\"");
    insta::assert_snapshot!(warning.hint.unwrap(), @"did you mean thresholds for treshold, thresholds for tresholds, target for targt?; also unknown: treshold, tresholds, zebra, stages[0].targt");
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let options = json!({
        "vus": "x", "duration": "5 parsecs", "tags": { "a": 1, "b": 2 },
        "scenarios": {
            "a": { "executor": "constant-vu", "vus": 1 },
            "b": { "executor": "constant-vus", "duraton": "1s", "vus": "many" },
            "c": null,
            "d": { "executor": "ramping-vus", "stages": [{ "duration": "1q", "targt": 1, "target": "x" }] },
        },
        "dns": { "ttl": "x", "select": "y" },
        "thresholds": { "checks": [5, { "threshold": "rate>0", "abortOnFail": 1 }], "http_reqs": 1 },
    });
    let error = parse(&options).unwrap_err();
    let told: Vec<String> = error.each().iter().map(OptionsError::short).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    vus: expected a whole number, got "x"
    duration: not a duration: write it like 500ms, 1m30s or 2h, got "5 parsecs"
    tags.a: expected a string, got 1
    tags.b: expected a string, got 2
    scenarios.a.executor: unknown executor type "constant-vu": did you mean "constant-vus"?
    scenarios.b.duraton: unknown field: did you mean "duration"?
    scenarios.b.vus: expected a whole number, got "many"
    scenarios.c: executor is missing: name one, such as constant-vus
    scenarios.d.stages[0].duration: not a duration: write it like 500ms, 1m30s or 2h, got "1q"
    scenarios.d.stages[0].targt: unknown field: did you mean "target"?
    scenarios.d.stages[0].target: expected a whole number, got "x"
    dns.ttl: expected inf, 0 or a duration such as 5m, got "x"
    dns.select: expected one of first, random, roundRobin, got "y"
    thresholds.checks[0]: expected an expression such as "p(95)<500", or an object with one, got 5
    thresholds.checks[1].abortOnFail: expected true or false, got 1
    thresholds.http_reqs: expected a list, got 1
    "#);
}

#[test]
fn errors_point_at_the_key() {
    let options = json!({ "scenarios": { "browse": {
        "executor": "ramping-vus", "stages": [{ "target": 1 }, { "target": "many" }]
    }}});
    let error = parse(&options).unwrap_err();
    assert_eq!(error.path().as_deref(), Some("scenarios.browse.stages[1].target"));
    assert_eq!(error.layer(), Some(Layer::Script));
}

#[test]
fn certificates_keep_their_secrets() {
    let auth = json!([{
        "cert": "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "key": "-----BEGIN EC PRIVATE KEY-----\nSECRET\n-----END EC PRIVATE KEY-----",
    }]);
    let parsed = parse(&json!({ "tlsAuth": auth })).unwrap();
    assert!(!format!("{parsed:?}").contains("SECRET"));
}

/// Any JSON, to be thrown at keys that expect something else.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9:/,.*%-]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,10}|executor|target|duration", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_value_makes_it_panic(key in proptest::sample::select(Options::KEYS), value in any_json()) {
        if let Ok(parsed) = parse(&json!({ key: value })) {
            let shown = parsed.options.to_inspect_json();
            prop_assert_eq!(parse(&shown).unwrap().options.to_inspect_json(), shown);
        }
    }
}
