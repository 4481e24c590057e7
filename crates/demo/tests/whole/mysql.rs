//! The stand-in for MySQL through a plain client and through the command-line client of MariaDB.

use std::process::Command;
use std::time::{Duration, Instant};

use brunt_demo::{Demo, DemoConfig, FakeMysql, MysqlConfig, bulk_text};
use mysql_common::constants::{CapabilityFlags, StatusFlags};

use self::client::{Answer, Arg, Client, Row};

mod client;

fn start(config: MysqlConfig) -> (FakeMysql, Client) {
    let fake = FakeMysql::start(config).unwrap();
    let client = Client::new(fake.addr());
    (fake, client)
}

fn small() -> MysqlConfig {
    MysqlConfig { rows: 1000, ..MysqlConfig::fast() }
}

fn text(id: u64) -> String {
    String::from_utf8(bulk_text(1, id).to_vec()).unwrap()
}

fn row(cells: &[&str]) -> Row {
    cells.iter().map(|cell| (*cell != "NULL").then(|| (*cell).to_owned())).collect()
}

#[test]
fn the_table_is_there_with_its_rows() {
    let (_fake, mut client) = start(small());
    assert_eq!(client.query("SELECT COUNT(*) FROM bulktest").value(), "1000");
    assert_eq!(client.query("select sum(id) from `demo`.`bulktest`").value(), "500500");
    let rows = client.query("SELECT * FROM bulktest WHERE id BETWEEN 7 AND 9").rows();
    let expected: Vec<_> = (7..10).map(|id| row(&[&id.to_string(), &text(id)])).collect();
    assert_eq!(rows, expected);
    for (sql, ids) in [
        ("SELECT id FROM bulktest ORDER BY id LIMIT 3", "1 2 3"),
        ("SELECT id FROM bulktest ORDER BY id DESC LIMIT 2", "1000 999"),
        ("SELECT id FROM bulktest LIMIT 2, 3", "3 4 5"),
        ("SELECT id FROM bulktest LIMIT 2 OFFSET 998", "999 1000"),
        ("SELECT id FROM bulktest WHERE id IN (5, 900, 2, 5000)", "2 5 900"),
        ("SELECT id FROM bulktest WHERE id IN (5, 9, 2) ORDER BY id DESC", "9 5 2"),
        ("SELECT id FROM bulktest WHERE id > 300 AND id <= 303", "301 302 303"),
        ("SELECT id FROM bulktest WHERE 998 < id", "999 1000"),
        (
            "SELECT id FROM bulktest WHERE id >= 127 AND id < 131 ORDER BY id DESC",
            "130 129 128 127",
        ),
        ("SELECT id FROM bulktest WHERE id = -1", ""),
        ("SELECT id FROM bulktest WHERE id = 'x'", ""),
        ("SELECT id FROM bulktest WHERE id <> 1 LIMIT 1", "2"),
        ("SELECT id FROM bulktest LIMIT 0", ""),
    ] {
        let rows = client.query(sql).rows().into_iter().flatten().flatten();
        assert_eq!(rows.collect::<Vec<_>>().join(" "), ids, "{sql}");
    }
    let by_text = format!("SELECT id, text AS t FROM bulktest WHERE text = '{}'", text(77));
    let Answer::Rows { names, rows, .. } = client.query(&by_text) else { panic!("{by_text}") };
    assert_eq!(
        (names, rows),
        (vec!["id".to_owned(), "t".to_owned()], vec![row(&["77", &text(77)])])
    );
    let extremes = client.query("SELECT MIN(id), MAX(id), COUNT(text) FROM bulktest WHERE id > 10");
    assert_eq!(extremes.rows(), [row(&["11", "1000", "990"])]);
    assert_eq!(
        client.query("SELECT MAX(id) FROM bulktest WHERE id > 5000").rows(),
        [row(&["NULL"])]
    );
}

#[test]
fn prepared_statements_take_arguments_and_answer_in_binary() {
    let (_fake, mut client) = start(small());
    let by_id = client.prepare("SELECT id, text FROM bulktest WHERE id = ?").unwrap();
    assert_eq!((by_id.columns, by_id.arguments), (2, 1));
    for id in [1, 500, 1000] {
        let rows = client.execute(by_id, &[Arg::Int(id)]).rows();
        assert_eq!(rows, [row(&[&id.to_string(), &text(id as u64)])]);
    }
    assert_eq!(client.execute(by_id, &[Arg::Text("12")]).rows().len(), 1);
    assert_eq!(client.execute(by_id, &[Arg::Null]).rows().len(), 0);
    let page = client.prepare("SELECT id FROM bulktest WHERE id > ? ORDER BY id LIMIT ?").unwrap();
    let rows = client.execute(page, &[Arg::Int(900), Arg::Int(3)]).rows();
    assert_eq!(rows, [row(&["901"]), row(&["902"]), row(&["903"])]);
    let insert = client.prepare("INSERT INTO bulktest (text) VALUES (?), (?), (?)").unwrap();
    let Answer::Ok { rows, last_id, .. } =
        client.execute(insert, &[Arg::Text("a"), Arg::Null, Arg::Int(5)])
    else {
        panic!("refused")
    };
    assert_eq!((rows, last_id), (3, 1001));
    let rows = client.query("SELECT id, text FROM bulktest WHERE id > 1000").rows();
    assert_eq!(rows, [row(&["1001", "a"]), row(&["1002", "NULL"]), row(&["1003", "5"])]);
    assert_eq!(client.query("SELECT COUNT(*) FROM bulktest WHERE text IS NULL").value(), "1");
    let update = client.prepare("UPDATE bulktest SET text = ? WHERE id = ?").unwrap();
    assert_eq!(client.execute(update, &[Arg::Text("b"), Arg::Int(1002)]).changed(), 1);
    assert_eq!(client.execute(update, &[Arg::Text("b"), Arg::Int(9999)]).changed(), 0);
    let sum = client.prepare("SELECT COUNT(*), SUM(id) FROM bulktest").unwrap();
    assert_eq!(client.execute(sum, &[]).rows(), [row(&["1003", "503506"])]);
    assert_eq!(client.execute(by_id, &[]).refused(), (1835, "HY000".to_owned()));
}

#[test]
fn a_statement_of_ten_thousand_rows_is_one_statement() {
    let (fake, mut client) = start(MysqlConfig { rows: 0, ..MysqlConfig::fast() });
    let values = |from: u64| {
        let rows: Vec<_> = (from..from + 10_000).map(|id| format!("('{}')", text(id))).collect();
        format!("INSERT INTO bulktest (text) VALUES {}", rows.join(","))
    };
    assert_eq!(client.query(&values(1)).changed(), 10_000);
    let marks = vec!["(?)"; 10_000].join(",");
    let insert = client.prepare(&format!("INSERT INTO bulktest (text) VALUES {marks}")).unwrap();
    let texts: Vec<_> = (10_001..=20_000).map(text).collect();
    let args: Vec<_> = texts.iter().map(|text| Arg::Text(text)).collect();
    assert_eq!(client.execute(insert, &args).changed(), 10_000);
    let rows = client.query("SELECT id, text FROM bulktest").rows();
    let expected = (1..=20_000).map(|id: u64| row(&[&id.to_string(), &text(id)]));
    assert!(rows.into_iter().eq(expected));
    let marks = vec!["(?)"; 65_536].join(",");
    let refused = client.prepare(&format!("INSERT INTO bulktest (text) VALUES {marks}"));
    assert_eq!(refused.unwrap_err().refused(), (1390, "HY000".to_owned()));
    assert_eq!(fake.stats()["rows_written"], 20_000);
}

#[test]
fn the_three_updates_of_the_job_come_to_the_same() {
    let (_fake, mut client) = start(small());
    assert_eq!(client.query("ALTER TABLE bulktest ADD COLUMN hashval VARCHAR(255)").changed(), 0);
    assert_eq!(client.query("SELECT COUNT(*) FROM bulktest WHERE hashval IS NULL").value(), "1000");
    // 1: row by row.
    assert_eq!(client.query("UPDATE bulktest SET hashval = 'h1' WHERE id = 1").changed(), 1);
    // 2: by way of a second table.
    client.query(
        "CREATE TABLE bulktest_temp (id INT NOT NULL PRIMARY KEY, text VARCHAR(45), hashval VARCHAR(255)) ENGINE=InnoDB",
    ).changed();
    let rows: Vec<_> = (2..=1000).map(|id| format!("({id},'{}','h{id}')", text(id))).collect();
    client
        .query(&format!("INSERT INTO bulktest_temp (id, text, hashval) VALUES {}", rows.join(",")))
        .changed();
    let joined = "UPDATE bulktest, bulktest_temp SET bulktest.hashval = bulktest_temp.hashval WHERE bulktest.id = bulktest_temp.id";
    assert_eq!(client.query(joined).changed(), 999);
    assert_eq!(client.query(joined).changed(), 0, "nothing is other than before");
    let other =
        "UPDATE bulktest b INNER JOIN bulktest_temp t ON t.id = b.id SET b.text = t.hashval";
    assert_eq!(client.query(other).changed(), 999);
    let using =
        "UPDATE bulktest JOIN bulktest_temp USING (id) SET bulktest.text = bulktest_temp.text";
    assert_eq!(client.query(using).changed(), 999);
    let seven = client.query("SELECT text, hashval FROM bulktest WHERE id = 7").rows();
    assert_eq!(seven, [row(&[&text(7), "h7"])]);
    // 3: by way of a table that takes the place of the first.
    client.query("CREATE TABLE bulktest_new LIKE bulktest").changed();
    client.query("LOCK TABLES bulktest WRITE, bulktest_new WRITE").changed();
    client.query("INSERT INTO bulktest_new VALUES (5, 'five', 'h5')").changed();
    client.query("UNLOCK TABLES").changed();
    client.query("TRUNCATE TABLE bulktest").changed();
    client.query("DROP TABLE bulktest").changed();
    client.query("RENAME TABLE bulktest_new TO bulktest, bulktest_temp TO rest").changed();
    assert_eq!(client.query("SELECT * FROM bulktest").rows(), [row(&["5", "five", "h5"])]);
    let Answer::Ok { last_id, .. } = client.query("INSERT INTO bulktest (text) VALUES ('six')")
    else {
        panic!("refused")
    };
    assert_eq!(last_id, 6, "AUTO_INCREMENT goes on");
    client.query("ALTER TABLE bulktest AUTO_INCREMENT = 100").changed();
    client.query("INSERT INTO bulktest (text) VALUES ('hundred')").changed();
    assert_eq!(client.query("SELECT MAX(id) FROM bulktest").value(), "100");
    assert_eq!(client.query("SHOW TABLES").rows(), [row(&["bulktest"]), row(&["rest"])]);
    client.query("DROP TABLE IF EXISTS rest, none").changed();
}

#[test]
fn a_transaction_is_kept_or_rolled_back() {
    let (fake, mut client) = start(small());
    let count = |client: &mut Client| client.query("SELECT COUNT(*) FROM bulktest").value();
    let begun = client.query("START TRANSACTION");
    assert!(begun.status().contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    client.query("INSERT INTO bulktest (text) VALUES ('a'), ('b')").changed();
    client.query("UPDATE bulktest SET text = 'c' WHERE id <= 200").changed();
    client.query("DELETE FROM bulktest WHERE id > 500").changed();
    client.query("UPDATE bulktest SET text = 'd' WHERE id = 3").changed();
    assert_eq!(count(&mut client), "500");
    let over = client.query("ROLLBACK");
    assert!(!over.status().contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    assert_eq!(count(&mut client), "1000");
    assert_eq!(client.query("SELECT text FROM bulktest WHERE id = 3").value(), text(3));
    client.query("SET autocommit=0").changed();
    client.query("DELETE FROM bulktest WHERE id = 1").changed();
    client.query("COMMIT").changed();
    client.query("DELETE FROM bulktest WHERE id = 2").changed();
    client.query("ROLLBACK").changed();
    assert_eq!(count(&mut client), "999");
    // A statement that fails takes back itself alone.
    client.query("BEGIN").changed();
    client.query("DELETE FROM bulktest WHERE id = 3").changed();
    let twice = client.query("INSERT INTO bulktest (id, text) VALUES (3, 'x'), (5, 'y')");
    assert_eq!(twice.refused(), (1062, "23000".to_owned()));
    client.query("COMMIT").changed();
    assert_eq!(count(&mut client), "998");
    // So does a client that goes.
    client.query("BEGIN").changed();
    client.query("DELETE FROM bulktest").changed();
    client.command(1, &[]);
    drop(client);
    let mut next = Client::new(fake.addr());
    let end = Instant::now() + Duration::from_secs(10);
    while count(&mut next) != "998" {
        assert!(Instant::now() < end, "the transaction of a client that is gone stays");
    }
}

#[test]
fn refusals_have_mysqls_numbers_and_states() {
    let (_fake, mut client) = start(small());
    for (sql, code, state) in [
        ("SELEC 1", 1064, "42000"),
        ("SELECT * FROM bulktest GROUP BY text", 1064, "42000"),
        ("SELECT * FROM bulktest a JOIN bulktest b ON a.id = b.id", 1064, "42000"),
        ("INSERT INTO bulktest SELECT * FROM bulktest", 1064, "42000"),
        ("CREATE INDEX i ON bulktest (text)", 1064, "42000"),
        ("SELECT 1; SELEC 2", 1064, "42000"),
        ("SELECT * FROM bulktest WHERE id = ?", 1064, "42000"),
        ("", 1065, "42000"),
        ("SELECT * FROM none", 1146, "42S02"),
        ("SELECT nothing FROM bulktest", 1054, "42S22"),
        ("SELECT id FROM bulktest WHERE nothing = 1", 1054, "42S22"),
        ("INSERT INTO bulktest (nothing) VALUES (1)", 1054, "42S22"),
        ("INSERT INTO bulktest (id, text) VALUES (1)", 1136, "21S01"),
        ("INSERT INTO bulktest (text) VALUES ('a'), ('a', 'b')", 1136, "21S01"),
        ("INSERT INTO bulktest (id, text) VALUES (7, 'x')", 1062, "23000"),
        ("INSERT INTO bulktest (id) VALUES ('seven')", 1366, "HY000"),
        ("INSERT INTO bulktest (id) VALUES (3000000000)", 1264, "22003"),
        (
            "INSERT INTO bulktest (text) VALUES ('0123456789012345678901234567890123456789012345')",
            1406,
            "22001",
        ),
        (
            "UPDATE bulktest SET text = '0123456789012345678901234567890123456789012345'",
            1406,
            "22001",
        ),
        ("CREATE TABLE bulktest (id INT)", 1050, "42S01"),
        ("CREATE TABLE t (id INT AUTO_INCREMENT)", 1075, "42000"),
        ("DROP TABLE none", 1051, "42S02"),
        ("RENAME TABLE none TO some", 1146, "42S02"),
        ("ALTER TABLE bulktest ADD COLUMN text VARCHAR(1)", 1060, "42S21"),
        ("USE elsewhere", 1049, "42000"),
        ("SELECT @@nothing", 1193, "HY000"),
        ("KILL 999", 1094, "HY000"),
    ] {
        assert_eq!(client.query(sql).refused(), (code, state.to_owned()), "{sql}");
    }
    let Answer::Refused { text, .. } = client.query("VACUUM bulktest") else {
        panic!("not refused")
    };
    assert!(
        text.starts_with("brunt's stand-in for MySQL does not know this statement: "),
        "{text}"
    );
    assert_eq!(client.query("SELECT 1").value(), "1", "the connection is as good as before");
}

#[test]
fn what_nests_or_never_ends_is_refused() {
    let (_fake, mut client) = start(small());
    let deep = format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000));
    let chain = format!("SELECT 1{}", " + 1".repeat(100_000));
    let union = vec!["SELECT 1"; 100_000].join(" UNION ");
    let signs = format!("SELECT {}1", "- ".repeat(100_000));
    let and = format!("SELECT * FROM bulktest WHERE {}", vec!["id = 1"; 100_000].join(" AND "));
    for sql in [deep, chain, union, signs, and] {
        assert_eq!(client.query(&sql).refused().0, 1064, "{}", &sql[..40]);
    }
    assert_eq!(client.query("SELECT 1").value(), "1");
}

#[test]
fn several_statements_have_several_answers() {
    let (fake, mut client) = start(small());
    let more = StatusFlags::SERVER_MORE_RESULTS_EXISTS;
    let first = client
        .query("SELECT 1; INSERT INTO bulktest (text) VALUES ('x'); SELECT COUNT(*) FROM bulktest");
    assert!(first.status().contains(more));
    let second = client.answer();
    assert!(second.status().contains(more) && second.changed() == 1);
    let third = client.answer();
    assert!(!third.status().contains(more) && third.value() == "1001");
    let flags = CapabilityFlags::all() - CapabilityFlags::CLIENT_MULTI_STATEMENTS;
    let mut client = Client::login(fake.addr(), "brunt", "", None, flags).unwrap();
    assert_eq!(client.query("SELECT 1; SELECT 2").refused().0, 1064);
}

#[test]
fn clients_of_before_get_their_ends_of_columns() {
    let (fake, _client) = start(small());
    let flags = CapabilityFlags::all() - CapabilityFlags::CLIENT_DEPRECATE_EOF;
    let mut client = Client::login(fake.addr(), "brunt", "", Some("demo"), flags).unwrap();
    assert_eq!(client.query("SELECT id FROM bulktest LIMIT 2").rows().len(), 2);
    let by_id = client.prepare("SELECT id FROM bulktest WHERE id = ?").unwrap();
    assert_eq!(client.execute(by_id, &[Arg::Int(3)]).rows(), [row(&["3"])]);
    client.query("USE demo").changed();
    assert_eq!(client.query("SELECT DATABASE()").value(), "demo");
}

#[test]
fn a_password_that_is_set_must_be_right() {
    let fake =
        FakeMysql::start(MysqlConfig { password: Some("sesame".into()), ..small() }).unwrap();
    let login = |user: &str, password: &str, database: Option<&str>| {
        Client::login(fake.addr(), user, password, database, CapabilityFlags::all())
    };
    assert!(login("brunt", "sesame", None).is_ok());
    for (user, password) in [("brunt", "other"), ("brunt", ""), ("root", "sesame")] {
        let Err(Answer::Refused { code, state, text }) = login(user, password, None) else {
            panic!("{user} {password} was let in")
        };
        assert_eq!((code, state.as_str()), (1045, "28000"));
        let using = if password.is_empty() { "NO" } else { "YES" };
        assert_eq!(
            text,
            format!("Access denied for user '{user}'@'localhost' (using password: {using})")
        );
    }
    let Err(refused) = login("brunt", "sesame", Some("shop")) else { panic!("let in") };
    assert_eq!(refused.refused(), (1049, "42000".to_owned()));
    let any = FakeMysql::start(small()).unwrap();
    let login = Client::login(any.addr(), "brunt", "whatever", None, CapabilityFlags::all());
    assert!(login.is_ok());
}

#[test]
fn faults_come_as_often_as_they_are_asked_for() {
    let config = MysqlConfig { deadlock_every: 3, kill_every: 8, max_connections: 2, ..small() };
    let (fake, mut client) = start(config);
    let insert = "INSERT INTO bulktest (text) VALUES ('x')";
    client.query("BEGIN").changed();
    client.query(insert).changed();
    client.query(insert).changed();
    let victim = client.query(insert);
    assert_eq!(victim.refused(), (1213, "40001".to_owned()));
    let count = client.query("SELECT COUNT(*) FROM bulktest");
    assert!(!count.status().contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    assert_eq!(count.value(), "1000", "the transaction is rolled back");
    let _second = Client::new(fake.addr());
    let third = Client::login(fake.addr(), "brunt", "", None, CapabilityFlags::all());
    let Err(refused) = third else { panic!("let in") };
    assert_eq!(refused.refused(), (1040, "08004".to_owned()));
    let answered = (0..8).map_while(|_| client.try_query("SELECT 1")).count();
    assert_eq!(answered, 2, "the eighth statement has no answer");
    let stats = fake.stats();
    assert_eq!(
        (&stats["deadlocks"], &stats["cut"], &stats["refused"]),
        (&1.into(), &1.into(), &1.into())
    );
    let (_fake, mut client) = start(MysqlConfig { read_only: true, ..small() });
    assert_eq!(client.query(insert).refused(), (1290, "HY000".to_owned()));
    assert_eq!(client.query("SELECT COUNT(*) FROM bulktest").value(), "1000");
}

#[test]
fn tables_have_an_end() {
    let (_fake, mut client) = start(MysqlConfig { max_rows: 1001, ..small() });
    client.query("INSERT INTO bulktest (text) VALUES ('x')").changed();
    let refused = client.query("INSERT INTO bulktest (text) VALUES ('y')");
    let Answer::Refused { code, text, .. } = refused else { panic!("not refused") };
    assert_eq!((code, text.as_str()), (1114, "The table 'bulktest' is full"));
    let error = FakeMysql::start(MysqlConfig { max_rows: 5, ..small() }).unwrap_err();
    assert_eq!(error.to_string(), "--rows: 1000 are more than --max-rows allows, 5");
}

#[test]
fn costs_are_paid() {
    let config = MysqlConfig {
        commit: Duration::from_millis(20),
        row: Duration::from_micros(100),
        ..small()
    };
    let (_fake, mut client) = start(config);
    let timed = |client: &mut Client, sql: &str| {
        let begin = Instant::now();
        client.query(sql).changed();
        begin.elapsed()
    };
    let insert = format!("INSERT INTO bulktest (text) VALUES {}", vec!["('x')"; 1000].join(","));
    assert!(timed(&mut client, &insert) >= Duration::from_millis(110));
    let begin = Instant::now();
    for _ in 0..5 {
        client.query("DELETE FROM bulktest WHERE id = 1").changed();
    }
    assert!(begin.elapsed() >= Duration::from_millis(90), "each is a commit");
}

#[test]
fn sleep_ends_when_it_is_killed() {
    let (fake, mut client) = start(small());
    let number = client.query("SELECT CONNECTION_ID()").value();
    assert_eq!(client.query("SELECT SLEEP(0.01)").value(), "0");
    client.command(3, b"SELECT SLEEP(60)");
    let mut other = Client::new(fake.addr());
    let begin = Instant::now();
    other.query(&format!("KILL QUERY {number}")).changed();
    // The answer says that it was interrupted, if the statement had begun; else KILL came too early and comes again.
    client.stream.set_nonblocking(false).unwrap();
    let answer = loop {
        client.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut byte = [0];
        match client.stream.peek(&mut byte) {
            Ok(_) => break client.answer(),
            Err(_) => other.query(&format!("KILL QUERY {number}")).changed(),
        };
    };
    assert_eq!(answer.value(), "1");
    assert!(begin.elapsed() < Duration::from_secs(30));
    client.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    other.query(&format!("KILL {number}")).changed();
    assert_eq!(client.try_query("SELECT 1"), None, "KILL ends the connection");
}

#[test]
fn the_demo_target_counts_its_statements() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let addr = demo.mysql_addr().unwrap();
    assert_eq!(demo.mysql_dsn().unwrap(), format!("brunt@tcp({addr})/demo"));
    let mut http = crate::client::Client::new(demo.addr());
    let stats = http.get("/_demo/stats").json();
    assert_eq!(stats["mysql"]["rows"], 0, "rows are made when somebody asks");
    let mut client = Client::new(addr);
    assert_eq!(client.query("SELECT COUNT(*) FROM bulktest").value(), "100000");
    client.query("INSERT INTO bulktest (text) VALUES ('x'), ('y')").changed();
    client.query("nonsense").refused();
    let stats = http.get("/_demo/stats").json();
    let mysql = &stats["mysql"];
    assert_eq!(mysql["connections"]["now"], 1);
    assert_eq!((&mysql["statements"], &mysql["rows_written"]), (&2.into(), &2.into()));
    assert_eq!((&mysql["rows_read"], &mysql["errors"]), (&100_000.into(), &1.into()));
    http.post("/_demo/reset", "");
    let stats = http.get("/_demo/stats").json();
    assert_eq!(
        (&stats["mysql"]["statements"], &stats["mysql"]["rows"]),
        (&0.into(), &100_002.into())
    );
}

#[test]
fn the_command_line_client_can_talk_to_it() {
    let fake = FakeMysql::start(small()).unwrap();
    let ask = |sql: &str| {
        let port = fake.addr().port().to_string();
        let output = Command::new("mariadb")
            .args([
                "--no-defaults",
                "--skip-ssl",
                "-h127.0.0.1",
                "-P",
                &port,
                "-ubrunt",
                "-pany",
                "demo",
            ])
            .args(["--batch", "--skip-column-names", "-e", sql])
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8(output.stdout).unwrap().trim().to_owned(), error)
    };
    if Command::new("mariadb").arg("--version").output().is_err() {
        return; // Not installed: the plain client's tests have covered the protocol.
    }
    assert_eq!(ask("SELECT COUNT(*), MAX(id) FROM bulktest").0, "1000\t1000");
    assert_eq!(ask("SELECT text FROM bulktest WHERE id = 3").0, text(3));
    let (said, error) = ask("SELECT nothing FROM bulktest");
    assert_eq!(said, "");
    assert!(
        error.contains("ERROR 1054 (42S22) at line 1: Unknown column 'nothing' in 'field list'"),
        "{error}"
    );
}
