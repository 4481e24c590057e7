//! MariaDB.

use std::path::PathBuf;
use std::process::Command;

use crate::{PASSWORD, Server, USER, must, program};

fn find(name: &str) -> PathBuf {
    program(name, &[PathBuf::from("/usr/sbin")])
}

/// Makes its folder of data.
pub(crate) fn prepare(server: &Server) {
    let data = server.folder().join("data");
    let mut command = Command::new(find("mariadb-install-db"));
    command.arg("--no-defaults").arg(format!("--datadir={}", data.display()));
    command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
    command.args(["--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0"]);
    if nix::unistd::geteuid().is_root() {
        command.arg("--user=root");
    }
    must(&mut command);
}

/// The words that start it.
pub(crate) fn command(server: &Server) -> Vec<String> {
    let folder = server.folder().display();
    let mut words = vec![
        find("mariadbd").display().to_string(),
        "--no-defaults".to_owned(),
        format!("--datadir={folder}/data"),
        format!("--socket={folder}/db.sock"),
        format!("--pid-file={folder}/pid"),
        format!("--port={}", server.port()),
        "--bind-address=127.0.0.1".to_owned(),
        "--skip-name-resolve".to_owned(),
        "--innodb-flush-log-at-trx-commit=0".to_owned(),
        "--innodb-log-file-size=32M".to_owned(),
    ];
    if nix::unistd::geteuid().is_root() {
        words.push("--user=root".to_owned());
    }
    words.extend(server.settings.iter().cloned());
    words
}

/// Its own client, as administrator.
pub(crate) fn client(server: &Server, database: &str) -> Command {
    let mut command = Command::new(find("mariadb"));
    command.arg("--no-defaults").arg(format!("--socket={}", server.socket().display()));
    command.args(["--user=root", "--batch", "--skip-column-names"]);
    if !database.is_empty() {
        command.arg(database);
    }
    command
}

/// Its user and its database.
pub(crate) fn furnish(server: &Server) {
    server.run("", &format!(
        "CREATE DATABASE shop; CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO '{USER}'@'%';"
    ));
}
