//! `k6/x/icmp`: pings to this machine, as far as its kernel allows them.

use std::process::Command;

use crate::support::brunt;

/// The exit code of a script whose iteration is this body, and what it says.
fn said(options: &str, body: &str) -> (i32, Vec<String>) {
    let script = script(options, body);
    let told = brunt("run --quiet --log-format raw s.js").file("s.js", script).told();
    (told.code, told.stderr.lines().map(str::to_owned).collect())
}

fn script(options: &str, body: &str) -> String {
    format!(
        "import {{ ping, pingAsync }} from 'k6/x/icmp';\n\
         export const options = {{ {options} }};\n\
         const say = (...what) => console.log(what.join(' '));\n\
         export default async function () {{\n{body}\n}}\n"
    )
}

/// Whether group 0 may have ICMP sockets without privileges.
fn is_open() -> bool {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ping_group_range").unwrap_or_default();
    range.split_whitespace().next() == Some("0")
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id");
    id.stdout == b"0\n"
}

const REFUSED: &str = "the kernel allows no ICMP sockets to this user";

#[test]
fn this_machine_answers() {
    let (code, lines) = said(
        "thresholds: { 'icmp_packets_sent{own:1,proto:ICMP,ip:127.0.0.1}': ['count==3'], \
           icmp_packets_received: ['count==3'], icmp_errors: ['count==0'], icmp_rtt: ['max<5000'], \
           icmp_reply_ttl: ['value>0'], icmp_setup: ['max<5000'], data_sent: ['count==188'] }",
        "const tags = { own: '1' };\n\
         say(ping('127.0.0.1', { tags, timeout: '5s' }));\n\
         const asked = { tags, count: 2, interval: 500, size: 54, seq: 7 };\n\
         say(await pingAsync('127.0.0.1', asked, (error, it) => {\n\
           say(error, it.alive, it.target, it.target_ip_version, it.seq, it.size, it.ttl > 0, \
             it.received_at >= it.sent_at, it.options === asked);\n\
         }));",
    );
    if lines.first().is_some_and(|line| line.contains(REFUSED)) {
        assert!(!is_root() && !is_open(), "{lines:?}");
        return;
    }
    assert_eq!(
        lines,
        [
            "true",
            " true 127.0.0.1 ip4 7 62 true true true",
            " true 127.0.0.1 ip4 8 62 true true true",
            "true",
        ]
    );
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn nobody_there_is_false_and_nonsense_throws() {
    let (_, lines) = said(
        "blacklistIPs: ['10.0.0.0/8']",
        "say(ping('nope.invalid'));\n\
         say(ping('10.0.0.1'));\n\
         await pingAsync('nope.invalid', (error, it) => say(error.name, error.message, it.alive));\n\
         for (const bad of [{ count: 0 }, { source: 'x' }, { timeout: 'x' }]) {\n\
           try { ping('127.0.0.1', bad); } catch (e) { say(e.name, e.message); }\n\
         }\n\
         await pingAsync().catch((e) => say(e.message));\n\
         ping('nope.invalid', { interval: 10 });",
    );
    assert_eq!(lines[..2], ["false", "false"], "{lines:?}");
    assert!(lines[2].starts_with("ICMPError lookup nope.invalid"), "{lines:?}");
    assert!(lines[2].ends_with("no such host false"), "{lines:?}");
    assert_eq!(lines[3], "ICMPError count is a number from 1 to 65535, not 0");
    assert_eq!(lines[4], "ICMPError source is an IP address, not \"x\"");
    assert!(lines[5].starts_with("ICMPError timeout: "), "{lines:?}");
    assert_eq!(lines[6], "ping needs a host or an IP address");
    assert!(lines[7].starts_with("a ping's interval of 10 ms becomes 500 ms"), "{lines:?}");
    let hasty = brunt("run --quiet --log-format raw -e K6_PING_MINIMUM_INTERVAL=10ms s.js")
        .file("s.js", script("", "say(ping('nope.invalid', { interval: 10 }));"))
        .told();
    assert_eq!(hasty.stderr.trim(), "false");
}

/// Root without the capability, which is as others are.
#[test]
fn a_kernel_that_refuses_is_told_with_the_remedy() {
    if !is_root() {
        // Then the first test tells it.
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.js");
    std::fs::write(&path, script("", "say(ping('127.0.0.1'));")).expect("a script");
    let told = Command::new("setpriv")
        .args(["--bounding-set", "-net_raw", "--inh-caps", "-net_raw", "--"])
        .arg(env!("CARGO_BIN_EXE_brunt"))
        .args(["run", "--quiet", "--log-format", "raw"])
        .arg(&path)
        .output()
        .expect("setpriv, of Debian's util-linux");
    let said = String::from_utf8_lossy(&told.stderr);
    if is_open() {
        assert!(said.contains("true"), "{said}");
    } else {
        assert!(said.contains(REFUSED), "{said}");
        assert!(said.contains("net.ipv4.ping_group_range"), "{said}");
    }
}
