//! Flags that say how to run, not what: no script can set them.

use super::{Fate, Flag};

/// The rows that `run` and `inspect` share, in the order of the help page.
pub(crate) static FLAGS: &[Flag] = &[
    Flag::value("env", "NAME=VALUE", "Set __ENV.NAME in the script").short('e').many(),
    Flag::switch(
        "include-system-env-vars",
        "Show the environment to the script in __ENV (on for run, off for inspect)",
    )
    .env("INCLUDE_SYSTEM_ENV_VARS"),
    Flag::value("compatibility-mode", "MODE", "Set up JavaScript's globals: extended or base")
        .env("COMPATIBILITY_MODE"),
    Flag::switch("no-remote-modules", "Import nothing from https:// addresses")
        .env("NO_REMOTE_MODULES"),
    // Ours.
    Flag::switch(
        "no-builtin-jslib",
        "Fetch libraries of jslib.k6.io, even those that are built in",
    )
    .env("NO_BUILTIN_JSLIB"),
    Flag::value("type", "TYPE", "Say what the file is: js or archive").short('t').env("TYPE"),
    Flag::switch("no-thresholds", "Neither read nor check thresholds").env("NO_THRESHOLDS"),
    Flag::value("summary-mode", "MODE", "Show the summary compact, full, legacy or disabled")
        .env("SUMMARY_MODE"),
    Flag::switch("no-summary", "The same as --summary-mode=disabled").env("NO_SUMMARY"),
    Flag::value("summary-export", "FILE", "Write the summary as JSON").env("SUMMARY_EXPORT"),
    Flag::switch(
        "new-machine-readable-summary",
        "Use the new shape of the summary for --summary-export and handleSummary()",
    )
    .env("NEW_MACHINE_READABLE_SUMMARY"),
    Flag::value("traces-output", "DEST", "Send traces here: none, or otel[=host:port]")
        .env("TRACES_OUTPUT"),
];

/// The rows of `run` alone.
pub(crate) static RUN_ONLY: &[Flag] = &[
    Flag::value("out", "TYPE[=ARG]", "Send results to csv, experimental-prometheus-rw, influxdb, json, opentelemetry, statsd or web-dashboard; such as json=FILE")
        .short('o')
        .many()
        .env("OUT"),
    Flag::value("console-output", "FILE", "Write what console.* says to this file")
        .env("CONSOLE_OUTPUT"),
    Flag::switch("linger", "Stay after the end until Ctrl-C").short('l').env("LINGER"),
    Flag::switch("no-usage-report", "Accepted for k6's sake: Brunt never sends anything anywhere")
        .env("NO_USAGE_REPORT")
        .fate(Fate::Nothing),
    Flag::value("features", "LIST", "Turn on feature flags").many().env("FEATURES"),
    // Ours.
    Flag::value("workers", "N", "Spread the VUs over so many threads; default: one per core")
        .env("WORKERS"),
    Flag::value("scenario", "NAME", "Run this scenario alone; may be repeated").many(),
    Flag::value("set", "KEY=VALUE", "Set an option by its path, such as scenarios.a.rate=50")
        .many(),
    Flag::switch("no-live", "Show progress on a terminal as k6 does, without the line of requests/s")
        .env("NO_LIVE"),
    Flag::switch(
        "lateness-metric",
        "Show iteration_lateness, which k6 does not have, in the summary and to outputs",
    )
    .env("LATENESS_METRIC"),
    Flag::switch("once", "Run each scenario once with one VU, and show each request and check"),
    Flag::switch("demo", "Start the demo target inside; its address is __ENV.DEMO_URL").env("DEMO"),
];
