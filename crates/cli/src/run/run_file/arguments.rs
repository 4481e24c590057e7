//! The command line and the options as the run file may keep them: without values of variables, keys and passwords.

use std::ffi::OsString;

use brunt_runfile::exchange::address;
use serde_json::Value;

/// In place of a secret.
const STRUCK: &str = "***";

/// Flags of `attack` with headers in them.
const HEADERS: [&str; 2] = ["header", "proxy-header"];

/// The words of the command line.
pub(crate) fn shown(words: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut out = Vec::new();
    let mut is_secret = false;
    let mut header = None;
    for word in words {
        let word = word.to_string_lossy().into_owned();
        if let Some(flag) = header.take() {
            out.push(value(flag, &word));
            continue;
        }
        if std::mem::take(&mut is_secret) {
            out.push(named(&word));
            continue;
        }
        header = HEADERS.into_iter().find(|flag| *flag == word.trim_start_matches('-'));
        is_secret = matches!(word.as_str(), "-e" | "--env" | "--secret-source");
        let shown = match word.split_once('=') {
            Some((flag @ ("--env" | "--secret-source" | "-e"), value)) => {
                format!("{flag}={}", named(value))
            }
            Some((flag, text)) if HEADERS.contains(&flag.trim_start_matches('-')) => {
                format!("{flag}={}", value(HEADERS[0], text))
            }
            _ if word.starts_with("-e") && word.len() > 2 => format!("-e{}", named(&word[2..])),
            _ => address(&word),
        };
        out.push(shown);
    }
    out
}

/// The value of a flag of `attack`: of a header only the name.
pub(crate) fn value(flag: &str, text: &str) -> String {
    match text.split_once(':') {
        Some((name, _)) if HEADERS.contains(&flag) => format!("{name}: {STRUCK}"),
        _ => address(text),
    }
}

/// `NAME=value` without the value.
fn named(text: &str) -> String {
    match text.split_once('=') {
        Some((name, _)) => format!("{name}={STRUCK}"),
        None => text.to_owned(),
    }
}

/// The options, without certificates and their keys, and without the values of `env`.
pub(in crate::run) fn options(mut options: Value) -> Value {
    strike(&mut options);
    options
}

fn strike(value: &mut Value) {
    match value {
        Value::Object(all) => {
            for (key, value) in all {
                match (key.as_str(), value) {
                    ("tlsAuth", Value::Array(each)) => {
                        for value in each.iter_mut().filter_map(Value::as_object_mut) {
                            for key in ["cert", "key", "password"] {
                                if let Some(secret) =
                                    value.get_mut(key).filter(|one| !one.is_null())
                                {
                                    *secret = STRUCK.into();
                                }
                            }
                        }
                    }
                    ("env", Value::Object(variables)) => {
                        variables.values_mut().for_each(|value| *value = STRUCK.into());
                    }
                    (_, value) => strike(value),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(strike),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_variables_and_passwords_are_struck_out() {
        let line = "run -e A=1 -eB=2 -e=C=3 --env D=4 --secret-source mock=x=y --out influxdb=http://u:p@h:1/d s.js";
        let words = line.split(' ').map(OsString::from);
        assert_eq!(
            shown(words).join(" "),
            "run -e A=*** -eB=*** -e=C=*** --env D=*** --secret-source mock=*** --out influxdb=http://***SECRET_REDACTED***@h:1/d s.js"
        );
        let line =
            "attack -header Authorization:x --header=X-A:b -rate=5 -proxy-header A:b -targets t";
        let words = line.split(' ').map(OsString::from);
        assert_eq!(
            shown(words).join(" "),
            "attack -header Authorization: *** --header=X-A: *** -rate=5 -proxy-header A: *** -targets t"
        );
    }

    #[test]
    fn options_lose_keys_and_variables() {
        let all = json!({ "vus": 1, "tlsAuth": [{ "cert": "c", "key": "k", "domains": ["d"] }],
            "scenarios": { "a": { "env": { "B": "c" } } } });
        let shown = json!({ "vus": 1, "tlsAuth": [{ "cert": "***", "key": "***", "domains": ["d"] }],
            "scenarios": { "a": { "env": { "B": "***" } } } });
        assert_eq!(options(all), shown);
    }
}
