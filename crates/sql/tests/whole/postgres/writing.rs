use brunt_sql::{Args, Cell, Insert, Trouble, Way};

use super::{SHARED, connected, database};
use crate::support::{args, exec, on_a_core, query};

fn numbers(count: i64) -> Args {
    let mut args = Args::new();
    for number in 0..count {
        args.push(Cell::Int(number));
        args.push(Cell::Text(
            format!("row {number}: it's \\ a\ttext\r\nwith \u{fc} \\N").as_bytes(),
        ));
        args.push(if number % 3 == 0 { Cell::Null } else { Cell::Bytes(&[0, 0xff, b'\'', 10]) });
    }
    args
}

fn columns() -> Vec<String> {
    ["id", "te\"xt", "bytes"].map(str::to_owned).to_vec()
}

const TABLE: &str =
    "CREATE TABLE \"or\"\"ders\" (id INT PRIMARY KEY, \"te\"\"xt\" VARCHAR(99), bytes bytea)";

#[test]
fn rows_are_inserted_whichever_way_they_go() {
    on_a_core(async {
        let mut truths = Vec::new();
        for (way, batch, table) in [
            (Way::Fastest, None, "public.or\"ders"),
            (Way::Copy, Some(1000), "or\"ders"),
            (Way::Values, Some(7), "\"public\".\"or\"\"ders\""),
            (Way::Values, None, "or\"ders"),
        ] {
            let name = database();
            let mut it = connected(&name, "").await;
            exec(&mut it, TABLE, &[]).await.unwrap();
            let (columns, values) = (columns(), numbers(12_345));
            let insert = Insert { table, columns: &columns, values: &values, way, batch };
            let outcome = it.insert(&insert).await.unwrap();
            assert_eq!(outcome.rows_affected, Some(12_345), "{way:?}");
            assert!(it.is_idle() && !it.is_in_transaction());
            let sql = "SELECT count(*), sum(id), count(bytes), max(encode(bytes, 'hex')), md5(string_agg(\"te\"\"xt\", ',' ORDER BY id)) FROM \"or\"\"ders\"";
            truths.push(SHARED.server.run(&name, sql));
        }
        let expected = format!("12345\t{}\t8230\t00ff270a\t", 12_345 * 12_344 / 2);
        assert!(truths[0].starts_with(&expected), "{}", truths[0]);
        assert!(truths.iter().all(|one| *one == truths[0]), "{truths:#?}");
    });
}

#[test]
fn a_refused_copy_says_why_and_leaves_nothing() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        exec(&mut it, TABLE, &[]).await.unwrap();
        let columns = columns();
        // The second row is at fault, and many follow.
        let mut values =
            args(&[Cell::Int(5), Cell::Null, Cell::Null, Cell::Text(b"x"), Cell::Null, Cell::Null]);
        for number in 0..200_000 {
            values.push(Cell::Int(number));
            values.push(Cell::Text(b"a text that fills the buffers"));
            values.push(Cell::Null);
        }
        for (table, code) in [("or\"ders", "22P02"), ("gone", "42P01")] {
            let insert =
                Insert { table, columns: &columns, values: &values, way: Way::Copy, batch: None };
            let failure = it.insert(&insert).await.unwrap_err();
            assert_eq!((failure.code(), failure.trouble()), (code, Trouble::Server), "{failure}");
            assert!(it.is_idle());
        }
        assert_eq!(
            query(&mut it, "SELECT count(*)::int FROM \"or\"\"ders\"", &[]).await.unwrap(),
            [["0"]]
        );
        let insert = Insert {
            table: "t",
            columns: &columns,
            values: &values,
            way: Way::LoadData,
            batch: None,
        };
        assert_eq!(it.insert(&insert).await.unwrap_err().trouble(), Trouble::Usage);
        assert!(it.is_idle());
    });
}

#[test]
fn notices_of_a_trigger_stop_no_copy() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        let sql = "CREATE TABLE t (a int);
            CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', repeat('x', 400); RETURN NEW; END $$;
            CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()";
        exec(&mut it, sql, &[]).await.unwrap();
        let mut values = Args::new();
        for number in 0..60_000 {
            values.push(Cell::Int(number));
        }
        let columns = ["a".to_owned()];
        let insert =
            Insert { table: "t", columns: &columns, values: &values, way: Way::Copy, batch: None };
        assert_eq!(it.insert(&insert).await.unwrap().rows_affected, Some(60_000));
        assert_eq!(query(&mut it, "SELECT count(*)::int FROM t", &[]).await.unwrap(), [["60000"]]);
        let outcome = it.batch("INSERT INTO t VALUES ($1)", 1, &values).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(60_000));
    });
}

#[test]
fn batches_are_one_transaction() {
    on_a_core(async {
        let mut it = connected(&database(), "").await;
        exec(&mut it, "CREATE TABLE t (a int PRIMARY KEY, b text)", &[]).await.unwrap();
        let pairs = |numbers: &mut dyn Iterator<Item = i64>| {
            let mut values = Args::new();
            for number in numbers {
                values.push(Cell::Int(number));
                values.push(Cell::Text(b"text"));
            }
            values
        };
        let count = "SELECT count(*)::int, count(DISTINCT b)::int FROM t";
        for (sql, numbers, affected) in [
            ("INSERT INTO t VALUES ($1, $2)", 0..10_000, 10_000),
            ("INSERT INTO t VALUES ($1, $2) ON CONFLICT DO NOTHING", 9_000..10_001, 1),
            (
                "INSERT INTO t VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET b = excluded.b",
                9_999..12_000,
                2_001,
            ),
            ("UPDATE t SET b = $2 WHERE a = $1", 0..3_000, 3_000),
        ] {
            let outcome = it.batch(sql, 2, &pairs(&mut numbers.clone())).await.unwrap();
            assert_eq!(outcome.rows_affected, Some(affected), "{sql}");
            assert!(it.is_idle() && !it.is_in_transaction());
        }
        assert_eq!(query(&mut it, count, &[]).await.unwrap(), [["12000", "1"]]);
        // One row twice, near the end: nothing of it is kept.
        for sql in ["INSERT INTO t VALUES ($1, $2)", "INSERT INTO t VALUES ($1, $2) RETURNING a"] {
            let values = pairs(&mut (20_000..25_000).chain([3]).chain(25_000..30_000));
            let failure = it.batch(sql, 2, &values).await.unwrap_err();
            assert_eq!(failure.code(), "23505", "{failure}");
            assert!(it.is_idle() && !it.is_in_transaction());
        }
        assert_eq!(query(&mut it, count, &[]).await.unwrap(), [["12000", "1"]]);
        exec(&mut it, "BEGIN", &[]).await.unwrap();
        let values = pairs(&mut (20_000..20_010));
        it.batch("INSERT INTO t VALUES ($1, $2)", 2, &values).await.unwrap();
        assert!(it.is_in_transaction());
        exec(&mut it, "ROLLBACK", &[]).await.unwrap();
        assert_eq!(query(&mut it, count, &[]).await.unwrap(), [["12000", "1"]]);
        let failure =
            it.batch("UPDATE t SET b = $2 WHERE a = $1 AND b = $3", 2, &values).await.unwrap_err();
        assert_eq!(failure.text(), "pq: got 2 parameters but the statement requires 3");
        assert_eq!(it.batch("SELECT $1", 3, &values).await.unwrap_err().trouble(), Trouble::Usage);
    });
}

#[test]
fn a_batch_whose_answers_are_large_does_not_lock_up() {
    on_a_core(async {
        let mut it = connected("shop", "").await;
        let (mut values, text) = (Args::new(), vec![b'x'; 20_000]);
        for number in 0..2_000 {
            values.push(Cell::Int(number));
            values.push(Cell::Text(&text));
        }
        let sql = "SELECT repeat($2, 5), i FROM generate_series(1, 3) i WHERE $1::int >= 0";
        let outcome = it.batch(sql, 2, &values).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(6_000));
    });
}
