//! Options from variables.

use crate::dns::NO_TTL;
use crate::error::{Fault, Layer, OptionsError};
use crate::json::is_none_below_zero;
use crate::options::Options;
use crate::value::Place;
use brunt_duration::wait;

/// Variables without their prefix, and the option each sets.
const VARIABLES: &[(&str, &str)] = &[
    ("VUS", "vus"),
    ("DURATION", "duration"),
    ("ITERATIONS", "iterations"),
    ("STAGES", "stages"),
    ("PAUSED", "paused"),
    ("NO_SETUP", "noSetup"),
    ("NO_TEARDOWN", "noTeardown"),
    ("SETUP_TIMEOUT", "setupTimeout"),
    ("TEARDOWN_TIMEOUT", "teardownTimeout"),
    ("HANDLE_SUMMARY_TIMEOUT", "handleSummaryTimeout"),
    ("MAX_REDIRECTS", "maxRedirects"),
    ("BATCH", "batch"),
    ("BATCH_PER_HOST", "batchPerHost"),
    ("RPS", "rps"),
    ("USER_AGENT", "userAgent"),
    ("HTTP_DEBUG", "httpDebug"),
    ("INSECURE_SKIP_TLS_VERIFY", "insecureSkipTLSVerify"),
    ("TLS_CIPHER_SUITES", "tlsCipherSuites"),
    ("TLSAUTH", "tlsAuth"),
    ("NO_CONNECTION_REUSE", "noConnectionReuse"),
    ("NO_VU_CONNECTION_REUSE", "noVUConnectionReuse"),
    ("MIN_ITERATION_DURATION", "minIterationDuration"),
    ("NO_COOKIES_RESET", "noCookiesReset"),
    ("THROW", "throw"),
    ("SEED", "seed"),
    ("THRESHOLDS", "thresholds"),
    ("BLACKLIST_IPS", "blacklistIPs"),
    ("BLOCK_HOSTNAMES", "blockHostnames"),
    ("HOSTS", "hosts"),
    ("SUMMARY_TREND_STATS", "summaryTrendStats"),
    ("SUMMARY_TIME_UNIT", "summaryTimeUnit"),
    ("SYSTEM_TAGS", "systemTags"),
    ("TAGS", "tags"),
    ("METRIC_SAMPLES_BUFFER_SIZE", "metricSamplesBufferSize"),
    ("CONSOLE_OUTPUT", "consoleOutput"),
    ("DISCARD_RESPONSE_BODIES", "discardResponseBodies"),
    ("MAX_BODY_SIZE", "maxBodySize"),
    ("MAX_BODY_MEMORY", "maxBodyMemory"),
    ("VU_MEMORY", "vuMemory"),
    ("LOCAL_IPS", "localIPs"),
    ("DNS", "dns"),
];

/// The text, or 0 in place of a negative duration where that is what k6 makes of it.
pub(crate) fn not_below_zero<'a>(key: &str, text: &'a str, place: Place) -> &'a str {
    let is_negative = || match (text.strip_prefix('-'), place) {
        (None, _) => false,
        (Some(rest), Place::Flag) => wait::parse(rest).is_ok(),
        (Some(rest), Place::Variable) => wait::parse_millis(rest).is_ok(),
    };
    if is_none_below_zero(key) && is_negative() { "0s" } else { text }
}

impl Options {
    /// The variables that set options, without their prefix.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        VARIABLES.iter().map(|(name, _)| *name)
    }
}

/// The stronger prefix first.
const PREFIXES: [&str; 2] = ["BRUNT_", "K6_"];

impl Options {
    /// Reads `K6_*` variables; each may also be called `BRUNT_*`, which is stronger. Others are passed
    /// over. An empty value counts as unset.
    ///
    /// `variable` looks a variable up by its whole name.
    ///
    /// # Errors
    /// [`OptionsError::Value`] for each, with the variable's name as path.
    pub fn from_environment<'a>(
        variable: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let mut errors = Vec::new();
        for (name, key) in VARIABLES {
            let found = PREFIXES.iter().find_map(|prefix| {
                let whole = format!("{prefix}{name}");
                let value = variable(&whole).filter(|value| !value.is_empty())?;
                Some((whole, value))
            });
            // k6 takes no empty text for settings of the resolver.
            let empty_dns = || variable("K6_DNS").filter(|_| *key == "dns");
            let found = found.or_else(|| Some(("K6_DNS".to_owned(), empty_dns()?)));
            let Some((whole, value)) = found else {
                continue;
            };
            let read = match value {
                "" => Err("expected ttl=…,select=…,policy=…, got nothing".to_owned()),
                value => options.parse_key(
                    key,
                    &[not_below_zero(key, value, Place::Variable)],
                    Place::Variable,
                ),
            };
            let Err(reason) = read else { continue };
            if *key == "hosts" {
                log::warn!("{whole} is passed over: {reason}");
                continue;
            }
            let fault = Fault::new(whole, reason);
            // Of these, k6 hears when it makes the VUs.
            let is_late = *key == "tlsAuth" || fault.reason.starts_with(NO_TTL) && value != "ttl=";
            let fault = if is_late { fault.late() } else { fault };
            errors.push(OptionsError::Value { layer: Layer::Environment, fault });
        }
        OptionsError::all(errors).map_or(Ok(options), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::stage::StageConfig;

    fn read(variables: &[(&str, &str)]) -> Result<Options, OptionsError> {
        let get =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        Options::from_environment(get)
    }

    #[test]
    fn every_variable_sets_an_option() {
        for (name, key) in VARIABLES {
            assert_eq!(Options::key(key), Some(*key), "{name}");
        }
    }

    #[test]
    fn our_own_prefix_is_stronger() {
        let options = read(&[("K6_VUS", "1"), ("BRUNT_VUS", "2"), ("K6_RPS", "")]).unwrap();
        assert_eq!((options.vus, options.rps), (Some(2), None));
    }

    #[test]
    fn lists_and_maps_have_forms_of_their_own() {
        let options = read(&[
            ("K6_STAGES", "10s:5,1m:10"),
            ("K6_TAGS", "a:b,c:d"),
            ("K6_SETUP_TIMEOUT", "10"),
            ("K6_BLOCK_HOSTNAMES", "a.com,*.b.com"),
            ("K6_THRESHOLDS", r#"{"http_reqs":["count<5"]}"#),
            ("K6_DNS", "ttl=1m"),
        ])
        .unwrap();
        let stage = |secs, target| StageConfig {
            duration: Some(Duration::from_secs(secs)),
            target: Some(target),
        };
        assert_eq!(options.stages, Some(vec![stage(10, 5), stage(60, 10)]));
        assert_eq!(options.tags.unwrap().into_iter().collect::<Vec<_>>().len(), 2);
        assert_eq!(options.setup_timeout, Some(Duration::from_millis(10)));
        assert_eq!(options.block_hostnames.unwrap().len(), 2);
        assert_eq!(options.thresholds.unwrap().len(), 1);
    }

    #[test]
    fn a_wrong_value_is_told_with_its_variable() {
        let fault = |name, value| read(&[(name, value)]).unwrap_err().to_string();
        insta::assert_snapshot!(fault("K6_VUS", "x"), @r#"invalid option in the environment: K6_VUS: expected a whole number, got "x""#);
        insta::assert_snapshot!(fault("BRUNT_THROW", "yes"), @r#"invalid option in the environment: BRUNT_THROW: expected true or false, got "yes""#);
        insta::assert_snapshot!(fault("K6_STAGES", "5:5"), @r#"invalid option in the environment: K6_STAGES: the unit is missing: write it like 500ms, 1m30s or 2h, got "5:5""#);
        insta::assert_snapshot!(fault("K6_TAGS", "a=b"), @r#"invalid option in the environment: K6_TAGS: expected name:value, got "a=b""#);
        insta::assert_snapshot!(fault("K6_THRESHOLDS", "x"), @r#"invalid option in the environment: K6_THRESHOLDS: expected JSON, got "x" (expected value at line 1 column 1)"#);
        insta::assert_snapshot!(fault("K6_THRESHOLDS", r#"{"a":5}"#), @"invalid option in the environment: K6_THRESHOLDS: a: expected a list, got 5");
        insta::assert_snapshot!(fault("K6_TLSAUTH", "x"), @"invalid option in the environment: K6_TLSAUTH: client certificates can only be given in the script or the config file");
    }
}
