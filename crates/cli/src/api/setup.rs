//! `/v1/setup`, `/v1/teardown`: the two functions, called from outside; the data, put in from outside. Calls that come before
//! there is a run wait for it.

use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::{
    Told,
    answer::{self, Answer, JSON, TEXT},
};

/// The script could not be loaded.
const NO_RUN: &str = "the test could not begin";

pub(super) fn show(told: &Told) -> Answer {
    match told.subject().map_or(Ok(None), |run| run.setup_data()) {
        Ok(data) => shown(data.as_deref()),
        Err(error) => failed("Error getting setup data", &error),
    }
}

fn shown(data: Option<&str>) -> Answer {
    let data = data.and_then(|data| serde_json::from_str::<Value>(data).ok());
    let attributes = match data {
        Some(data) if !data.is_null() => json!({ "data": data }),
        _ => json!({}),
    };
    let value = json!({ "type": "setupData", "id": "default", "attributes": attributes });
    answer::data(JSON, &value)
}

pub(super) async fn run(told: &Told) -> Answer {
    let ran = match told.run().await {
        Some(run) => run.run_setup().await,
        None => Err(NO_RUN.to_owned()),
    };
    match ran {
        Ok(data) => shown(data.as_deref()),
        Err(error) => failed("Error executing setup", &error),
    }
}

pub(super) async fn put(told: &Told, body: &[u8]) -> Answer {
    let data = match std::str::from_utf8(body) {
        Ok(text) if text.trim().is_empty() => None,
        Ok(text) => match serde_json::from_str::<Value>(text) {
            Ok(_) => Some(Arc::from(text)),
            Err(error) => return unread(&error.to_string()),
        },
        Err(error) => return unread(&error.to_string()),
    };
    let set = match told.run().await {
        Some(run) => run.set_setup_data(data.clone()).await,
        None => Err(NO_RUN.to_owned()),
    };
    match set {
        Ok(()) => shown(data.as_deref()),
        Err(error) => failed("Error setting setup data", &error),
    }
}

pub(super) async fn teardown(told: &Told) -> Answer {
    let ran = match told.run().await {
        Some(run) => run.run_teardown().await,
        None => Err(NO_RUN.to_owned()),
    };
    match ran {
        Ok(()) => answer::empty(StatusCode::OK),
        Err(error) => failed("Error executing teardown", &error),
    }
}

fn unread(detail: &str) -> Answer {
    answer::error(StatusCode::BAD_REQUEST, TEXT, "Error parsing request body", detail)
}

fn failed(title: &str, detail: &str) -> Answer {
    log::error!(error = detail; "{title}");
    answer::error(StatusCode::INTERNAL_SERVER_ERROR, TEXT, title, detail)
}
