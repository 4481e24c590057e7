//! Machines made of network namespaces: NATS, the demo target and the leader on a hub, each agent on a machine of its own.
//!
//! ```text
//! hub      10.244.0.1 (the target), 10.245.0.1 (NATS)
//! machine  eth0 10.244.0.K to the target, eth1 10.245.0.K to NATS
//! ```
//!
//! So an agent that is cut off from NATS still reaches the target.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::operator::node::{Node, Pod};
use crate::support::Running;

/// The hub.
pub(super) struct Site {
    node: Node,
    _nats: Running,
    _demo: Running,
    url: String,
    folder: tempfile::TempDir,
}

/// A machine, and the agent on it.
pub(super) struct Machine {
    pod: Pod,
}

impl Site {
    pub(super) fn start() -> Self {
        let node = Node::start();
        node.sh(
            "ip link add br1 type bridge\nip link set br1 up\nip addr add 10.245.0.1/16 dev br1\n",
        );
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut command = node.command();
        command.args(["nats-server", "--jetstream", "--addr", "10.245.0.1", "--port", "4222"]);
        command.args(["--store_dir", "store"]).current_dir(folder.path());
        let nats = Running::start(command.stdin(Stdio::null()));
        let mut command = node.command();
        command.arg(env!("CARGO_BIN_EXE_brunt")).args(["demo", "--json", "--seed", "1"]);
        command.args(["--listen", "10.244.0.1:8080"]).stdin(Stdio::null());
        let mut demo = Running::start(&mut command);
        let addresses: Value = serde_json::from_str(&demo.line()).expect("a line of JSON");
        let url = addresses["url"].as_str().expect("an address").to_owned();
        Self { node, _nats: nats, _demo: demo, url, folder }
    }

    /// Another machine.
    pub(super) fn machine(&self) -> Machine {
        let pod = self.node.pod(false);
        let (own, id) = (number(&pod), pod.process());
        self.node.sh(&format!(
            "ip link add nats{own} type veth peer name eth1 netns {id}\n\
             ip link set nats{own} master br1 up\n"
        ));
        let mut command = pod.command();
        let lines = format!("ip link set eth1 up\nip addr add 10.245.0.{own}/16 dev eth1\n");
        let told = command.args(["sh", "-euc", &lines]).output().expect("sh runs");
        assert!(told.status.success(), "{told:?}");
        Machine { pod }
    }

    /// The cable between a machine and NATS is pulled.
    pub(super) fn cut(&self, machine: &Machine) {
        self.node.sh(&format!("ip link set nats{} down", number(&machine.pod)));
    }

    /// It is put in again.
    pub(super) fn mend(&self, machine: &Machine) {
        self.node.sh(&format!("ip link set nats{} up", number(&machine.pod)));
    }

    fn brunt(&self, mut command: Command, line: &str) -> Running {
        command.arg(env!("CARGO_BIN_EXE_brunt")).args(line.split_whitespace());
        Running::start(command.current_dir(self.folder.path()).stdin(Stdio::null()))
    }

    /// Starts an agent there.
    pub(super) fn agent(&self, machine: &Machine) -> Running {
        self.brunt(machine.pod.command(), "agent --once --workers 1 --nats nats://10.245.0.1:4222")
    }

    /// Starts the leader.
    pub(super) fn leader(&self, agents: usize, script: &str, flags: &str) -> Running {
        std::fs::write(self.folder.path().join("s.js"), script).expect("a file for the test");
        let url = &self.url;
        let line = format!(
            "run --agents {agents} --nats nats://10.245.0.1:4222 -e URL={url} -e RUN=r {flags} s.js"
        );
        self.brunt(self.node.command(), &line)
    }

    /// The requests of the run that the target has had.
    pub(super) fn requests(&self) -> u64 {
        let stats = self.node.sh(&format!("curl -sS {}/_demo/stats", self.url));
        let stats: Value = serde_json::from_str(&stats).expect("JSON");
        stats["requests"]["by_run"]["r"].as_u64().unwrap_or(0)
    }

    /// Waits until the target has had this number of requests of the run.
    pub(super) fn wait_for_requests(&self, count: u64) {
        let since = Instant::now();
        while self.requests() < count {
            assert!(since.elapsed() < Duration::from_secs(100), "the load does not come");
        }
    }
}

/// The last number of its address.
fn number(pod: &Pod) -> &str {
    pod.ip.rsplit('.').next().expect("an address of IPv4")
}
