//! A summary as CSV (RFC 4180): a row for each number of each metric.

use brunt_metrics::Summary;

use crate::humanize::js_number;
use crate::tables;

/// `metric,type,contains,number,value`
pub fn render(summary: &Summary) -> String {
    let mut out = String::from("metric,type,contains,number,value\r\n");
    for metric in tables::metrics(summary) {
        for number in tables::numbers(metric, &summary.trend_stats) {
            let (kind, contains) = (metric.kind.to_string(), metric.contains.to_string());
            let value = js_number(number.value);
            let fields = [&metric.name, &kind, &contains, &number.name, &value];
            out.push_str(&fields.map(|field| quoted(field)).join(","));
            out.push_str("\r\n");
        }
    }
    routes(&mut out, summary);
    out
}

/// Each route as a metric of the type `route`.
fn routes(out: &mut String, summary: &Summary) {
    for route in &summary.routes {
        let trend = &route.duration;
        let numbers = [
            ("default", "requests", Some(route.requests as f64)),
            ("default", "rate", Some(route.rate)),
            ("default", "failed", Some(route.failed as f64)),
            ("default", "goodput", Some(route.goodput)),
            ("time", "avg", Some(trend.avg())),
            ("time", "med", Some(trend.percentile(50.0))),
            ("time", "p(95)", Some(trend.percentile(95.0))),
            ("time", "p(99)", Some(trend.percentile(99.0))),
            ("time", "max", Some(trend.max())),
            ("data", "bytes_sent", route.sent),
            ("data", "bytes_received", route.received),
            ("default", "share", Some(route.share)),
        ];
        let name = route.name();
        for (contains, number, value) in numbers {
            let Some(value) = value else { continue };
            let fields = [&*name, "route", contains, number, &*js_number(value)];
            out.push_str(&fields.map(quoted).join(","));
            out.push_str("\r\n");
        }
    }
}

fn quoted(field: &str) -> String {
    // A field that begins so is a formula to spreadsheets.
    let is_formula = field.starts_with(['=', '+', '@', '\t', '\r'])
        || (field.starts_with('-') && field.parse::<f64>().is_err());
    let field = if is_formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_fields_and_no_formulas() {
        for (field, shown) in [
            ("a", "a"),
            ("-1.5", "-1.5"),
            ("=1+1", "'=1+1"),
            ("a{b:\"c\",d:e}", "\"a{b:\"\"c\"\",d:e}\""),
        ] {
            assert_eq!(super::quoted(field), shown);
        }
    }
}
