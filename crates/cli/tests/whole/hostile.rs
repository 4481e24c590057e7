//! VUs whose servers flood them, or are too large for TLS, and VUs beside them that do something else.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{beside_a_yardstick, brunt};

const SCRIPT: &str = r"
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const went = new Counter('went');
const took = new Trend('took');
const servers = JSON.parse(__ENV.SERVERS);
const each = { executor: 'constant-vus', vus: 4, duration: '3s', gracefulStop: '5s' };
export const options = {
  insecureSkipTLSVerify: true,
  scenarios: { flooded: { ...each, exec: 'flooded' }, neighbour: { ...each, exec: 'neighbour' } },
};
export function flooded() {
  for (const [name, url] of Object.entries(servers)) {
    const from = Date.now();
    const r = http.get(url, { timeout: '500ms', responseType: 'none' });
    took.add(Date.now() - from);
    console.log(`<${name} ${r.error_code}>`);
  }
}
export function neighbour() {
  sleep(0.05);
  went.add(1);
}
export function handleSummary(data) {
  const { went, took } = data.metrics;
  return { stdout: JSON.stringify({ went: went.values.count, took: took.values.max }) };
}
";

/// Reads something, says `first`, then `again` until the reader leaves or time is up.
fn flood(stream: &mut (impl std::io::Read + Write), first: &[u8], again: &[u8]) {
    let end = Instant::now() + Duration::from_secs(5);
    let again = again.repeat(16_000usize.div_ceil(again.len()));
    let mut said = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(first));
    while said.is_ok() && Instant::now() < end {
        said = stream.write_all(&again);
    }
}

/// A server that floods whoever comes, behind TLS if there is a configuration.
fn server(config: Option<Arc<ServerConfig>>, first: &[u8], again: &[u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    let scheme = if config.is_some() { "https" } else { "http" };
    let (first, again) = (first.to_vec(), again.to_vec());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let Ok(mut socket) = socket else { return };
            let (config, first, again) = (config.clone(), first.clone(), again.clone());
            std::thread::spawn(move || {
                let _ = socket.set_write_timeout(Some(Duration::from_secs(1)));
                match config {
                    None => flood(&mut socket, &first, &again),
                    Some(config) => {
                        let session = ServerConnection::new(config).expect("a session");
                        flood(&mut StreamOwned::new(session, socket), &first, &again);
                    }
                }
            });
        }
    });
    format!("{scheme}://{address}/")
}

/// TLS with a chain of this many certificates.
#[expect(clippy::unnecessary_wraps, reason = "a server may have none")]
fn tls(certificates: usize, protocol: &[u8]) -> Option<Arc<ServerConfig>> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone(); certificates], key)
        .expect("the key fits");
    config.alpn_protocols = vec![protocol.to_vec()];
    Some(Arc::new(config))
}

#[test]
fn floods_and_what_is_too_large_hurt_nobody_else() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let wordy = [b"1;".as_slice(), &[b'x'; 4000], b"\r\na\r\n"].concat();
    let ping = b"\0\0\x08\x06\0\0\0\0\x0012345678";
    let head = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88";
    let byte = b"\0\0\x01\0\0\0\0\0\x01a";
    let rows = [
        ("provisional", server(None, b"", b"HTTP/1.1 103 x\r\nA: b\r\n\r\n"), &["1000"][..]),
        ("wordy", server(None, chunked, &wordy), &["1000"][..]),
        ("bytes", server(None, chunked, b"1\r\na\r\n"), &["1050"][..]),
        ("ping", server(tls(1, b"h2"), &head[..9], ping), &["1662"][..]),
        // It doesn't ask how much it may send.
        ("bytes_of_http2", server(tls(1, b"h2"), head, byte), &["1050", "1654"][..]),
        ("chain", server(tls(400, b"http/1.1"), b"", b"\0"), &["1300"][..]),
    ];
    let servers: serde_json::Map<_, _> =
        rows.iter().map(|(name, url, _)| ((*name).to_owned(), url.clone().into())).collect();
    let servers = serde_json::Value::from(servers).to_string();
    let run = || brunt("run -q flood.js").env("SERVERS", &servers).file("flood.js", SCRIPT).told();
    let (told, pause) = beside_a_yardstick(run);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(!told.stderr.contains("panicked"), "{told:?}");
    for (name, _, codes) in &rows {
        let was = |code: &&str| told.stderr.contains(&format!("<{name} {code}>"));
        // Nothing may be enough of it within half a second where other programs have the processors.
        let is_slow = told.waited > Duration::from_millis(250) && was(&"1050");
        assert!(codes.iter().any(was) || is_slow, "{name}: {told:?}");
    }
    let seen: serde_json::Value = serde_json::from_str(&told.stdout).expect("what the script says");
    // Four of them, 60 times each, and each time no later than another thread beside them.
    let went = seen["went"].as_f64().expect("a count");
    let (step, waited) = (0.05 + pause.as_secs_f64(), told.waited.as_secs_f64());
    assert!(went > 0.4 * 4.0 * (3.0 - waited) / step, "{seen} {pause:?} {waited}");
    // The request has a timeout of half a second.
    let took = seen["took"].as_f64().expect("milliseconds");
    let late_max = 1500.0 + 10_000.0 * pause.as_secs_f64() + 1000.0 * waited;
    assert!(took < late_max, "{seen} {pause:?} {waited}");
}
