//! `/_demo/*`: the server's truth, its reset, its faults, its clock.

use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::call::Call;
use crate::reply::{self, Refusal, Reply};
use crate::timing::{milliseconds, now_utc};

/// Largest body of a control request.
const CONTROL_MAX: usize = 1 << 20;
/// The maximum number of items that one `/_demo/warm` may load.
const WARM_MAX: u64 = 10_000;

/// Answers `/_demo/{rest}`.
pub(crate) async fn answer(call: &mut Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    let post = call.parts.method == Method::POST;
    match rest {
        "stats" if call.is_get() => Ok(stats(call)),
        "time" if call.is_get() => Ok(time(call)),
        "stats" | "time" => Err(reply::wrong_method("GET")),
        "reset" if post => Ok(reset(call).await),
        "warm" if post => warm(call).await,
        "reset" | "warm" => Err(reply::wrong_method("POST")),
        "fault" => fault(call).await,
        _ => Err(reply::not_found()),
    }
}

fn stats(call: &Call<'_>) -> Reply {
    let app = call.app;
    let mut report = app.stats.report(app.started);
    report.extend(app.caching.report());
    report.insert("images".to_owned(), app.images.report());
    report.insert("forms".to_owned(), app.forms.report());
    if let Some(mysql) = &app.mysql {
        report.insert("mysql".to_owned(), mysql.report());
    }
    report.insert("faults".to_owned(), json!(app.faults.current()));
    reply::json(&report)
}

fn time(call: &Call<'_>) -> Reply {
    let (now, unix_ms) = now_utc();
    reply::json(&json!({
        "now": now,
        "unix_ms": unix_ms,
        "uptime_ms": milliseconds(call.app.started.elapsed()),
    }))
}

async fn reset(call: &mut Call<'_>) -> Reply {
    call.app.caching.reset().await;
    call.app.images.reset();
    call.app.forms.reset();
    call.app.plain.reset();
    if let Some(mysql) = &call.app.mysql {
        mysql.reset();
    }
    call.app.stats.reset();
    reply::json(&json!({ "reset": true }))
}

async fn fault(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let app = call.app;
    match call.parts.method {
        Method::GET | Method::HEAD => Ok(reply::json(&app.faults.current())),
        Method::DELETE => {
            app.faults.clear();
            Ok(reply::json(&app.faults.current()))
        }
        Method::POST => {
            let body = call.whole_body(CONTROL_MAX).await?;
            let faults = app.faults.merge(&body.bytes, Instant::now());
            faults.map(|faults| reply::json(&faults)).map_err(reply::bad_request)
        }
        _ => Err(reply::wrong_method("GET, POST, DELETE")),
    }
}

/// Which items to preload: a list, a range, or both.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Warm {
    ids: Vec<u64>,
    from: u64,
    to: u64,
}

async fn warm(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let app = call.app;
    let body = call.whole_body(CONTROL_MAX).await?;
    let warm = if body.bytes.is_empty() {
        Warm { from: 1, to: 100, ..Warm::default() }
    } else {
        serde_json::from_slice(&body.bytes).map_err(|e| reply::bad_request(e.to_string()))?
    };
    drop(body);
    let range = if warm.to == 0 { 0..0 } else { warm.from..warm.to.saturating_add(1) };
    let count = range.end.saturating_sub(range.start).saturating_add(warm.ids.len() as u64);
    if count > WARM_MAX {
        return Err(reply::bad_request(format!("{count} items at once, at most {WARM_MAX}")));
    }
    let ids = warm.ids.into_iter().chain(range);
    match app.caching.warm(ids).await {
        Ok(loaded) => Ok(reply::json(&json!({ "warmed": loaded }))),
        Err(reason) => Err(reply::refuse(StatusCode::SERVICE_UNAVAILABLE, reason)),
    }
}
