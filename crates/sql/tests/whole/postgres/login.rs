use brunt_sql::{Config, Driver, Failure, Trouble};

use super::{SHARED, connected, dsn};
use crate::support::{Files, on_a_core, open, query};

async fn refusal(dsn: &str) -> Failure {
    open(Driver::Postgres, dsn).await.unwrap_err()
}

#[test]
fn each_way_to_log_in_is_known() {
    on_a_core(async {
        for user in ["hashed", "open", "trusted", "naked"] {
            let pairs = format!("user={user} password=geheim");
            let mut it = connected("shop", &pairs).await;
            assert_eq!(
                query(&mut it, "SELECT current_user::text", &[]).await.unwrap()[0][0],
                format!("text {user}")
            );
        }
        let url = SHARED.server.url("shop");
        let mut it = open(Driver::Postgres, &url).await.unwrap();
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]]);
        for user in ["brunt", "hashed", "open"] {
            let failure = refusal(&dsn("shop", &format!("user={user} password=falsch"))).await;
            let text = format!("pq: password authentication failed for user \"{user}\" (28P01)");
            assert_eq!((failure.text(), failure.code()), (text.as_str(), "28P01"));
            assert_eq!(failure.trouble(), Trouble::Connect);
        }
        let failure = refusal(&dsn("nowhere", "")).await;
        assert_eq!(failure.text(), "pq: database \"nowhere\" does not exist (3D000)");
    });
}

#[test]
fn a_socket_in_the_file_system_is_a_host() {
    on_a_core(async {
        let folder = SHARED.server.socket().display().to_string();
        let mut it = connected("shop", &format!("host={folder} user=admin")).await;
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]]);
        let encoded = folder.replace('/', "%2F");
        let url = format!("postgres://admin@/shop?host={encoded}&port={}", SHARED.server.port());
        let mut it = open(Driver::Postgres, &url).await.unwrap();
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]]);
        let failure = refusal("host=/nowhere user=a sslmode=disable").await;
        assert_eq!(
            failure.text(),
            "dial unix /nowhere/.s.PGSQL.5432: connect: no such file or directory"
        );
    });
}

#[test]
fn tls_is_spoken_as_the_mode_says() {
    on_a_core(async {
        let is_secure = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let roots = format!("host=localhost sslrootcert={}", SHARED.authority.display());
        let full = format!("{roots} sslmode=verify-full");
        for (pairs, expected) in [
            ("sslmode=disable", false),
            ("sslmode=allow", false),
            ("sslmode=prefer", true),
            ("sslmode=require", true),
            ("sslmode=''", true),
            ("sslmode=allow user=secure password=geheim", true),
            ("sslmode=prefer user=naked password=geheim", false),
            (&full, true),
        ] {
            let mut it = connected("shop", pairs).await;
            let rows = query(&mut it, is_secure, &[]).await.unwrap();
            assert_eq!(rows, [[format!("bool {expected}")]], "{pairs}");
        }
        let failure = refusal(&dsn("shop", "host=localhost sslmode=verify-full")).await;
        assert!(failure.text().contains("certificate"), "{failure}");
        let failure = refusal(&dsn("shop", "user=secure password=geheim")).await;
        assert!(failure.text().contains("pg_hba.conf rejects connection"), "{failure}");
    });
}

#[test]
fn other_pairs_are_parameters_of_the_session() {
    on_a_core(async {
        let pairs = "search_path=a,b timezone=Europe/Berlin options='-c statement_timeout=7s' fallback_application_name=me";
        let mut it = connected("shop", pairs).await;
        for (name, expected) in [
            ("search_path", "a, b"),
            ("TimeZone", "Europe/Berlin"),
            ("statement_timeout", "7s"),
            ("application_name", "me"),
            ("client_encoding", "UTF8"),
        ] {
            let shown = query(&mut it, &format!("SHOW {name}"), &[]).await.unwrap();
            assert_eq!(shown[0][0].replace("a,b", "a, b"), format!("text {expected}"));
        }
        let failure = refusal(&dsn("shop", "nothing=1")).await;
        assert_eq!(failure.text(), "pq: unrecognized configuration parameter \"nothing\" (42704)");
    });
}

#[test]
fn the_first_host_that_serves_is_taken() {
    on_a_core(async {
        let port = SHARED.server.port();
        let pairs =
            format!("host=127.0.0.1,127.0.0.1 port=1,{port} target_session_attrs=read-write");
        let mut it = connected("shop", &pairs).await;
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]]);
        let failure = refusal(&dsn("shop", "target_session_attrs=standby")).await;
        assert!(failure.text().contains("target_session_attrs"), "{failure}");
        let failure = refusal(&dsn("shop", "port=1")).await;
        assert_eq!(failure.text(), "dial tcp 127.0.0.1:1: connect: connection refused");
    });
}

#[test]
fn passwords_are_in_no_text() {
    on_a_core(async {
        for text in [
            "geheim",
            "postgres://u:geheim%zz@h/d",
            "postgres://u:geheim/@h/d",
            "password=geheim host",
            "password='geheim",
        ] {
            match Config::read(Driver::Postgres, text, &Files) {
                Ok(config) => assert!(!format!("{config:?}").contains("geheim")),
                Err(failure) if text != "geheim" => {
                    assert!(!failure.text().contains("geheim"), "{failure}");
                }
                Err(_) => {}
            }
        }
        let failure = refusal(&dsn("shop", "user=hashed password=geheimnis")).await;
        assert!(!format!("{failure:?}").contains("geheimnis"));
    });
}
