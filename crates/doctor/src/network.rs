//! The network: ports, tables of connections, proxies.

use brunt_verdict::kernel::sockets;

use crate::check::{Check, Level};
use crate::machine::Machine;
use crate::tried::Tried;

/// Fewer ports than this are too few for tests that dial for each request.
const PORTS_USUAL: u64 = 16_000;

pub(crate) fn checks(machine: &Machine, tried: &Tried) -> Vec<Check> {
    let mut checks: Vec<Check> =
        [loopback(tried), ports(machine, tried), tracked(machine, tried), backlog(machine)]
            .into_iter()
            .flatten()
            .collect();
    checks.extend(resolver(tried));
    checks.extend(variables(tried));
    checks
}

fn loopback(tried: &Tried) -> Option<Check> {
    let fault = tried.no_loopback.as_ref()?;
    Some(Check::fine("loopback", format!("nothing can listen on 127.0.0.1: {fault}")).at(
        Level::Warning,
        "brunt demo, run --demo, --ui, --address and record need it",
        "ip link set lo up (in a network namespace of its own it is down at first)",
    ))
}

fn ports(machine: &Machine, tried: &Tried) -> Option<Check> {
    let text = machine.proc("sys/net/ipv4/ip_local_port_range")?;
    let mut numbers = text.split_ascii_whitespace().map_while(|word| word.parse::<u64>().ok());
    let (first, last) = (numbers.next()?, numbers.next()?);
    let ports = last.checked_sub(first)? + 1;
    let waiting = waiting(machine).unwrap_or(0);
    let found = format!(
        "{ports} local ports ({first} to {last}), {waiting} connections wait for their end (TIME_WAIT)"
    );
    let check = Check::fine("ports", found);
    let remedy = "sudo sysctl -w net.ipv4.ip_local_port_range='1024 65535'; use connections again (no noConnectionReuse); several addresses with --local-ips";
    if let Some(vus) = tried.vus.filter(|vus| *vus > ports) {
        return Some(check.at(
            Level::Problem,
            format!("{vus} VUs can't each have a connection to one address and port of a target"),
            remedy,
        ));
    }
    if ports < PORTS_USUAL || waiting > ports / 2 {
        return Some(check.at(
            Level::Warning,
            "tests that open many connections to one address: a port is free again after 60 s",
            remedy,
        ));
    }
    Some(check)
}

/// Connections whose port is not free yet.
fn waiting(machine: &Machine) -> Option<u64> {
    sockets(&machine.proc("net/sockstat")?, "TCP:", "tw")
}

/// A firewall that follows connections drops packets when its table is full.
fn tracked(machine: &Machine, tried: &Tried) -> Option<Check> {
    let most = machine.setting("net.netfilter.nf_conntrack_max")?;
    let now = machine.setting("net.netfilter.nf_conntrack_count")?;
    let check = Check::fine(
        "firewall",
        format!("it follows {now} connections, {most} at most (conntrack)"),
    );
    let wanted = now.saturating_add(tried.vus.unwrap_or(0));
    Some(if wanted > most / 5 * 4 {
        check.at(
            Level::Problem,
            "when its table is full, packets are dropped: connections that time out",
            "sudo sysctl -w net.netfilter.nf_conntrack_max=1048576",
        )
    } else {
        check
    })
}

/// For targets on this machine.
fn backlog(machine: &Machine) -> Option<Check> {
    let length = machine.setting("net.core.somaxconn")?;
    let check = Check::fine(
        "backlog",
        format!("{length} connections may wait for a server of this machine"),
    );
    Some(if length < 1024 {
        check.at(
            Level::Note,
            "a target on this machine: many VUs that connect at once wait 1 s and more",
            "sudo sysctl -w net.core.somaxconn=4096, then start the target again",
        )
    } else {
        check
    })
}

/// Names need a server that knows them.
fn resolver(tried: &Tried) -> Option<Check> {
    tried.no_resolver.then(|| {
        Check::fine("names", "/etc/resolv.conf names no server").at(
            Level::Note,
            "host names other than those of /etc/hosts may not be found",
            "a line \"nameserver ADDRESS\" there, addresses instead of names, or the option hosts",
        )
    })
}

fn variables(tried: &Tried) -> Vec<Check> {
    let mut checks = Vec::new();
    if !tried.proxies.is_empty() {
        checks.push(Check::fine("proxy", format!("set: {}", tried.proxies.join(", "))).at(
            Level::Warning,
            "requests go through the proxy, so its time and its limits are measured",
            "unset the variables, or name the target in NO_PROXY",
        ));
    }
    if !tried.settings.is_empty() {
        checks.push(Check::fine("settings", format!("set: {}", tried.settings.join(", "))).at(
            Level::Note,
            "these variables change every run of this shell",
            "unset those that are left from another test",
        ));
    }
    checks
}
