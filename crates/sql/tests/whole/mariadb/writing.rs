use brunt_sql::{Args, Cell, Insert, Trouble, Way};

use super::{SHARED, connected, database};
use crate::support::{args, exec, on_a_core, query};

fn numbers(count: i64) -> Args {
    let mut args = Args::new();
    for number in 0..count {
        args.push(Cell::Int(number));
        args.push(Cell::Text(format!("row {number}: it's \\ a\ttext\nwith \u{fc}").as_bytes()));
        args.push(if number % 3 == 0 { Cell::Null } else { Cell::Bytes(&[0, 0xff, b'\'', 10]) });
    }
    args
}

fn columns() -> Vec<String> {
    ["id", "te`xt", "bytes"].map(str::to_owned).to_vec()
}

const TABLE: &str =
    "CREATE TABLE `or``ders` (id INT PRIMARY KEY, `te``xt` VARCHAR(99), bytes BLOB)";

/// The table by the server's own word.
fn truth(database: &str) -> String {
    SHARED.server.run(
        database,
        "SELECT COUNT(*), SUM(id), SUM(bytes IS NULL), COUNT(DISTINCT bytes), MAX(HEX(bytes)), SUM(CRC32(`te``xt`)) FROM `or``ders`",
    )
}

#[test]
fn rows_are_inserted_whichever_way_they_go() {
    on_a_core(async {
        let mut truths = Vec::new();
        for (way, batch, params) in [
            (Way::Fastest, None, ""),
            (Way::Values, Some(7), ""),
            (Way::Values, None, "sql_mode=%27NO_BACKSLASH_ESCAPES%27"),
            (Way::LoadData, None, ""),
            (Way::LoadData, Some(999), "sql_mode=%27NO_BACKSLASH_ESCAPES%27"),
            (Way::Values, None, "compress=true"),
            (Way::LoadData, None, "compress=true"),
        ] {
            let name = database();
            let mut it = connected(&name, params).await;
            exec(&mut it, TABLE, &[]).await.unwrap();
            let (columns, values) = (columns(), numbers(12_345));
            let table = format!("{name}.or`ders");
            let insert = Insert { table: &table, columns: &columns, values: &values, way, batch };
            let outcome = it.insert(&insert).await.unwrap();
            assert_eq!(outcome.rows_affected, Some(12_345), "{way:?}");
            assert!(it.is_idle() && !it.is_in_transaction());
            truths.push(truth(&name));
        }
        let expected = format!("12345\t{}\t4115\t1\t00FF270A\t", 12_345 * 12_344 / 2);
        assert!(truths[0].starts_with(&expected), "{}", truths[0]);
        assert!(truths.iter().all(|one| *one == truths[0]), "{truths:#?}");
    });
}

#[test]
fn statements_stay_below_what_the_server_takes() {
    on_a_core(async {
        let server = brunt_databases::Server::mariadb(&["--max-allowed-packet=64K"]);
        let dsn = server.go_dsn("shop");
        let mut it = crate::support::open(brunt_sql::Driver::MySql, &dsn).await.unwrap();
        exec(&mut it, "CREATE TABLE t (a LONGTEXT)", &[]).await.unwrap();
        let text = "x".repeat(10_000);
        let values = args(&vec![Cell::Text(text.as_bytes()); 100]);
        let columns = ["a".to_owned()];
        let insert = Insert {
            table: "t",
            columns: &columns,
            values: &values,
            way: Way::Values,
            batch: None,
        };
        let outcome = it.insert(&insert).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(100));
        let long = "x".repeat(70_000);
        let values = args(&[Cell::Text(b"short"), Cell::Text(long.as_bytes())]);
        let failure = it.insert(&Insert { values: &values, ..insert }).await.unwrap_err();
        assert_eq!(failure.trouble(), Trouble::TooLarge);
        assert_eq!(
            failure.text(),
            "packet for query is too large. Try adjusting the `Config.MaxAllowedPacket`"
        );
        let counts = query(&mut it, "SELECT COUNT(*), MAX(LENGTH(a)) FROM t", &[]).await.unwrap();
        assert_eq!(counts[0], ["101", "10000"], "the row before it is there");
        let failure = it.batch("INSERT INTO t VALUES (?)", 1, &values).await.unwrap_err();
        assert_eq!(failure.trouble(), Trouble::TooLarge);
        let counts = query(&mut it, "SELECT COUNT(*) FROM t", &[]).await.unwrap();
        assert_eq!(counts[0], ["101"], "a batch is all or nothing");
        // A statement of the user's own that the server refuses, which then closes the connection.
        let sql = format!("SELECT '{long}'");
        let failure = query(&mut it, &sql, &[]).await.unwrap_err();
        assert!(["Error 1153", "packet for query"].iter().any(|it| failure.text().starts_with(it)));
        assert_eq!(it.is_idle(), failure.number() != 1153);
    });
}

#[test]
fn a_batch_is_all_or_nothing_whether_it_is_widened_or_not() {
    on_a_core(async {
        let name = database();
        let mut it = connected(&name, "").await;
        exec(&mut it, "CREATE TABLE t (a INT PRIMARY KEY, b INT)", &[]).await.unwrap();
        let pairs = |count: i64| {
            let mut args = Args::new();
            for number in 0..count {
                args.push(Cell::Int(number));
                args.push(Cell::Int(number % 10));
            }
            args
        };
        let widened = "INSERT INTO t (a, b) VALUES (?, ? + 1)";
        let outcome = it.batch(widened, 2, &pairs(25_000)).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(25_000));
        let failure = it.batch(widened, 2, &pairs(25_000)).await.unwrap_err();
        assert_eq!(failure.number(), 1062);
        let upsert = "INSERT INTO t VALUES (?, ?) ON DUPLICATE KEY UPDATE b = 77";
        let outcome = it.batch(upsert, 2, &pairs(10)).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(20));
        exec(&mut it, "TRUNCATE t", &[]).await.unwrap();

        let single = "INSERT INTO t SELECT ?, ?";
        let outcome = it.batch(single, 2, &pairs(3000)).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(3000));
        assert!(it.is_idle() && !it.is_in_transaction());
        let mut more = pairs(4000);
        more.push(Cell::Int(5));
        more.push(Cell::Int(5));
        exec(&mut it, "TRUNCATE t", &[]).await.unwrap();
        let failure = it.batch(single, 2, &more).await.unwrap_err();
        assert_eq!((failure.number(), failure.code()), (1062, "23000"));
        assert!(it.is_idle() && !it.is_in_transaction());
        assert_eq!(query(&mut it, "SELECT COUNT(*) FROM t", &[]).await.unwrap()[0], ["0"]);

        exec(&mut it, "BEGIN", &[]).await.unwrap();
        it.batch("UPDATE t SET b = ? WHERE a = ?", 2, &pairs(100)).await.unwrap();
        assert!(it.is_in_transaction(), "the transaction of the caller stays open");
        exec(&mut it, "ROLLBACK", &[]).await.unwrap();
        let failure = it.batch("UPDATE t SET b = ?", 2, &pairs(1)).await.unwrap_err();
        assert_eq!(failure.text(), "sql: expected 1 arguments, got 2");
    });
}

#[test]
fn a_batch_takes_values_of_whatever_types() {
    on_a_core(async {
        let name = database();
        let mut it = connected(&name, "").await;
        exec(
            &mut it,
            "CREATE TABLE t (a INT PRIMARY KEY, b TEXT, c DOUBLE, d BLOB, e DATETIME)",
            &[],
        )
        .await
        .unwrap();
        let moment = brunt_sql::Moment { unix_seconds: 86_400, nanos: 0, offset_seconds: 0 };
        let mut even = Args::new();
        for number in 0..1000 {
            even.push(Cell::Int(number));
            even.push(if number == 7 { Cell::Null } else { Cell::Text("gr\u{fc}n".as_bytes()) });
            even.push(Cell::Float(0.5));
            even.push(Cell::Bytes(&[0xff, 0]));
            even.push(Cell::Time(moment));
        }
        let sql = "INSERT INTO t SELECT ?, ?, ?, ?, ?";
        assert_eq!(it.batch(sql, 5, &even).await.unwrap().rows_affected, Some(1000));
        let truth = SHARED
            .server
            .run(&name, "SELECT COUNT(*), COUNT(b), SUM(c), MIN(HEX(d)), MIN(e), MAX(b) FROM t");
        assert_eq!(truth, "1000\t999\t500\tFF00\t1970-01-02 00:00:00\tgr\u{fc}n");
        // Types that differ within a column.
        let odd = args(&[Cell::Int(1), Cell::Int(1), Cell::Text(b"two"), Cell::Int(2)]);
        let outcome = it.batch("UPDATE t SET b = ? WHERE a = ?", 2, &odd).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(2));
        let truth = SHARED.server.run(&name, "SELECT b FROM t WHERE a IN (1, 2) ORDER BY a");
        assert_eq!(truth, "1\ntwo");
    });
}

#[test]
fn answers_of_a_batch_may_be_longer_than_all_buffers() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        let mut values = Args::new();
        for number in 0..400 {
            values.push(Cell::Int(number));
        }
        let sql = "SELECT REPEAT('x', 100000 + ?)";
        let outcome = it.batch(sql, 1, &values).await.unwrap();
        assert_eq!(outcome.rows, 400);
        assert!(it.take_bytes().1 > 40_000_000);
    });
}

#[test]
fn load_data_says_what_to_set_where_the_server_refuses_it() {
    on_a_core(async {
        let server = brunt_databases::Server::mariadb(&["--local-infile=0"]);
        let dsn = server.go_dsn("shop");
        let mut it = crate::support::open(brunt_sql::Driver::MySql, &dsn).await.unwrap();
        exec(&mut it, "CREATE TABLE t (a INT)", &[]).await.unwrap();
        let (columns, values) = (["a".to_owned()], args(&[Cell::Int(1)]));
        let way = Way::LoadData;
        let insert = Insert { table: "t", columns: &columns, values: &values, way, batch: None };
        let failure = it.insert(&insert).await.unwrap_err();
        assert!(failure.text().contains("set local_infile=ON"), "{failure}");
        assert_eq!(failure.trouble(), Trouble::Server);
        assert!(it.is_idle());
        let failure = it.insert(&Insert { way: Way::Copy, ..insert }).await.unwrap_err();
        assert_eq!(failure.trouble(), Trouble::Usage);
    });
}

#[test]
fn no_file_of_this_machine_is_given_to_a_server_that_asks_for_it() {
    on_a_core(async {
        let mut it = connected(&database(), "allowAllFiles=true").await;
        exec(&mut it, "CREATE TABLE t (a TEXT)", &[]).await.unwrap();
        let sql = "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t";
        let failure = exec(&mut it, sql, &[]).await.unwrap_err();
        assert_eq!(failure.text(), "local file '/etc/passwd' is not registered");
        assert!(it.is_idle());
        assert_eq!(query(&mut it, "SELECT COUNT(*) FROM t", &[]).await.unwrap()[0], ["0"]);
    });
}
