//! The parts of a summary that k6 does not have, as JSON of our own.

use brunt_metrics::TrendSink;
use brunt_metrics::summary::{FailureSummary, RouteSummary, Summary, Values, shared_origin};
use serde_json::{Map, Value, json};

/// The routes, those that took the most time first. Times are in milliseconds, rates per second.
pub fn routes(summary: &Summary) -> Value {
    let origin = shared_origin(&summary.routes);
    summary.routes.iter().map(|route| self::route(route, origin)).collect()
}

fn route(route: &RouteSummary, origin: &str) -> Value {
    let outcomes: Map<String, Value> = route
        .outcomes
        .iter()
        .map(|(outcome, trend)| (outcome.to_string(), durations(trend)))
        .collect();
    json!({
        "method": route.method, "route": route.below(origin), "origin": origin, "requests": route.requests, "rate": route.rate,
        "failed": route.failed, "goodput": route.goodput, "duration": durations(&route.duration),
        "outcomes": outcomes, "bytes_sent": route.sent, "bytes_received": route.received, "share": route.share,
    })
}

/// The kinds of failed requests, the most frequent first, `most` of them.
pub fn failures(summary: &Summary, most: usize) -> Value {
    let kind = |kind: &FailureSummary| {
        json!({
            "code": kind.code, "message": kind.message, "method": kind.method, "route": kind.route,
            "count": kind.count, "example": kind.example,
        })
    };
    summary.failures.iter().take(most).map(kind).collect()
}

/// Iterations of scenarios with an arrival rate, from their planned starts; null if there are none. `difference`: how much
/// more that is than from their actual starts, of all scenarios together.
pub fn planned(summary: &Summary) -> Value {
    let trend = |name: &str| match summary.metric(name).map(|metric| &metric.values) {
        Some(Values::Trend(trend)) if !trend.is_empty() => Some(trend.clone()),
        _ => None,
    };
    let Some(planned) = trend("iteration_duration_planned") else { return Value::Null };
    let mut told = durations(&planned);
    if let Some(actual) = trend("iteration_duration") {
        let more = |planned: f64, actual: f64| json!(planned - actual);
        told["difference"] = json!({
            "avg": more(planned.avg(), actual.avg()),
            "p(95)": more(planned.percentile(95.0), actual.percentile(95.0)),
            "p(99)": more(planned.percentile(99.0), actual.percentile(99.0)),
            "max": more(planned.max(), actual.max()),
        });
    }
    told
}

fn durations(trend: &TrendSink) -> Value {
    json!({
        "count": trend.count(), "avg": trend.avg(), "min": trend.min(), "med": trend.percentile(50.0),
        "max": trend.max(), "p(90)": trend.percentile(90.0), "p(95)": trend.percentile(95.0),
        "p(99)": trend.percentile(99.0),
    })
}
