use super::*;
use crate::{GroupBy, Record, SummaryConfig, Timestamp};

fn hits() -> Vec<Record> {
    let hit = |n: u64, code: u16, latency: u64, error: &str| Record {
        seq: n,
        code,
        timestamp: Timestamp::from_unix_ns(1_795_287_541_000_000_000 + n * 111_178_000),
        latency,
        bytes_in: if code == 200 { 146 } else { 136 },
        error: error.to_owned(),
        url: format!("/{code}"),
        ..Record::default()
    };
    let mut hits = Vec::new();
    for n in 0..3 {
        hits.push(hit(n * 3, 200, 626_531 + n * 1_000, ""));
        hits.push(hit(n * 3 + 1, 404, 770_848, "404 Not Found"));
        hits.push(hit(n * 3 + 2, 500, 43_855_000 - n, "500 Internal Server Error"));
    }
    hits
}

fn summary(config: SummaryConfig, hits: &[Record]) -> Summary {
    let mut summary = Summary::new(config);
    for hit in hits {
        summary.add(hit);
    }
    summary
}

fn written(report: Report, summary: &Summary) -> String {
    let mut out = Vec::new();
    report.write(summary, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_text_begins_as_vegetas() {
    let text = written(Report::Text, &summary(SummaryConfig::default(), &hits()));
    insta::assert_snapshot!(text, @r###"
Requests      [total, rate, throughput]         9, 10.12, 3.21
Duration      [total, attack, wait]             933.279ms, 889.424ms, 43.855ms
Latencies     [min, mean, 50, 90, 95, 99, max]  626.531µs, 15.084ms, 770.848µs, 43.855ms, 43.855ms, 43.855ms, 43.855ms
Bytes In      [total, mean]                     1254, 139.33
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           33.33%
Status Codes  [code:count]                      200:3  404:3  500:3  
Error Set:
404 Not Found
500 Internal Server Error

Outcome       Count  [min, mean, 50, 90, 95, 99, max]
success       3      626.531µs, 627.531µs, 627.531µs, 628.531µs, 628.531µs, 628.531µs, 628.531µs
client error  3      770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs
server error  3      43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms
"###);
    assert!(text.contains("200:3  404:3  500:3  \n"));
}

#[test]
fn a_clean_attack_has_the_parity_rows_alone() {
    let hits: Vec<_> = hits().into_iter().filter(|hit| hit.code == 200).collect();
    let text = written(Report::Text, &summary(SummaryConfig::default(), &hits));
    assert!(text.ends_with("200:3  \nError Set:\n"), "{text}");
}

#[test]
fn what_brunt_knows_more_stands_below() {
    let mut hits = hits();
    for hit in &mut hits {
        hit.planned = Some(hit.timestamp.unix_ns() - 1_000_000);
    }
    let config = SummaryConfig { group_by: Some(GroupBy::Url), ..SummaryConfig::default() };
    let text = written(Report::Text, &summary(config, &hits));
    let more = text.split_once("\n\n").unwrap().1;
    insta::assert_snapshot!(more, @r###"
Schedule  [offered, achieved]               8.99, 8.99
Lag       [50, 99, max]                     1ms, 1ms, 1ms
Waited    [min, mean, 50, 90, 95, 99, max]  1.627ms, 16.084ms, 1.771ms, 44.855ms, 44.855ms, 44.855ms, 44.855ms

Outcome       Count  [min, mean, 50, 90, 95, 99, max]
success       3      626.531µs, 627.531µs, 627.531µs, 628.531µs, 628.531µs, 628.531µs, 628.531µs
client error  3      770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs
server error  3      43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms

url   Count  Success  [min, mean, 50, 90, 95, 99, max]
/200  3      100.00%  626.531µs, 627.531µs, 627.531µs, 628.531µs, 628.531µs, 628.531µs, 628.531µs
/404  3      0.00%    770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs, 770.848µs
/500  3      0.00%    43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms, 43.855ms
"###);
}

#[test]
fn texts_without_end_are_told_by_kind() {
    let hits: Vec<_> = (0..150)
        .map(|n| Record { code: 0, error: format!("Get \"/{n}\": EOF"), ..hits()[0].clone() })
        .collect();
    let text = written(Report::Text, &summary(SummaryConfig::default(), &hits));
    assert!(text.contains("Get \"/99\": EOF\n… and 50 texts more\n"), "{text}");
    assert!(text.ends_with("\nError   Count  Such as\nclosed  150    Get \"/0\": EOF\n"), "{text}");
}

#[test]
fn json_has_vegetas_keys_in_order() {
    let config = SummaryConfig { buckets: vec![0, 1_000_000], ..SummaryConfig::default() };
    let hits: Vec<_> = hits().into_iter().filter(|hit| hit.code == 404).collect();
    insta::assert_snapshot!(written(Report::Json, &summary(config, &hits)), @r###"{"latencies":{"total":2312544,"mean":770848,"50th":770848,"90th":770848,"95th":770848,"99th":770848,"max":770848,"min":770848},"buckets":{"0":3,"1000000":0},"bytes_in":{"total":408,"mean":136},"bytes_out":{"total":0,"mean":0},"earliest":"2026-11-21T18:59:01.111178Z","latest":"2026-11-21T18:59:01.778246Z","end":"2026-11-21T18:59:01.779016848Z","duration":667068000,"wait":770848,"requests":3,"rate":4.4972926298368385,"throughput":0,"success":0,"status_codes":{"404":3},"errors":["404 Not Found"]}"###);
}

#[test]
fn json_is_json_whatever_is_in_it() {
    let mut hits = hits();
    for hit in &mut hits {
        hit.planned = Some(hit.timestamp.unix_ns());
        hit.error = "a \"quote\"\n".to_owned();
    }
    let config = SummaryConfig { group_by: Some(GroupBy::Status), ..SummaryConfig::default() };
    let line = written(Report::Json, &summary(config, &hits));
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["errors"][0], "a \"quote\"\n");
    assert_eq!(value["by_status"]["404"]["count"], 3);
    assert_eq!(value["outcomes"]["success"]["latencies"]["min"], 626_531);
    let empty = written(Report::Json, &Summary::default());
    let value: serde_json::Value = serde_json::from_str(&empty).unwrap();
    assert_eq!((&value["requests"], &value["errors"]), (&0.into(), &serde_json::json!([])));
}

#[test]
fn a_histogram_has_bars() {
    let buckets = parse_buckets("[1ms,2ms]").unwrap();
    let mut hits: Vec<_> = (0..19).map(|_| hits()[0].clone()).collect();
    hits.push(Record { latency: 3_000_000, ..hits[0].clone() });
    let text = written(
        Report::Histogram,
        &summary(SummaryConfig { buckets, ..SummaryConfig::default() }, &hits),
    );
    assert_eq!(
        text,
        "Bucket         #   %       Histogram\n\
         [0s,    1ms]   19  95.00%  #######################################################################\n\
         [1ms,   2ms]   0   0.00%   \n\
         [2ms,   +Inf]  1   5.00%   ###\n"
    );
}

#[test]
fn an_hdr_plot_has_94_rows() {
    let text = written(Report::HdrPlot, &summary(SummaryConfig::default(), &hits()));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 95);
    assert_eq!(lines[0], "Value(ms)  Percentile  TotalCount  1/(1-Percentile)");
    assert_eq!(lines[1], "0.626531   0.000000    0           1.000000");
    assert_eq!(lines[94], "43.855000  1.000000    9           10000000.000000");
}

#[test]
fn kinds_and_buckets_are_read() {
    assert_eq!(
        Report::parse("hist[0, 1ms,2s]"),
        Ok((Report::Histogram, vec![0, 1_000_000, 2_000_000_000]))
    );
    assert_eq!(parse_buckets("[5ms]"), Ok(vec![0, 5_000_000]));
    for (text, said) in [
        ("hist[]", "bad buckets: '[]'"),
        ("hist1ms", "bad buckets: '1ms'"),
        ("hist[2ms,1ms]", "bad buckets: '[2ms,1ms]'"),
        ("hist[1]", "time: missing unit in duration \"1\""),
        ("plot", "the report type \"plot\" is gone: use brunt plot"),
        (
            "xml",
            "unknown report type: \"xml\" (use text, json, hist[0,10ms,100ms], hdrplot or html)",
        ),
    ] {
        assert_eq!(Report::parse(text).unwrap_err().to_string(), said);
    }
}
