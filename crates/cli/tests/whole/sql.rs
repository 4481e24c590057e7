//! `k6/x/sql`: what scripts can do with databases, on SQLite in memory and on real servers.

use std::sync::LazyLock;

use brunt_databases::Server;

use crate::support::{Told, brunt};

static MARIADB: LazyLock<Server> = LazyLock::new(|| Server::mariadb(&["--local-infile=1"]));
static POSTGRES: LazyLock<Server> = LazyLock::new(|| Server::postgres(&[]));

/// Runs a script with `sql`, `driver`, `DSN`, `thrown(call)` and `show(word, value)`.
fn run(driver: &str, dsn: &str, flags: &str, script: &str) -> Told {
    let text = format!(
        "import sql, {{ open }} from 'k6/x/sql'; import driver from 'k6/x/sql/driver/{driver}';
const DSN = __ENV.DSN;
const thrown = (call) => {{ try {{ call(); return 'nothing' }} catch (e) {{ return `${{e}}` }} }};
const show = (word, value) => console.log(word, JSON.stringify(value, (_, v) => typeof v === 'bigint' ? `${{v}}n` : v));
{script}"
    );
    brunt(&format!("run --no-color --summary-mode full --log-format raw {flags}"))
        .word("-e")
        .word(format!("DSN={dsn}"))
        .word("script.js")
        .file("script.js", text)
        .told()
}

fn sqlite(script: &str) -> Told {
    run("sqlite3", ":memory:", "", script)
}

fn on(server: &Server, script: &str) -> Told {
    run(server.driver(), &server.go_dsn("shop"), "", script)
}

/// The lines that the script showed.
fn shown(told: &Told) -> Vec<&str> {
    assert_eq!(told.code, 0, "{} {}", told.stdout, told.stderr);
    told.stderr.lines().collect()
}

#[test]
fn a_script_for_the_extension_runs_as_it_is() {
    let told = sqlite(
        "const db = sql.open(driver, DSN, { max_open_conns: 1, unknown: 1 });
         db.exec('CREATE TABLE made (a INTEGER PRIMARY KEY, b TEXT, c REAL, d BLOB)');
         export function setup() { return sql.open(driver, DSN).query('SELECT 1 AS one')[0].one; }
         export default function (data) {
           show('setup', data);
           show('driver', [typeof driver, String(driver), sql.open === open]);
           const made = db.exec('INSERT INTO made VALUES (?, ?, ?, ?), (2, NULL, 0, NULL)', 1, 'é', 1.5, new Uint8Array([1, 255]));
           show('made', [made.rowsAffected(), made.lastInsertId()]);
           show('rows', db.query('SELECT * FROM made'));
           show('one', db.query('SELECT a, a + 1 AS a FROM made WHERE a = ?', 1));
           show('none', db.query('SELECT a FROM made WHERE a = 9'));
           show('within', db.queryWithTimeout('5s', 'SELECT 7 AS n'));
           show('late', thrown(() => db.queryWithTimeout(5, 'SELECT 7')));
           show('syntax', thrown(() => db.query('SELEC 1')));
           show('open', [thrown(() => sql.open('sqlite3', DSN)), thrown(() => sql.open(Symbol('sqlite3'), DSN))]);
           show('odd', [thrown(() => db.query('SELECT ?', [1])), thrown(() => db.query('SELECT ?', new Map()))]);
           db.close(); db.close();
           show('closed', thrown(() => db.query('SELECT 1')));
         }",
    );
    assert_eq!(
        shown(&told),
        [
            "setup 1",
            r#"driver ["symbol","Symbol(sqlite3)",true]"#,
            "made [2,2]",
            r#"rows [{"a":1,"b":"é","c":1.5,"d":[1,255]},{"a":2,"b":null,"c":0,"d":null}]"#,
            r#"one [{"a":2}]"#,
            "none []",
            r#"within [{"n":7}]"#,
            r#"late "GoError: time: missing unit in duration \"5\"""#,
            r#"syntax "GoError: near \"SELEC\": syntax error""#,
            r#"open ["GoError: unsupported database: invalid driver parameter type","GoError: unsupported database: "]"#,
            r#"odd ["GoError: sql: converting argument $1 type: unsupported type []interface {}, a slice of interface","GoError: sql: converting argument $1 type: unsupported type [][2]interface {}, a slice of array"]"#,
            r#"closed "GoError: sql: database is closed""#,
        ]
    );
}

#[test]
fn values_have_the_forms_that_a_script_wishes() {
    let told = sqlite(
        "const db = open(driver, DSN, { max_open_conns: 1 });
         export default function () {
           const select = 'SELECT 9007199254740993 AS big, 5 AS small, ? AS bytes';
           const one = (options) => db.with(options).query(select, new Uint16Array([258]).buffer)[0];
           show('plain', one({}));
           show('big', one({ integers: 'bigint' }));
           const auto = one({ integers: 'auto', bytes: 'uint8array' });
           show('auto', [auto.big, auto.small, auto.bytes instanceof Uint8Array, auto.bytes.length]);
           show('named', db.query('SELECT :b AS x, :a AS y, :a AS z', { a: 1, b: 'two' }));
           show('unnamed', thrown(() => db.query('SELECT :b', { a: 1 })));
           show('int', db.query('SELECT ? AS a, ? AS b', 1234567890123456789n, -3n));
           db.exec('CREATE TABLE times (t DATETIME)');
           db.exec('INSERT INTO times VALUES (?)', new Date(86400000));
           const { t } = db.query('SELECT t FROM times')[0];
           show('go', [String(t), t.unix(), t instanceof Date, t.before(t), t.format('02.01.06'), t]);
           show('date', db.with({ times: 'date' }).query('SELECT t FROM times')[0].t.getTime());
           show('wrong', [thrown(() => db.with({ bytes: 'x' })), thrown(() => open(driver, DSN, { conn_max_lifetime: 5 }))]);
         }",
    );
    assert_eq!(
        shown(&told),
        [
            r#"plain {"big":9007199254740992,"small":5,"bytes":[2,1]}"#,
            r#"big {"big":"9007199254740993n","small":"5n","bytes":[2,1]}"#,
            r#"auto ["9007199254740993n",5,true,2]"#,
            r#"named [{"x":"two","y":1,"z":1}]"#,
            r#"unnamed "GoError: the statement has the parameter :b, and there is no value of this name: given are a""#,
            r#"int [{"a":1234567890123456800,"b":-3}]"#,
            r#"go ["1970-01-02 00:00:00 +0000 UTC",86400,false,false,"02.01.70","1970-01-02T00:00:00Z"]"#,
            "date 86400000",
            r#"wrong ["GoError: the option bytes is \"x\": it may be \"array\", \"uint8array\"","GoError: time: missing unit in duration \"5\""]"#,
        ]
    );
}

#[test]
fn rows_come_one_by_one_and_leave_their_connection_behind() {
    let told = sqlite(
        "const db = open(driver, DSN, { max_open_conns: 1 });
         const many = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n';
         export default async function () {
           let sum = 0;
           for (const row of db.rows(many)) sum += row.i;
           show('sum', sum);
           for (const row of db.rows(many)) if (row.i === 3) break;
           let later = 0;
           for await (const row of db.rows(many)) { later += row.i; if (row.i === 70000) break; }
           show('later', later);
           const rows = db.rows('SELECT 1 AS a, ? AS b', 'x');
           show('columns', rows.columns.map((c) => c.name));
           show('busy', thrown(() => db.query('SELECT 1')));
           show('steps', [rows.next(), rows.next(), rows.next()]);
           show('free', db.query('SELECT 5 AS n'));
           show('again', [...db.rows('SELECT 2 AS n')].concat([...db.rows('SELECT 3 AS n WHERE 0')]));
         }",
    );
    assert_eq!(
        shown(&told),
        [
            "sum 5000050000",
            "later 2450035000",
            r#"columns ["a","b"]"#,
            r#"busy "GoError: all 1 connections that max_open_conns allows are in use by rows, transactions and connections of this script that are open: close one first""#,
            r#"steps [{"value":{"a":1,"b":"x"},"done":false},{"done":true},{"done":true}]"#,
            r#"free [{"n":5}]"#,
            r#"again [{"n":2}]"#,
        ]
    );
}

#[test]
fn transactions_commit_roll_back_and_end() {
    let told = sqlite(
        "const db = open(driver, DSN, { max_open_conns: 1 });
         const count = () => db.query('SELECT COUNT(*) AS n FROM t')[0].n;
         export default async function () {
           db.exec('CREATE TABLE t (a INT)');
           let kept;
           show('given', db.tx((tx) => { kept = tx; tx.exec('INSERT INTO t VALUES (1)'); return tx.query('SELECT a FROM t')[0].a; }));
           show('kept', thrown(() => kept.query('SELECT 1')));
           show('threw', thrown(() => db.tx((tx) => { tx.exec('INSERT INTO t VALUES (2)'); throw new Error('mine'); })));
           show('count', count());
           show('async', await db.tx(async (tx) => { await tx.execAsync('INSERT INTO t VALUES (3)'); return 'well'; }));
           show('rejected', await db.tx(async (tx) => { tx.exec('INSERT INTO t VALUES (4)'); throw 'ill'; }).catch((e) => e));
           show('count', count());
           show('nested', thrown(() => db.tx((tx) => tx.tx(() => {}))));
           show('level', thrown(() => db.tx(() => {}, { isolation: 'none' })));
           const one = db.connection();
           one.exec('CREATE TEMP TABLE own (a INT)');
           show('own', one.tx((tx) => { tx.exec('INSERT INTO own VALUES (1)'); return tx.query('SELECT * FROM own'); }));
           one.close();
           show('closed', thrown(() => one.query('SELECT 1')));
           show('all', await Promise.all([db.queryAsync('SELECT 1 AS a'), db.queryAsync('SELECT ? AS a', 2)]));
         }",
    );
    assert_eq!(
        shown(&told),
        [
            "given 1",
            r#"kept "GoError: sql: transaction has already been committed or rolled back""#,
            r#"threw "Error: mine""#,
            "count 1",
            r#"async "well""#,
            r#"rejected "ill""#,
            "count 2",
            r#"nested "TypeError: Object has no member 'tx'""#,
            r#"level "GoError: the isolation \"none\" is unknown: it is \"read uncommitted\", \"read committed\", \"repeatable read\" or \"serializable\"""#,
            r#"own [{"a":1}]"#,
            r#"closed "GoError: sql: connection is already closed""#,
            r#"all [[{"a":1}],[{"a":2}]]"#,
        ]
    );
}

/// Each database with many rows, in a table `many (id, text)`.
const BULK: &str = "
 const mark = (n) => String(driver) === 'Symbol(postgres)' ? `$${n}` : '?';
 function* made() { for (let i = 0; i < 25000; i++) yield { text: `t${i}`, id: 100000 + i }; }
 export default async function () {
   show('array', db.insert('many', ['id', 'text'], [[1, 'a'], [2, null], [3, '\\t\\\\\\n\\'']]).rowsAffected());
   show('objects', db.insert('many', ['id', 'text'], made()).rowsAffected());
   show('values', db.insert('many', 'id', [10, 11, 12], { way: 'values', batch: 2 }).rowsAffected());
   show('later', (await db.insertAsync('many', ['id'], new Set([20, 21]))).rowsAffected());
   show('batch', db.batch(`UPDATE many SET text = ${mark(1)} WHERE id = ${mark(2)}`, [['x', 1], ['y', 2], ['z', 99]]).rowsAffected());
   show('named', (await db.batchAsync('UPDATE many SET text = :t WHERE id = :id', [{ id: 10, t: 'ten' }])).rowsAffected());
   show('odd', [thrown(() => db.insert('many', ['id', 'text'], [[1]])), thrown(() => db.insert('many', ['id'], 5))]);
   show('count', Number(db.query('SELECT COUNT(*) AS n FROM many')[0].n));
   show('texts', db.query('SELECT text FROM many WHERE id IN (1, 2, 3, 10) ORDER BY id').map((row) => row.text));
   const one = db.prepare(`SELECT id FROM many WHERE id = ${mark(1)}`);
   show('prepared', [one.query(1), one.query(2), one.query(-1)]);
   one.close();
   show('closed', thrown(() => one.query(1)));
 }";

fn bulk(told: &Told) {
    assert_eq!(
        shown(told),
        [
            "array 3",
            "objects 25000",
            "values 3",
            "later 2",
            "batch 2",
            "named 1",
            r#"odd ["GoError: row 1 has 1 values, not 2","GoError: the rows are an array, or anything that can be iterated over: of arrays, of objects, or of values for one column"]"#,
            "count 25008",
            r#"texts ["x","y","\t\\\n'","ten"]"#,
            r#"prepared [[{"id":1}],[{"id":2}],[]]"#,
            r#"closed "GoError: sql: statement is closed""#,
        ]
    );
    for metric in ["sql_queries", "sql_duration", "sql_rows_affected", "sql_pool_wait"] {
        assert!(told.stdout.contains(metric), "{metric} {}", told.stdout);
    }
}

#[test]
fn a_metric_of_the_script_wins_over_ours_of_the_same_name() {
    let told = sqlite(
        "import { Trend, Counter } from 'k6/metrics';
         const mine = new Trend('sql_duration'), rows = new Counter('sql_rows');
         const db = sql.open(driver, DSN, { max_open_conns: 1 });
         export default function () {
            db.query('SELECT 1'); mine.add(7); rows.add(40); rows.add(2);
         }
         export const options = { thresholds: { sql_duration: ['max==7'], sql_rows: ['count==42'], sql_queries: ['count==1'] } };",
    );
    assert_eq!(told.code, 0, "{} {}", told.stdout, told.stderr);
    let row = told.stdout.lines().find(|line| line.contains("sql_duration.."));
    let row = row.unwrap_or_else(|| panic!("no row in {}", told.stdout));
    assert!(row.contains("avg=7 "), "{row}");
}

#[test]
fn many_rows_go_into_each_database() {
    let open = "const db = open(driver, DSN, { max_open_conns: 1, text: 'string' });";
    let create =
        "export function setup() { db.exec('CREATE TABLE many (id INT, text VARCHAR(45))') }";
    // The database in memory is that of its connection, and so of its VM.
    bulk(&sqlite(
        &format!("{open} {create} setup(); {BULK}")
            .replace("export function setup", "function setup"),
    ));
    for server in [&*MARIADB, &*POSTGRES] {
        bulk(&on(server, &format!("{open} {create} {BULK}")));
    }
}

#[test]
fn mysql_loads_rows_from_its_client_if_it_may() {
    let told = on(
        &MARIADB,
        "const db = open(driver, DSN + '?allowAllFiles=true', { text: 'string' });
         export default function () {
           db.exec('CREATE TABLE loaded (a INT, b TEXT)');
           show('loaded', db.insert('loaded', ['a', 'b'], [[1, 'x\\t\\\\'], [2, null]], { way: 'load' }).rowsAffected());
           show('rows', db.query('SELECT * FROM loaded ORDER BY a'));
           show('copy', thrown(() => db.insert('loaded', ['a'], [1], { way: 'copy' })) !== 'nothing');
         }",
    );
    assert_eq!(
        shown(&told),
        ["loaded 2", r#"rows [{"a":1,"b":"x\t\\"},{"a":2,"b":null}]"#, "copy true"]
    );
}

#[test]
fn postgres_gives_times_booleans_arrays_and_all_results() {
    let told = on(
        &POSTGRES,
        "const db = open(driver, DSN);
         export default function () {
           const row = db.query(\"SELECT true AS b, TIMESTAMP '2024-02-29 12:34:56.789' AS t, $1::int[] AS a, 'x' AS s\", [1, 2])[0];
           show('row', [row.b, row.t, String(row.t), String.fromCharCode(...row.a), row.s]);
           show('id', thrown(() => db.exec('SELECT 1').lastInsertId()));
           show('all', db.queryAll('SELECT 1 AS a; SELECT 2 AS b, 3 AS c').map((each) => each.rows));
           const e = (() => { try { db.query('SELECT * FROM absent') } catch (e) { return e } })();
           show('error', [e.message, e.code, e.name, Object.keys(e)]);
           show('isolation', db.tx((tx) => tx.query('SHOW transaction_isolation'), { isolation: 'repeatable-read', readOnly: true }));
           show('spoilt', thrown(() => db.tx((tx) => { thrown(() => tx.exec('SELEC')); })));
         }",
    );
    assert_eq!(
        shown(&told),
        [
            r#"row [true,"2024-02-29T12:34:56.789Z","2024-02-29 12:34:56.789 +0000 +0000","{1,2}","x"]"#,
            r#"id "GoError: LastInsertId is not supported by this driver""#,
            r#"all [[{"a":1}],[{"b":2,"c":3}]]"#,
            r#"error ["pq: relation \"absent\" does not exist at column 15 (42P01)","42P01","GoError",["value"]]"#,
            r#"isolation [{"transaction_isolation":"repeatable read"}]"#,
            r#"spoilt "GoError: pq: current transaction is aborted, commands ignored until end of transaction block (25P02)""#,
        ]
    );
}

#[test]
fn a_pool_is_shared_by_the_vus_of_a_core_if_they_wish() {
    for (shared, least, most) in [("true", 1, 8), ("false", 8, 8)] {
        let told = run(
            "postgres",
            &POSTGRES.go_dsn("shop"),
            "--vus 8 --iterations 8 --quiet",
            &format!(
                "const db = open(driver, DSN, {{ shared: {shared}, max_open_conns: 1 }});
                 export const options = {{ thresholds: {{ sql_connecting: ['avg>=0'] }} }};
                 export default function () {{ show('pid', db.query('SELECT pg_sleep(0.05), pg_backend_pid() AS pid')[0].pid); }}"
            ),
        );
        let mut pids = shown(&told);
        pids.retain(|line| line.starts_with("pid "));
        assert_eq!(pids.len(), 8, "{}", told.stderr);
        pids.sort_unstable();
        pids.dedup();
        assert!((least..=most).contains(&pids.len()), "{shared}: {pids:?}");
    }
}

#[test]
fn a_script_that_acts_in_the_middle_of_its_own_call_harms_nobody() {
    let told = sqlite(
        "const db = open(driver, DSN, { max_open_conns: 1 });
         db.exec('CREATE TABLE t (a INT, b INT)');
         export default function () {
           const closing = { a: 1, get b() { db.close(); return 2; } };
           show('closing', thrown(() => db.insert('t', ['a', 'b'], [closing, closing])));
           const other = open(driver, DSN, { max_open_conns: 1 });
           other.exec('CREATE TABLE t (a INT)');
           show('within', other.insert('t', ['a'], [{ get a() { return other.exec('INSERT INTO t VALUES (5)').rowsAffected(); } }]).rowsAffected());
           show('throws', thrown(() => other.insert('t', ['a'], new Proxy([1], { get() { throw new Error('trap'); } }))));
           let tidied = false;
           const it = { [Symbol.iterator]: () => ({ next() { throw new Error('next'); }, return() { tidied = true; return {}; } }) };
           show('next', [thrown(() => other.insert('t', ['a'], it)), tidied]);
           show('rows', other.query('SELECT COUNT(*) AS n FROM t')[0].n);
           const rows = other.rows('SELECT 1 AS a UNION SELECT 2');
           for (const row of rows) { other.close(); show('row', row); }
           rows.close();
         }",
    );
    let lines = shown(&told);
    assert_eq!(lines[0], r#"closing "GoError: sql: database is closed""#);
    assert_eq!(
        lines[1..],
        [
            "within 1",
            r#"throws "Error: trap""#,
            r#"next ["Error: next",true]"#,
            "rows 2",
            r#"row {"a":1}"#,
            r#"row {"a":2}"#,
        ]
    );
}

#[test]
fn drivers_that_are_not_there_say_what_to_use() {
    for (driver, words) in [
        ("sqlserver", "k6/x/sql/driver/postgres"),
        ("ramsql", "\\\":memory:\\\""),
        ("clickhouse", "port 9004"),
        ("mysq", "did you mean"),
    ] {
        let told = run(driver, "", "", "export default function () {}");
        assert_eq!(told.code, 107, "{}", told.stderr);
        assert!(
            told.stderr.contains(words) || told.stderr.contains(&words.replace('\\', "")),
            "{}",
            told.stderr
        );
    }
}
