//! A threshold on the command line: `http_req_duration{name:x}: p(95)<200 window=30s for=10s`.

use brunt_duration::wait;
use brunt_metrics::{Timing, TimingError};

use super::ThresholdConfig;

/// The metric and its threshold. Times need units, as everywhere on the command line.
pub(super) fn read(text: &str) -> Result<(String, ThresholdConfig), String> {
    let malformed = || {
        format!(
            "expected metric: expression, such as \"http_req_duration: p(95)<200 window=30s\", got {text:?}"
        )
    };
    // Tags have colons, too, and routes among them braces.
    let behind = text.rfind("}:").or_else(|| text.rfind('}')).unwrap_or(0);
    let colon = behind + text[behind..].find(':').ok_or_else(malformed)?;
    let (metric, rest) = (text[..colon].trim(), text[colon + 1..].trim());
    if metric.is_empty() || rest.is_empty() {
        return Err(malformed());
    }
    let mut config = ThresholdConfig::default();
    let (expression, words) = Timing::words(rest);
    let mut timing = Timing::default();
    for (key, value) in words {
        match key {
            "abortOnFail" => {
                let read = value.parse().map_err(|_| {
                    format!("{key}: expected true or false, got {value:?}, in {text:?}")
                })?;
                config.abort_on_fail = Some(read);
            }
            "delayAbortEval" => {
                let read = wait::parse(value)
                    .map_err(|error| format!("{key}: {error}, got {value:?}, in {text:?}"))?;
                config.delay_abort_eval = Some(read);
            }
            // It is told with the others that are out of their bounds.
            "exitCode" if value.parse::<i64>().is_ok() && config.exit_code.is_none() => {
                config.exit_code = value.parse().ok();
            }
            _ => timing.set(key, value).map_err(|error| wrong(&error, text))?,
        }
    }
    config.threshold = Some(expression.to_owned());
    config.window = timing.window;
    config.after = timing.after;
    config.hold = timing.hold;
    config.on_no_data = timing.on_no_data;
    config.name = timing.name;
    Ok((metric.to_owned(), config))
}

fn wrong(error: &TimingError, text: &str) -> String {
    let others = ThresholdConfig::keys().iter().copied().filter(|key| *key != "threshold");
    let is_known = ThresholdConfig::keys().contains(&error.key.as_str());
    let meant = brunt_spelling::question(&error.key, others).filter(|_| !is_known);
    let meant = meant.map_or(String::new(), |meant| format!(", {meant}"));
    format!("{error}{meant} (in {text:?})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metric_ends_behind_its_tags_whatever_is_in_them() {
        for (text, metric) in [
            ("http_reqs: count>1", "http_reqs"),
            ("http_reqs{a:b,c:d}: count>1", "http_reqs{a:b,c:d}"),
            ("http_reqs{route:/a/{id}/b:c}: count>1 window=5s", "http_reqs{route:/a/{id}/b:c}"),
            ("http_reqs{route:http://a:8/x/{id}} : count>1", "http_reqs{route:http://a:8/x/{id}}"),
        ] {
            let (read, config) = read(text).unwrap();
            assert_eq!((read.as_str(), config.threshold.as_deref()), (metric, Some("count>1")));
        }
        assert!(read("http_reqs").is_err() && read("http_reqs{a:b}").is_err());
    }
}
