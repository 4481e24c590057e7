//! `k6/x/dns` against a name server of the test's own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

use crate::support::brunt;

/// The server's answer to a question, `None` for no answer.
fn answer(question: &[u8], is_tcp: bool) -> Option<Vec<u8>> {
    let mut at = 12;
    let mut name = String::new();
    while question[at] != 0 {
        let size = usize::from(question[at]);
        name.push_str(std::str::from_utf8(&question[at + 1..=at + size]).expect("a name"));
        name.push('.');
        at += size + 1;
    }
    let kind = question[at + 2];
    let (mut flags, mut records): (u16, Vec<Vec<u8>>) = (0x8180, Vec::new());
    match name.as_str() {
        "silent.test." => return None,
        "garbage.test." => return Some([&question[..2], &[0xff; 40]].concat()),
        "missing.test." => flags |= 3,
        "refused.test." => flags |= 5,
        "long.test." if !is_tcp => flags |= 0x0200,
        // Cut in the middle of its records.
        "cut.test." if !is_tcp => {
            return Some(
                [&question[..2], &[0x83, 0x80, 0, 1, 0, 9, 0, 0, 0, 0], &question[12..]].concat(),
            );
        }
        "empty.test." => {}
        _ if kind == 1 => {
            records = vec![vec![0, 4, 203, 0, 113, 1], vec![0, 4, 203, 0, 113, 2]];
        }
        _ if kind == 28 => {
            let mut record = vec![0, 16];
            record.extend_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            records = vec![record];
        }
        _ => records = vec![vec![0, 5, 2, b'n', b's', 0xc0, 0x0c]],
    }
    let mut told = question[..2].to_vec();
    told.extend_from_slice(&flags.to_be_bytes());
    told.extend_from_slice(&[0, 1, 0, records.len() as u8, 0, 0, 0, 0]);
    told.extend_from_slice(&question[12..at + 5]);
    for record in records {
        told.extend_from_slice(&[0xc0, 0x0c, 0, kind, 0, 1, 0, 0, 0, 60]);
        told.extend_from_slice(&record);
    }
    Some(told)
}

/// A server over UDP and TCP; it ends with the test binary.
fn server() -> u16 {
    // Somebody else may have the port of the one kind or the other.
    let both = (0..100).find_map(|_| {
        let udp = UdpSocket::bind("127.0.0.1:0").ok()?;
        let port = udp.local_addr().ok()?.port();
        Some((udp, TcpListener::bind(("127.0.0.1", port)).ok()?, port))
    });
    let (udp, tcp, port) = both.expect("a port for UDP and TCP");
    std::thread::spawn(move || {
        let mut room = [0; 2000];
        while let Ok((size, from)) = udp.recv_from(&mut room) {
            if let Some(told) = answer(&room[..size], false) {
                // A message that does not answer the question must not be taken for an answer.
                let _ = udp.send_to(b"??", from);
                let _ = udp.send_to(&told, from);
            }
        }
    });
    std::thread::spawn(move || {
        for stream in tcp.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let mut size = [0; 2];
            if stream.read_exact(&mut size).is_err() {
                continue;
            }
            let mut question = vec![0; usize::from(u16::from_be_bytes(size))];
            if stream.read_exact(&mut question).is_err() {
                continue;
            }
            if let Some(told) = answer(&question, true) {
                let framed = [&(told.len() as u16).to_be_bytes()[..], &told].concat();
                let _ = stream.write_all(&framed);
            }
        }
    });
    port
}

/// The lines of a script whose iteration is this body.
fn said(flags: &str, options: &str, body: &str) -> (i32, Vec<String>) {
    let script = format!(
        "import dns, {{ lookup }} from 'k6/x/dns';\n\
         export const options = {{ {options} }};\n\
         async function show(what, promise) {{\n\
           try {{ console.log(what, JSON.stringify(await promise)); }}\n\
           catch (e) {{ console.log(what, 'rejects', String(e), e.name, e.kind); }}\n\
         }}\n\
         export default async function () {{\n{body}\n}}\n"
    );
    let line = format!("run --quiet --log-format raw {flags} s.js");
    let told = brunt(&line).file("s.js", script).told();
    (told.code, told.stderr.lines().map(str::to_owned).collect())
}

#[test]
fn a_name_server_of_choice_is_asked() {
    let server = format!("127.0.0.1:{}", server());
    let (code, lines) = said(
        "",
        "thresholds: { dns_resolutions: ['count==10'], dns_resolution_failed: ['rate<0.5'], \
         'dns_resolution_duration{query:a.test,recordType:A}': ['max<10000'] }",
        &format!(
            "const s = '{server}';\n\
             await show('a', dns.resolve('a.test', 'A', s));\n\
             await show('aaaa', dns.resolve('a.test', 'AAAA', s));\n\
             await show('ns', dns.resolve('a.test', 'NS', s));\n\
             await show('long', dns.resolve('long.test', 'A', s));\n\
             await show('cut', dns.resolve('cut.test', 'A', s));\n\
             await show('empty', dns.resolve('empty.test', 'A', s));\n\
             await show('missing', dns.resolve('missing.test', 'A', s));\n\
             await show('refused', dns.resolve('refused.test', 'A', s));\n\
             await show('garbage', dns.resolve('garbage.test', 'A', s));\n\
             await show('nobody', dns.resolve('a.test', 'A', 'ns.test:53'));\n\
             await show('kind', dns.resolve('a.test', 'TXT', s));\n\
             await show('none', dns.resolve('a.test', 'A'));"
        ),
    );
    assert_eq!(
        lines[..8],
        [
            "a [\"203.0.113.1\",\"203.0.113.2\"]",
            "aaaa [\"fd00::1\"]",
            "ns [\"ns.a.test.\"]",
            "long [\"203.0.113.1\",\"203.0.113.2\"]",
            "cut [\"203.0.113.1\",\"203.0.113.2\"]",
            "empty []",
            "missing rejects NonExistingDomain: no A record of missing.test. NonExistingDomain 3",
            "refused rejects Refused: no A record of refused.test. Refused 5",
        ]
    );
    assert!(lines[8].starts_with("garbage rejects the name server 127.0.0.1:"), "{lines:?}");
    assert!(lines[9].starts_with("nobody rejects lookup ns.test"), "{lines:?}");
    assert!(lines[10].contains("unsupported record type: \"TXT\""), "{lines:?}");
    assert!(lines[11].contains("nameserver argument must be provided"), "{lines:?}");
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn a_silent_name_server_holds_nobody_else() {
    let server = format!("127.0.0.1:{}", server());
    let (code, lines) = said(
        "",
        "scenarios: { \
           waits: { executor: 'per-vu-iterations', exec: 'waits' }, \
           works: { executor: 'constant-vus', duration: '1s', exec: 'works' } }, \
         thresholds: { 'iterations{scenario:works}': ['count>5'] }",
        &format!(
            "}}\n\
             export async function works() {{\n\
               await dns.resolve('a.test', 'A', '{server}');\n\
             }}\n\
             export async function waits() {{\n\
               await show('silent', dns.resolve('silent.test', 'A', '{server}'));"
        ),
    );
    assert!(
        lines
            .iter()
            .any(|line| line.ends_with("gave no answer over UDP: i/o timeout undefined undefined")),
        "{lines:?}"
    );
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn lookups_and_the_options_that_hold_for_them() {
    let server = format!("127.0.0.1:{}", server());
    let (code, lines) = said(
        "--blacklist-ip 10.0.0.0/8 --block-hostnames *.blocked.test",
        "thresholds: { dns_lookups: ['count==3'], dns_lookup_failed: ['rate>0.3'] }, \
         hosts: { 'ns.test': '127.0.0.1' }",
        &format!(
            "await show('ip', lookup('192.0.2.7'));\n\
             await show('nobody', dns.lookup('nope.invalid'));\n\
             await show('blocked', dns.lookup('a.blocked.test'));\n\
             await show('blacklisted', dns.resolve('a.test', 'A', '10.0.0.1'));\n\
             await show('named', dns.resolve('a.test', 'A', 'ns.test:{}'));",
            server.rsplit_once(':').expect("it has a port").1
        ),
    );
    assert_eq!(lines[0], "ip [\"192.0.2.7\"]");
    assert!(lines[1].contains("no such host"), "{lines:?}");
    assert!(lines[2].contains("blocked"), "{lines:?}");
    assert!(lines[3].contains("blacklisted"), "{lines:?}");
    assert_eq!(lines[4], "named [\"203.0.113.1\",\"203.0.113.2\"]");
    assert_eq!(code, 0, "{lines:?}");
}

#[test]
fn nobody_is_asked_in_init_code() {
    let script = "import dns from 'k6/x/dns';\n\
                  dns.lookup('localhost').catch((e) => console.log(String(e)));\n\
                  export default function () {}\n";
    let told = brunt("run --quiet --log-format raw s.js").file("s.js", script).told();
    assert!(told.stderr.contains("lookup can not be used in the init context"), "{told:?}");
}
