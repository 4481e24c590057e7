//! The job of ten million rows, with fewer, on each database; and the other examples of SQL.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use brunt_databases::Server;

use crate::support::{Told, brunt, repository};

/// Rows of the table.
const ROWS: u64 = 20_000;

/// Their hashes, added up: the same for each way and each database, since the texts are.
const CHECKSUM: &str = "2a722cf49f73";

/// Packets are small, so that large statements must be split.
static MARIADB: LazyLock<Server> = LazyLock::new(|| Server::mariadb(&["--max-allowed-packet=1M"]));
static POSTGRES: LazyLock<Server> = LazyLock::new(|| Server::postgres(&[]));

/// A run of the job that must do well.
fn job(dsn: &str, env: &str) -> Told {
    let told = brunt(&format!("run --quiet --no-color {env}"))
        .word("-e")
        .word(format!("DSN={dsn}"))
        .word(repository("examples/sql/job.js"))
        .told();
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    told
}

/// All that follows this word in messages of the script.
fn said<'a>(told: &'a Told, word: &str) -> Vec<&'a str> {
    let behind = |line: &'a str| line.split_once(word).map(|(_, rest)| rest);
    told.stderr
        .lines()
        .filter_map(behind)
        .map(|rest| rest.split('"').next().unwrap_or(rest))
        .collect()
}

/// Rows a second by stage.
fn rates(told: &Told) -> BTreeMap<String, f64> {
    let mut rates = BTreeMap::new();
    for rest in said(told, "msg=\"") {
        if let Some((stage, rest)) = rest.split_once(": ")
            && let Some((_, rate)) = rest.split_once(" s, ")
        {
            let rate = rate.trim_end_matches(" rows/s").parse().expect("a rate");
            rates.insert(stage.to_owned(), rate);
        }
    }
    rates
}

/// All stages, and what must be true of them whatever the database.
fn all_stages(dsn: &str) -> BTreeMap<String, f64> {
    let told = job(dsn, &format!("-e ROWS={ROWS} -e BATCH=1000 -e SAMPLES=50 -e THREADS=4"));
    let sums = said(&told, "sum of ids: ");
    assert_eq!(sums, vec![(ROWS * (ROWS + 1) / 2).to_string(); 3], "{told:?}");
    assert_eq!(said(&told, "checksum of the hashes: "), [CHECKSUM; 3], "{told:?}");
    let rates = rates(&told);
    let names: Vec<&str> = rates.keys().map(String::as_str).collect();
    let stages = [
        "alter",
        "insertA",
        "insertA1",
        "insertB",
        "select",
        "select 1, rows",
        "select 2, into objects",
        "select 3, into lists and out again",
        "update1",
        "update2",
        "update3",
    ];
    assert_eq!(names, stages, "{told:?}");
    assert!(told.stdout.contains("no row is lost") && told.stdout.contains("SQL\n"), "{told:?}");
    rates
}

/// The order of the published figures. A machine that does other things meanwhile may blur it once.
fn has_the_order(dsn: &str) {
    let mut seen = Vec::new();
    for _ in 0..4 {
        let rates = all_stages(dsn);
        let rate = |stage: &str| rates[stage];
        if rate("update3") > rate("update2")
            && rate("update2") > rate("update1")
            && rate("insertB") > 3.0 * rate("insertA")
        {
            return;
        }
        seen.push(rates);
    }
    panic!("update 3 is not faster than 2, or 2 than 1, or insert B than A: {seen:?}");
}

#[test]
fn all_stages_on_mariadb() {
    has_the_order(&MARIADB.go_dsn("shop"));
    let left = MARIADB.run("shop", "SHOW TABLES LIKE 'bulktest%'; SHOW CREATE TABLE bulktest;");
    assert!(
        left.starts_with(
            "bulktest\nbulktest\tCREATE TABLE `bulktest` (\\n  `id` int(11) NOT NULL AUTO_INCREMENT"
        ),
        "{left}"
    );
    assert!(left.contains("PRIMARY KEY (`id`)"), "{left}");
}

#[test]
fn all_stages_on_postgres() {
    has_the_order(&POSTGRES.go_dsn("shop"));
    let left = POSTGRES.run(
        "shop",
        "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'bulktest%';
         SELECT indexname FROM pg_indexes WHERE tablename = 'bulktest'; SELECT pg_get_serial_sequence('bulktest', 'id');",
    );
    assert_eq!(left, "bulktest\nbulktest_pkey\npublic.bulktest_id_seq");
}

#[test]
fn all_stages_on_sqlite_with_nothing_set_but_the_number_of_rows() {
    let mut call = brunt("run --quiet --no-color")
        .word("-e")
        .word(format!("ROWS={ROWS}"))
        .word("-e")
        .word("BATCH=1000")
        .word(repository("examples/sql/job.js"));
    let told = call.told();
    assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
    assert_eq!(said(&told, "checksum of the hashes: "), [CHECKSUM; 3], "{told:?}");
    assert_eq!(said(&told, "sum of ids: "), vec![(ROWS * (ROWS + 1) / 2).to_string(); 3]);
}

/// Writers wait while update 3 copies, and their rows are in the new table.
#[test]
fn no_write_is_lost_while_a_table_takes_the_place_of_another() {
    for server in [&*MARIADB, &*POSTGRES] {
        server.create("busy");
        let dsn = server.go_dsn("busy");
        job(&dsn, "-e STAGE=insertB -e ROWS=20000 -e THREADS=4");
        let mark = if server.driver() == "mysql" { "?" } else { "$1" };
        let writer = format!(
            "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/{}'; import {{ sleep }} from 'k6';
            const db = sql.open(driver, __ENV.DSN, {{ max_open_conns: 1 }});
            export const options = {{ iterations: 1 }};
            const until = () => db.query('SELECT COUNT(*) AS n FROM done')[0].n > 0;
            export default function () {{
              let written = 0;
              for (; !until(); written++, sleep(0.002)) db.exec('INSERT INTO bulktest (text) VALUES ({mark})', 'between');
              console.log(`written: ${{written}}`);
            }}",
            server.driver()
        );
        server.run("busy", "CREATE TABLE done (n INT);");
        if server.driver() == "postgres" {
            server.run("busy", "GRANT ALL ON done TO brunt;");
        }
        let beside = {
            let dsn = dsn.clone();
            std::thread::spawn(move || {
                brunt("run --quiet --no-color")
                    .word("-e")
                    .word(format!("DSN={dsn}"))
                    .word("script.js")
                    .file("script.js", writer)
                    .told()
            })
        };
        while server.run("busy", "SELECT COUNT(*) FROM bulktest WHERE text = 'between';") == "0" {
            std::thread::yield_now();
        }
        // Its own count of rows fails when others write beside it.
        let told = brunt("run --quiet --no-color -e STAGE=update3 -e THREADS=2 -e CHECKSUM=0")
            .word("-e")
            .word(format!("DSN={dsn}"))
            .word(repository("examples/sql/job.js"))
            .told();
        assert!([0, 99].contains(&told.code), "{}\n{}", told.stdout, told.stderr);
        server.run("busy", "INSERT INTO done VALUES (1);");
        let told = beside.join().expect("the writer ends");
        assert_eq!(told.code, 0, "{}\n{}", told.stdout, told.stderr);
        let written = said(&told, "written: ")[0].to_owned();
        let found = server.run("busy", "SELECT COUNT(*) FROM bulktest WHERE text = 'between';");
        assert_eq!(found, written, "{} lost writes", server.driver());
    }
}

#[test]
fn a_stage_that_is_none_and_a_table_that_is_none_are_told() {
    let script = repository("examples/sql/job.js");
    let told = brunt("run --quiet -e STAGE=update4").word(&script).told();
    assert_ne!(told.code, 0);
    assert!(told.stderr.contains("STAGE=update4: it is all, or some of insertA,"), "{told:?}");
    let told = brunt("run --quiet -e STAGE=update3").word(&script).told();
    assert_ne!(told.code, 0);
    assert!(told.stderr.contains("no such table: bulktest"), "{told:?}");
}

/// One of the other examples, to its good end.
fn example(name: &str, dsn: Option<&str>) -> Told {
    let mut call = brunt("run --quiet --no-color -e DURATION=1s");
    if let Some(dsn) = dsn {
        call = call.word("-e").word(format!("DSN={dsn}"));
    }
    let told = call.word(repository("examples/sql").join(name)).told();
    assert_eq!(told.code, 0, "{name}: {}\n{}", told.stdout, told.stderr);
    told
}

#[test]
fn the_other_examples_on_each_database() {
    for name in ["query.js", "transfer.js"] {
        example(name, None);
        example(name, Some(&MARIADB.go_dsn("shop")));
        example(name, Some(&POSTGRES.url("shop")));
    }
}

#[test]
fn metrics_of_sql_have_a_section_and_thresholds_for_names() {
    let told = example("query.js", Some(&MARIADB.go_dsn("shop")));
    let (_, section) = told.stdout.split_once("\n    SQL\n").expect("a section SQL");
    let names: Vec<&str> = section
        .lines()
        .map_while(|line| line.trim_start().split_once("..").map(|(name, _)| name))
        .collect();
    let all = [
        "sql_connecting",
        "sql_duration",
        "{ name:price }",
        "sql_failed",
        "sql_pool_wait",
        "sql_queries",
        "sql_receiving",
        "sql_rows",
        "sql_rows_affected",
        "sql_waiting",
    ];
    assert_eq!(names, all, "{}", told.stdout);
    assert!(told.stdout.contains("    sql_duration{name:price}\n    ✓ 'p(95)<100'"), "{told:?}");
}

#[test]
fn statements_that_fail_cross_a_threshold() {
    let told = brunt("run --quiet --no-color --iterations 4")
        .word("-e")
        .word(format!("DSN={}", MARIADB.go_dsn("shop")))
        .word("script.js")
        .file(
            "script.js",
            "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/mysql';
             export const options = { thresholds: { sql_failed: ['rate<0.4'], 'sql_queries{name:bad}': ['count==2'] } };
             const db = sql.open(driver, __ENV.DSN);
             const bad = db.with({ name: 'bad' });
             export default function () {
               try { (__ITER % 2 ? bad : db).query(__ITER % 2 ? 'SELECT nothing' : 'SELECT 1') } catch {}
             }",
        )
        .told();
    assert_eq!(told.code, 99, "{told:?}");
    assert!(told.stdout.contains("✗ 'rate<0.4' rate=50.00%"), "{told:?}");
    assert!(told.stdout.contains("✓ 'count==2' count=2"), "{told:?}");
}
