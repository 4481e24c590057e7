use brunt_sql::{Driver, Trouble};

use super::{SHARED, connected, dsn};
use crate::support::{exec, on_a_core, open, query};

async fn text_of(dsn: &str) -> String {
    let failure = open(Driver::MySql, dsn).await.unwrap_err();
    assert_eq!(failure.trouble(), Trouble::Connect, "{failure}");
    failure.text().to_owned()
}

#[test]
fn a_login_that_is_refused_has_the_words_of_the_go_driver() {
    on_a_core(async {
        let port = SHARED.server.port();
        let failure = open(Driver::MySql, &format!("brunt:no@tcp(127.0.0.1:{port})/shop")).await;
        let failure = failure.unwrap_err();
        assert!(
            failure.text().starts_with("Error 1045 (28000): Access denied for user 'brunt'@'"),
            "{failure}"
        );
        assert_eq!((failure.code(), failure.number()), ("28000", 1045));
        assert_eq!(
            text_of(&dsn("nowhere", "")).await,
            "Error 1049 (42000): Unknown database 'nowhere'"
        );
        assert_eq!(
            text_of(&dsn("shop", "charset=nothing")).await,
            "Error 1115 (42000): Unknown character set: 'nothing'"
        );
        assert_eq!(
            text_of(&dsn("shop", "nothing=1")).await,
            "Error 1193 (HY000): Unknown system variable 'nothing'"
        );
        assert_eq!(
            text_of(&dsn("shop", "allowNativePasswords=false")).await,
            "this user requires mysql native password authentication"
        );
        assert_eq!(
            text_of("u@tcp(127.0.0.1:3)/").await,
            "dial tcp 127.0.0.1:3: connect: connection refused"
        );
        assert_eq!(
            text_of("u@unix(/nowhere/my.sock)/").await,
            "dial unix /nowhere/my.sock: connect: no such file or directory"
        );
        assert_eq!(text_of("u@carrier(pigeon)/").await, "dial carrier: unknown network carrier");
    });
}

#[test]
fn a_socket_in_the_file_system_will_do() {
    on_a_core(async {
        let socket = SHARED.server.socket().display().to_string();
        let dsn = format!("brunt:pass word/1@unix({socket})/shop");
        let mut it = open(Driver::MySql, &dsn).await.unwrap();
        assert_eq!(query(&mut it, "SELECT DATABASE()", &[]).await.unwrap()[0], ["raw shop"]);
        let url = format!("mysql://brunt:pass%20word%2F1@/shop?socket={socket}");
        let mut it = open(Driver::MySql, &url).await.unwrap();
        assert_eq!(query(&mut it, "SELECT DATABASE()", &[]).await.unwrap()[0], ["raw shop"]);
    });
}

#[test]
fn ed25519_is_spoken() {
    SHARED.server.run(
        "",
        "CREATE USER curve@'%' IDENTIFIED VIA ed25519 USING PASSWORD('geheim'); GRANT ALL ON shop.* TO curve@'%'",
    );
    on_a_core(async {
        let port = SHARED.server.port();
        let dsn = |password| format!("curve:{password}@tcp(127.0.0.1:{port})/shop");
        let mut it = open(Driver::MySql, &dsn("geheim")).await.unwrap();
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap()[0], ["1"]);
        assert!(text_of(&dsn("wrong")).await.starts_with("Error 1045 (28000)"));
    });
}

#[test]
fn tls_is_spoken_as_the_dsn_says() {
    on_a_core(async {
        let port = SHARED.server.port();
        // The last slash of a DSN is the one before the database.
        let authority = SHARED.authority.display().to_string().replace('/', "%2F");
        for (host, params, is_secure) in [
            ("localhost", format!("tls=custom&ssl-ca={authority}"), true),
            ("127.0.0.1", "tls=skip-verify".to_owned(), true),
            ("127.0.0.1", "tls=preferred".to_owned(), true),
            ("127.0.0.1", "tls=false".to_owned(), false),
        ] {
            let dsn = format!("brunt:pass word/1@tcp({host}:{port})/shop?{params}");
            let mut it = open(Driver::MySql, &dsn).await.unwrap();
            let row = query(&mut it, "SHOW STATUS LIKE 'Ssl_cipher'", &[]).await.unwrap();
            assert_eq!(row[0][1].len() > 4, is_secure, "{params}: {row:?}");
            // More than a record of TLS, both ways.
            let long = vec![b'x'; 100_000];
            let row = query(&mut it, "SELECT ?", &[brunt_sql::Cell::Text(&long)]).await.unwrap();
            assert_eq!(row[0][0].len(), 100_004);
            assert!(!it.is_stale());
        }
        let wrong = format!(
            "mysql://brunt:pass%20word%2F1@127.0.0.1:{port}/shop?ssl-mode=VERIFY_IDENTITY&ssl-ca={authority}"
        );
        let text = text_of(&wrong).await;
        assert!(text.starts_with("tls: failed to verify certificate: x509: "), "{text}");
        let text = text_of(&dsn("shop", "tls=true")).await;
        assert!(text.starts_with("tls: failed to verify certificate: x509: "), "{text}");
    });
}

#[test]
fn what_the_dsn_sets_is_set() {
    on_a_core(async {
        let params = "collation=utf8mb4_bin&sql_mode=%27ANSI_QUOTES%27&wait_timeout=77&connectionAttributes=a:b";
        let mut it = connected("shop", params).await;
        let sql =
            "SELECT @@collation_connection, @@sql_mode, @@wait_timeout, @@character_set_client";
        assert_eq!(
            query(&mut it, sql, &[]).await.unwrap()[0],
            ["raw utf8mb4_bin", "raw ANSI_QUOTES", "u77", "raw utf8mb4"]
        );
        let mut it = connected("shop", "charset=nothing,latin1").await;
        let sql = "SELECT @@character_set_client, @@sql_mode = @@global.sql_mode";
        assert_eq!(query(&mut it, sql, &[]).await.unwrap()[0], ["raw latin1", "1"]);
    });
}

#[test]
fn the_compressed_protocol_is_spoken() {
    on_a_core(async {
        let mut it = connected("shop", "compress=true").await;
        let row = query(&mut it, "SHOW STATUS LIKE 'Compression'", &[]).await.unwrap();
        assert_eq!(row[0][1], "raw ON");
        let long = "ab".repeat(10 << 20);
        let cell = brunt_sql::Cell::Text(long.as_bytes());
        for _ in 0..2 {
            let row = query(&mut it, "SELECT ?, 5", &[cell]).await.unwrap();
            assert_eq!((row[0][0].len(), row[0][1].as_str()), ((20 << 20) + 4, "5"));
        }
        let (sent, _) = it.take_bytes();
        assert!(sent < 1 << 20, "{sent} bytes");
        exec(&mut it, "CREATE TEMPORARY TABLE t (a INT)", &[]).await.unwrap();
        let rows = crate::support::args(&(0..1000).map(brunt_sql::Cell::Int).collect::<Vec<_>>());
        it.batch("INSERT INTO t SELECT ?", 1, &rows).await.unwrap();
        it.batch("INSERT INTO t VALUES (?)", 1, &rows).await.unwrap();
        let sum = query(&mut it, "SELECT COUNT(*), SUM(a) FROM t", &[]).await.unwrap();
        assert_eq!(sum[0], ["2000", "raw 999000"]);
    });
}

#[test]
fn too_many_connections_are_told() {
    on_a_core(async {
        let server = brunt_databases::Server::mariadb(&["--max-connections=10"]);
        let mut all = Vec::new();
        let failure = loop {
            match open(Driver::MySql, &server.go_dsn("shop")).await {
                Ok(one) => all.push(one),
                Err(failure) => break failure,
            }
            assert!(all.len() < 20);
        };
        assert!(failure.text().starts_with("Error 1040"), "{failure}");
        assert!(failure.text().ends_with("Too many connections"), "{failure}");
        assert_eq!((failure.code(), failure.trouble()), ("08004", Trouble::Connect));
    });
}
