//! `k6/x/sql` against servers that refuse, stumble, lie and die: each fault has its own words, nothing hangs, nothing measured is lost.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use brunt_databases::{PASSWORD, Server};

use crate::support::{Told, brunt};

static MARIADB: LazyLock<Server> =
    LazyLock::new(|| Server::mariadb(&["--max-allowed-packet=1M", "--innodb-lock-wait-timeout=1"]));
static POSTGRES: LazyLock<Server> =
    LazyLock::new(|| Server::postgres(&["lock_timeout=3s", "deadlock_timeout=100ms"]));

/// Both servers, one after the other.
fn servers() -> [&'static Server; 2] {
    [&MARIADB, &POSTGRES]
}

/// Runs a script in which `open(options)` opens the database of the server.
fn run(driver: &str, dsn: &str, flags: &str, script: &str) -> Told {
    let text = format!(
        "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/{driver}'; import {{ check, sleep }} from 'k6'; import exec from 'k6/execution';
const open = (options, more = '') => sql.open(driver, __ENV.DSN + more, options);
const thrown = (call) => {{ try {{ call(); return 'nothing' }} catch (e) {{ return `${{e}}` }} }};
{script}"
    );
    brunt(&format!("run --no-color --summary-mode full {flags}"))
        .word("-e")
        .word(format!("DSN={dsn}"))
        .word("script.js")
        .file("script.js", text)
        .told()
}

fn on(server: &Server, flags: &str, script: &str) -> Told {
    run(server.driver(), &server.go_dsn("shop"), flags, script)
}

/// The script's line that begins with this word.
fn line<'a>(told: &'a Told, word: &str) -> &'a str {
    let found = told.stderr.lines().find(|line| line.contains(word));
    found.unwrap_or_else(|| panic!("no {word} in {} {}", told.stdout, told.stderr))
}

/// The first number behind the dots of a metric in the summary.
fn metric(told: &Told, name: &str) -> f64 {
    let mut lines = told.stdout.lines().map(str::trim_start);
    let found = lines.find(|line| line.starts_with(&format!("{name}.")));
    let found = found.unwrap_or_else(|| panic!("no {name} in {}", told.stdout));
    let value = found.split_once(": ").expect("a value").1.trim_start();
    let number = value.split(|c: char| !c.is_ascii_digit() && c != '.').next().expect("a number");
    number.parse().unwrap_or_else(|_| panic!("no number in {found}"))
}

#[test]
fn deadlocks_on_purpose_are_tried_again_and_counted() {
    for server in servers() {
        server.run("shop", "CREATE TABLE accounts (id INT PRIMARY KEY, amount INT); INSERT INTO accounts VALUES (1, 0), (2, 0);");
        let told = on(
            server,
            "--vus 2 --iterations 2",
            "const db = open();
             const set = driver.toString().includes('postgres') ? '$1' : '?';
             export default function () {
               const order = exec.scenario.iterationInTest % 2 ? [1, 2] : [2, 1];
               db.tx((tx) => {
                 tx.exec(`UPDATE accounts SET amount = amount + 1 WHERE id = ${set}`, order[0]);
                 sleep(0.3);
                 tx.exec(`UPDATE accounts SET amount = amount + 1 WHERE id = ${set}`, order[1]);
               }, { retries: 5 });
             }",
        );
        assert_eq!(told.code, 0, "{} {}", told.stdout, told.stderr);
        assert!(metric(&told, "sql_retries") >= 1.0, "{}", told.stdout);
        assert_eq!(server.run("shop", "SELECT SUM(amount), MIN(amount) FROM accounts;"), "4\t2");
    }
}

#[test]
fn without_tries_a_deadlock_is_the_scripts() {
    for server in servers() {
        server.run("shop", "CREATE TABLE twins (id INT PRIMARY KEY, amount INT); INSERT INTO twins VALUES (1, 0), (2, 0);");
        let told = on(
            server,
            "--vus 2 --iterations 2",
            "const db = open();
             export default function () {
               const order = exec.scenario.iterationInTest % 2 ? [1, 2] : [2, 1];
               const why = thrown(() => db.tx((tx) => {
                 tx.exec(`UPDATE twins SET amount = amount + 1 WHERE id = ${order[0]}`);
                 sleep(0.3);
                 tx.exec(`UPDATE twins SET amount = amount + 1 WHERE id = ${order[1]}`);
               }));
               if (why !== 'nothing') console.log('LOST', why);
             }",
        );
        let lost = line(&told, "LOST");
        let words = ["Error 1213 (40001): Deadlock found", "pq: deadlock detected (40P01)"];
        assert!(words.iter().any(|word| lost.contains(word)), "{lost}");
        assert_eq!(server.run("shop", "SELECT SUM(amount), MIN(amount) FROM twins;"), "2\t1");
        assert!(told.stdout.contains("sql_failed"), "{}", told.stdout);
    }
}

#[test]
fn a_lock_that_is_not_given_is_an_error_of_the_statement() {
    for server in servers() {
        server.run(
            "shop",
            "CREATE TABLE held (id INT PRIMARY KEY, n INT); INSERT INTO held VALUES (1, 0);",
        );
        let told = on(
            server,
            "",
            "const db = open();
             export default function () {
               const one = db.connection(), two = db.connection();
               one.exec('BEGIN'); one.exec('UPDATE held SET n = 1');
               console.log('WAITED', thrown(() => two.exec('UPDATE held SET n = 2')));
               one.exec('COMMIT');
               console.log('THEN', two.query('SELECT n FROM held')[0].n);
               one.close(); two.close();
             }",
        );
        let words = [
            "Error 1205 (HY000): Lock wait timeout exceeded",
            "pq: canceling statement due to lock timeout (55P03)",
        ];
        let waited = line(&told, "WAITED");
        assert!(words.iter().any(|word| waited.contains(word)), "{waited}");
        assert!(line(&told, "THEN").contains("THEN 1"), "{}", told.stderr);
    }
}

#[test]
fn a_connection_that_the_server_kills_is_replaced() {
    for server in servers() {
        let told = on(
            server,
            "--iterations 3",
            "const db = open({ max_open_conns: 1 });
             const killed = `${driver.toString()}`.includes('postgres') ? 'SELECT pg_terminate_backend(pg_backend_pid())' : 'KILL CONNECTION_ID()';
             export default function () {
               console.log('KILLED', thrown(() => db.exec(killed)));
               check(db.query('SELECT 41 + 1 AS n'), { 'the next works': (rows) => rows[0].n === 42 });
             }",
        );
        let words =
            ["Error 1927 (70100): Connection was killed", "(57P01)", "driver: bad connection"];
        let killed = line(&told, "KILLED");
        assert!(words.iter().any(|word| killed.contains(word)), "{killed}");
        assert!(told.stdout.contains("checks_succeeded...: 100.00% 3 out of 3"), "{}", told.stdout);
    }
}

#[test]
fn a_server_that_restarts_in_the_middle_costs_some_statements_and_no_more() {
    for mut server in [Server::mariadb(&[]), Server::postgres(&[])] {
        let text = format!(
            "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/{}'; import {{ sleep }} from 'k6';
             const db = sql.open(driver, __ENV.DSN);
             export const options = {{ vus: 4, duration: '4s', thresholds: {{ sql_queries: ['count>40'], sql_failed: ['rate<0.99'] }} }};
             export default function () {{ try {{ db.query('SELECT 1') }} catch (e) {{}} sleep(0.02) }}",
            server.driver()
        );
        let mut command = brunt("run --no-color --summary-mode full")
            .word("-e")
            .word(format!("DSN={}", server.go_dsn("shop")))
            .word("script.js")
            .file("script.js", text);
        let running = command.start();
        std::thread::park_timeout(Duration::from_millis(1500));
        server.restart();
        let told = running.wait();
        assert_eq!(told.code, 0, "{} {}", told.stdout, told.stderr);
        // At most one statement of each VU was lost with its connection; the others were refused while the server was away.
        assert!(metric(&told, "sql_queries") > 40.0, "{}", told.stdout);
    }
}

#[test]
fn what_is_no_database_is_told_soon_and_in_words() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    std::thread::spawn(move || {
        for (index, stream) in listener.incoming().flatten().enumerate() {
            std::thread::spawn(move || {
                let mut stream = stream;
                let answers: [&[u8]; 3] = [
                    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
                    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                    b"\0",
                ];
                let _ = stream.write_all(answers[index % 3]);
                let _ = stream.read(&mut [0; 64]);
            });
        }
    });
    for (driver, dsn) in [
        ("mysql", format!("u:p@tcp(127.0.0.1:{port})/d?timeout=2s&readTimeout=2s")),
        (
            "postgres",
            format!("postgres://u:p@127.0.0.1:{port}/d?sslmode=disable&connect_timeout=2"),
        ),
        (
            "postgres",
            format!("postgres://u:p@127.0.0.1:{port}/d?sslmode=require&connect_timeout=2"),
        ),
    ] {
        let began = Instant::now();
        let script = "const db = open();
             export default function () { for (let i = 0; i < 3; i++) console.log('NONE', thrown(() => db.query('SELECT 1'))); }";
        let told = run(driver, &dsn, "", script);
        assert_eq!(told.code, 0, "{}", told.stderr);
        let said = told.stderr.lines().filter(|line| line.contains("NONE ")).count();
        assert_eq!(said, 3, "{}", told.stderr);
        assert!(!told.stderr.contains("NONE nothing"), "{}", told.stderr);
        assert!(began.elapsed() < Duration::from_secs(20), "{driver} hung");
    }
}

#[test]
fn a_statement_beyond_the_servers_packet_is_refused_and_the_pool_lives_on() {
    let told = on(
        &MARIADB,
        "",
        "const db = open();
         export default function () {
           console.log('LARGE', thrown(() => db.query('SELECT ? AS t', 'x'.repeat(3 << 20))));
           console.log('THEN', db.query('SELECT 7 AS n')[0].n);
           // Rows are split below the limit.
           db.exec('CREATE TABLE wide (id INT AUTO_INCREMENT PRIMARY KEY, t LONGTEXT)');
           db.insert('wide', ['t'], Array.from({ length: 30 }, () => ['y'.repeat(100000)]));
           console.log('ROWS', db.query('SELECT COUNT(*) AS n FROM wide')[0].n);
         }",
    );
    assert!(!line(&told, "LARGE").contains("LARGE nothing"), "{}", told.stderr);
    assert!(line(&told, "THEN").contains("THEN 7"), "{}", told.stderr);
    assert!(line(&told, "ROWS").contains("ROWS 30"), "{}", told.stderr);
}

#[test]
fn too_many_connections_are_errors_that_the_summary_counts() {
    for server in [
        Server::mariadb(&["--max-connections=3"]),
        Server::postgres(&[
            "max_connections=4",
            "superuser_reserved_connections=0",
            "max_wal_senders=0",
        ]),
    ] {
        let told = on(
            &server,
            "--vus 12 --iterations 12",
            "const db = open();
             export default function () {
               const why = thrown(() => db.query(`SELECT ${driver.toString().includes('postgres') ? 'pg_sleep(0.5)' : 'SLEEP(0.5)'}`));
               if (why !== 'nothing') console.log('FULL', why);
             }",
        );
        let full = line(&told, "FULL");
        let words = ["Error 1040", "(53300)"];
        assert!(words.iter().any(|word| full.contains(word)), "{full}");
        assert_eq!(told.code, 0, "{}", told.stderr);
    }
}

#[test]
fn what_may_only_be_read_says_so() {
    let told = on(
        &POSTGRES,
        "",
        "const db = open({}, ' default_transaction_read_only=on');
         export default function () { console.log('READ', thrown(() => db.exec('CREATE TABLE no (a INT)'))); }",
    );
    assert!(line(&told, "READ").contains("read-only transaction"), "{}", told.stderr);
    let told = on(
        &MARIADB,
        "",
        "const db = open({ max_open_conns: 1 });
         export default function () {
           console.log('READ', thrown(() => db.tx((tx) => tx.exec('INSERT INTO nothing VALUES (1)'), { readOnly: true })));
         }",
    );
    assert!(!line(&told, "READ").contains("READ nothing"), "{}", told.stderr);
    let told = run(
        "sqlite3",
        "file:here.db",
        "",
        "open().exec('CREATE TABLE IF NOT EXISTS t (a)');
         const db = open({}, '?mode=ro');
         export default function () { console.log('READ', thrown(() => db.exec('INSERT INTO t VALUES (1)'))); }",
    );
    assert!(
        line(&told, "READ").contains("attempt to write a readonly database"),
        "{}",
        told.stderr
    );
}

#[test]
fn a_full_disk_is_the_databases_word() {
    let told = run(
        "sqlite3",
        "small.db",
        "",
        "const db = open({ max_open_conns: 1 });
         export default function () {
           db.exec('PRAGMA max_page_count = 20'); db.exec('CREATE TABLE t (a TEXT)');
           console.log('FULL', thrown(() => db.insert('t', ['a'], Array.from({ length: 500 }, () => ['x'.repeat(1000)]))));
           console.log('NONE', db.query('SELECT COUNT(*) AS n FROM t')[0].n);
         }",
    );
    assert!(line(&told, "FULL").contains("database or disk is full"), "{}", told.stderr);
    assert!(line(&told, "NONE").contains("NONE 0"), "all or nothing: {}", told.stderr);
}

#[test]
fn a_result_of_gigabytes_is_refused_with_advice_and_can_be_streamed() {
    for (server, rows) in [
        (&*MARIADB, "SELECT REPEAT('x', 900000) AS t FROM seq_1_to_"),
        (&*POSTGRES, "SELECT repeat('x', 900000) AS t FROM generate_series(1, 2400) LIMIT "),
    ] {
        let script = format!(
            "const db = open();
             export default function () {{
               console.log('REFUSED', thrown(() => db.query(`{rows}2400`)));
               let n = 0; for (const row of db.rows(`{rows}500`)) n += row.t.length;
               console.log('STREAMED', n);
             }}"
        );
        let told = on(server, "", &script);
        let refused = line(&told, "REFUSED");
        assert!(refused.contains("db.rows"), "{refused}");
        assert!(line(&told, "STREAMED").contains("STREAMED 450000000"), "{}", told.stderr);
    }
}

#[test]
fn nulls_everywhere_are_nulls() {
    for server in servers() {
        let told = on(
            server,
            "",
            "const db = open();
             export default function () {
               db.exec('CREATE TABLE nulls (a INT, b VARCHAR(9), c DATE, d DOUBLE PRECISION, e DECIMAL(5, 2), f TIMESTAMP NULL)');
               const none = [null, null, null, null, null, null];
               db.insert('nulls', ['a', 'b', 'c', 'd', 'e', 'f'], [none, none, [undefined, null, null, null, null, null]]);
               const mark = driver.toString().includes('postgres') ? '$1,$2,$3,$4,$5,$6' : '?,?,?,?,?,?';
               db.batch(`INSERT INTO nulls VALUES (${mark})`, [none, none]);
               const all = [...db.rows('SELECT * FROM nulls'), ...db.query('SELECT * FROM nulls')];
               console.log('NULLS', all.length, all.every((row) => Object.values(row).length === 6 && Object.values(row).every((v) => v === null)));
             }",
        );
        assert!(line(&told, "NULLS").contains("NULLS 10 true"), "{}", told.stderr);
    }
}

#[test]
fn secrets_of_statements_and_dsns_reach_no_tag_and_no_message() {
    for server in servers() {
        let script = "const db = open(), stranger = open({}, '');
             export default function () {
               db.query(`SELECT 'hunter2' AS secret /* hunter2 */, 4711 AS pin -- hunter2`);
               thrown(() => db.query(`SELECT * FROM missing WHERE password = 'hunter2`));
               thrown(() => db.exec(`INSERT INTO missing VALUES ('hunter2', ${driver.toString().includes('postgres') ? '$tag$hunter2$tag$' : '0x68756e7465723200'})`));
             }";
        let told = on(server, "--out json=out.json", script);
        let again = brunt("run --no-color --out json=- -q --summary-mode disabled")
            .word("-e")
            .word(format!("DSN={}", server.go_dsn("shop")))
            .word("s.js")
            .file("s.js", format!("import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/{}'; const open = () => sql.open(driver, __ENV.DSN); const thrown = (f) => {{ try {{ f() }} catch (e) {{}} }};\n{script}", server.driver()))
            .told();
        assert!(again.stdout.contains("sql_duration"), "{} {}", again.stdout, again.stderr);
        for text in [&told.stdout, &told.stderr, &again.stdout, &again.stderr] {
            assert!(!text.contains("hunter2") && !text.contains("4711"), "{text}");
            assert!(!text.contains(PASSWORD), "{text}");
        }
        assert!(
            again.stdout.contains("42P01")
                || again.stdout.contains("42000")
                || again.stdout.contains("42S02"),
            "{}",
            again.stdout
        );
    }
}

#[test]
fn a_wrong_password_is_told_without_it() {
    for server in servers() {
        let dsn = server.go_dsn("shop").replace(PASSWORD, "hunter2");
        let told = run(
            server.driver(),
            &dsn,
            "",
            "const db = open();
             export default function () { console.log('WRONG', thrown(() => db.query('SELECT 1'))); db.query('SELECT 1') }",
        );
        let wrong = line(&told, "WRONG");
        let words = [
            "Error 1045 (28000): Access denied for user 'brunt'",
            "pq: password authentication failed for user \\\"brunt\\\" (28P01)",
        ];
        assert!(words.iter().any(|word| wrong.contains(word)), "{wrong}");
        assert!(!told.stderr.contains("hunter2"), "{}", told.stderr);
    }
}

#[test]
fn the_end_of_an_iteration_ends_its_statement_at_the_server() {
    for server in servers() {
        let (sleep, running) = match server.driver() {
            "postgres" => (
                "SELECT pg_sleep(60)",
                "SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%' AND state = 'active';",
            ),
            _ => (
                "SELECT SLEEP(60)",
                "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(60)%';",
            ),
        };
        let began = Instant::now();
        let script = format!(
            "export const options = {{ scenarios: {{ s: {{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' }} }} }};
             const db = open(); export default function () {{ db.query('{sleep}') }}"
        );
        let told = on(server, "", &script);
        assert!(began.elapsed() < Duration::from_secs(20), "{}", told.stderr);
        let until = Instant::now() + Duration::from_secs(10);
        while server.run("shop", running) != "0" {
            assert!(Instant::now() < until, "the server still sleeps");
            std::thread::park_timeout(Duration::from_millis(100));
        }
        let script = format!(
            "const db = open(); export default function () {{ console.log('LATE', thrown(() => db.queryWithTimeout('300ms', '{sleep}'))); console.log('THEN', db.query('SELECT 5 AS n')[0].n) }}"
        );
        let told = on(server, "", &script);
        let late = line(&told, "LATE");
        assert!(
            late.contains("context deadline exceeded")
                || late.contains("canceling statement due to user request"),
            "{late}"
        );
        assert!(line(&told, "THEN").contains("THEN 5"), "{}", told.stderr);
    }
}
