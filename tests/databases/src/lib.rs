//! Real database servers for tests and figures: MariaDB and PostgreSQL as Debian has them, each in a folder of its own on a free
//! port of loopback and a socket in the file system. They go away with the process that started them, whatever ends it.
//!
//! ```text
//! Server::mariadb(&["--max-connections=5"])      Server::postgres(&["max_connections=5"])
//!   ├─ go_dsn("shop"), url("shop")                 what scripts and flags are given
//!   ├─ run("shop", "SELECT 1")                     the database's own client: the server's truth
//!   └─ restart(), kill()
//! ```
#![forbid(unsafe_code)]

mod mariadb;
mod postgres;

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that is not ready by then never will be.
const PATIENCE: Duration = Duration::from_mins(1);

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `mariadbd`.
    MariaDb,
    /// `postgres`.
    Postgres,
}

/// A server that runs. Its user is `brunt` with the password `pass word/1`; there is a database `shop`.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    folder: tempfile::TempDir,
    port: u16,
    settings: Vec<String>,
    running: Option<Running>,
}

/// The server's process beside a shell that kills it when we are gone.
#[derive(Debug)]
struct Running {
    shell: Child,
    /// Closed, it ends the server.
    alive: Option<ChildStdin>,
}

/// The name of the user of all servers here.
pub const USER: &str = "brunt";

/// The password: one that has to be escaped in URLs.
pub const PASSWORD: &str = "pass word/1";

impl Server {
    /// A MariaDB with these flags. Nothing is synced to the disk unless they say so.
    ///
    /// # Panics
    /// If it does not start; so for all servers here.
    pub fn mariadb(flags: &[&str]) -> Self {
        Self::start(Kind::MariaDb, flags)
    }

    /// A PostgreSQL with these settings (`max_connections=5`). Nothing is synced to the disk unless they say so.
    pub fn postgres(settings: &[&str]) -> Self {
        Self::start(Kind::Postgres, settings)
    }

    fn start(kind: Kind, settings: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("brunt-db-").tempdir().expect("a folder");
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let mut server = Self { kind, folder, port: free_port(), settings, running: None };
        match kind {
            Kind::MariaDb => mariadb::prepare(&server),
            Kind::Postgres => postgres::prepare(&server),
        }
        server.launch();
        match kind {
            Kind::MariaDb => mariadb::furnish(&server),
            Kind::Postgres => postgres::furnish(&server),
        }
        server
    }

    fn launch(&mut self) {
        let mut words = match self.kind {
            Kind::MariaDb => mariadb::command(self),
            Kind::Postgres => postgres::command(self),
        };
        // The shell waits for the end of its input, which is the end of this process at the latest. Unless it is told to keep the folder, it
        // removes the folder.
        let script = "\"$@\" >>\"$BRUNT_DB_LOG\" 2>&1 </dev/null & pid=$!; word=$(cat)
            kill -s \"$BRUNT_DB_SIGNAL\" $pid 2>/dev/null; wait $pid 2>/dev/null
            [ \"$word\" = keep ] || rm -rf \"$BRUNT_DB_FOLDER\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).args(words.drain(..));
        // PostgreSQL's own way to crash, which takes its children along.
        let signal = if self.kind == Kind::Postgres { "QUIT" } else { "KILL" };
        shell.env("BRUNT_DB_SIGNAL", signal).env("BRUNT_DB_FOLDER", self.folder());
        shell.env("BRUNT_DB_LOG", self.log_file()).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut shell = shell.spawn().expect("a shell");
        let alive = shell.stdin.take();
        self.running = Some(Running { shell, alive });
        let began = Instant::now();
        while !self.is_ready() {
            assert!(began.elapsed() < PATIENCE, "the server does not start:\n{}", self.log());
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    fn is_ready(&self) -> bool {
        let said = match self.kind {
            Kind::MariaDb => mariadb::client(self, "").args(["-e", "SELECT 1"]).output(),
            Kind::Postgres => postgres::client(self, "postgres").args(["-c", "SELECT 1"]).output(),
        };
        said.is_ok_and(|said| said.status.success())
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The folder of the server: its data, its log, its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The socket of MariaDB; of PostgreSQL the folder that its socket is in.
    pub fn socket(&self) -> PathBuf {
        match self.kind {
            Kind::MariaDb => self.folder().join("db.sock"),
            Kind::Postgres => self.folder().to_owned(),
        }
    }

    /// The name of the driver in scripts.
    pub fn driver(&self) -> &'static str {
        match self.kind {
            Kind::MariaDb => "mysql",
            Kind::Postgres => "postgres",
        }
    }

    /// The DSN in the form of the Go driver.
    pub fn go_dsn(&self, database: &str) -> String {
        let port = self.port;
        match self.kind {
            Kind::MariaDb => format!("{USER}:{PASSWORD}@tcp(127.0.0.1:{port})/{database}"),
            Kind::Postgres => format!(
                "host=127.0.0.1 port={port} user={USER} password='{PASSWORD}' dbname={database} sslmode=disable"
            ),
        }
    }

    /// The DSN as a URL.
    pub fn url(&self, database: &str) -> String {
        let (port, password) = (self.port, PASSWORD.replace(' ', "%20").replace('/', "%2F"));
        match self.kind {
            Kind::MariaDb => format!("mysql://{USER}:{password}@127.0.0.1:{port}/{database}"),
            Kind::Postgres => {
                format!("postgres://{USER}:{password}@127.0.0.1:{port}/{database}?sslmode=disable")
            }
        }
    }

    /// The answer of the database's own client to these statements, as its administrator: values with tabs between them, a line for each row.
    ///
    /// # Panics
    /// If the client says that a statement failed.
    pub fn run(&self, database: &str, sql: &str) -> String {
        let mut client = match self.kind {
            Kind::MariaDb => mariadb::client(self, database),
            Kind::Postgres => postgres::client(self, database),
        };
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = client.spawn().expect("the database's client");
        let mut input = child.stdin.take().expect("its input");
        input.write_all(sql.as_bytes()).expect("the client reads");
        drop(input);
        let said = child.wait_with_output().expect("the client ends");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{sql}: {errors}");
        String::from_utf8_lossy(&said.stdout).trim_end().to_owned()
    }

    /// A new empty database.
    pub fn create(&self, database: &str) {
        match self.kind {
            Kind::MariaDb => self.run("", &format!("CREATE DATABASE {database}")),
            Kind::Postgres => {
                self.run("postgres", &format!("CREATE DATABASE {database} OWNER {USER}"))
            }
        };
    }

    /// Kills the server, as a crash would, and starts it anew on the same port.
    pub fn restart(&mut self) {
        self.kill();
        self.launch();
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            if let Some(mut alive) = running.alive.take() {
                let _ = alive.write_all(b"keep");
            }
            let _ = running.shell.wait();
        }
    }

    /// The log of the server.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder().join("log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    listener.local_addr().expect("a port").port()
}

/// A program of a database, in `PATH` or in a folder that is not.
fn program(name: &str, folders: &[PathBuf]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = folders.iter().cloned().chain(std::env::split_paths(&path));
    let mut found = found.map(|folder| folder.join(name)).filter(|file| file.is_file());
    found.next().unwrap_or_else(|| panic!("{name} is missing: tools/need installs it"))
}

/// Runs a command that must do well.
fn must(command: &mut Command) {
    let said = command.stdin(Stdio::null()).output().expect("the command starts");
    // In one line, the last words first: failures are reported by their first line.
    let words = String::from_utf8_lossy(&[said.stderr, said.stdout].concat()).into_owned();
    let words: Vec<&str> = words.lines().rev().filter(|line| !line.is_empty()).collect();
    assert!(said.status.success(), "{}: {} ({command:?})", said.status, words.join(" < "));
}
