//! Any text as a DSN of each driver, and as a URL.
//!
//! Nothing panics, a fault has a text, and no password is in it, nor in the value of the tag `db`.
#![no_main]

use brunt_sql::config::Nowhere;
use brunt_sql::{Config, Driver};
use libfuzzer_sys::fuzz_target;

const PASSWORD: &str = "hunter2";

fuzz_target!(|input: &[u8]| {
    let Ok(dsn) = std::str::from_utf8(input) else { return };
    let read = Driver::ALL.iter().map(|driver| Config::read(*driver, dsn, &Nowhere));
    for config in read.chain([Config::of_url(dsn, &Nowhere)]) {
        match config {
            Ok(config) => {
                let _ = config.network(&brunt_net::Settings::default());
                assert!(config.database().len() <= 3 * dsn.len() + 16);
            }
            Err(failure) => assert!(!failure.text().is_empty()),
        }
    }
    // A whole URL around it: its password is never told.
    if dsn.len() < 40 && !dsn.contains(PASSWORD) {
        for url in [
            format!("mysql://user:{PASSWORD}@host/{dsn}"),
            format!("postgres://user:{PASSWORD}@host/{dsn}"),
            format!("postgres://user:{PASSWORD}@host:5432/db?{dsn}"),
        ] {
            match Config::of_url(&url, &Nowhere) {
                Ok(config) => assert!(!config.database().contains(PASSWORD), "{url}"),
                Err(failure) => assert!(!failure.text().contains(PASSWORD), "{url}: {failure}"),
            }
        }
        let go = format!("user:{PASSWORD}@tcp(host:3306)/{}", dsn.replace(['/', '@'], ""));
        if let Err(failure) = Config::read(Driver::MySql, &go, &Nowhere) {
            assert!(!failure.text().contains(PASSWORD), "{go}: {failure}");
        }
    }
});
