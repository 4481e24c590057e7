//! Options from flags.

use brunt_duration::wait;
use brunt_metrics::TrendStat;
use brunt_schedule::{Segment, SegmentError};

use crate::environment::not_below_zero;
use crate::error::{Fault, Layer, OptionsError};
use crate::options::Options;
use crate::value::Place;

impl Options {
    /// Sets the option `key` (such as `blacklistIPs`) from what was written after a flag: one text for
    /// each time it was written, in order. `flag` is its name for messages, such as `--blacklist-ip`.
    ///
    /// Forms: durations need units; `stages` are `30s:10`, repeated or with commas; `tags` are `name=value`,
    /// repeated; `dns` is `ttl=…,select=…,policy=…`; `localIPs` are addresses, `a-b` ranges and CIDRs with
    /// commas; other lists have commas.
    ///
    /// # Errors
    /// [`OptionsError::Value`] with the flag as path; also if there is no such option.
    /// [`OptionsError::Invalid`] if it can be read but makes no sense: a negative duration.
    pub fn set_from_flag(
        &mut self,
        key: &str,
        texts: &[&str],
        flag: &str,
    ) -> Result<(), OptionsError> {
        let fault = |reason| OptionsError::Value {
            layer: Layer::CommandLine,
            fault: if key == "thresholds" {
                // A malformed threshold is a fault of the configuration, in a flag, too.
                Fault::new(flag, reason)
            } else {
                // k6 reads flags before there is a configuration.
                Fault::new(flag, reason).late()
            },
        };
        if !Self::KEYS.contains(&key) {
            return Err(fault(format!("there is no option {key}")));
        }
        let texts: Vec<&str> =
            texts.iter().map(|text| not_below_zero(key, text, Place::Flag)).collect();
        let texts = texts.as_slice();
        if texts == [""] && matches!(key, "localIPs" | "consoleOutput") {
            return Ok(());
        }
        let read = self.parse_key(key, texts, Place::Flag);
        read.map_err(|reason| match texts.last().and_then(|text| text.strip_prefix('-')) {
            // In a stage, the time comes before the target.
            Some(rest) if wait::parse(rest.split(':').next().unwrap_or_default()).is_ok() => {
                let layer = Some(Layer::CommandLine);
                OptionsError::Invalid { layer, fault: Fault::new(flag, reason) }
            }
            _ => fault(reason),
        })?;
        if key == "summaryTrendStats" {
            for stat in self.summary_trend_stats.iter().flatten() {
                TrendStat::parse(stat).map_err(|error| fault(error.to_string()))?;
            }
        }
        check_segment(key, texts).map_err(|error| fault(error.to_string()))
    }

    /// [`set_from_flag`](Self::set_from_flag) for many: option, texts, flag.
    ///
    /// # Errors
    /// [`OptionsError::Value`] for each text that cannot be read.
    pub fn from_flags<'a>(
        flags: impl IntoIterator<Item = (&'a str, Vec<&'a str>, &'a str)>,
    ) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let mut errors = Vec::new();
        for (key, texts, flag) in flags {
            errors.extend(options.set_from_flag(key, &texts, flag).err());
        }
        OptionsError::all(errors).map_or(Ok(options), Err)
    }
}

/// Reads what can be read of a segment or a sequence without the other one.
fn check_segment(key: &str, texts: &[&str]) -> Result<(), SegmentError> {
    let Some(text) = texts.last().filter(|text| !text.trim().is_empty()) else {
        return Ok(());
    };
    let read = match key {
        "executionSegment" => Segment::parse(Some(text), None),
        "executionSegmentSequence" => Segment::parse(None, Some(text)),
        _ => return Ok(()),
    };
    match read {
        // Whether they fit together is seen when all layers are there.
        Ok(_) | Err(SegmentError::Stranger { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(key: &str, texts: &[&str]) -> String {
        let mut options = Options::default();
        match options.set_from_flag(key, texts, "--flag") {
            Ok(()) => options.print_key(key).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn flags_are_read_as_k6_reads_them() {
        assert_eq!(shown("duration", &["1m30s"]), r#""1m30s""#);
        assert_eq!(shown("tags", &["a=b=c", "d=e,f"]), r#"{"a":"b=c","d":"e,f"}"#);
        assert_eq!(shown("executionSegment", &["1/3"]), r#""1/3""#);
        assert_eq!(shown("summaryTrendStats", &[""]), "[]");
        assert_eq!(
            shown("summaryTrendStats", &["avg,p(99)", "count"]),
            r#"["avg","p(99)","count"]"#
        );
        assert_eq!(shown("throw", &["1"]), "true");
        assert_eq!(shown("rps", &["-1"]), "-1");
        let stages = json!([
            { "duration": "10s", "target": 5 },
            { "duration": "1m0s", "target": 10 },
            { "duration": "5s", "target": 1 }
        ]);
        assert_eq!(shown("stages", &["10s:5", "1m:10,5s:1"]), stages.to_string());
        // That its target is missing is told when the stage is used.
        assert_eq!(shown("stages", &["1s"]), r#"[{"duration":"1s","target":null}]"#);
        assert_eq!(
            shown("blacklistIPs", &["10.0.0.0/8,1.1.1.1/32", "::1/128"]),
            r#"["10.0.0.0/8","1.1.1.1/32","::1/128"]"#
        );
    }

    #[test]
    fn a_negative_duration_can_be_read_but_makes_no_sense() {
        let error = Options::from_flags([("duration", vec!["-5s"], "--duration")]).unwrap_err();
        assert!(matches!(error, OptionsError::Invalid { .. }), "{error:?}");
        insta::assert_snapshot!(error, @r#"invalid options: --duration: a duration cannot be negative, got "-5s""#);
    }

    /// As k6 1.8.1 does: what is no duration on the command line is none with a minus either.
    #[test]
    fn less_than_nothing_is_0_only_if_it_is_a_duration() {
        let read = |text| Options::from_flags([("minIterationDuration", vec![text], "--flag")]);
        assert_eq!(read("-5s").unwrap().min_iteration_duration, Some(std::time::Duration::ZERO));
        for text in ["-1d", "-1", "-1.5d"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn wrong_texts_are_told_with_their_flag() {
        insta::assert_snapshot!(shown("duration", &["5"]), @r#"invalid option on the command line: --flag: the unit is missing: write it like 500ms, 1m30s or 2h, got "5""#);
        insta::assert_snapshot!(shown("stages", &[":5"]), @r#"invalid option on the command line: --flag: expected duration:target such as 30s:10, got ":5""#);
        insta::assert_snapshot!(shown("stages", &["5:5"]), @r#"invalid option on the command line: --flag: the unit is missing: write it like 500ms, 1m30s or 2h, got "5:5""#);
        insta::assert_snapshot!(shown("stages", &["10s:x"]), @r#"invalid option on the command line: --flag: expected duration:target with a whole number as target, got "10s:x""#);
        insta::assert_snapshot!(shown("tags", &["a="]), @r#"invalid option on the command line: --flag: expected name=value, got "a=""#);
        insta::assert_snapshot!(shown("summaryTrendStats", &["avg,foo"]), @r#"invalid option on the command line: --flag: "foo" is not a trend statistic: use avg, min, med, max, count or p(N) with N from 0 to 100"#);
        insta::assert_snapshot!(shown("summaryTimeUnit", &["x"]), @r#"invalid option on the command line: --flag: expected s, ms or us, got "x""#);
        insta::assert_snapshot!(shown("localIPs", &["x"]), @r#"invalid option on the command line: --flag: expected an IP address, a range a-b or a CIDR, got "x""#);
        insta::assert_snapshot!(shown("blacklistIPs", &["10.0.0.1"]), @r#"invalid option on the command line: --flag: expected a network such as 10.0.0.0/8 or 10.1.2.3/32, got "10.0.0.1""#);
        insta::assert_snapshot!(shown("nope", &["x"]), @"invalid option on the command line: --flag: there is no option nope");
    }
}
