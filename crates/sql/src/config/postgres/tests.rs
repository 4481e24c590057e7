use std::io;

use proptest::prelude::*;

use super::*;
use crate::config::TlsMode;

/// Variables and files that were laid out.
struct Laid(&'static [(&'static str, &'static str)]);

impl Outside for Laid {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn file(&self, path: &str) -> io::Result<String> {
        self.variable(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn read(dsn: &str) -> Settings {
    Settings::read(dsn, &Laid(&[])).unwrap()
}

/// Hosts, user, password, database in one text.
fn shown(it: &Settings) -> String {
    let hosts: Vec<_> = it.hosts.iter().map(Host::shown).collect();
    format!("{} {} {} {}", hosts.join("+"), it.user, it.password, it.database)
}

fn refusal(dsn: &str) -> String {
    Settings::read(dsn, &Laid(&[])).unwrap_err().text().to_owned()
}

#[test]
fn urls_and_pairs_say_the_same() {
    for (dsn, expected) in [
        ("postgres://u:p%20w%2F1@h:1/d", "tcp h:1 u p w/1 d"),
        ("host=h port=1 user=u password='p w/1' dbname=d", "tcp h:1 u p w/1 d"),
        ("host = h  port= 1 user =u password=p\\ w/1 dbname='d'", "tcp h:1 u p w/1 d"),
        ("user=u password='it\\'s \\\\' dbname=''", "tcp localhost:5432 u it's \\ u"),
        ("postgresql://u@[::1]:7/d", "tcp [::1]:7 u  d"),
        ("postgres://u@a:1,b:2/d?password=x%26y", "tcp a:1+tcp b:2 u x&y d"),
        ("host=a,b port=9 user=u", "tcp a:9+tcp b:9 u  u"),
        ("host=/run/pg port=9 user=u dbname=d", "unix /run/pg/.s.PGSQL.9 u  d"),
        ("postgres://u@/d?host=%2Frun&host=/other", "unix /other/.s.PGSQL.5432 u  d"),
        ("user=a user=b", "tcp localhost:5432 b  b"),
        ("", "tcp localhost:5432 root  root"),
    ] {
        assert_eq!(shown(&read(dsn)), expected, "{dsn}");
    }
    assert_eq!(read("host=/run/pg").socket().unwrap(), "/run/pg/.s.PGSQL.5432");
}

#[test]
fn the_mode_of_tls_is_required_unless_the_dsn_says_otherwise() {
    for (text, mode) in [
        ("", TlsMode::Unchecked),
        ("sslmode=''", TlsMode::Unchecked),
        ("sslmode=disable", TlsMode::Off),
        ("sslmode=prefer", TlsMode::Preferred),
        ("sslmode=verify-ca", TlsMode::Authority),
        ("sslmode=verify-full", TlsMode::Full),
        ("sslrootcert='PEM' sslinline=true", TlsMode::Authority),
    ] {
        assert_eq!(read(text).tls.mode, mode, "{text}");
    }
    let laid = Laid(&[("/ca", "CA"), ("/cert", "CERT"), ("/key", "KEY")]);
    let dsn = "sslmode=verify-full sslrootcert=/ca sslcert=/cert sslkey=/key";
    let tls = Settings::read(dsn, &laid).unwrap().tls;
    assert_eq!(tls.roots, ["CA"]);
    assert_eq!(tls.identity, Some(("CERT".to_owned(), "KEY".to_owned())));
    assert!(refusal(dsn).starts_with("sslrootcert /ca: "));
}

#[test]
fn other_pairs_go_to_the_server() {
    let it = read("user=u search_path=a,b options='-c x=1' sslsni=1 connect_timeout=3");
    let shown: Vec<_> =
        it.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(shown, ["search_path=a,b", "options=-c x=1", "application_name=brunt"]);
    assert_eq!(it.connect_timeout.as_secs(), 3);
}

#[test]
fn the_environment_fills_what_is_missing() {
    let laid = Laid(&[
        ("PGHOST", "e"),
        ("PGUSER", "eu"),
        ("PGPASSFILE", "/pass"),
        ("PGTZ", "UTC"),
        ("/pass", "# x\nh:*:d:u:on\\:e\ne:*:*:eu:two"),
    ]);
    assert_eq!(shown(&Settings::read("", &laid).unwrap()), "tcp e:5432 eu two eu");
    let it = Settings::read("host=h user=u dbname=d", &laid).unwrap();
    assert_eq!(shown(&it), "tcp h:5432 u on:e d");
    assert!(it.parameters.contains(&("timezone".to_owned(), "UTC".to_owned())));
}

#[test]
fn faults_have_the_words_of_the_go_driver() {
    for (dsn, text) in [
        ("probe", "missing \"=\" after \"probe\" in connection info string"),
        ("password='x", "unterminated quoted string literal in connection string"),
        (
            "sslmode=nothing",
            "pq: wrong value for \"sslmode\": \"nothing\" is not supported; supported values are disable, allow, prefer, require, verify-full, or verify-ca",
        ),
        (
            "connect_timeout=x",
            "pq: wrong value for \"connect_timeout\": strconv.ParseInt: parsing \"x\": invalid syntax",
        ),
        (
            "binary_parameters=x",
            "pq: wrong value for \"binary_parameters\": strconv.ParseBool: parsing \"x\": invalid syntax",
        ),
        (
            "client_encoding=LATIN1",
            "pq: unsupported client_encoding \"LATIN1\": must be absent or \"UTF8\"",
        ),
        (
            "datestyle=German",
            "pq: unsupported datestyle \"German\": must be absent or \"ISO, MDY\"",
        ),
    ] {
        assert_eq!(refusal(dsn), text);
    }
    for dsn in
        ["postgres://u:geheim%zz@h/d", "postgres://u:geheim/x@h/d", "postgres://u:p@h:99999/d"]
    {
        assert!(!refusal(dsn).contains("geheim"));
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text: String, rest in "[a-z=' \\\\%@:/?&,]{0,40}") {
        let outside = Laid(&[]);
        for dsn in [&text, &rest, &format!("postgres://{rest}"), &format!("postgresql://{text}")] {
            let _ = Settings::read(dsn, &outside);
        }
    }

    #[test]
    fn any_value_can_be_quoted(value in "\\PC{1,20}") {
        let quoted = value.replace('\\', "\\\\").replace('\'', "\\'");
        prop_assert_eq!(read(&format!("user=u password='{quoted}'")).password, value.clone());
        let encoded: Vec<_> = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let encoded = encoded.concat();
        prop_assert_eq!(read(&format!("postgres://u:{encoded}@h/")).password, value);
    }
}
