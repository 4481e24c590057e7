//! The configuration of the guide: leader and agents with keys of their own and no more rights than they need, over TLS.

use std::path::PathBuf;

use brunt_nats::Access;

use super::fleet::{Agent, Nats, requests};
use super::strangers::at;
use super::{STAGED, handled, number, script};
use crate::support::{DemoServer, brunt, repository};

/// Key pairs of tests: seeds that are of no use elsewhere, and their public halves.
const LEADER: [&str; 2] = [
    "SUAGB5VCPGP7F3JF7LL7EGZHAAUNIBZZOHNQ24UJOSGOOXSG3FC37E6XFM",
    "UBJGJP46KEBCVBC4JM2MQ6DKVDQAS75AIF2EUUOEJOLMLEDLLRRKJ7R5",
];
const AGENT: [&str; 2] = [
    "SUACEP6SZVUYTDQ24KIUOHJXFRBTMSQEZB2NOL6JV4AFORIVLE6XJ7GK3E",
    "UDK5LPAQA7KQDGEGLZIBZMP2P3ZDYZV72PSEYQ2A7UG47CBCBBVXAB4U",
];
/// The seed of a key that the server does not know.
const FOREIGN: &str = "SUAODS3OZY5FBAC4G7M4XWDAFE7E7VE72GCDA46XE6GEL2QEKRGUHSYD6M";

/// The server of the guide, and the files that open it.
struct Guarded {
    nats: Nats,
    folder: tempfile::TempDir,
}

impl Guarded {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = |name: &str| folder.path().join(name);
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]);
        let made = made.expect("a certificate");
        std::fs::write(path("cert.pem"), made.cert.pem()).expect("a file");
        std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).expect("a file");
        for (name, seed) in [("leader", LEADER[0]), ("agent", AGENT[0]), ("foreign", FOREIGN)] {
            std::fs::write(path(name), format!("{seed}\n")).expect("a file");
        }
        let guide = std::fs::read_to_string(repository("docs/guide/agents.md")).expect("the guide");
        let (_, rest) = guide.split_once("### Least rights").expect("its section");
        let config = rest.split("```\n").nth(1).expect("the configuration");
        let config = config
            // The test has a store of its own.
            .replace("store_dir: \"store\"", "")
            .replace("\"LEADER\"", LEADER[1])
            .replace("\"AGENT\"", AGENT[1])
            .replace("cert.pem", &path("cert.pem").display().to_string())
            .replace("key.pem", &path("key.pem").display().to_string());
        Self { nats: Nats::start_with(&[], &config), folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn url(&self) -> String {
        format!("tls://{}", self.nats.address())
    }

    /// The flags of somebody with this key.
    fn flags(&self, key: &str) -> String {
        format!(
            "--nats-nkey {} --nats-ca {}",
            self.file(key).display(),
            self.file("cert.pem").display()
        )
    }

    fn access(&self, key: &str) -> Access {
        let (nkey, ca) = (Some(self.file(key)), Some(self.file("cert.pem")));
        Access { servers: self.url(), nkey, ca, ..Access::default() }
    }

    /// A leader with this key; its exit code and error.
    fn refused(&self, flags: &str) -> (i32, String) {
        let line = format!("run --agents 1 --agents-wait 1s --nats {} {flags} s.js", self.url());
        let told = brunt(&line).file("s.js", "export default function () {}").told();
        (told.code, told.error().to_owned())
    }
}

#[test]
fn least_rights_are_enough_and_no_other_key_writes_anything() {
    let (guarded, demo) = (Guarded::start(), DemoServer::start());
    // The leader makes the stream and the buckets; data of setup() that travel as a file.
    let large =
        STAGED.replace("return { token: 7 }", "return { token: 7, rest: 'x'.repeat(400000) }");
    let agents: Vec<Agent> =
        (0..2).map(|_| Agent::at(&guarded.url(), &guarded.flags("agent"))).collect();
    let line = format!(
        "run --agents 2 --nats {} -e URL={} -e RUN=r {} s.js",
        guarded.url(),
        demo.url,
        guarded.flags("leader")
    );
    let told = brunt(&line).file("s.js", script(&large)).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(!told.stderr.to_lowercase().contains("permissions violation"), "{told:?}");
    let all = handled(&told);
    assert_eq!(number(&all["requests"]), requests(&demo), "{all}");
    for agent in agents {
        let told = agent.wait();
        assert_eq!(told.code, 0, "{told:?}");
        assert!(!told.stderr.to_lowercase().contains("permissions violation"), "{told:?}");
    }

    // An agent's key leads no run, neither by the pool nor by a run's name.
    for flags in ["", "--run-id mine"] {
        let (code, error) = guarded.refused(&format!("{} {flags}", guarded.flags("agent")));
        assert_eq!(code, 112, "{error}");
        assert!(error.contains("lets this login do less than is needed"), "{error}");
    }
    let plan = at(&guarded.access("agent"), async |broker| {
        broker.run("r2").expect("a name").put_key("plan", b"{}".to_vec()).await
    });
    assert!(plan.is_err(), "{plan:?}");
    let found = at(&guarded.access("leader"), async |broker| {
        broker.run("r2").expect("a name").key_now("plan").await.expect("an answer")
    });
    assert_eq!(found, None);

    // A key that the server does not know opens nothing.
    let (code, error) = guarded.refused(&guarded.flags("foreign"));
    assert_eq!(code, 112, "{error}");
    assert!(error.contains("refuses the login"), "{error}");
    let nobody = format!("--nats-ca {}", guarded.file("cert.pem").display());
    assert_eq!(guarded.refused(&nobody).0, 112);
}
