//! Options as the modules of the k6 API and the network want them.

use std::{net::IpAddr, path::PathBuf};

use brunt_http::{Network, Settings};
use brunt_modules::{Config, SystemTags};
use brunt_net::{DnsPolicy, DnsSelect, DnsSettings, Proxies, TlsAuth, TlsSettings, TlsVersion};
use brunt_options::{self as options, Options};

use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
    run::host::TestOptions,
};

/// The maximum number of source addresses used of a pool.
const LOCAL_IPS_MOST: u64 = 65_536;

/// All that the script world is told.
///
/// # Errors
/// Settings that can't be carried out, such as an unreadable certificate (104).
pub(super) fn of(test: &TestOptions) -> Outcome<Config> {
    let options = &test.options;
    let network = network(options, &|name| test.env.get(name).cloned())?;
    Network::check(&network).map_err(|error| Failure::new(Exit::InvalidConfig, error))?;
    let defaults = Config::default();
    Ok(Config {
        network,
        local_ips: options.local_ips.as_ref().map(local_ips).unwrap_or_default(),
        tags: test.run_tags.clone(),
        watcher: test.watcher.clone(),
        failures: test.failures.clone(),
        routes: test.routes.clone(),
        segment: test.segment.clone(),
        leases: test.leases.clone(),
        system_tags: SystemTags::of(options.system_tags().iter().map(options::SystemTag::name)),
        batch: clamp(options.batch()),
        batch_per_host: clamp(options.batch_per_host()),
        max_redirects: u32::try_from(options.max_redirects()).unwrap_or(u32::MAX),
        max_redirects_set: options.max_redirects.is_some(),
        user_agent: options.user_agent(&defaults.user_agent).unwrap_or_default().to_owned(),
        discard_response_bodies: options.discard_response_bodies.unwrap_or(false),
        throw: options.throw.unwrap_or(false),
        rps: options.rps().unwrap_or(0) as f64 * test.share,
        no_cookies_reset: options.no_cookies_reset.unwrap_or(false),
        no_vu_connection_reuse: options.no_vu_connection_reuse.unwrap_or(false),
        options_json: test.exec_options.to_string(),
        exported_json: test.written_back.to_string(),
    })
}

fn network(options: &Options, variable: &dyn Fn(&str) -> Option<String>) -> Outcome<Settings> {
    let proxies =
        Proxies::from_env(variable).map_err(|error| Failure::new(Exit::InvalidConfig, error))?;
    let hosts = options.hosts.iter().flatten().map(|(host, address)| {
        let target = match address.port {
            Some(port) => std::net::SocketAddr::new(address.ip, port).to_string(),
            None => address.ip.to_string(),
        };
        (host.clone(), target)
    });
    let dns = options.dns();
    let net = brunt_net::Settings {
        hosts: hosts.collect(),
        block_hostnames: options
            .block_hostnames
            .iter()
            .flatten()
            .map(|pattern| pattern.as_str().to_owned())
            // k6 takes these, and no host fits them.
            .filter(|pattern| !matches!(pattern.as_str(), "" | "*."))
            .collect(),
        blacklist_ips: options
            .blacklist_ips
            .iter()
            .flatten()
            .map(|network| network.net().to_string())
            .collect(),
        dns: DnsSettings {
            ttl: dns.ttl(),
            select: select(dns.select()),
            policy: policy(dns.policy()),
        },
        tls: TlsSettings {
            insecure_skip_verify: options.insecure_skip_tls_verify.unwrap_or(false),
            min: options.tls_version.and_then(|versions| versions.min).map(tls_version),
            max: options.tls_version.and_then(|versions| versions.max).map(tls_version),
            cipher_suites: options
                .tls_cipher_suites
                .iter()
                .flatten()
                .map(|suite| suite.name().to_owned())
                .collect(),
            auth: options.tls_auth.iter().flatten().map(tls_auth).collect(),
            http2: !variable("GODEBUG").is_some_and(|debug| turns_http2_off(&debug)),
            key_log: variable("SSLKEYLOGFILE").filter(|path| !path.is_empty()).map(PathBuf::from),
            ..TlsSettings::default()
        },
        proxies,
        ..brunt_net::Settings::default()
    };
    let defaults = Settings::default();
    Ok(Settings {
        net,
        idle_total: clamp(options.batch()),
        idle_per_host: clamp(options.batch_per_host()),
        no_connection_reuse: options.no_connection_reuse.unwrap_or(false),
        // Go's.
        head_limit: 10 << 20,
        body_limit: options.max_body_size.map_or(defaults.body_limit, options::Size::bytes),
        ..defaults
    })
}

/// `GODEBUG=http2client=0` is how k6's users keep it from speaking HTTP/2.
fn turns_http2_off(debug: &str) -> bool {
    debug.split(',').any(|pair| pair.trim() == "http2client=0")
}

fn local_ips(pool: &options::LocalIps) -> Vec<IpAddr> {
    let count = u64::try_from(pool.count()).unwrap_or(u64::MAX).min(LOCAL_IPS_MOST);
    (1..=count).map(|id| pool.of_vu(id)).collect()
}

fn select(select: options::DnsSelect) -> DnsSelect {
    match select {
        options::DnsSelect::First => DnsSelect::First,
        options::DnsSelect::Random => DnsSelect::Random,
        options::DnsSelect::RoundRobin => DnsSelect::RoundRobin,
    }
}

fn policy(policy: options::DnsPolicy) -> DnsPolicy {
    match policy {
        options::DnsPolicy::PreferIpv4 => DnsPolicy::PreferIpv4,
        options::DnsPolicy::PreferIpv6 => DnsPolicy::PreferIpv6,
        options::DnsPolicy::OnlyIpv4 => DnsPolicy::OnlyIpv4,
        options::DnsPolicy::OnlyIpv6 => DnsPolicy::OnlyIpv6,
        options::DnsPolicy::Any => DnsPolicy::Any,
    }
}

fn tls_version(version: options::TlsVersion) -> TlsVersion {
    match version {
        options::TlsVersion::Tls10 => TlsVersion::Tls10,
        options::TlsVersion::Tls11 => TlsVersion::Tls11,
        options::TlsVersion::Tls12 => TlsVersion::Tls12,
        options::TlsVersion::Tls13 => TlsVersion::Tls13,
    }
}

pub(super) fn tls_auth(auth: &options::TlsAuth) -> TlsAuth {
    TlsAuth {
        cert: auth.cert.clone(),
        key: auth.key.clone(),
        password: auth.password.clone(),
        domains: auth.domains.clone(),
    }
}

/// A count that memory can hold.
fn clamp(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
