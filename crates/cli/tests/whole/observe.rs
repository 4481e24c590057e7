//! `deploy/observe`: the servers that it starts take a run, and each query of their dashboards in Grafana (`deploy/grafana`) finds
//! numbers there, which are those of the summary.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::Value;

use crate::support::{Running, brunt, free_port, repository};

/// Two checks, one of which fails now and then, and requests that fail, in two scenarios.
const SCRIPT: &str = "
import http from 'k6/http';
import { check, sleep } from 'k6';
const scenario = { executor: 'constant-vus', vus: 2, duration: '3s' };
export const options = { scenarios: { a: scenario, b: scenario } };
export default () => {
  const res = http.get(`${__ENV.DEMO_URL}/status/${__ITER % 4 ? 200 : 500}`, { tags: { name: 'status' } });
  check(res, { 'is 200': (res) => res.status === 200, 'is an answer': (res) => res.status !== 0 });
  sleep(0.02);
};";

/// The body of an answer with status 200.
fn get(port: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the server listens");
    let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(
        head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200"),
        "{path}: {answer}"
    );
    body.to_owned()
}

fn encoded(query: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let encode =
        |byte: u8| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") };
    query.bytes().map(encode).collect()
}

/// The panels of a dashboard: the title and the query of each, with what Grafana puts in the place of its variables.
fn panels(dashboard: &str, variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let path = repository("deploy/grafana").join(dashboard);
    let text = std::fs::read_to_string(path).expect("a dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        let title = panel["title"].as_str().expect("a title");
        for target in panel["targets"].as_array().expect("targets") {
            let query = ["expr", "query"].iter().find_map(|key| target[*key].as_str());
            let query =
                variables.iter().fold(query.expect("a query").to_owned(), |query, (from, to)| {
                    query.replace(from, to)
                });
            assert!(!query.contains('$'), "an unknown variable in {query}");
            found.push((title.to_owned(), query));
        }
    }
    found
}

/// All numbers that an InfluxQL query finds, without their moments.
fn influx(port: &str, query: &str) -> Vec<f64> {
    let answer = get(port, &format!("/query?db=k6&q={}", encoded(query)));
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert!(answer["results"][0]["error"].is_null(), "{query}: {answer}");
    let series = answer["results"][0]["series"].as_array().cloned().unwrap_or_default();
    let rows = series.iter().flat_map(|one| one["values"].as_array().expect("rows"));
    rows.map(|row| row[1].as_f64().expect("a number")).collect()
}

/// All numbers that a PromQL query finds now.
fn prometheus(port: &str, query: &str) -> Vec<f64> {
    let answer = get(port, &format!("/api/v1/query?query={}", encoded(query)));
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["status"], "success", "{query}: {answer}");
    let found = answer["data"]["result"].as_array().expect("a list").iter();
    found.map(|one| one["value"][1].as_str().expect("text").parse().expect("a number")).collect()
}

fn near(found: f64, told: f64) -> bool {
    (found - told).abs() <= 1e-6 * told.abs().max(1.0)
}

#[test]
fn dashboards_show_the_numbers_of_the_summary() {
    let folder = tempfile::tempdir().expect("a folder");
    let [influxdb, prom] = [free_port().to_string(), free_port().to_string()];
    let mut command = Command::new("bash");
    command.arg(repository("deploy/observe/start"));
    command.args(["--influxdb", &influxdb, "--prometheus", &prom, "--folder"]).arg(folder.path());
    let mut servers = Running::start(&mut command);
    servers.line_with("ready");

    let mut call = brunt("run --quiet --demo s.js --summary-export summary.json --out")
        .word(format!("influxdb=http://127.0.0.1:{influxdb}/k6"))
        .words("--out experimental-prometheus-rw")
        .env("K6_PROMETHEUS_RW_SERVER_URL", &format!("http://127.0.0.1:{prom}/api/v1/write"))
        .env("K6_PROMETHEUS_RW_TREND_STATS", "p(95),p(99),avg")
        .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s")
        .file("s.js", SCRIPT);
    let told = call.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(!told.stderr.contains("level=error"), "{told:?}");
    let summary: Value = serde_json::from_str(&call.read("summary.json")).expect("JSON");
    let number = |metric: &str, statistic: &str| {
        let value = &summary["metrics"][metric][statistic];
        value.as_f64().unwrap_or_else(|| panic!("no {metric}.{statistic}: {summary}"))
    };
    let (requests, failed) = (number("http_reqs", "count"), number("http_req_failed", "value"));
    let checks = number("checks", "value");
    assert!(requests > 50.0 && failed > 0.1, "{requests} requests, {failed} failed");

    // The whole of the run is one stretch of time, so that sums and means are those of the summary.
    let variables = [("$timeFilter", "time > now() - 1h"), ("$__interval", "1000d")];
    for (title, query) in panels("influxdb.json", &variables) {
        // Samples of one series in the same nanosecond are one point in InfluxDB, so that a few may be missing.
        let near = |found: f64, wanted: f64| (found - wanted).abs() <= wanted.abs() * 0.03;
        let found = influx(&influxdb, &query);
        let sum: f64 = found.iter().sum();
        let holds = match title.as_str() {
            "Requests" | "Requests by status" => near(sum, requests),
            "Failed requests" => near(sum, failed),
            "Checks passed" => near(sum, checks),
            "Checks" => found.len() == 2 && near(sum / 2.0, checks),
            "Parts of a request, on average" => {
                let metric = query.split('"').nth(3).expect("a metric");
                near(sum, number(metric, "avg"))
            }
            // The nearest of its samples: the summary takes a number between two of them.
            "Request duration" if query.contains("95") => {
                number("http_req_duration", "p(90)") <= sum
                    && sum <= number("http_req_duration", "max")
            }
            "Iterations" if query.contains("dropped") => found.is_empty(),
            "Iterations" => near(sum, number("iterations", "count")),
            "Data" if query.contains("sent") => near(sum, number("data_sent", "count")),
            "Data" => near(sum, number("data_received", "count")),
            // The last one may be from when none was at work any more.
            "VUs" => found.len() == 1,
            _ => found.len() == 1 && sum > 0.0,
        };
        assert!(holds, "{title}: {query}: {found:?}, and the summary: {summary}");
    }

    let variables = [("$scenario", ".*"), ("$__rate_interval", "1h")];
    for (title, query) in panels("prometheus.json", &variables) {
        let found = prometheus(&prom, &query);
        let sum: f64 = found.iter().sum();
        let holds = match title.as_str() {
            "Requests" => near(sum, requests),
            "Failed requests" => near(sum, failed),
            // A mean of the checks of both scenarios, which have had more requests or fewer.
            "Checks passed" => (sum - checks).abs() < 0.02,
            "Checks" => found.len() == 2 && (sum / 2.0 - checks).abs() < 0.02,
            // Seconds; the larger one of the two scenarios' own.
            "Request duration" => {
                found.len() == 1
                    && sum > 0.0
                    && sum * 1000.0 <= number("http_req_duration", "max") + 1e-6
            }
            "Iterations per second" if query.contains("dropped") => sum.abs() < f64::EPSILON,
            "Iterations per second" | "Requests per second by status" => {
                found.len() == 2 && sum > 0.0
            }
            "Parts of a request, on average" | "VUs" | "VUs over time" => found.len() == 1,
            _ => found.len() == 1 && sum > 0.0,
        };
        assert!(holds, "{title}: {query}: {found:?}, and the summary: {summary}");
    }
    servers.signal("TERM");
    assert_eq!(servers.wait().code, 0);
}
