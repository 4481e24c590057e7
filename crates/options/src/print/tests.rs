use serde_json::json;

use super::*;
use crate::consolidate::{Layers, Rules, consolidate};
use crate::error::Layer;

fn consolidated(options: &Value) -> Consolidated {
    let script = Options::from_json(options, Layer::Script).unwrap().options;
    consolidate(Layers { script, ..Layers::default() }, Rules::default()).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn inspect_shows_every_key_in_k6s_order() {
    let shown = Options::default().to_inspect_json();
    let keys = keys(&shown);
    assert_eq!(
        keys[..7],
        ["paused", "vus", "duration", "iterations", "stages", "scenarios", "executionSegment"]
    );
    assert_eq!(keys.last(), Some(&"discardResponseBodies"));
    assert_eq!(keys.len(), 40);
    assert_eq!(shown["dns"], json!({ "ttl": null, "select": null, "policy": null }));
    assert!(shown["systemTags"].is_null());
}

#[test]
fn inspect_with_requirements_derives_and_sums_up() {
    let options =
        json!({ "vus": 5, "duration": "5s", "cloud": { "name": "a" }, "executionSegment": "1/2" });
    let shown = consolidated(&options).to_inspect_json();
    assert_eq!(shown["vus"], 5);
    assert_eq!(shown["scenarios"]["default"]["executor"], "constant-vus");
    assert_eq!((&shown["totalDuration"], &shown["maxVUs"]), (&json!("35s"), &json!(3)));
    assert_eq!(shown["summaryTrendStats"], json!(["avg", "min", "med", "max", "p(90)", "p(95)"]));
    assert_eq!(shown["systemTags"].as_array().unwrap().len(), 14);
    assert_eq!(shown["cloud"], json!({ "name": "a" }));
}

#[test]
fn scripts_see_scenarios_and_no_shortcuts() {
    let all = consolidated(&json!({ "vus": 1, "iterations": 1, "hosts": { "a.com": "1.2.3.4" } }));
    let shown = all.to_test_options_json();
    let keys = keys(&shown);
    assert!(SHORTCUTS.iter().all(|key| !keys.contains(key)));
    assert_eq!(keys[keys.len() - 2..], ["consoleOutput", "localIPs"]);
    let default = r#"{"executor":"shared-iterations","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"vus":1,"iterations":1,"maxDuration":null}"#;
    assert_eq!(shown["scenarios"]["default"].to_string(), default);
    assert_eq!(shown["hosts"], json!({ "a.com": "1.2.3.4" }));
}

#[test]
fn vus_get_back_what_is_set_and_what_is_run() {
    let all = consolidated(&json!({ "vus": 1, "iterations": 1, "tags": { "a": "b" } }));
    let shown = all.to_written_back_json();
    assert_eq!(
        keys(&shown),
        ["vus", "iterations", "scenarios", "summaryTrendStats", "systemTags", "tags"]
    );
    assert_eq!(shown["tags"], json!({ "a": "b" }));
    assert_eq!(shown["scenarios"]["default"]["executor"], "shared-iterations");
    assert_eq!(shown["systemTags"].as_array().unwrap().len(), 14);
}
