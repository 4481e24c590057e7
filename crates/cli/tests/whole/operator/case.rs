//! A TestRun on its stage: the image, the node, the demo target, the calls of kubelet, starter and stopper.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::image::Image;
use super::node::{Node, Pod};
use super::testrun::{Place, TestRun};
use crate::support::{Running, Told};

/// A state that does not come within this time fails the test.
const PATIENCE: Duration = Duration::from_mins(2);

/// The body of the starter's call.
pub(super) const START: &str =
    r#"{"data":{"attributes":{"paused":false,"stopped":false},"id":"default","type":"status"}}"#;
pub(super) const STOP: &str =
    r#"{"data":{"attributes":{"stopped":true},"id":"default","type":"status"}}"#;

/// Where all cases run: the image, the node, the demo target on the node.
pub(super) struct Stage {
    image: Image,
    node: Node,
    _demo: Running,
    pub(super) url: String,
}

impl Stage {
    pub(super) fn set() -> Self {
        let image = Image::unpacked();
        let node = Node::start();
        let mut command = node.command();
        command.arg(env!("CARGO_BIN_EXE_brunt")).args(["demo", "--json", "--seed", "1"]);
        command.args(["--listen", "10.244.0.1:8080"]).stdin(Stdio::null());
        let mut demo = Running::start(&mut command);
        let addresses: Value = serde_json::from_str(&demo.line()).expect("a line of JSON");
        let url = addresses["url"].as_str().expect("an address").to_owned();
        Self { image, node, _demo: demo, url }
    }

    /// Requests that the demo target had so far for its route `/ping`.
    pub(super) fn pings(&self) -> u64 {
        let stats = self.node.sh(&format!("curl -sS {}/_demo/stats", self.url));
        let stats: Value = serde_json::from_str(&stats).expect("JSON");
        stats["requests"]["by_route"]["/ping"]["200"].as_u64().unwrap_or(0)
    }
}

/// A TestRun under way.
pub(super) struct Case<'a> {
    pub(super) stage: &'a Stage,
    pub(super) run: TestRun,
    /// The files of the volume, or of the image.
    pub(super) files: tempfile::TempDir,
    pub(super) pods: Vec<Pod>,
    pub(super) only_ipv6: bool,
}

impl<'a> Case<'a> {
    pub(super) fn new(
        stage: &'a Stage,
        run: TestRun,
        file: &str,
        content: impl AsRef<[u8]>,
    ) -> Self {
        let files = tempfile::tempdir().expect("a folder");
        fs::write(files.path().join(file), content).expect("a script");
        // Readable for every user, as a ConfigMap is.
        let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(files.path(), mode(0o755)).expect("it is ours");
        fs::set_permissions(files.path().join(file), mode(0o644)).expect("it is ours");
        Self { stage, run, files, pods: Vec::new(), only_ipv6: false }
    }

    fn mount(&self) -> (&Path, &str) {
        let to = if matches!(self.run.script, Place::Volume(_)) { "/test" } else { "/srv" };
        (self.files.path(), to)
    }

    fn start(&self, pod: &Pod, index: u32, words: &[String]) -> Running {
        pod.start(&self.stage.image.root(), self.mount(), &self.run.variables(index), words)
    }

    /// Runs the initializer; its whole log.
    pub(super) fn initializer(&self) -> (i32, String) {
        let pod = self.stage.node.pod(self.only_ipv6);
        let Told { code, stdout, stderr, .. } = self.start(&pod, 0, &self.run.initializer()).wait();
        (code, stdout + &stderr)
    }

    /// The initializer succeeds, and its log is one JSON object.
    pub(super) fn requirements(&self) -> Value {
        let (code, log) = self.initializer();
        assert_eq!(code, 0, "{log}");
        serde_json::from_str(&log).unwrap_or_else(|error| panic!("{error} in the log: {log}"))
    }

    /// Starts the runners.
    pub(super) fn runners(&mut self) -> Vec<Running> {
        let all = 1..=self.run.parallelism;
        self.pods = all.clone().map(|_| self.stage.node.pod(self.only_ipv6)).collect();
        let words = |index| self.run.runner(index);
        all.zip(&self.pods).map(|(index, pod)| self.start(pod, index, &words(index))).collect()
    }

    /// A call from the node; status and body. No answer is status 0.
    pub(super) fn call(&self, ip: &str, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut command = self.stage.node.command();
        command.args(["curl", "-sS", "-g", "-X", method, "-w", "\n%{http_code}"]);
        command.args(["-H", "Content-Type: application/json", "-d", body]);
        answer(command.arg(format!("http://{ip}:6565{path}")))
    }

    /// The call of the starter or of the stopper at each runner, one after the other.
    pub(super) fn patch(&self, body: &str) {
        for pod in &self.pods {
            let mut command = self.stage.node.command();
            command.args([
                "curl",
                "-sS",
                "-g",
                "--retry",
                "3",
                "-X",
                "PATCH",
                "-w",
                "\n%{http_code}",
            ]);
            command.args(["-H", "Content-Type: application/json"]);
            command.arg(format!("http://{}:6565/v1/status", pod.ip));
            let (code, answer) = answer(command.args(["-d", body]));
            assert_eq!(code, 200, "{answer}");
        }
    }

    /// The starter's call once more. A runner that has ended does not answer, and one that runs refuses, as k6 does.
    pub(super) fn patch_again(&self) {
        for pod in &self.pods {
            let (code, answer) = self.call(&pod.ip, "PATCH", "/v1/status", START);
            assert!(matches!(code, 0 | 200 | 500), "{code} {answer}");
        }
    }

    /// Waits until the state of each runner is so.
    pub(super) fn until(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        let since = Instant::now();
        for pod in &self.pods {
            loop {
                let (_, body) = self.call(&pod.ip, "GET", "/v1/status", "");
                let state: Value = serde_json::from_str(&body).unwrap_or_default();
                if is_so(&state["data"]["attributes"]) {
                    break;
                }
                assert!(since.elapsed() < PATIENCE, "{what} did not come: {body}");
            }
        }
    }
}

pub(super) fn answer(command: &mut Command) -> (u16, String) {
    let told = command.stdin(Stdio::null()).output().expect("curl runs");
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let (body, code) = text.rsplit_once('\n').unwrap_or((&text, ""));
    (code.parse().unwrap_or(0), body.to_owned())
}

/// The probes of a kubelet: `GET /v1/status` of each pod in turn, a second each, from the start of the processes on. More often than
/// a kubelet asks.
pub(super) struct Probes {
    process: Child,
    lines: Receiver<Vec<String>>,
}

impl Probes {
    pub(super) fn start(case: &Case<'_>) -> Self {
        let ips: Vec<&str> = case.pods.iter().map(|pod| pod.ip.as_str()).collect();
        let lines = format!(
            "while :; do for ip in {}; do\n\
             body=$(curl -s -g -m 1 -w ' %{{http_code}}' \"http://$ip:6565/v1/status\"); \
             echo \"$ip $? $body\"\n\
             done; sleep 0.1; done\n",
            ips.iter().map(|ip| format!("'{ip}'")).collect::<Vec<_>>().join(" ")
        );
        let mut command = case.stage.node.command();
        command.args(["sh", "-c", &lines]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("sh runs");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let (sender, receiver) = sync_channel(1);
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            let _ = sender.send(lines.collect());
        });
        Self { process: child, lines: receiver }
    }

    /// Ends them. A pod that did not answer three times in a row, although it was reached before, would have been killed.
    pub(super) fn judge(mut self) {
        self.process.kill().expect("it goes on for ever");
        let lines = self.lines.recv_timeout(PATIENCE).expect("the probes end");
        let mut slow: BTreeMap<&str, u32> = BTreeMap::new();
        for line in &lines {
            let mut words = line.split(' ');
            let (ip, curl) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let count = slow.entry(ip).or_default();
            // 28: no answer within the second. 7: no process listens, before the start and after the end.
            *count = if curl == "28" { *count + 1 } else { 0 };
            assert!(*count < 3, "{ip} would have been killed by its probe: {lines:#?}");
            assert!(curl != "0" || line.ends_with(" 200"), "{line}");
        }
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        // Both fail if it has ended, which is what we want.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
