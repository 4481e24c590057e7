//! The client of MySQL against a real MariaDB.

mod login;
mod statements;
mod values;
mod writing;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use brunt_databases::Server;
use brunt_sql::{Connection, Driver, Failure};

use crate::support::{exec, open};

/// The server of all tests here, and the authority that its certificate comes from.
pub(super) struct Shared {
    pub(super) server: Server,
    pub(super) authority: PathBuf,
}

pub(super) static SHARED: LazyLock<Shared> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!("mariadb-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (authority, certificate, key) =
        (folder.join("ca.pem"), folder.join("cert.pem"), folder.join("key.pem"));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&authority, made.cert.pem()).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = Server::mariadb(&[
        &format!("--ssl-cert={}", certificate.display()),
        &format!("--ssl-key={}", key.display()),
        "--plugin-load-add=auth_ed25519",
        "--max-allowed-packet=64M",
        "--innodb-lock-wait-timeout=1",
    ]);
    server.run("", "GRANT ALL ON *.* TO 'brunt'@'%'");
    Shared { server, authority }
});

/// A database of this test alone.
pub(super) fn database() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("d{}", COUNT.fetch_add(1, Ordering::Relaxed));
    SHARED.server.create(&name);
    name
}

/// A DSN for a database, with parameters.
pub(super) fn dsn(database: &str, params: &str) -> String {
    format!("{}?{params}", SHARED.server.go_dsn(database))
}

pub(super) async fn connected(database: &str, params: &str) -> Connection {
    open(Driver::MySql, &dsn(database, params)).await.unwrap()
}

pub(super) async fn failed(sql: &str, connection: &mut Connection) -> Failure {
    exec(connection, sql, &[]).await.unwrap_err()
}
