"""Machines made of network namespaces: one for NATS, the demo target and the leader, one for each agent.

    hub    10.77.0.1 (target, on bridge `target`), 10.78.0.1 (NATS, on bridge `broker`)
    agent  eth0 10.77.0.K on bridge `target`, eth1 10.78.0.K on bridge `broker`

So an agent that is cut off from NATS still reaches the target.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin:" + os.path.expanduser("~/go/bin")
HERE = os.path.dirname(os.path.abspath(__file__))

SCRIPT = """
import http from 'k6/http';
import exec from 'k6/execution';
const params = { headers: { 'Run-Id': __ENV.RUN } };
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: Number(__ENV.RATE),
  duration: __ENV.LENGTH, preAllocatedVUs: 40, maxVUs: 200, gracefulStop: '2s' } },
  thresholds: JSON.parse(__ENV.THRESHOLDS || '{}') };
export default function () {
  http.get(`${__ENV.URL}/ping`, params);
  const it = exec.scenario.iterationInInstance;
  if (it === 0) console.log(`BEGAN ${Date.now()} AS ${exec.scenario.iterationInTest}`);
  if (__ENV.ABORT_AT && exec.scenario.iterationInTest === Number(__ENV.ABORT_AT)) exec.test.abort('enough');
}
export function teardown() { console.log('TEARDOWN RAN'); }
export function handleSummary(data) {
  const of = (name) => (data.metrics[name] || { values: {} }).values.count || 0;
  return { stdout: `\\n@${JSON.stringify({ requests: of('http_reqs'), iterations: of('iterations'),
    dropped: of('dropped_iterations'), agents: data.agents })}\\n` };
}
"""


class Told:
    """How a process ended."""

    def __init__(self, process, out, err):
        self.code = process.returncode
        with open(out, encoding="utf-8") as file:
            self.out = file.read()
        with open(err, encoding="utf-8") as file:
            self.err = file.read()

    def summaries(self):
        return [json.loads(line[1:]) for line in self.out.splitlines() if line.startswith("@{")]

    def summary(self):
        all_of_them = self.summaries()
        assert len(all_of_them) == 1, f"{len(all_of_them)} summaries, exit {self.code}\n{self.err}"
        return all_of_them[0]


class Process:
    """A process in a namespace."""

    def __init__(self, site, name, words, env=None, network=None):
        self.name = name
        folder = os.path.join(site.folder, f"{name}-{site.count()}")
        os.makedirs(folder)
        self.out, self.err = os.path.join(folder, "out"), os.path.join(folder, "err")
        before = ["nsenter", f"--net=/proc/{network}/ns/net", "--"] if network else []
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([*before, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=dict(os.environ, PATH=PATH, **(env or {})))
        site.processes.append(self.process)

    @property
    def pid(self):
        return self.process.pid

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wait(self, limit=300):
        self.process.wait(limit)
        return Told(self.process, self.out, self.err)

    def error_log(self):
        with open(self.err, encoding="utf-8") as file:
            return file.read()

    def wait_for(self, text, limit=60):
        end = time.monotonic() + limit
        while text not in self.error_log():
            assert time.monotonic() < end, f"{self.name} does not say {text!r}: {self.error_log()}"
            time.sleep(0.02)
        return time.monotonic()


class Site:
    """All machines; a context manager that leaves nothing behind."""

    def __init__(self, brunt, agents):
        self.brunt = os.path.abspath(brunt)
        self.folder = tempfile.mkdtemp(prefix="brunt-agents-")
        self.processes, self.holders, self.number = [], [], 0
        self.script = os.path.join(self.folder, "load.js")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        self.hub = self.namespace()
        self.sh(self.hub, """
            ip link set lo up
            for bridge in target broker; do ip link add $bridge type bridge; ip link set $bridge up; done
            ip addr add 10.77.0.1/16 dev target; ip addr add 10.78.0.1/16 dev broker
        """)
        self.machines = [self.machine(place) for place in range(2, agents + 2)]
        self.store = os.path.join(self.folder, "store")
        self.nats = self.broker()
        self.demo = Process(self, "demo", [self.brunt, "demo", "--json", "--seed", "1", "--listen", "10.77.0.1:8080"], network=self.hub)
        self.url = "http://10.77.0.1:8080"
        self.until(lambda: os.path.getsize(self.demo.out) > 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
            process.wait()
        for holder in self.holders:
            holder.kill()
            holder.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def count(self):
        self.number += 1
        return self.number

    def namespace(self):
        holder = subprocess.Popen(["unshare", "--net", "--", "sh", "-c", "echo ready; exec cat"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, env=dict(os.environ, PATH=PATH))
        assert holder.stdout.readline() == b"ready\n", "namespaces need root"
        self.holders.append(holder)
        return holder.pid

    def sh(self, network, lines):
        subprocess.run(["nsenter", f"--net=/proc/{network}/ns/net", "--", "sh", "-euc", lines], check=True,
                       env=dict(os.environ, PATH=PATH))

    def machine(self, place):
        pid = self.namespace()
        self.sh(self.hub, f"""
            ip link add t{place} type veth peer name eth0 netns {pid}; ip link set t{place} master target up
            ip link add b{place} type veth peer name eth1 netns {pid}; ip link set b{place} master broker up
        """)
        self.sh(pid, f"""
            ip link set lo up; ip link set eth0 up; ip link set eth1 up
            ip addr add 10.77.0.{place}/16 dev eth0; ip addr add 10.78.0.{place}/16 dev eth1
        """)
        return {"place": place, "pid": pid}

    def cut(self, machine):
        """The cable between a machine and NATS is pulled."""
        self.sh(self.hub, f"ip link set b{machine['place']} down")

    def mend(self, machine):
        self.sh(self.hub, f"ip link set b{machine['place']} up")

    def lose(self, machine, percent):
        """Of each hundred packets between a machine and NATS so many are lost, in each direction."""
        self.sh(machine["pid"], f"""
            nft add table ip loss
            nft add chain ip loss in '{{ type filter hook input priority 0; }}'
            nft add chain ip loss out '{{ type filter hook output priority 0; }}'
            nft add rule ip loss in iifname eth1 numgen random mod 100 '<' {percent} drop
            nft add rule ip loss out oifname eth1 numgen random mod 100 '<' {percent} drop
        """)

    def relay(self, port, milliseconds):
        """Another address of NATS, so many milliseconds away in each direction."""
        relay = Process(self, "relay", ["python3", os.path.join(HERE, "relay.py"), f"10.78.0.1:{port}", "10.78.0.1:4222",
                                        str(milliseconds)], network=self.hub)
        relay.wait_for("listening")
        return relay

    def broker(self, emptied=False):
        if emptied:
            shutil.rmtree(self.store, ignore_errors=True)
        nats = Process(self, "nats", ["nats-server", "--jetstream", "--addr", "10.78.0.1", "--port", "4222",
                                      "--store_dir", self.store], network=self.hub)
        nats.wait_for("Server is ready")
        return nats

    def agent(self, machine, flags="", port=4222, skew=None):
        env = {}
        if skew:
            library = os.path.join(self.folder, "skew.so")
            source = os.path.join(HERE, "../../../crates/cli/tests/whole/agents/skew.c")
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
            env = {"LD_PRELOAD": library, "SKEW": str(skew)}
        words = [self.brunt, "agent", "--once", "--workers", "1", "--nats", f"nats://10.78.0.1:{port}", *flags.split()]
        return Process(self, f"agent{machine['place'] - 1}", words, env, machine["pid"])

    def leader(self, agents, flags="", run="r", rate=400, length="60s", **more):
        """The command line of a leader, which may be started again."""
        env = {"URL": self.url, "RUN": run, "RATE": rate, "LENGTH": length, **more}
        words = [self.brunt, "run", "--agents", str(agents), "--nats", "nats://10.78.0.1:4222", *flags.split()]
        for name, value in env.items():
            words += ["-e", f"{name}={value}"]
        return Process(self, "leader", [*words, self.script], network=self.hub)

    def requests(self, run="r"):
        """The requests of a run that the target has had."""
        text = subprocess.run(["nsenter", f"--net=/proc/{self.hub}/ns/net", "--", "curl", "-sS", f"{self.url}/_demo/stats"], check=True,
                              stdout=subprocess.PIPE, env=dict(os.environ, PATH=PATH)).stdout
        return json.loads(text)["requests"]["by_run"].get(run, 0)

    def until(self, is_so, limit=60):
        end = time.monotonic() + limit
        while not is_so():
            assert time.monotonic() < end, "it does not happen"
            time.sleep(0.02)
        return time.monotonic()

    def until_load(self, count, run="r"):
        return self.until(lambda: self.requests(run) >= count)


INT = signal.SIGINT
