//! `/v1/status`: how far the run is; pausing, resuming, stopping.

use brunt_engine::{AbortReason, Phase, ScaleError};
use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::{
    Told,
    answer::{self, Answer, JSON_UTF8},
};

pub(super) async fn show(told: &Told) -> Answer {
    let control = told.live.control();
    let phase = control.phase();
    let has_started = phase >= Phase::Setup;
    let has_ended = phase == Phase::Ended;
    let tainted = told.summary().await.is_some_and(|summary| {
        summary.metrics.iter().any(|metric| {
            // A metric without a value has not been looked at yet.
            let seen = metric.observed || has_ended;
            seen && metric.thresholds.iter().any(|threshold| !threshold.ok)
        })
    });
    let attributes = json!({
        "status": number(phase, control.is_aborting(), control.is_marked_failed()),
        "paused": control.is_paused(),
        "vus": told.live.vus_wanted(),
        "vus-max": control.vus_initialized(),
        "stopped": control.is_aborting(),
        "running": has_started && !has_ended,
        "tainted": tainted,
    });
    let status = json!({ "type": "status", "id": "default", "attributes": attributes });
    answer::data(JSON_UTF8, &status)
}

/// The number that k6 has for each stage of a run.
fn number(phase: Phase, is_aborting: bool, is_failed: bool) -> u8 {
    match phase {
        Phase::Created => 0,
        Phase::InitVus => 1,
        Phase::Paused => 4,
        Phase::Ended if is_aborting => 10,
        Phase::Ended if is_failed => 11,
        Phase::Setup => 6,
        Phase::Running => 7,
        Phase::Teardown => 8,
        Phase::Ended => 9,
    }
}

pub(super) async fn change(told: &Told, body: &[u8]) -> Answer {
    let invalid =
        |detail: &str| answer::error(StatusCode::BAD_REQUEST, JSON_UTF8, "Invalid data", detail);
    let asked: Value = match serde_json::from_slice(body) {
        Ok(asked) => asked,
        Err(error) if error.is_eof() => return invalid("unexpected end of JSON input"),
        Err(error) => return invalid(&error.to_string()),
    };
    let nothing = Map::new();
    let attributes = match asked.pointer("/data/attributes") {
        Some(Value::Object(attributes)) => attributes,
        // A request without changes changes nothing.
        None | Some(Value::Null) if matches!(asked, Value::Object(_) | Value::Null) => &nothing,
        _ => return invalid("data.attributes is not an object"),
    };
    let flag = |name: &str| match attributes.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(format!("{name} is neither true nor false: {other}")),
    };
    let (stopped, paused) = match (flag("stopped"), flag("paused")) {
        (Ok(stopped), Ok(paused)) => (stopped, paused),
        (Err(wrong), _) | (_, Err(wrong)) => return invalid(&wrong),
    };
    if stopped == Some(true) {
        told.live.control().abort(AbortReason::Api);
        return show(told).await;
    }
    let refused = |title, detail: &str| {
        answer::error(StatusCode::INTERNAL_SERVER_ERROR, JSON_UTF8, title, detail)
    };
    if let Some(paused) = paused
        && let Err(error) = told.live.pause(paused)
    {
        return refused("Pause error", &error);
    }
    let count = |name: &str| match attributes.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let text = value.as_str().and_then(|text| text.parse().ok());
            let number = value.as_i64().or(text);
            number.map(Some).ok_or_else(|| format!("{name} is not a whole number: {value}"))
        }
    };
    let (vus, max) = match (count("vus"), count("vus-max")) {
        (Ok(vus), Ok(max)) => (vus, max),
        (Err(wrong), _) | (_, Err(wrong)) => return invalid(&wrong),
    };
    if vus.is_some() || max.is_some() {
        match told.live.scale(vus, max).await {
            Ok(()) => {}
            Err(error @ ScaleError::NoScenario) => {
                return refused("Execution config error", &error.to_string());
            }
            Err(error) => {
                let (status, title) = (StatusCode::BAD_REQUEST, "Config update error");
                return answer::error(status, JSON_UTF8, title, &error.to_string());
            }
        }
    }
    show(told).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_k6s_numbers() {
        assert_eq!(number(Phase::Paused, false, false), 4);
        assert_eq!(number(Phase::Running, true, true), 7);
        assert_eq!(number(Phase::Ended, false, false), 9);
        assert_eq!(number(Phase::Ended, true, true), 10);
        assert_eq!(number(Phase::Ended, false, true), 11);
    }
}
