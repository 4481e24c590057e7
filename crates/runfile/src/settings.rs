//! How the summary is made, as JSON: the column `summary` of the table `run`.

use std::time::Duration;

use brunt_metrics::{Threshold, ThresholdSet, TrendStat};
use serde_json::{Value, json};

use crate::info::SummaryInfo;

pub(crate) fn write(info: &SummaryInfo) -> Value {
    let thresholds = info.thresholds.iter().map(|set| {
        let each = set.thresholds.iter().map(|threshold| {
            json!({
                "threshold": threshold.label(),
                "abortOnFail": threshold.abort_on_fail,
                "delayAbortEval": threshold.delay_abort_eval.map(|delay| delay.as_millis() as u64),
            })
        });
        json!({ "metric": set.metric, "thresholds": each.collect::<Vec<_>>() })
    });
    json!({
        "thresholds": thresholds.collect::<Vec<_>>(),
        "trendStats": info.trend_stats.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "expectedResponse": info.expected_response_submetric,
        "unjudged": info.unjudged,
        "noCheckTag": info.no_check_tag,
        "noGroupTag": info.no_group_tag,
        "hidesOwn": info.hides_own,
        "warmup": info.warmup,
        "routes": info.routes,
        "failures": info.failures,
        "timeUnit": info.time_unit,
    })
}

/// Parts that can't be read are left out: a newer Brunt may write more.
pub(crate) fn read(text: &str) -> SummaryInfo {
    let all: Value = serde_json::from_str(text).unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let texts = |value: &Value| -> Vec<String> {
        list(value).iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let is_on = |key: &str| all[key].as_bool().unwrap_or_default();
    let threshold = |one: &Value| {
        let delay = one["delayAbortEval"].as_u64().map(Duration::from_millis);
        let aborts = one["abortOnFail"].as_bool().unwrap_or_default();
        Threshold::parse_label(one["threshold"].as_str()?, aborts, delay).ok()
    };
    let set = |set: &Value| {
        let thresholds = list(&set["thresholds"]).iter().filter_map(threshold).collect();
        Some(ThresholdSet { metric: set["metric"].as_str()?.to_owned(), thresholds })
    };
    let stats = texts(&all["trendStats"]);
    SummaryInfo {
        thresholds: list(&all["thresholds"]).iter().filter_map(set).collect(),
        conditions: Vec::new(),
        trend_stats: stats.iter().filter_map(|stat| TrendStat::parse(stat).ok()).collect(),
        expected_response_submetric: is_on("expectedResponse"),
        unjudged: texts(&all["unjudged"]),
        no_check_tag: is_on("noCheckTag"),
        no_group_tag: is_on("noGroupTag"),
        hides_own: is_on("hidesOwn"),
        warmup: is_on("warmup"),
        routes: is_on("routes"),
        failures: all["failures"].as_u64().unwrap_or_default() as usize,
        time_unit: all["timeUnit"].as_str().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let threshold = Threshold::parse("p(99.9)<5", true, Some(Duration::from_secs(3))).unwrap();
        let info = SummaryInfo {
            thresholds: vec![ThresholdSet { metric: "a{b:c}".into(), thresholds: vec![threshold] }],
            trend_stats: TrendStat::defaults(),
            unjudged: vec!["x".into()],
            hides_own: true,
            warmup: true,
            routes: true,
            failures: 3,
            time_unit: Some("s".into()),
            ..SummaryInfo::default()
        };
        let back = read(&write(&info).to_string());
        assert_eq!(format!("{back:?}"), format!("{info:?}"));
        assert_eq!(format!("{:?}", read("nonsense")), format!("{:?}", SummaryInfo::default()));
    }
}
