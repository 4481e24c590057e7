//! The meaning of options that are not set.

use std::time::Duration;

use brunt_metrics::TrendStat;

use crate::dns::Dns;
use crate::options::Options;
use crate::system_tags::SystemTags;
use crate::time_unit::{SummaryTimeUnit, TimeUnit};

impl Options {
    /// How long `setup()` may take: 60 s.
    pub fn setup_timeout(&self) -> Duration {
        self.setup_timeout.unwrap_or(Duration::from_mins(1))
    }

    /// How long `teardown()` may take: 60 s.
    pub fn teardown_timeout(&self) -> Duration {
        self.teardown_timeout.unwrap_or(Duration::from_mins(1))
    }

    /// How long `handleSummary()` may take: 120 s.
    pub fn handle_summary_timeout(&self) -> Duration {
        self.handle_summary_timeout.unwrap_or(Duration::from_mins(2))
    }

    /// The most requests per second of this process; `None`, the default, is no limit.
    pub fn rps(&self) -> Option<u64> {
        self.rps.and_then(|rps| u64::try_from(rps).ok()).filter(|rps| *rps > 0)
    }

    /// How host names are resolved.
    pub fn dns(&self) -> Dns {
        self.dns.clone().unwrap_or_default()
    }

    /// The most redirects a request follows: 10. Less than 0 counts as 0.
    pub fn max_redirects(&self) -> u64 {
        count(self.max_redirects, 10)
    }

    /// The `User-Agent` to send; `unset` if the options are silent, `None` if it is to be left out.
    pub fn user_agent<'a>(&'a self, unset: &'a str) -> Option<&'a str> {
        Some(self.user_agent.as_deref().unwrap_or(unset)).filter(|agent| !agent.is_empty())
    }

    /// The most requests of a batch at once: 20. 0 is no limit.
    pub fn batch(&self) -> u64 {
        count(self.batch, 20)
    }

    /// The most requests of a batch at once to one host: 6. 0 is no limit.
    pub fn batch_per_host(&self) -> u64 {
        count(self.batch_per_host, 6)
    }

    /// The least time from the start of an iteration to the next: 0.
    pub fn min_iteration_duration(&self) -> Duration {
        self.min_iteration_duration.unwrap_or_default()
    }

    /// Which tags samples get by themselves.
    pub fn system_tags(&self) -> SystemTags {
        self.system_tags.unwrap_or_default()
    }

    /// Which numbers of a trend the summary shows: `avg min med max p(90) p(95)`. Names that mean nothing
    /// are left out here; [`consolidate`](crate::consolidate) has refused them.
    pub fn summary_trend_stats(&self) -> Vec<TrendStat> {
        match &self.summary_trend_stats {
            Some(names) => names.iter().filter_map(|name| TrendStat::parse(name).ok()).collect(),
            None => TrendStat::defaults(),
        }
    }

    /// The unit of all times in the summary; `None`, the default, fits the unit to each time.
    pub fn summary_time_unit(&self) -> Option<TimeUnit> {
        self.summary_time_unit.as_ref().and_then(SummaryTimeUnit::unit)
    }

    /// How many bunches of samples may wait for the outputs: 1000.
    pub fn metric_samples_buffer_size(&self) -> u64 {
        count(self.metric_samples_buffer_size, 1000).max(1)
    }
}

fn count(option: Option<i64>, unset: u64) -> u64 {
    option.map_or(unset, |value| u64::try_from(value).unwrap_or(0))
}
