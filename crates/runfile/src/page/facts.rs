//! The facts of the page: its JSON record.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_metrics::{Operator, Selector, Threshold};
use brunt_verdict::Level;
use serde_json::{Map, Value, json};

use super::told::Mark;
use super::{Origin, Page};
use crate::error::RunFileError;
use crate::reader::{RunFile, State};

/// All facts but failures, exchanges and sources. Of metrics and series only new ones.
pub(super) fn all(
    file: &RunFile,
    page: &Page,
    metrics: &[Value],
    series: &[Value],
    events: &[Value],
) -> Result<Map<String, Value>, RunFileError> {
    let about = file.about();
    let slices = about.slices.div_ceil(page.factor());
    let facts = json!({
        "time": {
            "width": about.width.as_millis() as u64 * page.factor(),
            "slices": slices,
            "end": about.duration.as_nanos() as f64 / 1e3,
        },
        "run": run(file),
        "verdict": verdict(file),
        "thresholds": thresholds(file, page)?,
        "scenarios": file.rows(
            "SELECT name, executor, started, ended, text FROM scenario ORDER BY id", [],
            |row| Ok(json!({
                "name": row.get::<_, String>(0)?, "executor": row.get::<_, String>(1)?,
                "from": row.get::<_, i64>(2)?, "to": row.get::<_, i64>(3)?, "text": row.get::<_, String>(4)?,
            })),
        )?,
        "stages": file.rows(
            "SELECT n, name, g.started, g.ended, \"from\", \"to\" FROM stage g JOIN scenario s ON s.id = scenario
             ORDER BY scenario, n", [],
            |row| Ok(json!({
                "name": format!("stage {}", row.get::<_, i64>(0)? + 1), "scenario": row.get::<_, String>(1)?,
                "from": row.get::<_, i64>(2)?, "to": row.get::<_, i64>(3)?,
                "ramp": row.get::<_, f64>(4)?.total_cmp(&row.get::<_, f64>(5)?).is_ne(),
            })),
        )?,
        "checks": file.rows(
            "SELECT id, \"group\", name FROM checks ORDER BY place", [],
            |row| Ok(json!({
                "group": row.get::<_, String>(1)?, "name": row.get::<_, String>(2)?,
                "series": page.number(&Origin::Check(row.get(0)?)),
            })),
        )?,
        "groups": file.rows(
            "SELECT path FROM groups GROUP BY path ORDER BY min(place)", [],
            |row| Ok(json!(row.get::<_, String>(0)?)),
        )?,
        "exceptions": file.rows(
            "SELECT message, count FROM failure WHERE kind = 'exception' ORDER BY place", [],
            |row| Ok(json!({ "text": row.get::<_, String>(0)?, "count": row.get::<_, i64>(1)? })),
        )?,
        "capacity": capacity(file)?,
        "agents": file.agents()?,
        "dropped": about.lost,
        "events": events,
        "metrics": metrics,
        "series": series,
    });
    let Value::Object(facts) = facts else { return Ok(Map::new()) };
    Ok(facts)
}

/// The result of a search for capacity; null for all other runs.
fn capacity(file: &RunFile) -> Result<Value, RunFileError> {
    let query = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'capacity'";
    let tables = file.rows(query, [], |row| row.get::<_, i64>(0))?;
    if tables.first().is_none_or(|count| *count == 0) {
        return Ok(Value::Null);
    }
    let texts = file.rows("SELECT text FROM capacity", [], |row| row.get::<_, String>(0))?;
    Ok(texts.first().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
}

/// A number that changes whenever rows of this table come, go, or (those of failures) are counted on.
pub(super) fn mark(file: &RunFile, table: &'static str) -> Result<Mark, RunFileError> {
    let last = match table {
        "failure" => "total(last)",
        "exchange" => "total(id)",
        _ => "0",
    };
    let query =
        format!("SELECT count(*), ifnull(max(rowid), 0), CAST({last} AS INTEGER) FROM {table}");
    let marks = file.rows(&query, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    Ok(marks.first().copied().unwrap_or_default())
}

/// The files of the test.
pub(super) fn sources(file: &RunFile) -> Result<Value, RunFileError> {
    let sources = file.rows("SELECT path, text FROM source", [], |row| {
        Ok(json!({ "path": row.get::<_, String>(0)?, "text": row.get::<_, Option<String>>(1)? }))
    })?;
    Ok(Value::Array(sources))
}

/// Cuts the bodies of an exchange.
pub(super) fn cut(exchange: &mut Value, most: usize) {
    for side in ["request", "response"] {
        let Some(part) = exchange.get_mut(side).and_then(Value::as_object_mut) else { continue };
        let Some(body) = part.get("body").and_then(Value::as_str) else { continue };
        if body.len() <= most {
            continue;
        }
        let body = match most {
            0 => Value::Null,
            most => json!(body[..body.floor_char_boundary(most)]),
        };
        part.insert("body".to_owned(), body);
        part.insert("cut".to_owned(), json!(true));
    }
}

/// The events, without the first `told` ones.
pub(super) fn events(file: &RunFile, told: usize) -> Result<Vec<Value>, RunFileError> {
    let query = "SELECT at, kind, text, scenario FROM event ORDER BY rowid LIMIT -1 OFFSET ?1";
    file.rows(query, [told as i64], |row| {
        Ok(json!({
            "at": row.get::<_, i64>(0)?, "kind": row.get::<_, String>(1)?, "text": row.get::<_, String>(2)?,
            "scenario": row.get::<_, Option<String>>(3)?,
        }))
    })
}

fn run(file: &RunFile) -> Value {
    let about = file.about();
    let moment = |micros: i64| {
        let moment = jiff::Timestamp::from_microsecond(micros).unwrap_or_default();
        format!("{moment:.6}")
    };
    json!({
        "id": about.id, "name": about.name, "kind": about.kind,
        "state": about.state.text(),
        "started": moment(about.started),
        "ended": about.ended.filter(|_| about.state != State::Running).map(moment),
        "passed": about.passed, "exit": about.exit, "reason": about.reason,
        "brunt": about.brunt, "script": about.script, "sha256": about.sha256, "arguments": about.arguments,
        "options": about.options, "environment": about.environment,
        "host": about.host, "kernel": about.kernel, "cpu": about.cpu, "cores": about.cores, "memory": about.memory,
        "seed": about.seed, "commit": about.commit, "branch": about.branch, "build": about.build,
        "labels": about.labels, "lost": 0,
    })
}

/// In the page's words. Without findings the page has a sentence of its own.
fn verdict(file: &RunFile) -> Value {
    let Some(verdict) = &file.about().verdict else { return json!({}) };
    let micros = |moment: Duration| moment.as_micros() as u64;
    let findings = verdict.findings.iter().map(|finding| {
        json!({
            "what": finding.name.replace('-', " "), "state": finding.level.text(),
            "from": finding.stretch.map(|stretch| micros(stretch.0)),
            "to": finding.stretch.map(|stretch| micros(stretch.1)),
            "much": finding.evidence, "touches": finding.touches, "advice": finding.advice,
            "metrics": finding.shown_by(),
        })
    });
    let state = match verdict.level() {
        Level::Ok => "trusted",
        level => level.text(),
    };
    let text = if verdict.findings.is_empty() { String::new() } else { verdict.sentence() };
    json!({ "state": state, "text": text, "findings": findings.collect::<Vec<_>>() })
}

fn thresholds(file: &RunFile, page: &Page) -> Result<Vec<Value>, RunFileError> {
    file.rows(
        "SELECT id, metric, text, abort, passed, last, breached FROM threshold ORDER BY id",
        [],
        |row| {
            let (metric, text): (String, String) = (row.get(1)?, row.get(2)?);
            let parsed = Threshold::parse_label(&text, false, None).ok();
            let of = Selector::parse(&metric).ok().zip(parsed.as_ref()).map(|(selector, parsed)| {
                let tags: Map<String, Value> =
                    selector.tags.into_iter().map(|(key, value)| (key, json!(value))).collect();
                let stat = parsed.aggregation.to_string();
                json!({ "metric": selector.metric, "tags": tags, "stat": stat, "op": operator(parsed.operator) })
            });
            Ok(json!({
                "metric": metric, "expression": text, "passed": row.get::<_, Option<bool>>(4)?,
                "value": row.get::<_, Option<f64>>(5)?, "limit": parsed.map(|parsed| parsed.limit),
                "broke": row.get::<_, Option<i64>>(6)?, "abort": row.get::<_, bool>(3)?,
                "series": page.number(&Origin::Threshold(row.get(0)?)), "of": of,
            }))
        },
    )
}

fn operator(operator: Operator) -> &'static str {
    match operator {
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
        Operator::Equal => "==",
        Operator::Unequal => "!=",
    }
}

pub(super) fn failures(
    file: &RunFile,
    page: &Page,
    exchanges: &BTreeMap<i64, usize>,
) -> Result<Vec<Value>, RunFileError> {
    // Also those that were kept before their kind was counted.
    let kept = file.rows(
        "SELECT e.id, f.id FROM exchange e JOIN failure f ON e.failure = f.id
         OR (e.failure IS NULL AND e.why = 'failure' AND f.kind = 'http' AND f.code = e.code AND f.route = e.route)",
        [],
        |row| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(0)?)),
    )?;
    file.rows(
        "SELECT id, code, message, route, first, last, kind FROM failure WHERE kind != 'exception' ORDER BY count DESC",
        [],
        |row| {
            let id: i64 = row.get(0)?;
            let (code, route, kind): (String, String, String) = (row.get(1)?, row.get(3)?, row.get(6)?);
            let (method, route) = match route.split_once(' ') {
                Some((method, route)) if kind == "http" => (method.to_owned(), route.to_owned()),
                _ => (String::new(), route),
            };
            let places = kept.iter().filter(|(failure, _)| *failure == id);
            let places: Vec<usize> =
                places.filter_map(|(_, exchange)| exchanges.get(exchange).copied()).collect();
            // k6's codes of statuses are 1000 and the status.
            let number = code.parse().unwrap_or(0);
            let status = match number {
                1400..=1599 => number - 1000,
                100..=599 => number,
                _ => 0,
            };
            Ok(json!({
                "code": code, "status": status, "message": row.get::<_, String>(2)?, "method": method, "route": route,
                "first": row.get::<_, i64>(4)?, "last": row.get::<_, i64>(5)?,
                "series": page.number(&Origin::Failure(id)), "exchanges": places,
            }))
        },
    )
}

/// The kept exchanges with all of their bodies, and the places of their ids in the list.
pub(super) fn exchanges(
    file: &RunFile,
) -> Result<(Vec<Value>, BTreeMap<i64, usize>), RunFileError> {
    let mut places = BTreeMap::new();
    let body =
        |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let headers = |text: String| serde_json::from_str::<Value>(&text).unwrap_or_else(|_| json!([]));
    let exchanges = file.rows("SELECT * FROM exchange ORDER BY id", [], |row| {
        places.insert(row.get("id")?, places.len());
        let text = |key: &str| row.get::<_, String>(key);
        let number = |key: &str| row.get::<_, Option<f64>>(key);
        let phases = match number("waiting")? {
            None => Value::Null,
            Some(waiting) => json!({
                "blocked": number("blocked")?, "lookup": number("lookup")?, "connecting": number("connecting")?,
                "tls": number("tls")?, "sending": number("sending")?, "waiting": waiting,
                "receiving": number("receiving")?,
            }),
        };
        Ok(json!({
            "why": text("why")?, "at": row.get::<_, i64>("at")?, "method": text("method")?, "url": text("url")?,
            "route": text("route")?, "scenario": text("scenario")?, "status": row.get::<_, i64>("status")?,
            "code": text("code")?, "error": row.get::<_, Option<String>>("error")?, "duration": number("duration")?,
            "phases": phases,
            "request": {
                "headers": headers(text("request_headers")?), "body": body(row.get("request_body")?),
                "size": row.get::<_, i64>("request_size")?,
            },
            "response": {
                "proto": text("proto")?, "headers": headers(text("response_headers")?),
                "body": body(row.get("response_body")?), "size": row.get::<_, i64>("response_size")?,
            },
            "curl": text("curl")?,
        }))
    })?;
    Ok((exchanges, places))
}
