#!/usr/bin/env python3
"""Records what a real k6 prints for the scripts beside this file.

    ./record.py            runs `k6` from the PATH (or $K6) and rewrites the fixtures

Each run leaves NAME.json: the numbers of that very run (from `--out json` and `--summary-export`)
in the shape of our Summary, and `text`, what k6 printed for them. The scripts are our own; the
server they call is Python's, on loopback.
"""

import http.server, json, os, re, subprocess, sys, tempfile, threading

HERE = os.path.dirname(os.path.abspath(__file__))
K6 = os.environ.get("K6", "k6")

# Name of the fixture, script, layout, more k6 flags, terminal or not.
RUNS = [
    ("checks.compact", "checks", "compact", [], False),
    ("checks.full", "checks", "full", [], False),
    ("checks.legacy", "checks", "legacy", [], False),
    ("checks.compact.colour", "checks", "compact", [], True),
    ("checks.full.colour", "checks", "full", [], True),
    ("checks.legacy.colour", "checks", "legacy", [], True),
    ("checks.seconds", "checks", "compact", ["--summary-time-unit=s"], False),
    ("checks.millis", "checks", "full", ["--summary-time-unit=ms"], False),
    ("checks.micros", "checks", "legacy", ["--summary-time-unit=us"], False),
    ("numbers.compact", "numbers", "compact", [], False),
    ("numbers.legacy", "numbers", "legacy", [], False),
    ("names.full", "names", "full", [], False),
    ("names.legacy", "names", "legacy", [], False),
    ("scenarios.compact", "scenarios", "compact", [], False),
    ("scenarios.full", "scenarios", "full", [], False),
    ("scenarios.legacy", "scenarios", "legacy", [], False),
    ("groups.full", "groups", "full", [], False),
    ("plain.compact", "plain", "compact", [], False),
    ("plain.full", "plain", "full", [], False),
    ("plain.legacy", "plain", "legacy", [], False),
]


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"x" * 1300
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(url, script, mode, flags, terminal):
    with tempfile.TemporaryDirectory() as folder:
        export, points = folder + "/export.json", folder + "/points.json"
        command = [K6, "run", "-q", "--summary-mode=" + mode, "--summary-export=" + export,
                   "--out=json=" + points, "--address=127.0.0.1:0", "-e", "URL=" + url, *flags,
                   script + ".js"]
        if terminal:
            command = ["script", "-qec", " ".join(command) + " 2>/dev/null", "/dev/null"]
        done = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        text = done.stdout.decode()
        if terminal:
            # k6 clears each line to its end; the terminal adds carriage returns.
            text = text.replace("\x1b[0K", "").replace("\r", "")
        return text, json.load(open(export)), [json.loads(line) for line in open(points)]


def values(kind, points, run_s):
    if kind == "trend":
        return {"trend": points}
    if kind == "counter":
        return {"counter": [sum(points), sum(points) / run_s]}
    if kind == "gauge":
        return {"gauge": [points[-1], min(points), max(points)] if points else [0, 0, 0]}
    return {"rate": [sum(1 for p in points if p), sum(1 for p in points if not p)]}


def tree(name, group):
    return {"name": name, "path": group["path"],
            "groups": [tree(n, g) for n, g in group["groups"].items()],
            "checks": [check(c["name"], group["path"], c["passes"], c["fails"])
                       for c in group["checks"].values()]}


def check(name, group, passes=0, fails=0):
    return {"name": name, "group": group, "passes": passes, "fails": fails}


class Part:
    """A scenario or a group: what was measured in it, and what is within."""

    def __init__(self, name):
        self.name, self.points, self.checks, self.groups = name, {}, {}, {}

    def add(self, metric, data):
        self.points.setdefault(metric, []).append(data["value"])
        if metric == "checks":
            path, name = data["tags"].get("group", ""), data["tags"]["check"]
            counted = self.checks.setdefault((path, name), check(name, path))
            counted["passes" if data["value"] else "fails"] += 1

    def at(self, path):
        part = self
        for name in [name for name in path.split("::") if name]:
            part = part.groups.setdefault(name, Part(name))
        return part

    def plain(self, types, run_s):
        return {"name": self.name, "checks": list(self.checks.values()),
                "metrics": [metric(name, types[name], points, run_s)
                            for name, points in self.points.items()],
                "groups": [group.plain(types, run_s) for group in self.groups.values()]}


def metric(name, type_, points, run_s, parent=None, thresholds=(), exported=None):
    kind, contains = type_
    entry = {"name": name, "parent": parent, "kind": kind, "contains": contains,
             "observed": bool(points), "values": values(kind, points, run_s),
             "thresholds": [{"source": source, "ok": not crossed}
                            for source, crossed in dict(thresholds).items()]}
    # A gauge's last value is that of the last sample in time: k6 knows better than the file. And it
    # knows the run's length to the last digit.
    if exported and kind == "gauge":
        entry["values"] = {"gauge": [exported[key] for key in ("value", "min", "max")]}
    if exported and kind == "counter":
        entry["values"] = {"counter": [exported["count"], exported["rate"]]}
    return entry


def fixture(name, script, mode, flags, terminal, url):
    text, export, lines = run(url, script, mode, flags, terminal)
    counters = [m for m in export["metrics"].values() if m.get("count") and m.get("rate")]
    run_s = round(counters[0]["count"] / counters[0]["rate"] * 1e9) / 1e9
    types = {l["metric"]: (l["data"]["type"], l["data"]["contains"])
             for l in lines if l["type"] == "Metric"}
    for full_name, exported in export["metrics"].items():
        # A metric without samples is not in the points; its shape tells its type.
        base = full_name.split("{")[0]
        if base not in types:
            kind = ("counter" if "count" in exported and "avg" not in exported else
                    "trend" if "avg" in exported else
                    "rate" if "passes" in exported else "gauge")
            times = "time" if base in ("http_req_duration", "group_duration") else "default"
            types[base] = (kind, times)
    points = [(l["metric"], l["data"]) for l in lines if l["type"] == "Point"]
    total, top, scenarios = Part(""), Part(""), {}
    for of, data in points:
        total.add(of, data)
        scenario, path = data["tags"].get("scenario"), data["tags"].get("group", "")
        part = top if scenario in (None, "default") else scenarios.setdefault(
            scenario, Part(scenario))
        if part is not top:
            part.add(of, data)
        if path:
            part.at(path).add(of, data)
    metrics = []
    for full_name, exported in export["metrics"].items():
        base, _, tags = full_name.partition("{")
        pairs = [pair.split(":", 1) for pair in tags.rstrip("}").split(",") if pair]
        own = [data["value"] for of, data in points if of == base
               and all(data["tags"].get(k) == v for k, v in pairs)]
        metrics.append(metric(full_name, types[base], own, run_s, base if tags else None,
                              exported.get("thresholds", {}), exported))
    # k6 shuffles the thresholds of one metric: the printed order is as good as any.
    for entry in metrics:
        entry["thresholds"].sort(key=lambda t: text.find("'" + t["source"] + "'"))
    out = {"script": script + ".js", "mode": mode, "colour": terminal,
           "time_unit": ([f.split("=")[1] for f in flags if "time-unit" in f] or [""])[0],
           "trend_stats": stats(script), "run_ns": round(run_s * 1e9), "metrics": metrics,
           "checks": list(total.checks.values()),
           "root": tree("", export["root_group"]),
           "scenarios": [p.plain(types, run_s) for p in scenarios.values()],
           "groups": [p.plain(types, run_s) for p in top.groups.values()],
           "export": export, "text": text}
    with open(os.path.join(HERE, name + ".json"), "w") as file:
        json.dump(out, file, ensure_ascii=False, separators=(",", ":"), sort_keys=False)
        file.write("\n")


def stats(script):
    asked = re.search(r"summaryTrendStats: (\[.*?\])", open(f"{HERE}/{script}.js").read())
    if not asked:
        return ["avg", "min", "med", "max", "p(90)", "p(95)"]
    return json.loads(asked.group(1).replace("'", '"'))


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for one in RUNS:
        if len(sys.argv) < 2 or one[0] in sys.argv[1:]:
            fixture(*one, f"http://127.0.0.1:{server.server_port}")
            print(one[0])
