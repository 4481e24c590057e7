//! `/v1/status`: how far the run is; pausing, resuming, stopping.

use brunt_engine::{Phase, ScaleError};
use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::{
    Fleet, Subject, Told,
    answer::{self, Answer, JSON_UTF8},
    told::Early,
};

pub(super) async fn show(told: &Told) -> Answer {
    let Some(run) = told.subject() else { return before(told.early().unwrap_or_default()) };
    let state = run.state();
    let phase = state.phase;
    let has_started = phase >= Phase::Setup;
    let has_ended = phase == Phase::Ended;
    let tainted = told.summary().await.is_some_and(|summary| {
        summary.metrics.iter().any(|metric| {
            // A metric without a value has not been looked at yet.
            let seen = metric.observed || has_ended;
            seen && metric.thresholds.iter().any(|threshold| !threshold.ok)
        })
    });
    let mut attributes = json!({
        "status": number(phase, state.is_aborting, state.is_marked_failed),
        "paused": state.is_paused,
        "vus": state.vus_wanted,
        "vus-max": state.vus_initialized,
        "stopped": state.is_aborting,
        "running": has_started && !has_ended,
        "tainted": tainted,
    });
    if let Some(Fleet { seats, running, silent, lost }) = state.agents {
        attributes["agents"] =
            json!({ "seats": seats, "running": running, "silent": silent, "lost": lost });
    }
    shown(&attributes)
}

/// The state before there is a run.
fn before(early: Early) -> Answer {
    shown(&json!({
        "status": number(Phase::Created, false, false),
        "paused": early.is_paused,
        "vus": 0,
        "vus-max": 0,
        "stopped": early.is_stopped,
        "running": false,
        "tainted": false,
    }))
}

fn shown(attributes: &Value) -> Answer {
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
    let is_scaled = stopped != Some(true) && (vus.is_some() || max.is_some());
    // While init code runs, wishes are kept for the run; numbers of VUs wait for its scenarios.
    if !is_scaled && told.wish(|early| early.take(stopped, paused)) {
        return show(told).await;
    }
    let Some(run) = told.run().await else { return show(told).await };
    let changed = match stopped {
        Some(true) => {
            run.stop().await;
            Ok(())
        }
        _ => adjust(&*run, paused, (vus, max)).await,
    };
    match changed {
        Ok(()) => show(told).await,
        Err((status, title, detail)) => answer::error(status, JSON_UTF8, title, &detail),
    }
}

/// Pauses or resumes, then scales; or the status of the refusal, its title and its reason.
async fn adjust(
    run: &dyn Subject,
    paused: Option<bool>,
    (vus, max): (Option<i64>, Option<i64>),
) -> Result<(), (StatusCode, &'static str, String)> {
    const REFUSED: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
    if let Some(paused) = paused {
        run.pause(paused).await.map_err(|why| (REFUSED, "Pause error", why))?;
    }
    if vus.is_some() || max.is_some() {
        run.scale(vus, max).await.map_err(|error| match error {
            ScaleError::NoScenario => (REFUSED, "Execution config error", error.to_string()),
            _ => (StatusCode::BAD_REQUEST, "Config update error", error.to_string()),
        })?;
    }
    Ok(())
}

impl Early {
    /// Takes the wishes of a request. To be stopped outlasts all others.
    fn take(&mut self, stopped: Option<bool>, paused: Option<bool>) {
        self.is_stopped |= stopped == Some(true);
        if let Some(paused) = paused {
            (self.is_paused, self.is_wish) = (paused, true);
        }
    }
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
