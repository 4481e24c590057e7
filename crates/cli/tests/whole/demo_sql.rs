//! `brunt demo sql`, and the stand-in for MySQL of `brunt demo`.

use std::io::Read as _;
use std::net::TcpStream;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::brunt;

/// Count, sum of the ids, first and last text.
fn facts(path: &Path) -> (i64, i64, String, String) {
    let file = Connection::open(path).expect("a SQLite file");
    let text = |order: &str| {
        let sql = format!("SELECT text FROM bulktest ORDER BY id {order} LIMIT 1");
        file.query_row(&sql, [], |row| row.get(0)).expect("a row")
    };
    let counts = "SELECT COUNT(*), SUM(id) FROM bulktest";
    let (count, sum) =
        file.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("the table");
    (count, sum, text("ASC"), text("DESC"))
}

fn text(seed: u64, id: u64) -> String {
    String::from_utf8(brunt_demo::bulk_text(seed, id).to_vec()).expect("ASCII")
}

#[test]
fn a_file_is_made_kept_and_replaced() {
    let mut call = brunt("demo sql");
    let told = call.told();
    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{told:?}");
    for part in
        ["bulktest: 100000 rows made in ", "URL: sqlite:bulktest.db\n", "Go DSN: bulktest.db\n"]
    {
        assert!(told.stdout.contains(part), "{told:?}");
    }
    let path = call.path("bulktest.db");
    assert_eq!(facts(&path), (100_000, 5_000_050_000, text(1, 1), text(1, 100_000)));
    let again = |line: &str| {
        let line = format!("demo sql --engine sqlite:{} {line}", path.display());
        brunt(&line).told()
    };
    let same = again("");
    assert!(same.code == 0 && same.stdout.contains("100000 rows, there already"), "{same:?}");
    for line in ["--seed 2", "--rows 7"] {
        let other = again(line);
        assert_eq!(other.code, 255, "{other:?}");
        let error = other.error();
        let said = "already, with 100000 other rows";
        assert!(error.contains(said) && error.contains("--force replaces it"), "{error}");
        assert_eq!(facts(&path).0, 100_000);
    }
    let made = again("--rows 10 --seed 2 --force --json");
    let line: Value = serde_json::from_str(&made.stdout).expect("one line of JSON");
    assert_eq!(
        (&line["rows"], &line["made"], &line["engine"]),
        (&10.into(), &true.into(), &"sqlite3".into())
    );
    assert_eq!(facts(&path), (10, 55, text(2, 1), text(2, 10)));
    // AUTOINCREMENT goes on behind the rows.
    let file = Connection::open(&path).expect("a SQLite file");
    file.execute("INSERT INTO bulktest (text) VALUES ('x')", []).expect("a row");
    assert_eq!(file.last_insert_rowid(), 11);
    let empty = brunt("demo sql --rows 0 --engine sqlite:e.db").told();
    assert!(empty.code == 0 && empty.stdout.contains("0 rows made"), "{empty:?}");
}

#[test]
fn wrong_input_is_told_in_a_sentence() {
    for (line, part) in [
        ("demo sql --rows many", "invalid value \"many\" for --rows"),
        ("demo sql --engine oracle://u:sesame@h/d", "expected sqlite, sqlite:FILE, mysql://"),
        ("demo sql --engine mysql://u:sesame@h", "expected mysql://USER:PASSWORD@HOST/DATABASE"),
        ("demo sql --engine sqlite:none/a.db", "cannot open none/a.db as a SQLite database"),
        ("demo sql --engine sqlite:notes.txt", "cannot read notes.txt: file is not a database"),
        ("demo sql --fake oracle", "mysql is the only server that can be faked"),
        ("demo sql --deadlock-every 5", "--deadlock-every is an option of --fake mysql"),
        ("demo sql --fake mysql --workers 0", "--workers: 0 would commit nothing"),
        ("demo sql extra", "unexpected argument \"extra\""),
    ] {
        let told =
            brunt(line).file("notes.txt", "These are notes, not a database. ".repeat(100)).told();
        let error = told.stderr.replace("\\\"", "\"");
        assert!(told.code != 0 && error.contains(part), "{line}: {told:?}");
        assert!(!error.contains("sesame"), "{error}");
    }
}

#[test]
fn the_fake_serves_until_a_signal() {
    let mut call = brunt("demo sql --fake mysql --listen 127.0.0.1:0 --rows 5 --json");
    let mut running = call.start();
    let line: Value = serde_json::from_str(&running.line_with("{")).expect("one line of JSON");
    let dsn = line["dsn"].as_str().expect("a DSN");
    let address = dsn.strip_prefix("brunt@tcp(").and_then(|dsn| dsn.strip_suffix(")/demo"));
    let mut stream = TcpStream::connect(address.expect("an address")).expect("it listens");
    let mut greeting = [0; 5];
    stream.read_exact(&mut greeting).expect("a greeting");
    assert_eq!(greeting[4], 10, "the version of the protocol");
    running.signal("INT");
    assert_eq!(running.wait().code, 0);
}

#[test]
fn a_run_with_the_demo_hands_out_its_dsn() {
    let script = "export default function () { console.log(__ENV.DEMO_SQL); }";
    let told = brunt("run -q --demo s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("brunt@tcp(127.0.0.1:"), "{told:?}");
}
