//! Flags that every command takes.

use super::Flag;

/// The rows, in the order of the help page.
pub(crate) static FLAGS: &[Flag] = &[
    Flag::switch("quiet", "Print no banner, no description and no progress").short('q'),
    Flag::switch("verbose", "Print debug lines too").short('v'),
    Flag::switch("no-color", "Print no colours; NO_COLOR does the same").env("NO_COLOR"),
    Flag::value("config", "FILE", "Read options from this JSON file").short('c').env("CONFIG"),
    Flag::value(
        "log-output",
        "DEST",
        "Write log lines to stderr, stdout, none, loki[=URL] or file=PATH[,level=LEVEL]",
    )
    .env("LOG_OUTPUT"),
    Flag::value("log-format", "FORMAT", "Write log lines as text, json or raw").env("LOG_FORMAT"),
    Flag::value("address", "HOST:PORT", "Serve the REST API here").short('a').env("ADDRESS"),
    Flag::value(
        "secret-source",
        "SPEC",
        "Read secrets from file=PATH, mock=NAME=VALUE,... or url=SETTING=VALUE,...",
    )
    .many()
    .env("SECRET_SOURCE"),
    Flag::switch("profiling-enabled", "Serve profiles of the process").env("PROFILING_ENABLED"),
];
