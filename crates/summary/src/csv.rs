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
    out
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
