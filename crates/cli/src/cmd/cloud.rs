//! `brunt cloud`, `brunt login`: there is no cloud behind Brunt, and what to do instead.

use clap::ArgMatches;

use crate::failure::Failure;

/// The failure of such a call. Exit code 255.
pub(super) fn failure(name: &str, matches: &ArgMatches) -> Failure {
    let mut words = matches.get_many::<String>("anything").into_iter().flatten();
    let verb = words.find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let (message, hint) = match (name, verb) {
        ("login", "influxdb") => (
            "brunt login influxdb does nothing: no password is kept".to_owned(),
            "give K6_INFLUXDB_USERNAME and K6_INFLUXDB_PASSWORD to brunt run --out influxdb",
        ),
        ("login", _) | (_, "login") => (
            "there is no cloud behind Brunt, and so nothing to log in to".to_owned(),
            "run the test here with brunt run",
        ),
        (_, "run") => (
            "brunt cloud run: there is no cloud behind Brunt".to_owned(),
            "brunt run takes the same script and flags and runs it here; more machines share a test with \
             --execution-segment",
        ),
        (_, "upload") => (
            "brunt cloud upload: there is no cloud behind Brunt".to_owned(),
            "brunt archive puts the test into one file, which brunt run runs anywhere",
        ),
        (_, "project" | "test" | "load-zone") => (
            format!("brunt cloud {verb}: there is no cloud behind Brunt, and so nothing to list"),
            "k6 cloud lists what is in Grafana Cloud",
        ),
        _ => (
            "there is no cloud behind Brunt".to_owned(),
            "run the test here with brunt run; --out sends its samples to a database of your own",
        ),
    };
    Failure::usage(message).hint(hint)
}
