//! MariaDB.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use crate::{PASSWORD, Server, USER, must, program};

fn find(name: &str) -> PathBuf {
    program(name, &[PathBuf::from("/usr/sbin")])
}

/// Flags of all servers: small files, and no kernel queues for input and output, of which a machine has few
/// (`fs.aio-max-nr`; locked memory for `io_uring`): ten servers at once run out of them.
const MODEST: [&str; 5] = [
    "--skip-name-resolve",
    "--innodb-use-native-aio=0",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-log-file-size=32M",
    "--innodb-buffer-pool-size=64M",
];

/// A folder of data as a new server has it, made once for each process: a copy takes a tenth of the time.
static FRESH: LazyLock<Fresh> = LazyLock::new(|| {
    let folder = tempfile::Builder::new().prefix("brunt-db-").tempdir().expect("a folder").keep();
    // A shell removes it after the end of this process, whatever ends it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >/dev/null; rm -rf \"$1\"", "sh"]).arg(&folder);
    let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a shell");
    let mut command = Command::new(find("mariadb-install-db"));
    command.arg("--no-defaults").arg(format!("--datadir={}/data", folder.display()));
    command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]).args(MODEST);
    if nix::unistd::geteuid().is_root() {
        command.arg("--user=root");
    }
    must(&mut command);
    Fresh { folder, _shell: shell }
});

struct Fresh {
    folder: PathBuf,
    /// Its input ends with this process.
    _shell: Child,
}

/// Makes its folder of data.
pub(crate) fn prepare(server: &Server) {
    must(Command::new("cp").arg("-a").args([&FRESH.folder.join("data"), server.folder()]));
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
    ];
    words.extend(MODEST.map(str::to_owned));
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
