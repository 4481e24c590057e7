//! `brunt sql`, as shells meet it: on SQLite files, and on MariaDB and PostgreSQL that the tests start.

use std::sync::LazyLock;

use brunt_databases::{PASSWORD, Server};
use serde_json::Value;

use crate::support::{Brunt, Told, brunt, free_port};

static MARIADB: LazyLock<Server> = LazyLock::new(|| Server::mariadb(&[]));
static POSTGRES: LazyLock<Server> = LazyLock::new(|| Server::postgres(&[]));

/// Both servers, each with the placeholder of its statements.
fn servers() -> [(&'static Server, &'static str); 2] {
    [(&MARIADB, "?"), (&POSTGRES, "$1")]
}

/// `brunt sql URL STATEMENT`, with flags behind.
fn sql(url: &str, statement: &str, flags: &str) -> Brunt {
    brunt("--no-color sql").word(url).word(statement).words(flags)
}

fn row<'a>(told: &'a Told, name: &str) -> &'a str {
    let found = told.stdout.lines().find(|line| line.starts_with(name));
    found.unwrap_or_else(|| panic!("no {name} in {told:?}"))
}

/// A table with the ids 1 to `count`.
fn filled(server: &Server, table: &str, count: u32) {
    let values: Vec<String> = (1..=count).map(|id| format!("({id}, 'row {id}')")).collect();
    let values = values.join(", ");
    server.run(
        "shop",
        &format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(20)); INSERT INTO {table} VALUES {values};"
        ),
    );
}

#[test]
fn a_statement_runs_once_and_its_rows_are_a_table_csv_or_json() {
    let script = "CREATE TABLE t (id INTEGER, name TEXT, half REAL, raw BLOB);
        INSERT INTO t VALUES (1, 'a;b', 0.5, x'00ff'), (2, NULL, 2, NULL);
        SELECT * FROM t; SELECT 1 AS one;";
    let mut made = brunt("sql sqlite:x.db -f x.sql").file("x.sql", script);
    let told = made.told();
    let table = "id  name  half  raw\n──  ────  ────  ──────\n1   a;b   0.5   0x00ff\n2   NULL  2     NULL\n\none\n───\n1\n";
    assert_eq!((told.code, told.stdout.as_str()), (0, table), "{told:?}");
    assert!(told.stderr.contains("(2 rows changed)\n(2 rows)\n(1 row)\n"), "{told:?}");
    let url = format!("sqlite:{}", made.path("x.db").display());
    let told = sql(&url, "SELECT id, name FROM t", "--format csv -q").told();
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("id,name\n1,a;b\n2,\n", ""));
    let told = sql(&url, "SELECT id, half FROM t", "--format json").told();
    let rows: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(rows, serde_json::json!([{ "id": 1, "half": 0.5 }, { "id": 2, "half": 2.0 }]));
    let told = sql(&url, "SELECT name FROM t WHERE id = :id", "--args a.csv")
        .file("a.csv", "id:int\n1\n")
        .told();
    assert!(told.stdout.ends_with("\na;b\n"), "{told:?}");
}

#[test]
fn a_load_on_a_file_has_the_report_of_an_attack_and_rows() {
    let mut made = sql("sqlite:x.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", "");
    assert_eq!(made.told().code, 0);
    let url = format!("sqlite:{}", made.path("x.db").display());
    let statement = "INSERT INTO t (name) VALUES (?)";
    let mut load = sql(&url, statement, "--rate 50/s --duration 1s --args a.jsonl --output r.json")
        .file("a.jsonl", "{\"name\": \"x\"}\n[\"y\"]\n".replace("[\"y\"]", "{\"name\": \"y\"}"));
    let told = load.told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(row(&told, "Requests").contains("  50, "), "{told:?}");
    assert!(row(&told, "Success").ends_with(" 100.00%"), "{told:?}");
    assert!(row(&told, "Status Codes").ends_with(" 200:50  "), "{told:?}");
    assert!(row(&told, "Rows").ends_with(", 50"), "{told:?}");
    let record: Value =
        serde_json::from_str(load.read("r.json").lines().next().expect("a record")).expect("JSON");
    assert_eq!((&record["method"], &record["code"]), (&"INSERT".into(), &200.into()));
    assert_eq!(record["headers"]["Sqlstate"][0], "00000");
    // The first try was rolled back.
    let told = sql(&url, "SELECT name, count(*) FROM t GROUP BY name", "--format csv").told();
    assert!(told.stdout.ends_with("\nx,25\ny,25\n"), "{told:?}");
}

#[test]
fn servers_bear_a_load_with_arguments_in_turn() {
    for (server, placeholder) in servers() {
        filled(server, "load_t", 10);
        let statement = format!("SELECT * FROM load_t WHERE id <= {placeholder}");
        let told =
            sql(&server.url("shop"), &statement, "--rate 100/s -d 1s --args a.csv --format json")
                .file("a.csv", "id:int\n3\n5\n")
                .told();
        assert_eq!(told.code, 0, "{told:?}");
        let report: Value = serde_json::from_str(&told.stdout).expect("JSON");
        assert_eq!((&report["requests"], &report["success"]), (&100.into(), &1.into()), "{report}");
        assert_eq!(report["sql"]["rows"], 400, "{report}");
        assert_eq!(report["sql"]["states"], serde_json::json!({}));
        assert!(report["sql"]["connects"].as_u64().is_some_and(|count| (1..=10).contains(&count)));
        assert!(report["bytes_in"]["total"].as_u64() > Some(1000), "{report}");
    }
}

#[test]
fn passwords_come_from_the_environment_and_are_never_told() {
    for (server, _) in servers() {
        let bare = server.url("shop").replace(":pass%20word%2F1@", "@");
        let by_name = server.url("shop").replace(":pass%20word%2F1@", ":$SHOP_PW@");
        for (url, name) in [(&bare, "MYSQL_PWD"), (&bare, "PGPASSWORD"), (&by_name, "SHOP_PW")] {
            let is_other = name == "PGPASSWORD" && server.driver() == "mysql"
                || name == "MYSQL_PWD" && server.driver() == "postgres";
            let told = sql(url, "SELECT 1 AS one", "").env(name, PASSWORD).told();
            assert_eq!(told.code, i32::from(is_other), "{told:?}");
        }
        let wrong = server.url("shop").replace("pass%20word%2F1", "hunter2");
        let told = sql(&wrong, "SELECT 1", "--rate 10/s -d 1s").told();
        assert_eq!(told.code, 1, "{told:?}");
        assert!(told.stderr.contains("cannot connect to the database"), "{told:?}");
        assert!(told.stderr.contains("check user and password"), "{told:?}");
        assert!(!told.stderr.contains("hunter2"), "{told:?}");
    }
}

#[test]
fn faults_are_told_before_a_load_begins() {
    for (server, placeholder) in servers() {
        let url = server.url("shop");
        let fault = |url: &str, statement: &str| {
            let told = sql(url, statement, "--rate 10/s -d 1s").told();
            assert_eq!((told.code, told.stdout.as_str()), (1, ""), "{told:?}");
            told.stderr
        };
        let slip = fault(&url, "SELEC 1");
        assert!(slip.contains("SELEC") && slip.contains("42"), "{slip}");
        let syntax = fault(&url, "SELECT FRM x");
        assert!(syntax.contains("FRM") || syntax.contains('x'), "{syntax}");
        let missing = fault(&url, "SELECT * FROM no_such_table");
        assert!(missing.contains("no_such_table") && missing.contains("42"), "{missing}");
        let unbound = fault(&url, &format!("SELECT {placeholder}"));
        assert!(
            unbound.contains("it wants arguments (1)") && unbound.contains("--args"),
            "{unbound}"
        );
        let nowhere = fault(&server.url("nowhere"), "SELECT 1");
        assert!(nowhere.contains("nowhere"), "{nowhere}");
        let port = free_port();
        let dead = url.replace(&format!(":{}/", server.port()), &format!(":{port}/"));
        let refused = fault(&dead, "SELECT 1");
        assert!(refused.contains("connection refused"), "{refused}");
    }
    let told = sql("oracle://x", "SELECT 1", "").told();
    assert!(told.code == 1 && told.stderr.contains("mysql://"), "{told:?}");
}

#[test]
fn files_with_faults_are_told_with_their_place() {
    let fault = |line: &str, name: &str, content: &str| {
        let told = brunt(line).file(name, content).told();
        assert_eq!(told.code, 1, "{told:?}");
        told.stderr.replace("\\\"", "\"")
    };
    let text = fault("sql sqlite:x.db -f x.sql", "x.sql", "SELECT 1;\nSELECT 'x");
    assert!(text.contains("x.sql:2:8: a text in quotes begins here"), "{text}");
    let text = fault("sql sqlite:x.db -f x.sql", "x.sql", "-- nothing\n");
    assert!(text.contains("x.sql has no statement"), "{text}");
    let text = fault("sql sqlite:x.db SELECT(:a) --args a.csv", "a.csv", "a:int\n1\nb\n");
    assert!(text.contains("a.csv:3:1: \"b\" in column \"a\" is no whole number"), "{text}");
    let text = fault("sql sqlite:x.db SELECT(:b) --args a.csv", "a.csv", "a:int\n1\n");
    assert!(text.contains("it wants :b, and the columns are a"), "{text}");
    let text = fault("sql sqlite:x.db -f no.sql", "x.sql", "");
    assert!(text.contains("cannot read no.sql"), "{text}");
}

#[test]
fn wrong_command_lines_say_what_to_do() {
    for (line, part) in [
        ("sql", "URL"),
        ("sql sqlite:x.db", "--file"),
        ("sql sqlite:x.db SELECT(1) -f x.sql", "give one of them"),
        ("sql sqlite:x.db SELECT(1) --workers 5", "--rate or --duration"),
        ("sql sqlite:x.db SELECT(1) --rate 0", "--max-workers"),
        ("sql sqlite:x.db SELECT(1) --rate x/s", "--rate x/s"),
        ("sql sqlite:x.db SELECT(1) --rate 5 --duration 5", "--duration 5"),
        ("sql sqlite:x.db SELECT(1) --rate 5 --connections 0", "--connections"),
        ("sql sqlite:x.db SELECT(1) --rate 5 --threshold p99", "--threshold p99"),
        ("sql sqlite:x.db SELECT(1) --format html", "table, csv, json"),
        ("sql sqlite:x.db SELECT(1) --seed 5", "--random"),
    ] {
        let told = brunt(line).told();
        assert_eq!(told.code, 255, "{line} {told:?}");
        assert!(told.stderr.contains(part), "{line} {told:?}");
    }
}

#[test]
fn thresholds_judge_a_load() {
    let told =
        sql("sqlite::memory:", "SELECT 1", "--rate 20/s -d 500ms --threshold p99<1ns").told();
    assert_eq!(told.code, 99, "{told:?}");
    assert!(told.stderr.contains("✗ p99<1ns"), "{told:?}");
}

#[test]
fn a_transaction_is_whole_or_is_not() {
    for (server, _) in servers() {
        server.run("shop", "CREATE TABLE tx_t (id INT PRIMARY KEY)");
        let script = "INSERT INTO tx_t VALUES (:id); INSERT INTO tx_t VALUES (:other)";
        let told =
            sql(&server.url("shop"), script, "--transaction --args a.csv --rate 20/s -d 200ms")
                .file("a.csv", "id:int,other:int\n1,2\n3,1\n5,6\n7,8\n")
                .told();
        assert_eq!(told.code, 0, "{told:?}");
        // Row 2 meets the 1 of row 1.
        assert!(row(&told, "Status Codes").ends_with(" 200:3  400:1  "), "{told:?}");
        assert!(told.stdout.contains("23"), "{told:?}");
        let ids = server.run("shop", "SELECT id FROM tx_t ORDER BY id");
        let ids: Vec<&str> =
            ids.split_whitespace().filter(|word| word.parse::<u32>().is_ok()).collect();
        assert_eq!(ids, ["1", "2", "5", "6", "7", "8"]);
    }
}

#[test]
fn a_transaction_is_tried_as_a_whole() {
    MARIADB.run(
        "shop",
        "CREATE TABLE try_p (id INT PRIMARY KEY);
         CREATE TABLE try_c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES try_p (id));",
    );
    let script = "INSERT INTO try_p VALUES (:id); INSERT INTO try_c VALUES (:id)";
    let told = sql(&MARIADB.url("shop"), script, "--transaction --args a.csv --rate 10/s -d 200ms")
        .file("a.csv", "id:int\n1\n2\n")
        .told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(row(&told, "Status Codes").ends_with(" 200:2  "), "{told:?}");
}

#[test]
fn named_statements_take_turns_by_weight() {
    let script = "-- name: often\n-- weight: 3\nSELECT 1;\n-- name: rare\nSELECT 2;";
    let told = brunt("sql sqlite::memory: -f m.sql --rate 40/s -d 1s").file("m.sql", script).told();
    let count = |name| row(&told, name).split_whitespace().nth(1).expect("a count").to_owned();
    assert_eq!((count("often"), count("rare")), ("30".to_owned(), "10".to_owned()), "{told:?}");
}

#[test]
fn a_server_that_dies_and_comes_back_is_counted_and_connected_anew() {
    let mut server = Server::mariadb(&[]);
    let mut load = sql(&server.url("shop"), "SELECT 1", "--rate 50/s --output r.json --timeout 2s");
    let path = load.path("r.json");
    let running = load.start();
    let lines = |wanted: &dyn Fn(&str) -> bool| {
        while !std::fs::read_to_string(&path).unwrap_or_default().lines().any(wanted) {
            std::thread::yield_now();
        }
    };
    lines(&|line| line.contains("\"code\":200"));
    server.restart();
    let failed = |line: &str| line.contains("\"code\":0");
    lines(&failed);
    let seen = std::fs::read_to_string(&path).unwrap_or_default().lines().count();
    while !std::fs::read_to_string(&path)
        .unwrap_or_default()
        .lines()
        .skip(seen)
        .any(|line| line.contains("\"code\":200"))
    {
        std::thread::yield_now();
    }
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(row(&told, "Status Codes").contains("0:"), "{told:?}");
    assert!(told.stdout.contains("SQLSTATE") && told.stdout.contains("080"), "{told:?}");
}

#[test]
fn too_many_connections_are_shed_not_silent() {
    let server = Server::mariadb(&["--max-connections=10"]);
    let flags = "--rate 0 --max-workers 20 --connections 20 -d 1s --format json";
    let told = sql(&server.url("shop"), "SELECT SLEEP(0.02)", flags).told();
    assert_eq!(told.code, 0, "{told:?}");
    let report: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert!(report["status_codes"]["200"].as_u64() > Some(0), "{report}");
    assert!(report["status_codes"]["503"].as_u64() > Some(0), "{report}");
    assert_eq!(report["status_codes"]["0"], Value::Null, "{report}");
}

#[test]
fn each_connection_is_set_up_and_the_pool_has_a_bound() {
    let flags = "--rate 0 --max-workers 8 --connections 2 -d 500ms --format json";
    let url = MARIADB.url("shop");
    let mut load = brunt("sql")
        .word(&url)
        .word("SELECT IF(@mine = 7, SLEEP(0.01), x.no) FROM (SELECT 1 AS no) x");
    load = load.words(flags).word("--each-connection").word("SET @mine = 7");
    let told = load.told();
    assert_eq!(told.code, 0, "{told:?}");
    let report: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!(
        (&report["success"], &report["sql"]["connects"]),
        (&1.into(), &2.into()),
        "{report}"
    );
    // Eight workers share two connections, each busy for 10 ms.
    assert!(report["sql"]["pool_wait"]["50th"].as_u64() > Some(10_000_000), "{report}");
}
