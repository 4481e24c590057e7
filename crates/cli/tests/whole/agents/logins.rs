//! Brokers that know who calls: nkeys, TLS with certificates on both sides, passwords.

use super::fleet::{Agent, Nats, requests};
use super::{STAGED, handled, number, script};
use crate::support::{DemoServer, brunt};

/// A key pair of tests: its seed is of no use elsewhere.
const SEED: &str = "SUAHG4KO63NWHRAEYCOA7GEPH52DQA5J5RCC75E77ES4YDVQW6E2ENPYNU";
const PUBLIC: &str = "UCFHZXJA6PCT3R5X5MDXPPTOQJ3KIHJA6NMOKSWQ5MJ2FBB3UWEUELLK";

/// A test of one agent passes with these flags on both sides.
fn passes(nats: &str, flags: &str) {
    let demo = DemoServer::start();
    let agent = Agent::at(nats, flags);
    let line = format!("run --agents 1 --nats {nats} -e URL={} -e RUN=r {flags} s.js", demo.url);
    let told = brunt(&line).file("s.js", script(STAGED)).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(number(&handled(&told)["requests"]), requests(&demo));
    assert_eq!(agent.wait().code, 0);
}

#[test]
fn an_nkey_opens_and_no_other_key_does() {
    let users = format!("authorization {{ users: [{{ nkey: {PUBLIC} }}] }}\n");
    let nats = Nats::start_with(&["--jetstream"], &users);
    let folder = tempfile::tempdir().expect("a folder for the test");
    let (own, other) = (folder.path().join("own.nk"), folder.path().join("other.nk"));
    std::fs::write(&own, format!("# of a test\n{SEED}\n")).expect("a file");
    std::fs::write(&other, "no seed\n").expect("a file");
    passes(&nats.url(), &format!("--nats-nkey {}", own.display()));
    let line = format!("agent --nats {} --once --nats-nkey {}", nats.url(), other.display());
    let told = brunt(&line).told();
    assert_eq!(told.code, 255, "{told:?}");
    assert!(told.error().contains("no line with a seed"), "{told:?}");
    let told = brunt(&format!("agent --nats {} --once", nats.url())).told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(told.error().contains("refuses the login"), "{told:?}");
}

#[test]
fn tls_with_certificates_on_both_sides() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).expect("a file");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
    let (cert, key) = (cert.display(), key.display());
    let config = format!(
        "tls {{ cert_file: '{cert}', key_file: '{key}', ca_file: '{cert}', verify: true }}\n"
    );
    let nats = Nats::start_with(&["--jetstream"], &config);
    let address = format!("tls://{}", nats.address());
    passes(&address, &format!("--nats-ca {cert} --nats-cert {cert} --nats-key {key}"));
    let told = brunt(&format!("agent --nats {address} --once --wait 1s")).told();
    assert_eq!(told.code, 112, "{told:?}");
}

#[test]
fn a_password_stands_in_the_address_and_is_not_shown() {
    let users = "authorization { users: [{ user: me, password: sesame }] }\n";
    let nats = Nats::start_with(&["--jetstream"], users);
    let address = format!("nats://me:sesame@{}", nats.address());
    passes(&address, "");
    let told = brunt(&format!("run --agents 1 --agents-wait 1s --nats {address} s.js"))
        .file("s.js", "export default function () {}")
        .told();
    assert_eq!(told.code, 112, "{told:?}");
    assert!(!told.stdout.contains("sesame") && !told.stderr.contains("sesame"), "{told:?}");
}
