//! `file.db`, `:memory:`, `file:file.db?mode=ro&cache=shared`, `sqlite:file.db`, with options in the manner of the Go drivers:
//! `?_journal_mode=WAL&_busy_timeout=100`, `?_pragma=busy_timeout(100)`.

use std::num::IntErrorKind;

use jiff::tz::TimeZone;

use crate::failure::{Failure, Trouble};

/// Which file of SQLite, and how it is opened.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The file as SQLite wants it: a path or a URI.
    pub(crate) path: String,
    pub(crate) busy_timeout_ms: i32,
    /// Statements that a new connection runs first.
    pub(crate) pragmas: Vec<String>,
    /// The zone of times that are read; UTC, or as they say, if there is none.
    pub(crate) zone: Option<TimeZone>,
    begin: &'static str,
    database: String,
    /// A fault of the options. It is told by the first connection, as the Go driver does.
    pub(crate) fault: Option<Failure>,
}

/// As the Go driver's.
const BUSY_TIMEOUT_MS: i32 = 5000;

const BOOLEANS: &str = "boolean value of '0 1 false true no yes off on'";
const BOOLEANS_AND_FAST: &str = "boolean value of '0 1 false true no yes off on fast'";

/// An option that becomes a pragma: its names, the last of which messages have; the pragma; what it may be.
struct Option_ {
    names: [&'static str; 2],
    shown: &'static str,
    pragma: &'static str,
    values: Values,
}

enum Values {
    Boolean,
    BooleanOrFast,
    /// One of these, in capitals; the text of the message.
    Words(&'static [&'static str], &'static str),
    Number,
}

const fn flag(name: &'static str, short: &'static str, pragma: &'static str) -> Option_ {
    Option_ { names: [name, short], shown: name, pragma, values: Values::Boolean }
}

/// In the order in which they are set.
const OPTIONS: [Option_; 13] = [
    Option_ {
        names: ["_auto_vacuum", "_vacuum"],
        shown: "_auto_vacuum",
        pragma: "auto_vacuum",
        values: Values::Words(
            &["0", "NONE", "1", "FULL", "2", "INCREMENTAL"],
            "value of '0 NONE 1 FULL 2 INCREMENTAL'",
        ),
    },
    flag("_case_sensitive_like", "_cslike", "case_sensitive_like"),
    flag("_defer_foreign_keys", "_defer_fk", "defer_foreign_keys"),
    flag("_foreign_keys", "_fk", "foreign_keys"),
    flag("_ignore_check_constraints", "", "ignore_check_constraints"),
    Option_ {
        names: ["_journal_mode", "_journal"],
        shown: "_journal",
        pragma: "journal_mode",
        values: Values::Words(
            &["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF"],
            "value of 'DELETE TRUNCATE PERSIST MEMORY WAL OFF'",
        ),
    },
    Option_ {
        names: ["_locking_mode", "_locking"],
        shown: "_locking_mode",
        pragma: "locking_mode",
        // The text of the driver lacks a quote.
        values: Values::Words(&["NORMAL", "EXCLUSIVE"], "value of 'NORMAL EXCLUSIVE"),
    },
    flag("_recursive_triggers", "_rt", "recursive_triggers"),
    Option_ {
        names: ["_secure_delete", ""],
        shown: "_secure_delete",
        pragma: "secure_delete",
        values: Values::BooleanOrFast,
    },
    Option_ {
        names: ["_synchronous", "_sync"],
        shown: "_synchronous",
        pragma: "synchronous",
        values: Values::Words(
            &["0", "OFF", "1", "NORMAL", "2", "FULL", "3", "EXTRA"],
            "value of '0 OFF 1 NORMAL 2 FULL 3 EXTRA'",
        ),
    },
    flag("_writable_schema", "", "writable_schema"),
    Option_ {
        names: ["_cache_size", ""],
        shown: "_cache_size",
        pragma: "cache_size",
        values: Values::Number,
    },
    flag("_query_only", "", "query_only"),
];

impl Settings {
    /// Never an error: a fault of the options is told by the first connection.
    #[expect(clippy::unnecessary_wraps, reason = "the other databases have faults to tell here")]
    pub(super) fn read(dsn: &str) -> Result<Self, Failure> {
        let (path, query) = divided(dsn);
        let database = name(&path);
        let mut settings = Self {
            path,
            busy_timeout_ms: BUSY_TIMEOUT_MS,
            begin: "BEGIN",
            database,
            ..Self::default()
        };
        let pairs: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        if let Err(text) = settings.take(&pairs) {
            settings.fault = Some(Failure::new(Trouble::Config, text));
        }
        Ok(settings)
    }

    fn take(&mut self, pairs: &[(String, String)]) -> Result<(), String> {
        let value = |wanted: &str| {
            let found = pairs.iter().find(|(name, _)| name == wanted && !wanted.is_empty());
            found.map(|(_, value)| value.as_str())
        };
        let filled = |wanted: &str| value(wanted).filter(|value| !value.is_empty());
        if value("_auth").is_some() && filled("_auth_user").is_none() {
            return Err(
                "Missing '_auth_user' while user authentication was requested with '_auth'"
                    .to_owned(),
            );
        }
        if let Some(zone) = filled("_loc") {
            self.zone = Some(read_zone(zone)?);
        }
        if let Some(mutex) = filled("_mutex").filter(|mutex| !matches!(*mutex, "no" | "full")) {
            return Err(format!("Invalid _mutex: {mutex}"));
        }
        self.begin = match filled("_txlock") {
            None | Some("deferred") => "BEGIN",
            Some("immediate") => "BEGIN IMMEDIATE",
            Some("exclusive") => "BEGIN EXCLUSIVE",
            Some(other) => return Err(format!("Invalid _txlock: {other}")),
        };
        if let Some(text) = filled("_busy_timeout").or_else(|| filled("_timeout")) {
            let ms = read_number("_busy_timeout", text)?;
            self.busy_timeout_ms = i32::try_from(ms.max(0)).unwrap_or(i32::MAX);
        }
        for option in &OPTIONS {
            let text = filled(option.names[0]).or_else(|| filled(option.names[1]));
            let value = match (text, option.pragma) {
                (Some(text), _) => option.read(text)?,
                // Our build of SQLite has other defaults than the driver.
                (None, "foreign_keys") => "0".to_owned(),
                (None, "synchronous") => "NORMAL".to_owned(),
                (None, _) => continue,
            };
            self.pragmas.push(format!("PRAGMA {} = {value}", option.pragma));
        }
        for (_, text) in pairs.iter().filter(|(name, _)| name == "_pragma") {
            self.pragma(text)?;
        }
        Ok(())
    }

    /// `busy_timeout(100)` or `busy_timeout=100`, as other Go drivers have it.
    fn pragma(&mut self, text: &str) -> Result<(), String> {
        let wrong = || format!("Invalid _pragma: {text}, expecting name(value)");
        let (name, value) = match text.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').ok_or_else(wrong)?),
            None => text.split_once('=').unwrap_or((text, "")),
        };
        let is_word = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-+ '".contains(&byte))
        };
        let name = name.trim();
        if name.is_empty() || !is_word(name) || !is_word(value) {
            return Err(wrong());
        }
        if name.eq_ignore_ascii_case("busy_timeout") {
            let ms = read_number("_pragma", value.trim())?;
            self.busy_timeout_ms = i32::try_from(ms.max(0)).unwrap_or(i32::MAX);
        } else if value.is_empty() {
            self.pragmas.push(format!("PRAGMA {name}"));
        } else {
            self.pragmas.push(format!("PRAGMA {name} = {value}"));
        }
        Ok(())
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    /// The statement that begins a transaction of `db.tx`: `_txlock` has it begin at once with a lock.
    pub fn begin(&self) -> &'static str {
        if self.begin.is_empty() { "BEGIN" } else { self.begin }
    }
}

impl Option_ {
    fn read(&self, text: &str) -> Result<String, String> {
        let wrong =
            |expected: &str| Err(format!("Invalid {}: {text}, expecting {expected}", self.shown));
        let lower = text.to_ascii_lowercase();
        let boolean = match lower.as_str() {
            "0" | "no" | "false" | "off" => Some("0"),
            "1" | "yes" | "true" | "on" => Some("1"),
            _ => None,
        };
        match self.values {
            Values::Boolean => {
                boolean.map_or_else(|| wrong(BOOLEANS), |value| Ok(value.to_owned()))
            }
            Values::BooleanOrFast if lower == "fast" => Ok("FAST".to_owned()),
            Values::BooleanOrFast => {
                boolean.map_or_else(|| wrong(BOOLEANS_AND_FAST), |value| Ok(value.to_owned()))
            }
            Values::Words(words, expected) => {
                let upper = text.to_ascii_uppercase();
                if words.contains(&upper.as_str()) { Ok(upper) } else { wrong(expected) }
            }
            Values::Number => read_number(self.shown, text).map(|number| number.to_string()),
        }
    }
}

fn read_number(name: &str, text: &str) -> Result<i64, String> {
    text.parse::<i64>().map_err(|error| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("Invalid {name}: {text}: strconv.ParseInt: parsing {text:?}: {why}")
    })
}

fn read_zone(name: &str) -> Result<TimeZone, String> {
    match name {
        "auto" => Ok(TimeZone::system()),
        "UTC" => Ok(TimeZone::UTC),
        _ => TimeZone::get(name)
            .map_err(|_| format!("Invalid _loc: {name}: unknown time zone {name}")),
    }
}

/// The path for SQLite, and the options. A URL of ours becomes a path; parameters that SQLite reads itself make it a URI.
fn divided(dsn: &str) -> (String, &str) {
    let of_url = ["sqlite3:", "sqlite:"].iter().find_map(|scheme| {
        let head = dsn.get(..scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then(|| &dsn[scheme.len()..])
    });
    let Some(rest) = of_url else {
        // As the Go driver: a question mark in front is a part of the name.
        return match dsn.find('?').filter(|at| *at > 0) {
            Some(at) if dsn.starts_with("file:") => (dsn.to_owned(), &dsn[at + 1..]),
            Some(at) => (dsn[..at].to_owned(), &dsn[at + 1..]),
            None => (dsn.to_owned(), ""),
        };
    };
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_uri = url::form_urlencoded::parse(query.as_bytes())
        .any(|(name, _)| matches!(&*name, "mode" | "cache" | "immutable" | "vfs" | "nolock"));
    if !is_uri || path.starts_with("file:") {
        return (path.to_owned(), query);
    }
    let escaped = path.replace('%', "%25").replace('#', "%23");
    (format!("file:{escaped}?{query}"), query)
}

/// The name of a file without its folders.
fn name(path: &str) -> String {
    let plain = path.strip_prefix("file:").unwrap_or(path);
    let plain = plain.split('?').next().unwrap_or_default();
    match plain.rsplit('/').next().unwrap_or_default() {
        "" => ":memory:".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dsn: &str) -> Settings {
        Settings::read(dsn).unwrap()
    }

    fn fault(query: &str) -> String {
        read(&format!("file:a.db?{query}")).fault.unwrap().to_string()
    }

    #[test]
    fn paths_are_those_of_the_go_driver_and_urls_are_paths() {
        for (dsn, path, name) in [
            ("a.db", "a.db", "a.db"),
            ("/b/a.db?_fk=1", "/b/a.db", "a.db"),
            (":memory:", ":memory:", ":memory:"),
            ("", "", ":memory:"),
            ("?a", "?a", ":memory:"),
            ("file:x/a.db?mode=ro", "file:x/a.db?mode=ro", "a.db"),
            ("file::memory:?cache=shared", "file::memory:?cache=shared", ":memory:"),
            ("sqlite:a.db", "a.db", "a.db"),
            ("sqlite:///b/a.db", "/b/a.db", "a.db"),
            ("sqlite3://a.db?_fk=1", "a.db", "a.db"),
            ("SQLITE:a.db?mode=ro", "file:a.db?mode=ro", "a.db"),
            ("sqlite::memory:", ":memory:", ":memory:"),
        ] {
            let settings = read(dsn);
            assert_eq!((settings.path.as_str(), settings.database()), (path, name), "{dsn}");
            assert_eq!(settings.fault, None);
        }
    }

    #[test]
    fn options_become_pragmas() {
        let settings = read("a.db?_journal=wal&_fk=on&_sync=2&_cache_size=-5000&_timeout=100");
        assert_eq!(settings.busy_timeout_ms, 100);
        assert_eq!(
            settings.pragmas,
            [
                "PRAGMA foreign_keys = 1",
                "PRAGMA journal_mode = WAL",
                "PRAGMA synchronous = 2",
                "PRAGMA cache_size = -5000"
            ]
        );
        assert_eq!(
            read("a.db").pragmas,
            ["PRAGMA foreign_keys = 0", "PRAGMA synchronous = NORMAL"]
        );
        let more =
            read("a.db?_pragma=busy_timeout(300)&_pragma=journal_mode=WAL&_txlock=immediate");
        assert_eq!((more.busy_timeout_ms, more.begin()), (300, "BEGIN IMMEDIATE"));
        assert_eq!(more.pragmas.last().unwrap(), "PRAGMA journal_mode = WAL");
    }

    #[test]
    fn faults_have_the_texts_of_the_go_driver() {
        for (query, text) in [
            (
                "_busy_timeout=x",
                r#"Invalid _busy_timeout: x: strconv.ParseInt: parsing "x": invalid syntax"#,
            ),
            (
                "_fk=x",
                "Invalid _foreign_keys: x, expecting boolean value of '0 1 false true no yes off on'",
            ),
            (
                "_journal_mode=x",
                "Invalid _journal: x, expecting value of 'DELETE TRUNCATE PERSIST MEMORY WAL OFF'",
            ),
            ("_locking=x", "Invalid _locking_mode: x, expecting value of 'NORMAL EXCLUSIVE"),
            (
                "_vacuum=x",
                "Invalid _auto_vacuum: x, expecting value of '0 NONE 1 FULL 2 INCREMENTAL'",
            ),
            ("_loc=Nowhere", "Invalid _loc: Nowhere: unknown time zone Nowhere"),
            ("_txlock=x", "Invalid _txlock: x"),
            ("_mutex=x", "Invalid _mutex: x"),
            ("_auth", "Missing '_auth_user' while user authentication was requested with '_auth'"),
            ("_pragma=a(1);drop", "Invalid _pragma: a(1);drop, expecting name(value)"),
        ] {
            assert_eq!(fault(query), text);
        }
        assert_eq!(read("a.db?_nothing=1&nothing").fault, None);
    }
}
