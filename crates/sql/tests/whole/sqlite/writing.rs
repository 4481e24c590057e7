//! Batches and inserts.

use brunt_sql::{Cell, Insert, Trouble, Way};

use super::memory;
use crate::support::{args, exec, on_a_core, query};

fn insert<'a>(
    table: &'a str,
    columns: &'a [String],
    values: &'a brunt_sql::Args,
    batch: Option<usize>,
) -> Insert<'a> {
    Insert { table, columns, values, way: Way::Fastest, batch }
}

#[test]
fn many_rows_go_in_and_none_is_lost() {
    on_a_core(async {
        let mut db = memory().await;
        exec(&mut db, "CREATE TABLE \"my t\" (id INTEGER PRIMARY KEY, \"a b\" TEXT)", &[])
            .await
            .unwrap();
        let columns = ["a b".to_owned()];
        for (count, batch) in [(0, None), (1, None), (63, None), (1000, None), (1000, Some(7))] {
            exec(&mut db, "DELETE FROM \"my t\"", &[]).await.unwrap();
            let texts: Vec<String> = (0..count).map(|row| format!("row {row}")).collect();
            let cells: Vec<Cell<'_>> =
                texts.iter().map(|text| Cell::Text(text.as_bytes())).collect();
            let values = args(&cells);
            let outcome = db.insert(&insert("main.my t", &columns, &values, batch)).await.unwrap();
            assert_eq!(outcome.rows_affected, Some(count));
            let sql = "SELECT COUNT(*), COUNT(DISTINCT \"a b\"), MAX(id) = COUNT(*) FROM \"my t\"";
            let rows = query(&mut db, sql, &[]).await.unwrap();
            assert_eq!(rows[0][..2], [count.to_string(), count.to_string()]);
            assert!(!db.is_in_transaction());
        }
        // As wide as a row may be, and wider.
        let wide: Vec<String> = (0..500).map(|index| format!("c{index}")).collect();
        exec(&mut db, &format!("CREATE TABLE w ({})", wide.join(", ")), &[]).await.unwrap();
        let values = args(&vec![Cell::Int(1); 500 * 200]);
        let outcome = db.insert(&insert("w", &wide, &values, None)).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(200));
    });
}

#[test]
fn a_row_that_is_refused_takes_all_with_it() {
    on_a_core(async {
        let mut db = memory().await;
        exec(&mut db, "CREATE TABLE t (a INTEGER CHECK (a < 500))", &[]).await.unwrap();
        let cells: Vec<Cell<'_>> = (0..1000).map(Cell::Int).collect();
        let values = args(&cells);
        let columns = ["a".to_owned()];
        let failure = db.insert(&insert("t", &columns, &values, None)).await.unwrap_err();
        assert_eq!(failure.text(), "CHECK constraint failed: a < 500");
        let failure = db.batch("INSERT INTO t VALUES (?)", 1, &values).await.unwrap_err();
        assert_eq!(failure.code(), "SQLITE_CONSTRAINT_CHECK");
        assert!(!db.is_in_transaction() && db.is_idle());
        assert_eq!(query(&mut db, "SELECT COUNT(*) FROM t", &[]).await.unwrap(), [["0"]]);
        // The transaction of another stays open.
        exec(&mut db, "BEGIN", &[]).await.unwrap();
        db.insert(&insert("t", &columns, &args(&cells[..5]), None)).await.unwrap();
        assert!(db.is_in_transaction());
        exec(&mut db, "ROLLBACK", &[]).await.unwrap();
        assert_eq!(query(&mut db, "SELECT COUNT(*) FROM t", &[]).await.unwrap(), [["0"]]);
    });
}

#[test]
fn a_batch_runs_its_statement_for_each_row() {
    on_a_core(async {
        let mut db = memory().await;
        exec(&mut db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b)", &[]).await.unwrap();
        let rows = args(&[Cell::Int(1), Cell::Text(b"x"), Cell::Int(2), Cell::Null]);
        let outcome = db.batch("INSERT INTO t VALUES (?, ?)", 2, &rows).await.unwrap();
        assert_eq!((outcome.rows_affected, outcome.last_insert_id), (Some(2), Some(2)));
        let ids = args(&[Cell::Int(1), Cell::Int(2)]);
        let outcome = db.batch("UPDATE t SET b = a WHERE a >= ?", 1, &ids).await.unwrap();
        assert_eq!(outcome.rows_affected, Some(3));
        for (sql, width, text) in [
            ("INSERT INTO t VALUES (?, ?)", 3, "4 values are no rows of 3"),
            ("INSERT INTO t VALUES (?, ?)", 1, "not enough args to execute query: want 2 got 1"),
            ("INSERT INTO absent VALUES (?)", 2, "no such table: absent"),
        ] {
            assert_eq!(db.batch(sql, width, &rows).await.unwrap_err().text(), text);
        }
        let columns = ["a".to_owned()];
        let copy = Insert { way: Way::Copy, ..insert("t", &columns, &rows, None) };
        assert_eq!(db.insert(&copy).await.unwrap_err().trouble(), Trouble::Usage);
    });
}
