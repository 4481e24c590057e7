use std::io;
use std::time::Duration;

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::config::{Config, Driver, Nowhere, TlsMode};

struct Place;

impl Outside for Place {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "MYSQL_PWD").then(|| "from outside".to_owned())
    }

    fn file(&self, path: &str) -> io::Result<String> {
        if path == "missing.pem" {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(format!("the text of {path}"))
    }
}

fn read(dsn: &str) -> Settings {
    Settings::read(dsn, &Nowhere).unwrap_or_else(|why| panic!("{dsn}: {why}"))
}

fn text(dsn: &str) -> String {
    let failure = Settings::read(dsn, &Place).unwrap_err();
    assert_eq!(failure.trouble(), Trouble::Config);
    failure.text().to_owned()
}

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp { host: host.to_owned(), port }
}

#[test]
fn a_dsn_is_read_as_the_go_driver_reads_it() {
    for (dsn, user, password, address, database) in [
        ("", "", "", tcp("127.0.0.1", 3306), ""),
        ("/", "", "", tcp("127.0.0.1", 3306), ""),
        ("@/shop", "", "", tcp("127.0.0.1", 3306), "shop"),
        ("u:p@tcp(db:1234)/shop?x=1", "u", "p", tcp("db", 1234), "shop"),
        ("u:p@tcp(db)/shop", "u", "p", tcp("db", 3306), "shop"),
        ("u:p@(db:1)/shop", "u", "p", tcp("db", 1), "shop"),
        ("u:a@b/c:d@tcp([::1]:1)/shop", "u", "a@b/c:d", tcp("::1", 1), "shop"),
        ("u@tcp([de:ad:be:ef::ca:fe])/x", "u", "", tcp("de:ad:be:ef::ca:fe", 3306), "x"),
        ("u@unix(/tmp/a.sock)/x%2fy", "u", "", Address::Unix("/tmp/a.sock".to_owned()), "x/y"),
        ("unix/", "", "", Address::Unix("/tmp/mysql.sock".to_owned()), ""),
    ] {
        let it = read(dsn);
        let all = (it.user.as_str(), it.password.as_str(), it.address, it.database.as_str());
        assert_eq!(all, (user, password, address, database), "{dsn}");
    }
}

#[test]
fn a_url_is_read() {
    for (url, user, password, address, database) in [
        ("mysql://", "", "", tcp("127.0.0.1", 3306), ""),
        ("mysql://db", "", "", tcp("127.0.0.1", 3306), ""),
        ("MariaDB://u:a%2Fb%40@db:1/shop?parseTime=true", "u", "a/b@", tcp("db", 1), "shop"),
        ("mysql://u:p@[::1]:1/shop", "u", "p", tcp("::1", 1), "shop"),
        ("mysql://u@h/shop?socket=/a.sock", "u", "", Address::Unix("/a.sock".to_owned()), "shop"),
        ("mysql://u@%2Fa.sock/shop", "u", "", Address::Unix("/a.sock".to_owned()), "shop"),
        ("mysql://u:p@tcp(h:1)/shop", "u", "p", tcp("h", 1), "shop"),
    ] {
        let it = read(url);
        if url == "mysql://db" {
            assert_eq!(it.address, tcp("db", 3306));
            continue;
        }
        let all = (it.user.as_str(), it.password.as_str(), it.address, it.database.as_str());
        assert_eq!(all, (user, password, address, database), "{url}");
    }
}

#[test]
fn parameters_are_read() {
    let it = read(
        "/x?parseTime=true&loc=Europe%2FBerlin&charset=utf8mb4,utf8&collation=utf8mb4_bin&timeout=1.5s\
         &readTimeout=2m&maxAllowedPacket=0&connectionAttributes=a:b,c:d&sql_mode=%27ANSI%27&passed\
         &clientFoundRows=1&checkConnLiveness=False&compress=TRUE",
    );
    let options = it.options;
    assert!(options.parse_time && options.client_found_rows && options.compress);
    assert!(!options.check_liveness && options.allow_native_passwords);
    assert_eq!(options.zone, TimeZone::get("Europe/Berlin").unwrap());
    assert_eq!(options.charsets, ["utf8mb4", "utf8"]);
    assert_eq!(options.collation.as_deref(), Some("utf8mb4_bin"));
    assert_eq!(options.timeout, Duration::from_millis(1500));
    assert_eq!((options.read_timeout, options.max_allowed_packet), (Duration::from_mins(2), 0));
    assert_eq!(options.attributes.len(), 2);
    assert_eq!(options.variables, [("sql_mode".to_owned(), "'ANSI'".to_owned())]);
}

#[test]
fn tls_is_what_the_dsn_says() {
    for (dsn, mode) in [
        ("/", TlsMode::Off),
        ("/?tls=false", TlsMode::Off),
        ("/?tls=true", TlsMode::Full),
        ("/?tls=skip-verify", TlsMode::Unchecked),
        ("/?tls=preferred", TlsMode::Preferred),
        ("mysql://h/?ssl-mode=verify_ca", TlsMode::Authority),
        ("mysql://h/?sslmode=require", TlsMode::Unchecked),
        ("mysql://h/?ssl-ca=a.pem", TlsMode::Full),
        ("mysql://h/?ssl-mode=REQUIRED&ssl-ca=a.pem", TlsMode::Unchecked),
    ] {
        assert_eq!(Settings::read(dsn, &Place).unwrap().tls.mode, mode, "{dsn}");
    }
    let it = Settings::read("/?tls=custom&ssl-ca=a&ssl-cert=b&ssl-key=c", &Place).unwrap();
    assert_eq!(it.tls.roots, ["the text of a"]);
    assert_eq!(it.tls.identity.unwrap(), ("the text of b".into(), "the text of c".into()));
}

#[test]
fn what_cannot_be_read_is_refused_in_the_words_of_the_go_driver() {
    for (dsn, why) in [
        ("shop", "invalid DSN: missing the slash separating the database name"),
        ("u:p@tcp(h:1/x", "invalid DSN: network address not terminated (missing closing brace)"),
        ("u:p@tcp(h)x/x", "invalid DSN: did you forget to escape a param value?"),
        ("u:p@127.0.0.1:3306/x", "default addr for network '127.0.0.1:3306' unknown"),
        ("u:geheim/x", "default addr for network 'u:***' unknown"),
        ("/pro%zz", "invalid dbname \"pro%zz\": invalid URL escape \"%zz\""),
        ("/?parseTime=yes", "invalid bool value: yes"),
        ("/?parseTime=", "invalid bool value: "),
        ("/?timeout=5", "time: missing unit in duration \"5\""),
        ("/?loc=Nowhere", "unknown time zone Nowhere"),
        ("/?tls=mine", "invalid value / unknown config name: mine"),
        ("/?maxAllowedPacket=x", "strconv.Atoi: parsing \"x\": invalid syntax"),
        ("/?a=%2", "invalid URL escape \"%2\""),
        (
            "/?interpolateParams=true&charset=gbk",
            "invalid DSN: interpolateParams can not be used with unsafe collations",
        ),
        ("/?sql_mode;DROP=1", "invalid DSN: \"sql_mode;DROP\" is no name of a system variable"),
        ("mysql://u:pa%zz@h/x", "invalid URL: password: invalid URL escape: write % as %25"),
        ("mysql://u:geheim/x", "invalid URL: the port is no number"),
        ("/?ssl-ca=missing.pem", "ssl-ca: missing.pem: entity not found"),
    ] {
        assert_eq!(text(dsn), why, "{dsn}");
    }
    assert!(
        text("/?serverPubKey=missing.pem").starts_with("invalid value / unknown server pub key")
    );
}

#[test]
fn an_address_that_cannot_be_dialed_is_said_when_it_would_be() {
    for (dsn, why) in [
        ("tcp(h:99999)/", "dial tcp: address 99999: invalid port"),
        ("tcp(h:abc)/", "dial tcp: lookup tcp/abc: unknown port"),
        ("carrier(pigeon)/", "dial carrier: unknown network carrier"),
    ] {
        assert_eq!(read(dsn).address, Address::Nowhere(why.to_owned()));
    }
}

#[test]
fn a_password_comes_from_outside_if_the_dsn_has_none_and_is_never_shown() {
    assert_eq!(Settings::read("u@/x", &Place).unwrap().password, "from outside");
    assert_eq!(Settings::read("u:p@/x", &Place).unwrap().password, "p");
    let config = Config::read(Driver::MySql, "u:geheim@/x", &Nowhere).unwrap();
    assert!(!format!("{config:?}").contains("geheim"));
    assert_eq!((config.database(), config.driver()), ("x", Driver::MySql));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(dsn in "[a-z:@/()\\[\\]?&=%+é.0-9]{0,40}") {
        for dsn in [dsn.clone(), format!("mysql://{dsn}"), format!("u:p@tcp(h)/x?{dsn}")] {
            let _ = Settings::read(&dsn, &Place);
        }
    }

    #[test]
    fn a_login_comes_back(user in "[a-z]{1,8}", password in "[a-zA-Z:@/%?#é]{0,12}") {
        let it = read(&format!("{user}:{password}@tcp(h:1)/x?parseTime=true"));
        prop_assert_eq!((&it.user, &it.password), (&user, &password));
        let escaped: Vec<_> = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let escaped = escaped.concat();
        let it = read(&format!("mysql://{user}:{escaped}@h:1/x?parseTime=true"));
        prop_assert_eq!((&it.user, &it.password), (&user, &password));
        prop_assert!(it.options.parse_time);
    }
}
