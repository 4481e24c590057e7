//! `--out`: every sample arrives, in k6's formats, wherever it was asked for.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::{collections::HashMap, io::Read as _};

use serde_json::Value;

#[expect(dead_code, reason = "this file needs only a part of it")]
#[path = "whole/support.rs"]
mod support;

use self::support::{Brunt, brunt};

/// The content of a JSON output: metrics in the order of their first sight, points by metric.
struct Points {
    metrics: Vec<Value>,
    by_metric: HashMap<String, Vec<Value>>,
}

impl Points {
    fn read(text: &str) -> Self {
        let mut points = Self { metrics: Vec::new(), by_metric: HashMap::new() };
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            let name = value["metric"].as_str().unwrap().to_owned();
            if value["type"] == "Metric" {
                assert!(points.by_metric.insert(name, Vec::new()).is_none(), "twice: {line}");
                points.metrics.push(value["data"].clone());
            } else {
                assert_eq!(value["type"], "Point", "{line}");
                let of_metric = points.by_metric.get_mut(&name);
                of_metric
                    .unwrap_or_else(|| panic!("before its metric: {line}"))
                    .push(value["data"].clone());
            }
        }
        points
    }

    fn of(&self, metric: &str) -> &[Value] {
        self.by_metric.get(metric).map_or(&[], Vec::as_slice)
    }

    /// Of whole numbers.
    fn sum(&self, metric: &str) -> u64 {
        self.of(metric).iter().map(|point| point["value"].as_u64().unwrap()).sum()
    }

    fn metric(&self, name: &str) -> &Value {
        self.metrics.iter().find(|metric| metric["name"] == name).unwrap()
    }
}

fn summary(call: &Brunt) -> Value {
    serde_json::from_str(&call.read("summary.json")).unwrap()
}

#[test]
fn at_full_rate_every_sample_is_in_every_output() {
    let script = "import http from 'k6/http';
        import { check } from 'k6';
        export const options = { vus: 2, duration: '1s' };
        export default () => {
            check(http.get(`${__ENV.DEMO_URL}/ping`), { ok: (r) => r.status === 200 });
        };";
    let line = "run -q --demo --summary-export summary.json --out json=o.json --out csv=o.csv \
                --out json=o.json.gz s.js";
    let mut call = brunt(line).file("s.js", script);
    let told = call.told();
    assert_eq!((told.code, told.stderr.contains("lost")), (0, false), "{told:?}");
    let summary = summary(&call);
    let count = |metric: &str| summary["metrics"][metric]["count"].as_u64().unwrap();
    let text = call.read("o.json");
    let points = Points::read(&text);
    for metric in ["http_reqs", "iterations", "data_sent", "data_received"] {
        assert_eq!(points.sum(metric), count(metric), "{metric}");
    }
    assert!(count("http_reqs") > 200, "{summary}");
    for metric in ["blocked", "connecting", "duration", "failed", "receiving", "sending", "waiting"]
    {
        let metric = format!("http_req_{metric}");
        assert_eq!(points.of(&metric).len() as u64, count("http_reqs"), "{metric}");
    }
    assert_eq!(points.of("checks").len() as u64, count("http_reqs"));

    let mut unpacked = String::new();
    let file = std::fs::File::open(call.path("o.json.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut unpacked).unwrap();
    assert_eq!(Points::read(&unpacked).of("http_reqs").len(), points.of("http_reqs").len());

    let csv = call.read("o.csv");
    assert_eq!(csv.lines().count(), 1 + points.by_metric.values().map(Vec::len).sum::<usize>());
    let of_metric = |name: &str| csv.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(of_metric("http_reqs,") as u64, count("http_reqs"));
}

#[test]
fn a_line_of_json_tells_all_of_a_sample() {
    let script = "import http from 'k6/http';
        import exec from 'k6/execution';
        import { Counter } from 'k6/metrics';
        const mine = new Counter('mine');
        export const options = { iterations: 1, tags: { run: 'a & <b>' },
            systemTags: ['method', 'name', 'status', 'group', 'vu', 'iter', 'url'],
            thresholds: { mine: ['count>0'], 'mine{part:one}': ['count>=0'] } };
        export default () => {
            exec.vu.metrics.tags.kind = 'x';
            exec.vu.metrics.metadata.trace = 'abc';
            http.get(`${__ENV.DEMO_URL}/ping`, { tags: { name: 'ping' } });
            mine.add(1.5, { part: 'one' });
        };";
    let told =
        brunt("run -q --demo --out json --summary-mode disabled s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    let points = Points::read(&told.stdout);
    assert_eq!(
        *points.metric("mine"),
        serde_json::json!({
            "name": "mine", "type": "counter", "contains": "default", "thresholds": ["count>0"],
            "submetrics": [{ "name": "mine{part:one}", "suffix": "part:one", "tags": { "part": "one" } }],
        })
    );
    assert_eq!(points.metric("http_reqs")["submetrics"], Value::Null);
    assert_eq!(points.metric("http_req_duration")["contains"], "time");
    let [request] = points.of("http_reqs") else { panic!("{}", told.stdout) };
    assert_eq!(
        request["tags"],
        serde_json::json!({
            "group": "", "kind": "x", "method": "GET", "name": "ping", "run": "a & <b>",
            "status": "200", "url": "ping",
        })
    );
    assert_eq!(request["metadata"], serde_json::json!({ "vu": "1", "iter": "0", "trace": "abc" }));
    let [mine] = points.of("mine") else { panic!("{}", told.stdout) };
    assert_eq!((&mine["value"], &mine["tags"]["part"]), (&1.5.into(), &"one".into()));
    let time = mine["time"].as_str().unwrap();
    assert!(time.parse::<jiff::Timestamp>().is_ok() && time.starts_with("20"), "{time}");
    // As Go's encoder: no character that a browser would obey.
    assert!(told.stdout.contains(r"a \u0026 \u003cb\u003e"), "{}", told.stdout);
}

#[test]
fn setup_and_teardown_are_told_of_only_if_there_are_any() {
    let sums = |script: &str| {
        let told =
            brunt("run -q --out json=- --summary-mode disabled s.js").file("s.js", script).told();
        let points = Points::read(&told.stdout);
        let group = |point: &Value| format!("{} {}", point["tags"]["group"], point["tags"]["rt"]);
        points.of("data_sent").iter().map(group).collect::<Vec<_>>()
    };
    let options = "export const options = { tags: { rt: '1' } }; export default () => {};";
    assert_eq!(sums(options), [r#""" "1""#]);
    let all = format!("{options} export const setup = () => {{}}; export const teardown = setup;");
    assert_eq!(sums(&all), [r#""::setup" "1""#, r#""" "1""#, r#""::teardown" "1""#]);
}

#[test]
fn a_line_of_csv_has_a_column_for_each_system_tag() {
    let script = "import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = { iterations: 1, tags: { run: 'a,b' } };
        export default () => {
            exec.vu.metrics.tags.kind = 'say \"x\"';
            exec.vu.metrics.metadata.trace = 'abc';
            http.get(`${__ENV.DEMO_URL}/ping`, { tags: { name: 'ping' } });
        };";
    let line =
        "run -q --demo --summary-mode disabled --out csv=fileName=o.csv,timeFormat=rfc3339 s.js";
    let mut call = brunt(line).file("s.js", script);
    assert_eq!(call.told().code, 0);
    let csv = call.read("o.csv");
    assert!(csv.starts_with(
        "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,\
         name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n"
    ));
    let line = csv.lines().find(|line| line.starts_with("http_reqs,")).unwrap();
    let (time, rest) = line.strip_prefix("http_reqs,").unwrap().split_once(',').unwrap();
    assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
    assert_eq!(
        rest,
        "1.000000,,,,true,,GET,ping,HTTP/1.1,default,,200,,,ping,\"kind=say \"\"x\"\"&run=a,b\",trace=abc"
    );
}

#[test]
fn outputs_may_be_named_in_the_environment_and_in_the_configuration_file() {
    let script = "export default () => {}";
    let file = r#"{"out":["json=config.json","csv"],"collectors":{"csv":{"file_name":"c.csv"}}}"#;
    let called = |line: &str| brunt(line).file("s.js", script).file("config.json.in", file);
    let mut call = called("run --config config.json.in s.js");
    let told = call.told();
    assert!(told.stdout.contains("        output: json (config.json), csv (c.csv)\n"), "{told:?}");
    assert!(call.read("config.json").contains("\"iterations\""));
    assert!(call.read("c.csv").contains("iterations,"));

    let mut call = called("run --config config.json.in s.js").env("K6_OUT", "csv=env.csv");
    let told = call.told();
    assert!(told.stdout.contains("        output: csv (env.csv)\n"), "{told:?}");
    assert!(call.read("env.csv").contains("iterations,"));

    let mut call = called("run s.js -o json=flag.json").env("BRUNT_OUT", "csv=env.csv");
    let told = call.told();
    assert!(told.stdout.contains("        output: json (flag.json)\n"), "{told:?}");
    assert!(!call.path("env.csv").exists());
}

#[test]
fn outputs_that_cannot_be_are_refused_by_name() {
    let cases = [
        ("foo", "invalid output type 'foo', available types are: csv, experimental-"),
        ("cloud", "could not create the 'cloud' output: "),
        ("kafka", "could not create the 'kafka' output: "),
        ("datadog", "K6_STATSD_ENABLE_TAGS=true"),
        ("web-dashboard=port=x", "could not create the 'web-dashboard' output: port: "),
        ("influxdb=http://127.0.0.1:1/db?bar=1", "unknown query parameter: bar"),
        ("json=nowhere/o.json", "nowhere/o.json"),
        ("csv=fileName=x,timeFormat=noon", "\\\"noon\\\" is not a time format; use unix"),
        ("csv=saveInterval=often", "often"),
    ];
    for (output, said) in cases {
        let told =
            brunt("run -q s.js --out").word(output).file("s.js", "export default () => {}").told();
        assert_eq!((told.code, told.stdout.as_str()), (255, ""), "{told:?}");
        assert!(told.error().contains(said), "{told:?}");
    }
}
