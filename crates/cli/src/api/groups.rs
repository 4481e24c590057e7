//! `/v1/groups`: the groups that were seen so far, and their checks.

use std::fmt::Write as _;

use brunt_metrics::GroupSummary;
use hyper::StatusCode;
use md5::{Digest as _, Md5};
use serde_json::{Value, json};

use super::{
    Told,
    answer::{self, Answer, TEXT},
};

pub(super) async fn all(told: &Told) -> Answer {
    answer::data(TEXT, &Value::Array(list(told).await))
}

pub(super) async fn one(told: &Told, id: &str) -> Answer {
    match list(told).await.into_iter().find(|group| group["id"] == id) {
        Some(group) => answer::data(TEXT, &group),
        None => answer::error(
            StatusCode::NOT_FOUND,
            TEXT,
            "Not Found",
            "No group with that ID was found",
        ),
    }
}

async fn list(told: &Told) -> Vec<Value> {
    let mut out = Vec::new();
    if let Some(summary) = told.summary().await {
        add(&summary.root, None, &mut out);
    }
    out
}

fn add(group: &GroupSummary, parent: Option<&str>, out: &mut Vec<Value>) {
    let reference = |path: &str| json!({ "type": "groups", "id": id(path) });
    let checks: Vec<Value> = group
        .checks
        .iter()
        .map(|check| {
            let path = format!("{}::{}", group.path, check.name);
            json!({
                "id": id(&path),
                "path": path,
                "name": check.name,
                "passes": check.passes,
                "fails": check.fails,
            })
        })
        .collect();
    let within: Vec<Value> = group.groups.iter().map(|group| reference(&group.path)).collect();
    out.push(json!({
        "type": "groups",
        "id": id(&group.path),
        "attributes": {
            "path": group.path,
            "name": group.name,
            "checks": if checks.is_empty() { Value::Null } else { checks.into() },
        },
        "relationships": {
            "groups": { "data": within },
            "parent": { "data": parent.map(reference) },
        },
    }));
    for inner in &group.groups {
        add(inner, Some(&group.path), out);
    }
}

/// A group's or check's path as k6 numbers it.
fn id(path: &str) -> String {
    Md5::digest(path).iter().fold(String::new(), |mut id, byte| {
        // A string takes all that is written.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_k6s() {
        assert_eq!(id(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(id("::g1"), "9ccb03cc5acd728a2fe595bbd1f14da3");
        assert_eq!(id("::g1::c"), "c65d144957274c21741c093ea238f9ef");
    }
}
