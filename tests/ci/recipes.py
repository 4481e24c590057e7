"""Runs the shell steps of the CI recipes (deploy/ci) as the CI systems would, with stand-ins for their variables, caches and
commands, against the demo target. Called by .ci/recipes: recipes.py BRUNT.

Each test is a function test_…; a failure is an AssertionError with what was seen.
"""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from github import BASH, Action

TOP = Path(__file__).resolve().parents[2]
RECIPES = TOP / "deploy/ci"
# Long enough for a comparison of several runs a side, short enough for a test.
SCRIPT = """
import http from 'k6/http';
import { check } from 'k6';
export const options = { vus: 2, duration: '1s', thresholds: { checks: ['rate==1'], http_req_duration: ['p(95)<2000'] } };
export default function () {
  check(http.get(`${__ENV.BASE_URL}/ping`), { 'status is 200': (res) => res.status === 200 });
}
"""
CROSSED = SCRIPT.replace("p(95)<2000", "p(95)<0.001")


class Demo:
    """The demo target, `rtt` slow, at a port: 0 for a free one."""

    def __init__(self, brunt, rtt, port=0):
        words = [brunt, "demo", "--json", "--listen", f"127.0.0.1:{port}", "--rtt", rtt, "--faults-listen", "none"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


class Machine:
    """A machine of a CI system: a home, a workspace with a script, an archive with the program, and an environment of its own."""

    def __init__(self, brunt):
        self.folder = tempfile.TemporaryDirectory(prefix="brunt recipes ")
        self.home = Path(self.folder.name)
        self.workspace = self.home / "work"
        (self.workspace / "load").mkdir(parents=True)
        self.script(SCRIPT)
        # The real program is large: the archive has a call of it.
        program = self.home / "program/brunt"
        program.parent.mkdir()
        executable(program, f'#!/bin/sh\nexec "{brunt}" "$@"\n')
        self.archive = self.home / "brunt.tar.gz"
        # As in an archive of a release.
        subprocess.run(["tar", "-czf", self.archive, "--transform", "s,^,brunt-0.1.0-x86_64-unknown-linux-musl/,", "-C", program.parent, "brunt"], check=True)
        self.sha256 = subprocess.run(["sha256sum", self.archive], check=True, capture_output=True, text=True).stdout.split()[0]
        self.environment = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(self.home)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def script(self, text):
        (self.workspace / "load/test.js").write_text(text)

    @property
    def url(self):
        return self.archive.as_uri()

    def run(self, shell, text, more=None):
        """Runs a script of a shell in the workspace; gives its exit code and all that it said."""
        done = subprocess.run(
            [*shell, text],
            cwd=self.workspace,
            env=self.environment | (more or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout

    def out(self, name):
        return (self.workspace / "brunt-out" / name).read_text()


def executable(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def failures(junit):
    """The names of the cases of a JUnit file that failed."""
    return [case.get("name") for case in ElementTree.fromstring(junit).iter("testcase") if case.find("failure") is not None]


def see(condition, *seen):
    if not condition:
        raise AssertionError("\n".join(str(one) for one in seen))


def reports_are_there(machine):
    see(failures(machine.out("junit.xml")) == [], machine.out("junit.xml"))
    see(machine.out("summary.md").startswith("### 🟢"), machine.out("summary.md"))
    see("<html" in machine.out("report.html")[:1000], "no page")


def test_github(brunt):
    with Machine(brunt) as machine:
        with Demo(brunt, "10ms") as demo:
            port = demo.port
            action = Action(machine, RECIPES / "github/action.yml")
            workflow = yaml.safe_load((RECIPES / "github/workflow.yml").read_text())
            step = workflow["jobs"]["load-test"]["steps"][-1]
            see(step["uses"] == "./.github/actions/brunt", step)
            see(set(step["with"]) <= set(action.inputs), "the workflow gives inputs that there are not")
            given = {"script": "load/test.js", "args": f"-e BASE_URL={demo.url} --tag 'a b=c d'", "url": machine.url, "sha256": machine.sha256}

            # A pull request before anything ran on the main branch.
            first = action.run(given, event="pull_request")
            see(first.code == 0, first)
            reports_are_there(machine)
            see("There is no run of the main branch yet" in first.summary and first.summary.startswith("### 🟢"), first.summary)
            see(len(action.comments) == 1 and action.comments[0].startswith("<!-- brunt load-test -->\n"), action.comments)
            see("junit.xml" in action.artifacts["brunt-load-test"], action.artifacts)
            see(not action.kept(), "a run of a pull request is none of the main branch")

            # The main branch keeps its newest runs, and no more than it shall.
            for count in range(1, 5):
                done = action.run(given | {"keep": "3"}, event="push")
                see(done.code == 0, done)
                see(len(action.kept()) == min(count, 3), action.kept())
            see(len(action.comments) == 1, action.comments)

            # A pull request after that is compared, and its comment takes the place of the first.
            same = action.run(given, event="pull_request")
            see(same.code in (0, 99) and same.outputs["comparison"] in ("0", "99"), same)
            see("A: 3 runs" in same.summary and len(action.comments) == 1, same.summary, action.comments)
            see("A: 3 runs" in action.comments[0], action.comments)

            # A threshold that is crossed fails the job with 99, and all reports are there.
            machine.script(CROSSED)
            crossed = action.run(given, event="pull_request")
            see(crossed.code == 99 and crossed.outputs["exit-code"] == "99", crossed)
            see(len(failures(machine.out("junit.xml"))) == 1, machine.out("junit.xml"))
            see("### 🔴" in crossed.summary and "### 🔴" in action.comments[0], crossed.summary)
            see("cannot be compared" in crossed.summary and "::error::" in crossed.log, crossed)

            # On the main branch such a run is not kept.
            see(action.run(given, event="push").code == 99 and len(action.kept()) == 3, action.kept())

            # A script that does not even start.
            machine.script("nonsense(;")
            broken = action.run(given, event="pull_request")
            see(broken.code == 107 and "before the test began" in broken.log, broken)
            machine.script(SCRIPT)

            # A token that may not comment is a warning; another archive is none that is installed.
            action.may_comment = False
            see("::warning::could not comment" in action.run(given, event="pull_request").log, "no warning")
            shutil.rmtree(machine.home / ".brunt")
            forged = action.run(given | {"sha256": "0" * 64}, event="pull_request")
            see(forged.code != 0 and "FAILED" in forged.log, forged)

        # A target at the same place that is far slower is worse, even if a neighbour on the machine disturbed a run or two.
        action.may_comment = True
        with Demo(brunt, "200ms", port):
            worse = action.run(given, event="pull_request")
            see(worse.code == 99 and worse.outputs["comparison"] == "99", worse)
            see("B is worse than A" in worse.summary, worse.summary)
            see("the comparison with the main branch failed" in worse.log, worse)
            never = action.run(given | {"fail-on": "never"}, event="pull_request")
            see(never.code == 0 and "B is worse than A" in never.summary, never)


def test_gitlab(brunt):
    job = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())["load-test"]
    with Machine(brunt) as machine, Demo(brunt, "1ms") as demo:
        machine.environment |= {str(name): str(value) for name, value in job["variables"].items()}
        machine.environment |= {"CI": "true", "GITLAB_CI": "true", "BRUNT_URL": machine.url, "BRUNT_SHA256": machine.sha256}
        machine.environment["BRUNT_ARGS"] = f"-e BASE_URL={demo.url}"

        def pipeline():
            code, told = machine.run(BASH, "\n".join(job["before_script"] + job["script"]))
            after, more = machine.run(BASH, "\n".join(job["after_script"]))
            see(after == 0, more)
            return code, told

        code, told = pipeline()
        see(code == 0, told)
        reports_are_there(machine)
        # The figures that the widget reads.
        metrics = json.loads(machine.out("load-performance.json"))["metrics"]
        see(metrics["http_reqs"]["rate"] > 0 and metrics["checks"]["passes"] > 0, metrics)
        see(metrics["checks"]["fails"] == 0 and metrics["http_req_waiting"]["p(90)"] > 0, metrics)
        see(metrics["http_req_waiting"]["p(95)"] > 0, metrics)
        for path in [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values(), *job["cache"]["paths"]]:
            see((machine.workspace / path).exists(), path)

        machine.script(CROSSED)
        code, told = pipeline()
        see(code == 99, told)
        see(len(failures(machine.out("junit.xml"))) == 1, machine.out("junit.xml"))


class Azure:
    """A job of Azure Pipelines. Variables are in the environment, in capitals and with _ for a dot."""

    def __init__(self, machine, path, variables):
        self.machine = machine
        pipeline = yaml.safe_load(path.read_text())
        [self.job] = pipeline["jobs"]
        given = pipeline["variables"] | {"bruntUrl": machine.url, "bruntSha256": machine.sha256} | variables
        given |= {"Pipeline.Workspace": str(machine.home / "pipeline")}
        machine.environment |= {name.replace(".", "_").upper(): value for name, value in given.items()}

    def run(self):
        """Gives the codes of the shell steps that ran, and all that they said."""
        codes, told, failed = [], "", False
        for step in self.job["steps"]:
            if failed and step.get("condition") != "succeededOrFailed()":
                continue
            if "bash" in step:
                see("$(" not in step["bash"], "a macro in a shell script", step)
                code, said = self.machine.run(["bash", "--noprofile", "--norc", "-c"], step["bash"])
                codes.append(code)
                failed = failed or code != 0
                told += said
                for folder in re.findall(r"##vso\[task\.prependpath\](.+)", said):
                    self.machine.environment["PATH"] = f"{folder}:{self.machine.environment['PATH']}"
            elif "publish" in step:
                see((self.machine.workspace / step["publish"]).is_dir(), step)
            elif step["task"] == "PublishTestResults@2":
                see((self.machine.workspace / step["inputs"]["testResultsFiles"]).is_file(), step)
            else:
                see(step["task"] == "Cache@2", step)
        return codes, told


def uploaded(told):
    [path] = re.findall(r"##vso\[task\.uploadsummary\](.+)", told)
    return Path(path).read_text()


def test_azure(brunt):
    with Machine(brunt) as machine, Demo(brunt, "1ms") as demo:
        job = Azure(machine, RECIPES / "azure-pipelines.yml", {"args": f"-e BASE_URL={demo.url}"})
        codes, told = job.run()
        see(codes == [0, 0, 0], codes, told)
        reports_are_there(machine)
        see(uploaded(told).startswith("### 🟢"), told)
        machine.script(CROSSED)
        codes, told = job.run()
        see(codes == [0, 99, 0], codes, told)
        see(len(failures(machine.out("junit.xml"))) == 1 and uploaded(told).startswith("### 🔴"), machine.out("junit.xml"))


def test_caching_study(brunt):
    with Machine(brunt) as machine:
        study = machine.workspace / "examples/azure-caching"
        shutil.copytree(TOP / "examples/azure-caching", study)
        with Demo(brunt, "0ms") as demo:
            port = demo.port
        variables = {"target": f"127.0.0.1:{port}", "args": "-e SHORT=1"}
        codes, told = Azure(machine, study / "azure-pipelines.yml", variables).run()
        see(codes == [0, 0, 0], codes, told)
        reports_are_there(machine)
        see("redis_duration" in uploaded(told), uploaded(told))


def test_jenkins(brunt):
    text = (RECIPES / "Jenkinsfile").read_text()
    install, run, report = re.findall(r"sh '''\n(.*?)'''", text, re.DOTALL)
    see(text.index(run) < text.index("always {") < text.index(report), "reports are written always")
    shell = ["sh", "-xec"]
    with Machine(brunt) as machine, Demo(brunt, "1ms") as demo:
        machine.environment |= dict(re.findall(r"string\(name: '(\w+)', defaultValue: '([^']*)'", text))
        machine.environment |= {"BRUNT_URL": machine.url, "BRUNT_SHA256": machine.sha256, "BRUNT_ARGS": f"-e BASE_URL={demo.url}"}
        for step in (install, install, run, report):
            code, told = machine.run(shell, step)
            see(code == 0, told)
        reports_are_there(machine)
        machine.script(CROSSED)
        code, told = machine.run(shell, run)
        see(code == 99, told)
        code, told = machine.run(shell, report)
        see(code == 0 and len(failures(machine.out("junit.xml"))) == 1, told)
        for pattern in re.findall(r"(?:testResults|artifacts): '([^']+)'", text):
            see(any(machine.workspace.glob(pattern)), pattern)
        for name in ("junit.xml", "report.html", "run.brunt", "summary.md"):
            see((machine.workspace / "brunt-out" / name).exists(), name)


def test_kubernetes(brunt):
    config, _, cron = yaml.safe_load_all((RECIPES / "kubernetes/cronjob.yaml").read_text())
    pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    with Machine(brunt) as machine, Demo(brunt, "1ms") as demo:
        places = {}
        for mount in container["volumeMounts"]:
            place = machine.home / "volumes" / mount["name"]
            place.mkdir(parents=True)
            places[mount["mountPath"]] = place
            if "configMap" in volumes[mount["name"]]:
                see(volumes[mount["name"]]["configMap"]["name"] == config["metadata"]["name"], mount)
                for name, text in config["data"].items():
                    (place / name).write_text(text.replace("'5m'", "'1s'"))

        def placed(word):
            for path, place in places.items():
                if word == path or word.startswith(path + "/"):
                    return str(place) + word[len(path) :]
            return word

        environment = {one["name"]: one["value"] for one in container["env"]} | {"BASE_URL": demo.url}
        # No server is there: a server of metrics that is away costs the test nothing.
        environment["K6_PROMETHEUS_RW_SERVER_URL"] = "http://127.0.0.1:1/api/v1/write"
        words = [brunt, *(placed(word) for word in container["args"])]
        done = subprocess.run(
            words,
            cwd=placed(container["workingDir"]),
            env={"PATH": "/usr/bin:/bin", "TMPDIR": placed("/tmp")} | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        see(container["command"] == ["brunt"], container)
        see(done.returncode == 0 and "✓ status is 200" in done.stdout, done)
        runs = list((places["/results"] / "brunt-results").glob("test-*.brunt"))
        see(len(runs) == 1, runs, done)


def main():
    brunt = str(Path(sys.argv[1]).resolve())
    chosen = sys.argv[2:]
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    tests = {name: test for name, test in tests.items() if not chosen or name in chosen}
    # Most of their time is that of the runs, which make little load.
    with ThreadPoolExecutor(max_workers=3) as threads:
        running = {name: threads.submit(test, brunt) for name, test in tests.items()}
    failed = {name: done.exception() for name, done in running.items() if done.exception()}
    for name, why in failed.items():
        [*_, at] = [frame for frame in traceback.extract_tb(why.__traceback__) if frame.name.startswith("test_")]
        said = " ".join(str(why).split())
        print(f"FAIL {name} ({Path(at.filename).name}:{at.lineno}: {said[:300]})")
        traceback.print_exception(why, file=sys.stdout)
    print(f"{len(tests) - len(failed)} passed, {len(failed)} failed")
    sys.exit(len(failed) > 0 or not tests)


if __name__ == "__main__":
    main()
