//! The samples of requests, and their tags.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::server::Server;

/// The samples of one metric with their tags, in order, those of the report left out.
fn samples(body: &str, top: &str) -> Vec<(f64, String, BTreeMap<String, String>)> {
    let server = Server::start();
    let (_, told) = server.run_with(top, body, |call| call.word("--out").word("json=-"));
    let mut found = Vec::new();
    for line in told.stdout.lines().filter(|line| line.contains(r#""type":"Point""#)) {
        let point: Value = serde_json::from_str(line).expect("a line of JSON");
        let tags: BTreeMap<String, String> =
            serde_json::from_value(point["data"]["tags"].clone()).unwrap_or_default();
        let metric = point["metric"].as_str().expect("a name").to_owned();
        if metric.starts_with("http_req") && !tags.contains_key("report") {
            let tags = tags.into_iter().map(|(k, v)| (k, v.replace(&server.url, "BASE"))).collect();
            found.push((point["data"]["value"].as_f64().expect("a number"), metric, tags));
        }
    }
    found
}

fn of(all: &[(f64, String, BTreeMap<String, String>)], metric: &str) -> Vec<Value> {
    all.iter()
        .filter(|(_, name, _)| name == metric)
        .map(|(value, _, tags)| json!([value, tags]))
        .collect()
}

#[test]
fn every_exchange_has_its_nine_samples_with_k6s_tags() {
    let all = samples(
        r"
        http.get(B + '/a?1#f');
        http.get(B + '/status?code=404');
        http.get('http://127.0.0.1:1/');
        http.get(B, { tags: { name: 'nm', mine: 1, yes: true } });
        http.get(http.url`${B}/item/${5}`);
        http.get(B.replace('//', '//u:p@') + '/b');
        http.get(B + '/r?redirect=302');
        http.get(B, { responseCallback: null });
        http.get(B + '/status?code=404', { responseCallback: http.expectedStatuses(404, { min: 500, max: 510 }) });
        http.get('ftp://x/');
        http.get('http://[::1');
        ",
        "",
    );
    let base = json!({"scenario": "default", "group": "", "method": "GET"});
    let tags = |more: Value| {
        let mut tags = base.as_object().expect("an object").clone();
        tags.extend(more.as_object().expect("an object").clone());
        Value::Object(tags)
    };
    let ok = |url: &str| {
        tags(
            json!({"url": url, "name": url, "status": "200", "proto": "HTTP/1.1", "expected_response": "true"}),
        )
    };
    let with = |mut tags: Value, more: Value| {
        tags.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        tags
    };
    let wanted = vec![
        ok("BASE/a?1#f"),
        with(
            ok("BASE/status?code=404"),
            json!({"status": "404", "error_code": "1404", "expected_response": "false"}),
        ),
        tags(json!({"url": "http://127.0.0.1:1/", "name": "http://127.0.0.1:1/", "status": "0",
                    "error": "dial: connection refused", "error_code": "1212", "expected_response": "false"})),
        with(ok("nm"), json!({"mine": "1", "yes": "true"})),
        ok("${}/item/${}"),
        ok("http://****:****@HOST/b"),
        with(ok("BASE/r?redirect=302"), json!({"status": "302"})),
        ok("BASE/echo"),
        tags(json!({"url": "BASE", "name": "BASE", "status": "200", "proto": "HTTP/1.1"})),
        with(ok("BASE/status?code=404"), json!({"status": "404", "error_code": "1404"})),
        tags(json!({"url": "ftp://x/", "name": "ftp://x/", "status": "0", "error_code": "1000",
                    "error": "unsupported protocol scheme \"ftp\"", "expected_response": "false"})),
    ];
    let reqs: Vec<Value> = of(&all, "http_reqs")
        .into_iter()
        .map(|sample| {
            let mut tags = sample[1].clone();
            for name in ["url", "name"] {
                let text = tags[name].as_str().expect("text").to_owned();
                if let Some((_, rest)) = text.split_once("****:****@") {
                    let path = &rest[rest.find('/').expect("a path")..];
                    tags[name] = format!("http://****:****@HOST{path}").into();
                }
            }
            tags
        })
        .collect();
    assert_eq!(reqs, wanted);
    for metric in
        ["duration", "blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving"]
    {
        assert_eq!(of(&all, &format!("http_req_{metric}")).len(), wanted.len(), "{metric}");
    }
    let failed: Vec<f64> = of(&all, "http_req_failed")
        .iter()
        .map(|sample| sample[0].as_f64().expect("a number"))
        .collect();
    // One less: the callback was null.
    assert_eq!(failed, [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_response_callback_lasts_for_the_vu_and_system_tags_can_be_chosen() {
    let all = samples(
        "http.get(B + '/status?code=404'); http.get(B, { tags: { name: 'x' } });",
        "http.setResponseCallback(http.expectedStatuses(404));\n\
         export const options = { systemTags: ['status', 'expected_response', 'ip'] };",
    );
    assert_eq!(
        of(&all, "http_req_failed"),
        vec![
            json!([0.0, {"status": "404", "expected_response": "true", "ip": "127.0.0.1"}]),
            json!([1.0, {"status": "200", "expected_response": "false", "ip": "127.0.0.1", "name": "x"}]),
        ]
    );
}
