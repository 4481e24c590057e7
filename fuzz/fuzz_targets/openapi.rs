//! Any bytes as an OpenAPI document.
//!
//! The client must be no larger than its document allows, its data JSON, and its text without characters that end a line unseen.
#![no_main]

use brunt_imports::openapi;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(client) = openapi::client(input, &openapi::Options::default()) else { return };
    for (path, bytes) in &client.files {
        let text = std::str::from_utf8(bytes).expect("files are UTF-8");
        match path.extension().and_then(|end| end.to_str()) {
            Some("json") => drop(serde_json::from_str::<serde_json::Value>(text).expect("JSON")),
            Some("ts") => assert!(!text.contains(['\u{2028}', '\u{2029}', '\0', '\r'])),
            _ => {}
        }
    }
});
