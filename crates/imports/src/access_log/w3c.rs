//! W3C logs, CloudFront's among them: `#Fields` names the columns.

use super::entry::{Entry, moment, some, token};

/// The columns of a log.
#[derive(Debug, Default)]
pub(super) struct Columns {
    names: Vec<String>,
    /// Columns are parted by tabs, in which blanks may be.
    is_tabbed: bool,
}

impl Columns {
    /// Takes a line that begins with `#`.
    pub(super) fn directive(&mut self, line: &str) {
        if let Some(fields) = line.strip_prefix("#Fields:") {
            let names = fields.split_ascii_whitespace().take(200);
            self.names = names.map(str::to_ascii_lowercase).collect();
            self.is_tabbed = false;
        }
    }

    /// Whether they are known.
    pub(super) fn are_known(&self) -> bool {
        !self.names.is_empty()
    }

    /// A line.
    pub(super) fn entry(&mut self, line: &str) -> Option<Entry> {
        self.is_tabbed |= line.contains('\t');
        let values: Vec<&str> = if self.is_tabbed {
            line.split('\t').collect()
        } else {
            line.split_ascii_whitespace().collect()
        };
        let of = |name: &str| {
            let index = self.names.iter().position(|own| own == name)?;
            values.get(index).copied().filter(|value| !matches!(*value, "-" | ""))
        };
        let at = match (of("date"), of("time"), of("timestamp").or_else(|| of("timestamp(ms)"))) {
            (Some(date), Some(time), _) => moment(&format!("{date}T{time}Z"))?,
            (_, _, Some(stamp)) => {
                let number: f64 = stamp.parse().ok()?;
                (if number > 1e11 { number } else { number * 1000.0 }) as i64
            }
            _ => return None,
        };
        // CloudFront's moment is that of the answer; seconds with a point.
        let taken = of("time-taken").filter(|text| text.contains('.'));
        let taken = taken.and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
        let mut target = of("cs-uri-stem").or_else(|| of("cs-uri"))?.to_owned();
        if let Some(query) = of("cs-uri-query") {
            target = format!("{target}?{query}");
        }
        let text = |name: &str| of(name).and_then(some);
        Some(Entry {
            at: at.saturating_sub((taken * 1000.0) as i64),
            client: text("c-ip").unwrap_or_default(),
            method: token(of("cs-method")?)?,
            target,
            host: text("x-host-header").or_else(|| text("cs-host")).or_else(|| text("cs(host)")),
            scheme: text("cs-protocol").filter(|own| matches!(own.as_str(), "http" | "https")),
            status: of("sc-status")
                .and_then(|text| text.parse().ok())
                .filter(|own| (100..1000).contains(own)),
            agent: text("cs(user-agent)").map(|agent| plain(&agent)),
            referer: text("cs(referer)"),
        })
    }
}

/// Percent escapes and `+` of an agent as blanks and what they mean.
fn plain(text: &str) -> String {
    let query = format!("a={}", text.replace('&', "%26"));
    url::form_urlencoded::parse(query.as_bytes())
        .next()
        .map_or_else(String::new, |(_, value)| value.into_owned())
}
