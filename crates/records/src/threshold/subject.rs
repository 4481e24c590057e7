//! The subject of a condition in the words of other reports: of the page, of a test's thresholds.

use brunt_metrics::Threshold as OfMetric;
use brunt_metrics::ThresholdSet;

use super::{Clock, Metric, Operator, Stat, Threshold};
use crate::Summary;

/// The number of the page that a threshold is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// A metric.
    pub metric: &'static str,
    /// A tag of it.
    pub tag: Option<(&'static str, &'static str)>,
    /// Its statistic.
    pub stat: String,
}

/// The threshold on a metric that says the same. Its numbers are in that metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// A metric, perhaps with tags, and the one threshold.
    pub set: ThresholdSet,
    conversion: Conversion,
}

/// From the number of a condition to that of its twin.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Conversion {
    None,
    /// Nanoseconds to milliseconds.
    Time,
    /// Of successes to failures.
    Rest,
}

impl Twin {
    /// The number of the condition as its twin has it.
    pub fn value(&self, value: f64) -> f64 {
        self.conversion.of(value)
    }
}

impl Conversion {
    fn of(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Time => value / 1e6,
            // No digits of binary fractions: 0.01, not 0.010000000000000009.
            Self::Rest => ((1.0 - value) * 1e12).round() / 1e12,
        }
    }
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::More => ">",
            Self::MoreOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// For the rest of a share.
    fn turned(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::LessOrEqual => Self::MoreOrEqual,
            Self::More => Self::Less,
            Self::MoreOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

impl Threshold {
    /// The number that is compared and the one it is compared with, as a page shows them: times in milliseconds.
    pub fn numbers(&self, summary: &Summary) -> (Option<f64>, f64) {
        let value = if summary.requests() == 0 { None } else { self.value(summary) };
        (value.map(|value| self.scaled(value)), self.scaled(self.bound))
    }

    /// A number of it as a page shows it: times in milliseconds.
    pub fn scaled(&self, value: f64) -> f64 {
        if matches!(self.metric, Metric::Latency(..)) { value / 1e6 } else { value }
    }

    /// The number of the page that it is about; none where the page has no such number.
    pub fn of(&self) -> Option<Subject> {
        let (metric, tag, stat) = match self.metric {
            Metric::Latency(clock, stat) => {
                let (metric, tag) = match clock {
                    Clock::All => ("http_req_duration", None),
                    Clock::Ok => ("http_req_duration", Some(("expected_response", "true"))),
                    Clock::Waited => ("http_req_duration_planned", None),
                    Clock::Lag => ("load.lateness", None),
                };
                let stat = match stat {
                    Stat::Min => "min".to_owned(),
                    Stat::Mean => "avg".to_owned(),
                    Stat::Max => "max".to_owned(),
                    // No digits of binary fractions: 99.9, not 99.90000000000001.
                    Stat::Quantile(share) => format!("p({})", (share * 1e8).round() / 1e6),
                };
                (metric, tag, stat)
            }
            Metric::Requests => ("http_reqs", None, "count".to_owned()),
            Metric::BytesIn => ("data_received", None, "count".to_owned()),
            Metric::BytesOut => ("data_sent", None, "count".to_owned()),
            _ => return None,
        };
        Some(Subject { metric, tag, stat })
    }

    /// The threshold on a metric of a test that says the same; none if no metric tells that number.
    pub fn twin(&self) -> Option<Twin> {
        const OF_FAILED: &str = "http_req_failed";
        let (metric, stat, conversion) = match self.metric {
            Metric::Latency(..) => {
                let of = self.of().filter(|of| of.metric.starts_with("http_"))?;
                let metric = match of.tag {
                    Some((key, value)) => format!("{}{{{key}:{value}}}", of.metric),
                    None => of.metric.to_owned(),
                };
                (metric, of.stat, Conversion::Time)
            }
            Metric::Success => (OF_FAILED.to_owned(), "rate".to_owned(), Conversion::Rest),
            Metric::Rate => ("http_reqs".to_owned(), "rate".to_owned(), Conversion::None),
            Metric::Throughput => {
                let metric = "http_reqs{expected_response:true}";
                (metric.to_owned(), "rate".to_owned(), Conversion::None)
            }
            Metric::Requests => ("http_reqs".to_owned(), "count".to_owned(), Conversion::None),
            Metric::Failures => {
                let metric = "http_reqs{expected_response:false}";
                (metric.to_owned(), "count".to_owned(), Conversion::None)
            }
            Metric::BytesIn => ("data_received".to_owned(), "count".to_owned(), Conversion::None),
            Metric::BytesOut => ("data_sent".to_owned(), "count".to_owned(), Conversion::None),
            Metric::Offered | Metric::Achieved => return None,
        };
        let is_rest = conversion == Conversion::Rest;
        let operator = if is_rest { self.operator.turned() } else { self.operator };
        let source = format!("{stat}{}{}", operator.text(), conversion.of(self.bound));
        let read = OfMetric::parse(&source, false, None).ok()?;
        let threshold = OfMetric { timing: self.timing.clone(), ..read };
        let set = ThresholdSet { metric, thresholds: vec![threshold] };
        Some(Twin { set, conversion })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_a_twin_among_the_thresholds_of_tests() {
        for (text, metric, label) in [
            ("p99<50ms window=30s for=10s", "http_req_duration", "p(99)<50 window=30s for=10s"),
            ("ok.p99.9 <= 1.5ms", "http_req_duration{expected_response:true}", "p(99.9)<=1.5"),
            ("waited.max<1s", "http_req_duration_planned", "max<1000"),
            ("med<20us", "http_req_duration", "p(50)<0.02"),
            ("success>=99%", "http_req_failed", "rate<=0.01"),
            ("success>0.999 exitCode=7", "http_req_failed", "rate<0.001 exitCode=7"),
            ("rate>100", "http_reqs", "rate>100"),
            ("throughput>100", "http_reqs{expected_response:true}", "rate>100"),
            ("failures=0", "http_reqs{expected_response:false}", "count==0"),
            ("bytes_in!=5", "data_received", "count!=5"),
        ] {
            let twin = text.parse::<Threshold>().unwrap().twin().unwrap();
            let [threshold] = &twin.set.thresholds[..] else { panic!("{text}") };
            assert_eq!((twin.set.metric.as_str(), threshold.label().as_str()), (metric, label));
        }
        for text in ["lag.max<1s", "offered>5", "achieved>5"] {
            assert_eq!(text.parse::<Threshold>().unwrap().twin(), None, "{text}");
        }
        let twin = |text: &str| text.parse::<Threshold>().unwrap().twin().unwrap();
        assert_eq!(twin("p99<1s").value(2_500_000.0), 2.5);
        assert_eq!(twin("success>1%").value(0.9), 0.1);
    }
}
