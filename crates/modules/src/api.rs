//! The built-in modules of k6, by the names that scripts import them by. A new one is its folder, a line and an
//! import here, and its `mod` in `lib.rs`.

use crate::globals::web::{jslib_form, streams};
use crate::module::Module;
use crate::{
    brunt_data, crypto, csv, data, dns, encoding, execution, faker, fs, grpc, html, http, icmp, k6,
    metrics, mqtt, redis, secrets, sql, tcp, timers, websockets, ws,
};

/// All of them; their [`Module::specifier`]s are the names.
pub(crate) static MODULES: &[&dyn Module] = &[
    &k6::Exports,
    &http::Exports,
    &metrics::Exports,
    &data::Exports,
    &brunt_data::Exports,
    &streams::Exports,
    &jslib_form::FIRST,
    &jslib_form::LATEST,
    &execution::Exports,
    &encoding::Exports,
    &crypto::Exports,
    &html::Exports,
    &crypto::x509::Exports,
    &secrets::Exports,
    &timers::Exports,
    &fs::Exports,
    &csv::Exports,
    &ws::Exports,
    &websockets::Exports,
    &grpc::Exports,
    &dns::Exports,
    &faker::Exports,
    &icmp::Exports,
    &mqtt::Exports,
    &tcp::Exports,
    &redis::Exports,
    &sql::Exports,
    &sql::driver::MYSQL,
    &sql::driver::POSTGRES,
    &sql::driver::SQLITE,
    &http::fasthttp::Exports,
];

/// The old name of `k6/websockets`; whoever imports it is told once.
pub(crate) const OLD_WEBSOCKETS: &str = "k6/experimental/websockets";

/// Names of before, and the modules that they stand for now.
const RENAMED: &[(&str, &str)] = &[
    // These moved out of `experimental` without a change.
    ("k6/experimental/timers", "k6/timers"),
    (OLD_WEBSOCKETS, "k6/websockets"),
    // It was there before streams came to the other.
    ("k6/experimental/grpc", "k6/net/grpc"),
    // As it was called in k6 1.
    ("k6/experimental/redis", "k6/x/redis"),
];

/// Modules of k6 that are not here, or that k6 has removed: what to do instead.
const GONE: &[(&str, &str)] = &[
    ("k6/browser", "is not supported yet: it drives a browser, and there is none in Brunt"),
    (
        "k6/experimental/browser",
        "has been removed from k6, which has it as k6/browser now; that is not supported yet",
    ),
    (
        "k6/experimental/tracing",
        "has been removed from k6: import \
         https://jslib.k6.io/http-instrumentation-tempo/1.0.1/index.js instead, which has the same functions",
    ),
    (
        "k6/x/sql/driver/ramsql",
        "is not supported: for a database in memory import k6/x/sql/driver/sqlite3 and open \":memory:\"",
    ),
    (
        "k6/x/sql/driver/clickhouse",
        "is not supported: ClickHouse speaks MySQL's protocol, too, on port 9004: import k6/x/sql/driver/mysql",
    ),
    ("k6/x/sql/driver/sqlserver", NO_DRIVER),
    ("k6/x/sql/driver/azuresql", NO_DRIVER),
    (
        "k6/experimental/webcrypto",
        "has been removed from k6: it is the global `crypto` of every script now: take the import away",
    ),
];

const NO_DRIVER: &str = "is not supported: Brunt speaks with MySQL and MariaDB (k6/x/sql/driver/mysql), PostgreSQL \
                         (k6/x/sql/driver/postgres) and SQLite (k6/x/sql/driver/sqlite3)";

/// The modules that scripts can import by name. Libraries are imported by their address.
pub(crate) fn importable() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|module| module.specifier()).filter(|name| !name.starts_with("k6/jslib/"))
}

/// The module of a name.
///
/// # Errors
/// A sentence for the user: there is none, or not yet.
pub(crate) fn module(specifier: &str) -> Result<&'static dyn Module, String> {
    let renamed = RENAMED.iter().find(|(before, _)| *before == specifier);
    let name = renamed.map_or(specifier, |(_, now)| now);
    if let Some(module) = MODULES.iter().find(|module| module.specifier() == name) {
        return Ok(*module);
    }
    if let Some((_, instead)) = GONE.iter().find(|(gone, _)| *gone == specifier) {
        return Err(format!("the module \"{specifier}\" {instead}"));
    }
    Err(unknown(specifier))
}

/// The message about an import that leads to none of [`MODULES`].
fn unknown(specifier: &str) -> String {
    let is_extension = |name: &&str| name.starts_with("k6/x/");
    let all = importable();
    if let Some(driver) = specifier.strip_prefix("k6/x/sql/driver/") {
        let meant = brunt_spelling::question(specifier, importable());
        let meant = meant.map_or(String::new(), |meant| format!("; {meant}"));
        return format!("the driver \"{driver}\" {NO_DRIVER}{meant}");
    }
    let what = if is_extension(&specifier) {
        format!(
            "the module \"{specifier}\" is an extension of k6 that is not supported yet; extensions written in Go can't be \
             loaded into Brunt"
        )
    } else {
        format!("unknown module: \"{specifier}\"")
    };
    if let Some(meant) = brunt_spelling::question(specifier, importable()) {
        return format!("{what}; {meant}");
    }
    let known: Vec<_> =
        if is_extension(&specifier) { all.filter(is_extension).collect() } else { all.collect() };
    format!("{what}; these are built in: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_modules_share_a_name() {
        let mut names: Vec<_> = MODULES.iter().map(|module| module.specifier()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), MODULES.len());
    }

    #[test]
    fn names_of_before_lead_to_modules() {
        for (before, now) in RENAMED {
            let found = module(before).map(Module::specifier);
            assert_eq!(found, Ok(*now), "{before}");
        }
    }
}
