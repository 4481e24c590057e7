//! Flags about the run itself: no script can set them.

use super::{Fate, Flag, Takes};

/// The rows that `run` and `inspect` share; `groups` has the order of the help page.
pub(crate) static FLAGS: &[Flag] = &[
    Flag::value("env", "NAME=VALUE", "Set __ENV.NAME for the script; -e NAME alone passes the variable NAME on").short('e').many(),
    Flag::switch(
        "include-system-env-vars",
        "Put the environment into __ENV [default: true for run, false for inspect and archive]",
    )
    .env("INCLUDE_SYSTEM_ENV_VARS"),
    Flag::value("compatibility-mode", "MODE", "Set up the globals of JavaScript: extended (with `global`) or base [default: extended]")
        .env("COMPATIBILITY_MODE"),
    Flag::switch("no-remote-modules", "Refuse imports from https:// addresses")
        .env("NO_REMOTE_MODULES"),
    // Ours.
    Flag::switch(
        "no-builtin-jslib",
        "Fetch all libraries of jslib.k6.io from there, even those that are built in",
    )
    .env("NO_BUILTIN_JSLIB"),
    Flag::value("type", "TYPE", "Read the file as js or archive [default: by its content]").short('t').env("TYPE"),
    Flag::switch("no-thresholds", "Ignore all thresholds").env("NO_THRESHOLDS"),
    Flag::value("summary-mode", "MODE", "Print the summary compact, full (each group and scenario by itself), legacy (one list) or disabled [default: compact]")
        .env("SUMMARY_MODE"),
    Flag::switch("no-summary", "Print no summary, as --summary-mode=disabled does").env("NO_SUMMARY"),
    Flag::value("summary-export", "FILE", "Write the summary to this file as JSON").env("SUMMARY_EXPORT"),
    Flag::switch(
        "new-machine-readable-summary",
        "Give --summary-export and handleSummary() the summary in its new shape",
    )
    .env("NEW_MACHINE_READABLE_SUMMARY"),
    Flag::value("traces-output", "DEST", "Send traces to otel[=http://HOST:PORT][,proto=http], or to none [default: none]")
        .env("TRACES_OUTPUT"),
];

/// Flags about the broker that a leader and its agents meet at: of `run` and `agent`.
pub(crate) static BROKER: &[Flag] = &[
    Flag::value(
        "nats",
        "URL",
        "Meet at this NATS server, or at these: nats://HOST:4222,HOST:4222, or tls:// [default: nats://127.0.0.1:4222]",
    )
    .env("NATS"),
    Flag::value("nats-creds", "FILE", "Log in to NATS with this credentials file").env("NATS_CREDS"),
    Flag::value("nats-nkey", "FILE", "Log in to NATS with the seed of an nkey in this file")
        .env("NATS_NKEY"),
    Flag::value("nats-ca", "FILE", "Trust NATS servers whose certificate these authorities signed (PEM)")
        .env("NATS_CA"),
    Flag::value("nats-cert", "FILE", "Show NATS this certificate (PEM), with --nats-key")
        .env("NATS_CERT"),
    Flag::value("nats-key", "FILE", "Use the key in this file (PEM) for --nats-cert").env("NATS_KEY"),
    Flag::value(
        "pool",
        "NAME",
        "Lead, or join, the agents of this pool: letters, digits, - and _ [default: default]",
    )
    .env("POOL"),
    Flag::value(
        "run-id",
        "ID",
        "Lead, or join, the run of this id without a pool; a leader that died takes its run up again by it",
    )
    .env("RUN_ID"),
];

/// Flags that say how a test on several machines is led: of `run` alone.
pub(crate) static LEADER: &[Flag] = &[
    Flag::value(
        "agents",
        "N",
        "Lead a test on N agents (`brunt agent`): this process makes no load, it tells progress, summary and exit code of all",
    ),
    Flag::value(
        "agents-wait",
        "DURATION",
        "Wait at most so long for all agents to come [default: 5m]",
    ),
    Flag::value(
        "agent-timeout",
        "DURATION",
        "Give an agent up that gave no sign of life for so long [default: 15s]",
    ),
    Flag::value(
        "leader-timeout",
        "DURATION",
        "Let agents end by themselves that heard nothing of this process for so long [default: 5m]",
    ),
    Flag::value(
        "on-agent-loss",
        "POLICY",
        "When an agent is lost: go-on (the others run on), stop, or take-over (a spare agent makes its load, else the one with the least to do); the exit code is 111 in any case [default: go-on]",
    ),
    Flag::value("allow-lost", "N", "Bear N lost agents without exit code 111 [default: 0]"),
    Flag::switch("agent-tag", "Tag all that an agent measures with agent=N"),
    Flag::value(
        "agent-shares",
        "LIST",
        "Give agents unequal parts of the load: 2,1,1 gives the first of three one half [default: equal parts]",
    ),
];

/// Help of `--out`: every output, what it writes and where to.
const OUT: &str = "Send results to this output; repeat it for more\n\
    - json[=FILE]: a line of JSON per sample; FILE.gz is compressed [default: stdout]\n\
    - csv[=FILE]: a row per sample [default: file.csv]\n\
    - influxdb[=URL]: InfluxDB 1 or 2 [default: http://localhost:8086/k6]\n\
    - experimental-prometheus-rw: Prometheus, by remote write [default: localhost:9090]\n\
    - opentelemetry: a collector, by OTLP [default: localhost:4317]\n\
    - run[=FILE]: one file with all of the run, for `brunt report` [default: brunt-results/…]\n\
    - statsd: StatsD or Datadog's agent [default: localhost:8125]\n\
    - web-dashboard: a live page in the browser, at port 5665; the address with its token is printed";

/// The rows of `run` alone.
pub(crate) static RUN_ONLY: &[Flag] = &[
    Flag::value("out", "TYPE[=ARG]", OUT).short('o').many().env("OUT"),
    Flag {
        takes: Takes::Maybe { name: "ADDRESS", bare: "" },
        ..Flag::switch(
            "ui",
            "Serve the page of the run while it goes on [default: 127.0.0.1:5665]; elsewhere than on loopback with a token; true and false mean the default, and none",
        )
        .env("UI")
    },
    Flag::value("report", "FILE", "Write the page of the run to this file at the end (HTML)")
        .env("REPORT"),
    Flag::value(
        "console-output",
        "FILE",
        "Write the lines of console.log() and its like to this file",
    )
    .env("CONSOLE_OUTPUT"),
    Flag::switch("linger", "Keep the process after the end of the test until Ctrl-C")
        .short('l')
        .env("LINGER"),
    Flag::switch("no-usage-report", "Change nothing: Brunt sends no usage reports")
        .env("NO_USAGE_REPORT")
        .fate(Fate::Nothing),
    Flag::value("features", "LIST", "Turn on these feature flags; `brunt features` lists them")
        .many()
        .env("FEATURES"),
    // Ours.
    Flag::value("workers", "N", "Spread the VUs over N threads [default: one per core]")
        .env("WORKERS"),
    Flag::value("scenario", "NAME", "Run this scenario alone; repeat it for more scenarios").many(),
    Flag::value("set", "KEY=VALUE", "Set any option by its path, such as scenarios.a.rate=50")
        .many(),
    Flag::switch("no-live", "Show progress as k6 does, without the line of requests per second")
        .env("NO_LIVE"),
    Flag::switch(
        "lateness-metric",
        "Add iteration_lateness and iteration_duration_planned, which k6 does not have, to summary and outputs",
    )
    .env("LATENESS_METRIC"),
    Flag::switch(
        "no-generator-metrics",
        "Leave the metrics about the load generator (generator_*) out of outputs",
    )
    .env("NO_GENERATOR_METRICS"),
    Flag::switch("strict", "End with exit code 98 if the verdict on the run is invalid")
        .env("STRICT"),
    Flag::switch("no-routes", "Do not tell requests apart by route, and leave the section REQUESTS out of the summary")
        .env("NO_ROUTES"),
    Flag::value("routes", "FILE", "Take routes from this file, a pattern such as GET /users/{id} each line")
        .env("ROUTES"),
    Flag::value(
        "show-failures",
        "N",
        "Show the N most frequent kinds of failed requests in the summary, each with an example; 0 for none [default: 3]",
    )
    .env("SHOW_FAILURES"),
    Flag::value(
        "label",
        "KEY=VALUE",
        "Put this label into the run file; repeat it for more labels",
    )
    .many(),
    Flag::switch("no-source", "Leave the text of the script out of the run file").env("NO_SOURCE"),
    Flag::value(
        "repeat",
        "N",
        "Run the test N times, one after another; files that it writes get the number of the run",
    ),
    Flag::switch(
        "once",
        "Run each scenario once with one VU, and print each request, response and check",
    ),
    Flag::switch("demo", "Start the demo target in this process; its address is in __ENV.DEMO_URL")
        .env("DEMO"),
];
