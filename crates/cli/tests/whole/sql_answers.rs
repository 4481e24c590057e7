//! The scripts of `tests/k6/sql`: each must log the lines that the Go drivers gave, but for those that Brunt means otherwise.
//!
//! `NAME.brunt.txt` beside an answer has the lines that differ: the answer's behind `- `, Brunt's behind `+ `, and behind `# ` why.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use brunt_databases::Server;

use crate::support::{brunt, repository};

/// Names of variables and their values, or words and the words of an answer in their place.
type Pair = (String, String);

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The lines that the script logs, without what differs from run to run.
fn logged(script: &Path, env: &[Pair], wiped: &[Pair]) -> Vec<String> {
    let mut run = brunt("run --quiet --log-format json").env("TZ", "UTC").word(script);
    for (name, value) in env {
        run = run.env(name, value);
    }
    let told = run.told();
    let entries = told.stderr.lines().filter_map(|line| serde_json::from_str(line).ok());
    let entries: Vec<serde_json::Value> = entries.collect();
    let (console, others): (Vec<_>, Vec<_>) =
        entries.iter().partition(|entry| entry["source"] == "console");
    let lines = console.iter().map(|entry| {
        let line = entry["msg"].as_str().expect("a text").to_owned();
        wiped.iter().fold(line, |line, (from, to)| line.replace(from, to))
    });
    let mut lines: Vec<String> = lines.collect();
    if told.code != 0 {
        lines.push(format!("ended with {}: {others:?} {}", told.code, told.stdout));
    }
    lines
}

/// The lines of a text behind this mark.
fn marked<'a>(text: &'a str, mark: &str) -> HashSet<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(mark)).collect()
}

/// The lines of a script that are neither the answer's nor Brunt's by intent, and those that are missing.
fn differences(script: &Path, env: &[Pair], wiped: &[Pair]) -> Vec<String> {
    let answer = text(&script.with_extension("expected.txt"));
    let meant = text(&script.with_extension("brunt.txt"));
    let (left, taken) = (marked(&meant, "- "), marked(&meant, "+ "));
    let lines = logged(script, env, wiped);
    let expected: HashSet<&str> = answer.lines().collect();
    let logged: HashSet<&str> = lines.iter().map(String::as_str).collect();
    let missing = answer.lines().filter(|line| !logged.contains(line) && !left.contains(line));
    let more = lines.iter().map(String::as_str);
    let more = more.filter(|line| !expected.contains(line) && !taken.contains(line));
    let missing = missing.map(|line| format!("- {line}"));
    missing.chain(more.map(|line| format!("+ {line}"))).collect()
}

fn check(driver: &str, env: &[Pair], wiped: &[Pair]) {
    let folder = repository("tests/k6/sql").join(driver);
    let entries = fs::read_dir(&folder).expect("the folder of the driver");
    let mut scripts: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|end| end == "js"));
    scripts.sort();
    assert!(!scripts.is_empty(), "no scripts in {}", folder.display());
    let mut told = Vec::new();
    for script in scripts {
        let found = differences(&script, env, wiped);
        if !found.is_empty() {
            told.push(format!("{}: {} lines\n{}", script.display(), found.len(), found.join("\n")));
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// A server's address in each way that scripts are told it, and the account of the answers.
fn names(server: &Server, prefix: &str, dsn: String) -> (Vec<Pair>, Vec<Pair>) {
    let (port, socket) = (server.port(), server.socket().display().to_string());
    let env = vec![
        (format!("{prefix}_DSN"), dsn),
        (format!("{prefix}_PORT"), port.to_string()),
        (format!("{prefix}_SOCKET"), socket.clone()),
    ];
    let wiped = vec![
        (socket, "{socket}".to_owned()),
        (format!("127.0.0.1:{port}"), "127.0.0.1:{port}".to_owned()),
    ];
    (env, wiped)
}

#[test]
fn scripts_see_of_mariadb_what_the_go_driver_gives() {
    let server = Server::mariadb(&[]);
    server.run(
        "",
        "CREATE DATABASE probe; CREATE USER probe@'%' IDENTIFIED BY 'secret'; GRANT ALL ON *.* TO probe@'%';",
    );
    let dsn = format!("probe:secret@tcp(127.0.0.1:{})/probe", server.port());
    let (env, wiped) = names(&server, "MYSQL", dsn);
    check("mysql", &env, &wiped);
}

#[test]
fn scripts_see_of_postgresql_what_the_go_driver_gives() {
    let server = Server::postgres(&["timezone=UTC"]);
    server.run("postgres", "CREATE ROLE probe LOGIN SUPERUSER PASSWORD 'secret'");
    server.create("probe");
    let port = server.port();
    let dsn = format!("postgres://probe:secret@127.0.0.1:{port}/probe?sslmode=disable");
    let (env, wiped) = names(&server, "POSTGRES", dsn);
    check("postgres", &env, &wiped);
}

#[test]
fn scripts_see_of_sqlite_what_the_go_driver_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().display().to_string();
    let env = [("SQLITE_FOLDER".to_owned(), folder.clone())];
    check("sqlite3", &env, &[(folder, "{folder}".to_owned())]);
}
