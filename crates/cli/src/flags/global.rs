//! Flags that every command takes.

use super::Flag;

/// The rows, in the order of the help page.
pub(crate) static FLAGS: &[Flag] = &[
    Flag::switch("quiet", "Print neither banner nor description nor progress").short('q'),
    Flag::switch("verbose", "Log debug lines too").short('v'),
    Flag::switch("no-color", "Print without colours; the variable NO_COLOR does the same").env("NO_COLOR"),
    Flag::value("config", "FILE", "Read options from this JSON file [default: $XDG_CONFIG_HOME/brunt/config.json]").short('c').env("CONFIG"),
    Flag::value(
        "log-output",
        "DEST",
        "Write the log to stderr, stdout, none, loki[=URL] or file=PATH[,level=LEVEL] [default: stderr]",
    )
    .env("LOG_OUTPUT"),
    Flag::value("log-format", "FORMAT", "Write log lines as text, json or raw [default: text]").env("LOG_FORMAT"),
    Flag::value("address", "HOST:PORT", "Serve the REST API of a run at this address").short('a').env("ADDRESS"),
    Flag::value(
        "secret-source",
        "SPEC",
        "Read secrets from file=PATH, mock=NAME=VALUE,... or url=SETTING=VALUE,...",
    )
    .many()
    .env("SECRET_SOURCE"),
    Flag::switch("profiling-enabled", "Serve profiles of the process at --address, under /debug/pprof/").env("PROFILING_ENABLED"),
];
