"""A runner of GitHub for one composite action: its steps in a shell, its expressions, and stand-ins for the actions and the
command `gh` that it calls."""

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import yaml

BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]

# The calls of `gh api` that the action makes: the ids of comments that begin so, a new one, another text of one.
GH = r"""#!/bin/bash
set -e
[ "$1" = api ] && shift
[ -z "$FORBIDDEN" ] || { echo "HTTP 403" >&2; exit 1; }
[ -n "$GH_TOKEN" ]
method=GET body= path=
while [ $# -gt 0 ]; do
  case "$1" in
    --paginate) ;;
    --method) method=$2; shift ;;
    --field) body=${2#body=@}; shift ;;
    --jq) jq=$2; shift ;;
    repos/*) path=$1 ;;
    *) echo "gh: unknown $1" >&2; exit 1 ;;
  esac
  shift
done
cd "$COMMENTS_FROM"
case "$method $path" in
  "GET repos/shop/shop/issues/5/comments")
    for file in "$COMMENTS"/*; do
      [ ! -f "$file" ] || jq -n --arg id "$(basename "$file")" --rawfile body "$file" '{id: $id, body: $body}'
    done | jq -s . | jq -r "$jq" ;;
  "POST repos/shop/shop/issues/5/comments") cp "$body" "$COMMENTS/$(($(ls "$COMMENTS" | wc -l) + 1))" ;;
  "PATCH repos/shop/shop/issues/comments/"*) cp "$body" "$COMMENTS/${path##*/}" ;;
  *) echo "gh: unknown call $method $path" >&2; exit 1 ;;
esac
"""


@dataclass
class Done:
    """A run of the action: its exit code, what its steps said, its outputs, the job's summary."""

    code: int = 0
    log: str = ""
    outputs: dict = field(default_factory=dict)
    summary: str = ""


class Action:
    def __init__(self, machine, path):
        self.machine = machine
        self.action = yaml.safe_load(path.read_text())
        self.inputs = self.action["inputs"]
        self.caches, self.artifacts = [], {}
        self.may_comment = True
        self.count = 0

    @property
    def comments(self):
        folder = self.machine.home / "comments"
        return [path.read_text() for path in sorted(folder.iterdir())]

    def kept(self):
        """The run files of the main branch in the newest cache."""
        return sorted(self.caches[-1][1]) if self.caches else []

    def run(self, given, event):
        """Runs the action for an event with these inputs."""
        machine = self.machine
        self.count += 1
        done = Done()
        workspace = machine.workspace
        for leftover in ("brunt-main", "brunt-out"):
            shutil.rmtree(workspace / leftover, ignore_errors=True)
        temporary = machine.home / "temporary"
        temporary.mkdir(exist_ok=True)
        (machine.home / "comments").mkdir(exist_ok=True)
        commands = machine.home / "commands"
        commands.mkdir(exist_ok=True)
        gh = commands / "gh"
        gh.write_text(GH)
        gh.chmod(0o755)
        files = {name: temporary / name for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        values = {
            "runner.os": "Linux",
            "runner.arch": "X64",
            "github.token": "a-token",
            "github.event_name": event,
            "github.run_id": str(1000 + self.count),
            "github.run_attempt": "1",
            "github.ref_name": "main" if event == "push" else "5/merge",
            "github.event.repository.default_branch": "main",
            "github.event.pull_request.number": "5" if event == "pull_request" else "",
        }
        for name, about in self.inputs.items():
            if about.get("required") and name not in given:
                raise AssertionError(f"no value for {name}")
            values[f"inputs.{name}"] = given.get(name, evaluate_text(str(about.get("default", "")), values))
        environment = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "shop/shop",
            "GITHUB_RUN_ID": values["github.run_id"],
            "RUNNER_TEMP": str(temporary),
            "COMMENTS": str(machine.home / "comments"),
            "COMMENTS_FROM": str(workspace),
            "FORBIDDEN": "" if self.may_comment else "1",
            "PATH": f"{commands}:{machine.environment['PATH']}",
        } | {name: str(path) for name, path in files.items()}
        outputs = {}
        for step in self.action["runs"]["steps"]:
            if done.code != 0 or ("if" in step and not evaluate(step["if"], values)):
                continue
            if "uses" in step:
                self.use(step["uses"], {key: evaluate_text(str(text), values) for key, text in step["with"].items()})
                continue
            assert step["shell"] == "bash", step
            assert "${{" not in step["run"], "expressions in a shell are a way in for strangers"
            own = {key: evaluate_text(str(text), values) for key, text in step.get("env", {}).items()}
            files["GITHUB_OUTPUT"].write_text("")
            done.code, said = machine.run(BASH, step["run"], environment | own)
            done.log += said
            for line in files["GITHUB_OUTPUT"].read_text().splitlines():
                key, text = line.split("=", 1)
                values[f"steps.{step['id']}.outputs.{key}"] = text
            for folder in files["GITHUB_PATH"].read_text().split("\n"):
                if folder:
                    environment["PATH"] = f"{folder}:{environment['PATH']}"
            files["GITHUB_PATH"].write_text("")
        for name, about in self.action["outputs"].items():
            outputs[name] = evaluate_text(about["value"], values)
        done.outputs, done.summary = outputs, files["GITHUB_STEP_SUMMARY"].read_text()
        return done

    def use(self, name, given):
        """The stand-ins: caches of whole folders by key, artifacts by name."""
        place = self.machine.workspace / given["path"]
        if name == "actions/cache@v5":
            assert given["path"].startswith("~/") and "," not in given["key"], given
        elif name == "actions/cache/restore@v5":
            for key, files in reversed(self.caches):
                if key == given["key"] or key.startswith(given["restore-keys"]):
                    place.mkdir()
                    for file, content in files.items():
                        (place / file).write_bytes(content)
                    break
        elif name == "actions/cache/save@v5":
            assert all(key != given["key"] for key, _ in self.caches), "a cache is written once"
            self.caches.append((given["key"], {path.name: path.read_bytes() for path in place.iterdir()}))
        elif name == "actions/upload-artifact@v7":
            self.artifacts[given["name"]] = {path.name for path in place.iterdir()}
        else:
            raise AssertionError(f"no stand-in for {name}")


def evaluate_text(text, values):
    """A text with expressions in it."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(evaluate(found[1], values)), text)


def evaluate(expression, values):
    """An expression: names, texts, ==, !=, && and ||."""
    words = re.findall(r"'[^']*'|==|!=|&&|\|\||[\w.\-]+|\S", expression)
    python = []
    for word in words:
        if word in ("==", "!="):
            python.append(word)
        elif word == "&&":
            python.append("and")
        elif word == "||":
            python.append("or")
        elif word.startswith("'"):
            python.append(json.dumps(word[1:-1]))
        elif re.fullmatch(r"(inputs|github|runner|steps)\.[\w.\-]+", word):
            known = word in values or word.startswith("steps.")
            assert known, f"nobody knows {word}"
            python.append(json.dumps(values.get(word, "")))
        else:
            raise AssertionError(f"no stand-in for {word} in {expression}")
    return eval(" ".join(python))  # noqa: S307, of words that were looked at
