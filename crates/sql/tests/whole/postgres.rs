//! The client of PostgreSQL against a real one.

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
    let server = Server::postgres(&["deadlock_timeout=50ms"]);
    let (folder, data) = (server.folder().to_owned(), server.folder().join("data"));
    let authority = folder.join("ca.pem");
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&authority, made.cert.pem()).unwrap();
    // The server itself writes its files: then they are its own, and no key is open to others.
    for (name, text) in
        [("server.crt", made.cert.pem()), ("server.key", made.signing_key.serialize_pem())]
    {
        let file = data.join(name).display().to_string();
        let lines = text.trim_end().replace('\n', "'), ('");
        let program = format!("umask 077; cat > {file}");
        server.run("postgres", &format!("COPY (VALUES ('{lines}')) TO PROGRAM '{program}'"));
    }
    // Users of other ways to log in; the first line that fits a user counts.
    let file = data.join("pg_hba.conf").display().to_string();
    let rules = "local all all trust\nhost all hashed 127.0.0.1/32 md5\nhost all open 127.0.0.1/32 password\nhost all trusted 127.0.0.1/32 trust\n\
                 hostssl all secure 127.0.0.1/32 scram-sha-256\nhostnossl all naked 127.0.0.1/32 scram-sha-256\n\
                 host all secure 127.0.0.1/32 reject\nhost all naked 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 scram-sha-256";
    let lines = rules.replace('\n', "'), ('");
    server.run(
        "postgres",
        &format!(
            "COPY (VALUES ('{lines}')) TO PROGRAM 'cat > {file}';
             SET password_encryption = 'md5';
             CREATE ROLE hashed LOGIN PASSWORD 'geheim'; CREATE ROLE open LOGIN PASSWORD 'geheim';
             SET password_encryption = 'scram-sha-256';
             CREATE ROLE trusted LOGIN; CREATE ROLE secure LOGIN PASSWORD 'geheim'; CREATE ROLE naked LOGIN PASSWORD 'geheim';
             ALTER SYSTEM SET ssl = on;
             SELECT pg_reload_conf();"
        ),
    );
    while server.run("postgres", "SELECT setting FROM pg_settings WHERE name = 'ssl'") != "on" {
        std::thread::yield_now();
    }
    Shared { server, authority }
});

/// A database of this test alone.
pub(super) fn database() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("d{}", COUNT.fetch_add(1, Ordering::Relaxed));
    SHARED.server.create(&name);
    name
}

/// A DSN for a database, with more pairs; they win.
pub(super) fn dsn(database: &str, pairs: &str) -> String {
    format!("{} {pairs}", SHARED.server.go_dsn(database))
}

pub(super) async fn connected(database: &str, pairs: &str) -> Connection {
    open(Driver::Postgres, &dsn(database, pairs)).await.unwrap()
}

pub(super) async fn failed(sql: &str, connection: &mut Connection) -> Failure {
    exec(connection, sql, &[]).await.unwrap_err()
}
