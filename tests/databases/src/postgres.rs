//! PostgreSQL. Its programs refuse to run as root: then they run as the user `postgres`, whom Debian's package has made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{PASSWORD, Server, USER, must, program};

/// Debian keeps the server's programs out of `PATH`, in a folder for each version.
fn find(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql").map_or_else(
        |_| Vec::new(),
        |versions| versions.flatten().map(|version| version.path().join("bin")).collect(),
    );
    folders.sort();
    folders.reverse();
    program(name, &folders)
}

/// The words before a command that give up being root.
fn humble() -> Vec<String> {
    if !nix::unistd::geteuid().is_root() {
        return Vec::new();
    }
    let words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"];
    words.map(str::to_owned).to_vec()
}

fn as_owner(name: &str) -> Vec<String> {
    let mut words = humble();
    words.push(find(name).display().to_string());
    words
}

fn give_to_owner(folder: &Path) {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    must(Command::new("chown").arg("postgres:postgres").arg(folder));
}

/// Makes its folder of data.
pub(crate) fn prepare(server: &Server) {
    give_to_owner(server.folder());
    let words = as_owner("initdb");
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(server.folder());
    command.arg("-D").arg(server.folder().join("data"));
    command.args(["--username=admin", "--auth-local=trust", "--auth-host=scram-sha-256"]);
    command.args(["--encoding=UTF8", "--locale=C", "--no-sync"]);
    must(&mut command);
}

/// The words that start it.
pub(crate) fn command(server: &Server) -> Vec<String> {
    let folder = server.folder().display();
    let mut words = as_owner("postgres");
    words.extend(["-D".to_owned(), format!("{folder}/data")]);
    let port = format!("port={}", server.port());
    let socket = format!("unix_socket_directories={folder}");
    let own = ["listen_addresses=127.0.0.1", "fsync=off", "synchronous_commit=off"];
    let own = own.iter().map(|&own| own.to_owned()).chain([port, socket]);
    for setting in own.chain(server.settings.iter().cloned()) {
        words.extend(["-c".to_owned(), setting]);
    }
    words
}

/// Its own client, as administrator.
pub(crate) fn client(server: &Server, database: &str) -> Command {
    let mut command = Command::new(find("psql"));
    command.arg(format!("--host={}", server.folder().display()));
    command.arg(format!("--port={}", server.port())).args(["--username=admin", "--no-psqlrc"]);
    command.args([
        "--tuples-only",
        "--no-align",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        "--field-separator=\t",
    ]);
    command.arg(format!("--dbname={}", if database.is_empty() { "postgres" } else { database }));
    command
}

/// Its user and its database.
pub(crate) fn furnish(server: &Server) {
    server.run("postgres", &format!("CREATE ROLE {USER} LOGIN SUPERUSER PASSWORD '{PASSWORD}';"));
    server.create("shop");
}
