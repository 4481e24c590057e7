//! Names become addresses: hickory asks, one cache per core remembers.

use std::cell::{OnceCell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, Shared};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ServerOrderingStrategy,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::ProtoError;
use hickory_resolver::proto::rr::Name;
use rustc_hash::FxHashMap;

use crate::chance::Chance;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::name_server::is_number;
use crate::settings::{DnsPolicy, DnsSelect, DnsSettings};

/// The most names that are remembered. At the next one, those whose time is over are forgotten, and if
/// there is none, all.
const NAMES_MAX: usize = 4096;

/// The answer to a name: not empty.
type Answer = Result<Rc<[IpAddr]>, Failure>;

/// The resolver of one core. k6 has one cache per process; ours is one per core, so a name may be
/// asked once per core and lifetime. Failures are not remembered.
pub(crate) struct Dns {
    settings: DnsSettings,
    servers: Box<[SocketAddr]>,
    clock: Clock,
    /// Made at the first name: a test against IP addresses reads no system configuration.
    resolver: OnceCell<Option<TokioResolver>>,
    /// For [`Self::look_up`]: it asks for both families, unless the policy is only one.
    both: OnceCell<Option<TokioResolver>>,
    names: RefCell<FxHashMap<Box<str>, Entry>>,
}

enum Entry {
    /// Somebody is asking: whoever wants the name, too, waits for the same answer.
    Asking(Shared<LocalBoxFuture<'static, Answer>>),
    Known {
        ips: Rc<[IpAddr]>,
        until: u64,
    },
}

impl Dns {
    /// `servers` are asked in turns; none means the system's.
    pub(crate) fn new(settings: DnsSettings, servers: &[SocketAddr], clock: Clock) -> Self {
        let names = RefCell::default();
        let (resolver, both) = (OnceCell::new(), OnceCell::new());
        Self { settings, servers: servers.into(), clock, resolver, both, names }
    }

    /// All addresses of `host`, asked for now, as the system tells them.
    pub(crate) async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let policy = match self.settings.policy {
            DnsPolicy::PreferIpv4 | DnsPolicy::PreferIpv6 => DnsPolicy::Any,
            other => other,
        };
        let resolver = self.both.get_or_init(|| resolver(policy, &self.servers)).clone();
        let ips = ask(resolver, host).await?;
        Ok(ips.to_vec())
    }

    /// One address of `host`, chosen as the `dns` option says, by this client.
    pub(crate) async fn lookup(&self, host: &str, chance: &Chance) -> Result<IpAddr, Failure> {
        // Before any waiting: a client's choices are made in the order of its lookups.
        let pick = chance.pick(self.settings.select, host);
        let ips = self.all(host).await?;
        Ok(ips[pick % ips.len()])
    }

    /// Any one IPv4 address of `host`, and any one IPv6 address, as far as there are such.
    pub(crate) async fn lookup_families(
        &self,
        host: &str,
        chance: &Chance,
    ) -> Result<[Option<IpAddr>; 2], Failure> {
        let pick = chance.pick(DnsSelect::Random, host);
        let ips = self.all(host).await?;
        Ok([IpAddr::is_ipv4, IpAddr::is_ipv6].map(|is_wanted| {
            let of_family: Vec<_> = ips.iter().filter(|ip| is_wanted(ip)).copied().collect();
            (!of_family.is_empty()).then(|| of_family[pick % of_family.len()])
        }))
    }

    /// All addresses of `host`: not empty.
    async fn all(&self, host: &str) -> Answer {
        let asking = match self.remembered(host) {
            Ok(ips) => return Ok(ips),
            Err(asking) => asking,
        };
        let answer = asking.await;
        self.settle(host, &answer);
        answer
    }

    /// The remembered addresses, or the answer to wait for.
    fn remembered(
        &self,
        host: &str,
    ) -> Result<Rc<[IpAddr]>, Shared<LocalBoxFuture<'static, Answer>>> {
        let mut names = self.names.borrow_mut();
        match names.get(host) {
            Some(Entry::Known { ips, until }) if (self.clock)() < *until => {
                return Ok(Rc::clone(ips));
            }
            Some(Entry::Asking(asking)) => return Err(asking.clone()),
            _ => {}
        }
        let asking = self.ask(host).boxed_local().shared();
        if names.len() >= NAMES_MAX {
            let now = (self.clock)();
            names.retain(|_, entry| matches!(entry, Entry::Known { until, .. } if now < *until));
            if names.len() >= NAMES_MAX {
                names.clear();
            }
        }
        names.insert(host.into(), Entry::Asking(asking.clone()));
        Err(asking)
    }

    fn ask(&self, host: &str) -> impl Future<Output = Answer> + 'static {
        let resolver =
            self.resolver.get_or_init(|| resolver(self.settings.policy, &self.servers)).clone();
        ask(resolver, host)
    }

    /// Puts the answer in the place of the question.
    fn settle(&self, host: &str, answer: &Answer) {
        let mut names = self.names.borrow_mut();
        if !matches!(names.get(host), Some(Entry::Asking(_))) {
            return;
        }
        match answer {
            Ok(ips) if !self.settings.ttl.is_zero() => {
                let ttl = u64::try_from(self.settings.ttl.as_nanos()).unwrap_or(u64::MAX);
                let until = (self.clock)().saturating_add(ttl);
                names.insert(host.into(), Entry::Known { ips: ips.clone(), until });
            }
            _ => {
                names.remove(host);
            }
        }
    }
}

impl std::fmt::Debug for Dns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dns").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn ask(
    resolver: Option<TokioResolver>,
    host: &str,
) -> impl Future<Output = Answer> + use<> + 'static {
    let name = name_of(host);
    let is_number = is_number(host);
    async move {
        if is_number {
            return Err(Failure::NoSuchHost);
        }
        let resolver = resolver.ok_or(Failure::Lookup)?;
        // No host has an invalid name.
        let name = name.map_err(|_| Failure::NoSuchHost)?;
        let found = resolver.lookup_ip(name).await.map_err(|error| {
            if error.is_no_records_found() { Failure::NoSuchHost } else { Failure::Lookup }
        })?;
        let ips: Rc<[IpAddr]> = found.iter().collect();
        if ips.is_empty() { Err(Failure::NoSuchHost) } else { Ok(ips) }
    }
}

/// The name to ask for. Names of services with underscores are no names of hosts, but many have them.
fn name_of(host: &str) -> Result<Name, ProtoError> {
    Name::from_str_relaxed(host)
}

/// The system's name servers and its hosts file. `None` if there is no way to ask.
fn resolver(policy: DnsPolicy, servers: &[SocketAddr]) -> Option<TokioResolver> {
    let with = |config| TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    let mut builder = if servers.is_empty() {
        // No resolv.conf: the hosts file can still be read.
        TokioResolver::builder_tokio().unwrap_or_else(|_| with(ResolverConfig::default()))
    } else {
        let servers = servers.iter().map(|address| {
            let mut server = NameServerConfig::udp_and_tcp(address.ip());
            for connection in &mut server.connections {
                connection.port = address.port();
            }
            server
        });
        with(ResolverConfig::from_parts(None, Vec::new(), servers.collect()))
    };
    let options = builder.options_mut();
    options.ip_strategy = match policy {
        DnsPolicy::PreferIpv4 => LookupIpStrategy::Ipv4thenIpv6,
        DnsPolicy::PreferIpv6 => LookupIpStrategy::Ipv6thenIpv4,
        DnsPolicy::OnlyIpv4 => LookupIpStrategy::Ipv4Only,
        DnsPolicy::OnlyIpv6 => LookupIpStrategy::Ipv6Only,
        DnsPolicy::Any => LookupIpStrategy::Ipv4AndIpv6,
    };
    // Our cache follows the `ttl` of the options, not that of the records.
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Always;
    options.server_ordering_strategy = match servers {
        [] => ServerOrderingStrategy::UserProvidedOrder,
        _ => ServerOrderingStrategy::RoundRobin,
    };
    if !servers.is_empty() {
        // In turns means one at a time; hickory asks two by itself.
        options.num_concurrent_reqs = 1;
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dns(ttl: u64, select: DnsSelect) -> Dns {
        let ttl = std::time::Duration::from_secs(ttl);
        let settings = DnsSettings { ttl, select, policy: DnsPolicy::default() };
        Dns::new(settings, &[], crate::clock::now)
    }

    fn ips() -> Rc<[IpAddr]> {
        ["1.1.1.1", "2.2.2.2", "3.3.3.3"].iter().map(|ip| ip.parse().unwrap()).collect()
    }

    /// As if the network had answered.
    fn answer(dns: &Dns, host: &str, answer: Answer) {
        let asking = std::future::ready(answer).boxed_local().shared();
        dns.names.borrow_mut().insert(host.into(), Entry::Asking(asking));
    }

    fn lookup(dns: &Dns, host: &str) -> Result<String, Failure> {
        lookup_by(dns, host, &Chance::default())
    }

    fn lookup_by(dns: &Dns, host: &str, chance: &Chance) -> Result<String, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(dns.lookup(host, chance)).map(|ip| ip.to_string())
    }

    #[test]
    fn each_client_takes_turns_from_its_first_answer_on() {
        let dns = dns(60, DnsSelect::RoundRobin);
        answer(&dns, "a.test", Ok(ips()));
        let (first, second) = (Chance::default(), Chance::default());
        second.seed(1, 1);
        let mut turns = Vec::new();
        for chance in [&first, &first, &second, &first, &second, &first] {
            turns.push(lookup_by(&dns, "a.test", chance).unwrap());
        }
        assert_eq!(turns, ["1.1.1.1", "2.2.2.2", "2.2.2.2", "3.3.3.3", "3.3.3.3", "1.1.1.1"]);
    }

    /// Whatever other clients of the core look up in between.
    #[test]
    fn random_addresses_of_a_client_repeat_with_its_seed() {
        let taken = |others: usize| {
            let dns = dns(60, DnsSelect::Random);
            answer(&dns, "a.test", Ok(ips()));
            let (own, other) = (Chance::default(), Chance::default());
            own.seed(9, 0);
            let one = |_| {
                for _ in 0..others {
                    lookup_by(&dns, "a.test", &other).unwrap();
                }
                lookup_by(&dns, "a.test", &own).unwrap()
            };
            (0..16).map(one).collect::<Vec<_>>()
        };
        assert_eq!(taken(0), taken(3));
    }

    #[test]
    fn failures_and_answers_without_ttl_are_not_remembered() {
        let dns = dns(0, DnsSelect::First);
        answer(&dns, "a.test", Err(Failure::NoSuchHost));
        assert_eq!(lookup(&dns, "a.test"), Err(Failure::NoSuchHost));
        assert!(dns.names.borrow().is_empty());
        answer(&dns, "a.test", Ok(ips()));
        assert_eq!(lookup(&dns, "a.test").unwrap(), "1.1.1.1");
        assert!(dns.names.borrow().is_empty());
    }

    #[test]
    fn the_cache_is_bounded() {
        let dns = dns(60, DnsSelect::Random);
        for n in 0..NAMES_MAX {
            answer(&dns, &n.to_string(), Ok(ips()));
        }
        assert!(dns.remembered("one-more.test").is_err());
        assert!(dns.names.borrow().len() <= NAMES_MAX);
    }

    #[test]
    fn names_may_have_underscores_and_umlauts() {
        for (host, asked) in [
            ("my_service", "my_service"),
            ("_x.a_b.c_.test", "_x.a_b.c_.test"),
            ("b\u{fc}cher.test", "xn--bcher-kva.test"),
        ] {
            assert_eq!(name_of(host).unwrap().to_ascii(), asked);
        }
        assert!(name_of("a b").is_err());
    }

    /// `.invalid` never exists (RFC 6761); no network is asked.
    #[test]
    fn a_name_that_cannot_be_is_no_such_host() {
        assert_eq!(lookup(&dns(60, DnsSelect::First), "nope.invalid"), Err(Failure::NoSuchHost));
        let long = "a".repeat(70);
        assert_eq!(lookup(&dns(60, DnsSelect::First), &long), Err(Failure::NoSuchHost));
        for number in ["127.1", "2130706433", "127.0.0.1."] {
            assert_eq!(lookup(&dns(60, DnsSelect::First), number), Err(Failure::NoSuchHost));
        }
    }
}
