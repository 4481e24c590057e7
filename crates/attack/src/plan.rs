//! The settings of an attack.

use std::net::IpAddr;
use std::time::Duration;

use brunt_http::Settings;

use crate::pacer::Pacer;
use brunt_schedule::Rate;

/// The settings of an attack. Plain data: change fields of [`Plan::default`].
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name, in each record.
    pub name: String,
    /// When hits are due.
    pub pacer: Pacer,
    /// How long hits are begun; `None`: until it is stopped, or its targets or pacer end. Hits that are under way then
    /// are waited for.
    pub duration: Option<Duration>,
    /// The number of workers at the start.
    pub workers: usize,
    /// The most workers: one has one hit under way. `None`: as many as are needed, which is bounded by the sockets that
    /// the system allows. [`Pacer::Unlimited`] needs a number.
    pub max_workers: Option<usize>,
    /// The maximum number of threads.
    pub cores: usize,
    /// The most time for a hit, redirects included; `None`: any.
    pub timeout: Option<Duration>,
    /// The most redirects to follow; `None`: none is followed, and that is a success.
    pub redirects: Option<u32>,
    /// How many bytes of a response's body are kept in its record; all are counted.
    pub keep_body: u64,
    /// Send bodies in chunks, without a `Content-Length`.
    pub chunked: bool,
    /// How connections are opened. Limits per host are for all cores together.
    pub network: Settings,
    /// The address to dial from.
    pub local_ip: Option<IpAddr>,
    /// The zone that timestamps are told in: minutes east of Greenwich. `None`: UTC.
    pub zone_minutes: Option<i16>,
}

impl Default for Plan {
    /// vegeta's defaults, but no bodies are kept.
    fn default() -> Self {
        let mut network = Settings { idle_total: 0, idle_per_host: 10_000, ..Settings::default() };
        network.net.dns.ttl = Duration::MAX;
        network.net.dialing.both_families = true;
        network.net.dns.policy = brunt_net::DnsPolicy::Any;
        Self {
            name: String::new(),
            pacer: Pacer::of_rate(Rate::default()),
            duration: None,
            workers: 10,
            max_workers: None,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            timeout: Some(Duration::from_secs(30)),
            redirects: Some(10),
            keep_body: 0,
            chunked: false,
            network,
            local_ip: None,
            zone_minutes: None,
        }
    }
}

impl Plan {
    /// The number of threads: with few workers or connections to share, less than the limit.
    pub fn threads(&self) -> usize {
        let few = |limit: usize, each: usize| (limit / each).max(1);
        let by_workers = match (&self.pacer, self.max_workers) {
            (_, None) => usize::MAX,
            (Pacer::Unlimited, Some(max)) => max.max(1),
            // A hit that is due waits for a worker of its own core: let each have some.
            (_, Some(max)) => few(max, 8),
        };
        let by_connections = match self.network.per_host_max {
            0 => usize::MAX,
            max => few(max, 8),
        };
        self.cores.max(1).min(by_workers).min(by_connections)
    }

    /// The settings of one of `cores` cores: limits are shared out.
    pub(crate) fn network_of(&self, core: usize, cores: usize) -> Settings {
        let mut network = self.network.clone();
        if network.idle_per_host > 0 {
            network.idle_per_host = share(network.idle_per_host, core, cores).max(1);
        }
        let max = &mut network.per_host_max;
        if *max > 0 {
            *max = share(*max, core, cores).max(1);
        }
        network
    }
}

/// One core's part of `whole`.
pub(crate) fn share(whole: usize, core: usize, cores: usize) -> usize {
    whole / cores + usize::from(core < whole % cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_workers_have_few_threads() {
        let threads =
            |pacer, max_workers| Plan { cores: 4, pacer, max_workers, ..Plan::default() }.threads();
        let constant = || Pacer::of_rate(Rate::per_second(5));
        assert_eq!((threads(constant(), None), threads(constant(), Some(2))), (4, 1));
        assert_eq!((threads(constant(), Some(17)), threads(Pacer::Unlimited, Some(2))), (2, 2));
    }

    #[test]
    fn shares_make_the_whole() {
        let shares: Vec<_> = (0..4).map(|core| share(10, core, 4)).collect();
        assert_eq!(shares, [3, 3, 2, 2]);
    }
}
