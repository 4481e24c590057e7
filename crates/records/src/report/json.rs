//! The report that programs read: vegeta's keys in vegeta's order, and behind them what Brunt knows more.

use super::text::{occurred, sorted_codes};
use crate::{Histogram, Summary, encode, moment};

/// One line, with its end.
pub(super) fn line(summary: &Summary) -> String {
    let mut out = Vec::new();
    let put = |out: &mut Vec<u8>, text: String| out.extend(text.as_bytes());
    put(&mut out, format!("{{\"latencies\":{}", latencies(&summary.latencies())));
    if summary.buckets().len() > 0 {
        let buckets: Vec<_> =
            summary.buckets().map(|(bound, count)| format!("\"{bound}\":{count}")).collect();
        put(&mut out, format!(",\"buckets\":{{{}}}", buckets.join(",")));
    }
    for (name, total) in [("in", summary.bytes_in()), ("out", summary.bytes_out())] {
        let mean = summary.per_request(total);
        put(&mut out, format!(",\"bytes_{name}\":{{\"total\":{total},\"mean\":{mean}}}"));
    }
    let moments =
        [("earliest", summary.earliest()), ("latest", summary.latest()), ("end", summary.end())];
    for (name, moment) in moments {
        put(&mut out, format!(",\"{name}\":\"{}\"", moment::text(moment)));
    }
    let codes: Vec<_> =
        sorted_codes(summary).iter().map(|(code, count)| format!("\"{code}\":{count}")).collect();
    put(
        &mut out,
        format!(
            ",\"duration\":{},\"wait\":{},\"requests\":{},\"rate\":{},\"throughput\":{},\"success\":{},\
             \"status_codes\":{{{}}},\"errors\":[",
            summary.duration(),
            summary.wait(),
            summary.requests(),
            summary.rate(),
            summary.throughput(),
            summary.success(),
            codes.join(","),
        ),
    );
    for (index, (text, _)) in summary.errors().texts().iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        encode::json_text(&mut out, text);
    }
    out.push(b']');
    if let Some(schedule) = summary.schedule() {
        put(
            &mut out,
            format!(
                ",\"schedule\":{{\"offered\":{},\"achieved\":{},\"lag\":{},\"waited\":{}}}",
                schedule.offered_rate(),
                schedule.achieved_rate(),
                latencies(&schedule.lags),
                latencies(&schedule.response_times),
            ),
        );
    }
    let classes = occurred(summary);
    if classes.len() > 1 {
        let classes: Vec<_> = classes
            .into_iter()
            .map(|class| {
                let histogram = summary.class(class);
                let (name, count) = (class.name(), histogram.count());
                format!("\"{name}\":{{\"count\":{count},\"latencies\":{}}}", latencies(histogram))
            })
            .collect();
        put(&mut out, format!(",\"outcomes\":{{{}}}", classes.join(",")));
    }
    if let Some(group_by) = summary.group_by() {
        put(&mut out, format!(",\"by_{}\":{{", group_by.name()));
        for (index, (name, group)) in summary.groups().0.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            encode::json_text(&mut out, name);
            let (count, successes) = (group.latencies.count(), group.successes);
            put(
                &mut out,
                format!(
                    ":{{\"count\":{count},\"successes\":{successes},\"latencies\":{}}}",
                    latencies(&group.latencies)
                ),
            );
        }
        out.push(b'}');
    }
    out.extend(b"}\n");
    String::from_utf8(out).expect("it was made of texts")
}

fn latencies(histogram: &Histogram) -> String {
    let q = histogram.quantiles(&[0.5, 0.9, 0.95, 0.99]);
    format!(
        "{{\"total\":{},\"mean\":{},\"50th\":{},\"90th\":{},\"95th\":{},\"99th\":{},\"max\":{},\"min\":{}}}",
        histogram.total(),
        histogram.mean(),
        q[0],
        q[1],
        q[2],
        q[3],
        histogram.max(),
        histogram.min(),
    )
}
